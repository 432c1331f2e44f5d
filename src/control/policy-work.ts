import { type Seconds, seconds } from '../model/units.ts';
import type { Clock } from '../ports.ts';
import { createWaker, type Waker } from './periodic.ts';

/** How long a pass waits for one policy. */
const PATIENCE: Seconds = seconds(1);

/** Work on policies, each in its own time: one that is slow delays no other. */
export interface PolicyWork {
  /**
   * Does the work, which rejects never, unless there is some under way for the same policy. Resolves to the time until the policy wants
   * to be looked at again. What takes longer than a second goes on while this resolves to Infinity; the loop is woken when the policy
   * wants to be looked at again, which is at once if it should have been meanwhile.
   */
  look(uid: string, work: (signal: AbortSignal) => Promise<Seconds>): Promise<number>;
  /** Resolves when nothing is under way; for this policy, where one is named. */
  ended(uid?: string): Promise<void>;
}

interface Task {
  readonly done: Promise<Seconds>;
  /** Whether the policy should have been looked at while this went on. */
  isMissed: boolean;
}

/** Nothing under way yet. `loop` is woken for what has taken long. */
export function createPolicyWork(
  loop: Pick<Waker, 'wake'>,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): PolicyWork {
  const tasks = new Map<string, Task>();

  async function wakeWhenDue(task: Task): Promise<void> {
    const wait = await task.done;
    await createWaker().wait(task.isMissed ? seconds(0) : wait, clock, signal);
    loop.wake();
  }

  return {
    async look(uid, work) {
      const earlier = tasks.get(uid);
      if (earlier !== undefined) {
        earlier.isMissed = true;
        return Number.POSITIVE_INFINITY;
      }
      const patience = createWaker();
      // A signal of its own: what listens to it goes with the work.
      const done = work(AbortSignal.any([signal])).finally(() => {
        tasks.delete(uid);
        patience.wake();
      });
      const task = { done, isMissed: false };
      tasks.set(uid, task);
      await patience.wait(PATIENCE, clock, signal);
      if (tasks.get(uid) !== task) {
        return done;
      }
      void wakeWhenDue(task);
      return Number.POSITIVE_INFINITY;
    },
    async ended(uid) {
      const awaited = [...tasks].filter(([each]) => uid === undefined || each === uid);
      await Promise.all(awaited.map(([, { done }]) => done));
    },
  };
}

import { isDeepStrictEqual } from 'node:util';
import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { type Seconds, seconds } from '../model/units.ts';
import type { Clock, Journals, PlanStore } from '../ports.ts';

/**
 * How long a note waits, for each move of its plan: a plan of 1,000 moves, which has about a megabyte, is written for notes
 * alone every 10 s at most, and a small one at the next step.
 */
const WAIT_FOR_MOVE: Seconds = seconds(0.01);

/** What is noted of one plan. */
interface Note {
  /** The plan as it is stored. */
  readonly stored: RebalancePlan;
  /** The same with the status that is noted. */
  readonly plan: RebalancePlan;
  /** When the first of what is not written yet was noted, on the monotonic clock. */
  readonly since: Seconds;
}

/** Journals that are written with the next intent, or when a note has waited long enough; until then they are kept in memory. */
export function createJournals(
  store: PlanStore,
  { monotonic }: Pick<Clock, 'monotonic'>,
  waitForMove = WAIT_FOR_MOVE,
): Journals {
  const notes = new Map<string, Note>();

  async function write({ stored, plan }: Pick<Note, 'stored' | 'plan'>, signal: AbortSignal): Promise<RebalancePlan> {
    const written = await store.writeStatus(stored, plan.status ?? {}, signal);
    notes.delete(plan.metadata.name);
    return written;
  }

  const noteOf = (plan: RebalancePlan): Note | undefined => {
    const note = notes.get(plan.metadata.name);
    return note !== undefined && isSameVersion(note.stored, plan) ? note : undefined;
  };

  /** What is noted of a plan that stands like this now; a note is void once another client has written the journal. */
  const noted = (plan: RebalancePlan): RebalancePlan => {
    const note = notes.get(plan.metadata.name);
    if (note === undefined || isSameVersion(note.stored, plan)) {
      return note?.plan ?? plan;
    }
    if (!isSameJournal(note.stored, plan)) {
      notes.delete(plan.metadata.name);
      return plan;
    }
    const rebased = { ...note, stored: plan, plan: { ...plan, status: note.plan.status ?? {} } };
    notes.set(plan.metadata.name, rebased);
    return rebased.plan;
  };

  return {
    ...store,
    async list(signal) {
      const plans = await store.list(signal);
      const names = new Set(plans.map(({ metadata }) => metadata.name));
      for (const name of [...notes.keys()].filter((each) => !names.has(each))) {
        notes.delete(name);
      }
      return plans.map(noted);
    },
    writeStatus: (plan, status, signal) =>
      write({ stored: noteOf(plan)?.stored ?? plan, plan: { ...plan, status } }, signal),
    async noteStatus(plan, status) {
      const note = noteOf(plan) ?? { stored: plan, since: monotonic() };
      const next = { ...note, plan: { ...plan, status } };
      notes.set(plan.metadata.name, next);
      return next.plan;
    },
    async writeDue(plan, signal) {
      const note = noteOf(plan);
      const isDue = note !== undefined && monotonic() - note.since >= waitForMove * plan.spec.moves.length;
      return isDue ? write(note, signal) : plan;
    },
    async writeAll(signal) {
      for (const note of [...notes.values()]) {
        await write(note, signal);
      }
    },
    async remove(name, signal) {
      await store.remove(name, signal);
      notes.delete(name);
    },
  };
}

/** Journals that are written at every change, where writes cost nothing. */
export function writtenAtOnce(store: PlanStore): Journals {
  return {
    ...store,
    noteStatus: store.writeStatus,
    writeDue: async (plan) => plan,
    writeAll: async () => undefined,
  };
}

function isSameVersion(left: RebalancePlan, right: RebalancePlan): boolean {
  return left.metadata.resourceVersion === right.metadata.resourceVersion;
}

/** Whether only something else was changed, such as an annotation. */
function isSameJournal(left: RebalancePlan, right: RebalancePlan): boolean {
  return left.metadata.uid === right.metadata.uid && isDeepStrictEqual(left.status, right.status);
}

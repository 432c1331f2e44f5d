import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane/start.ts';

/** Replicas of the real kube-scheduler, in place of the one that the control plane has. */
export interface Schedulers {
  /** The replica that schedules; `undefined` when none does. */
  leader(): number | undefined;
  /** `kill -9` of a replica, which is started again after `pause` milliseconds. Resolves once it is gone. */
  kill(replica: number, pause: number): Promise<void>;
  /** Ends all for good. */
  stop(): Promise<void>;
}

interface Replica {
  readonly process: ChildProcess;
  isLeading: boolean;
}

/** Ends the scheduler of the control plane, and starts `count` others. With several, they elect a leader as in production: 15 s of lease. */
export async function startSchedulers(cp: ControlPlane, count: number): Promise<Schedulers> {
  await cp.end('kube-scheduler');
  const running: (Replica | undefined)[] = [];
  const replacing = new Set<Promise<void>>();
  let isStopped = false;
  const start = (index: number): void => {
    running[index] = startScheduler(cp, count > 1);
  };
  for (let index = 0; index < count; index += 1) {
    start(index);
  }
  const end = async (replica: Replica | undefined): Promise<void> => {
    if (replica !== undefined && replica.process.exitCode === null && replica.process.signalCode === null) {
      replica.process.kill('SIGKILL');
      await once(replica.process, 'exit');
    }
  };
  return {
    leader: () => Array.from(running.keys()).find((index) => running[index]?.isLeading === true),
    async kill(index, pause) {
      const replica = running[index];
      running[index] = undefined;
      const replaced = sleep(pause).then(() => (isStopped ? undefined : start(index)));
      replacing.add(replaced);
      void replaced.finally(() => replacing.delete(replaced));
      await end(replica);
    },
    async stop() {
      isStopped = true;
      await Promise.all(running.map(end));
    },
  };
}

function startScheduler(cp: ControlPlane, isElected: boolean): Replica {
  const kubeconfig = join(cp.dir, 'kube-scheduler.kubeconfig');
  const args = [`--kubeconfig=${kubeconfig}`, '--secure-port=0', `--leader-elect=${isElected}`];
  const process = spawn(cp.bin('kube-scheduler'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
  cp.adopt(process);
  const replica: Replica = { process, isLeading: !isElected };
  process.stderr?.on('data', (text: Buffer) => {
    replica.isLeading ||= /successfully acquired lease/i.test(text.toString());
  });
  return replica;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane/start.ts';
import { type OperatorOptions, type OperatorProcess, startOperator } from '../support/operator-process.ts';

/** A lease as short as it may be, so that the next leader is not waited for longer than it lives. */
export const LEASE = ['--lease-duration', '2s'];

/** How a replica ended that nobody had ended. */
export interface UnexpectedEnd {
  readonly code: number | null;
  /** The end of its log. */
  readonly log: string;
}

/** Replicas of the operator that are started again when they end, as a Deployment would. */
export interface Operators {
  /** `kill -9` of a replica, which is replaced after `pause` milliseconds. Resolves once it is gone. */
  kill(replica: number, pause: number): Promise<void>;
  /** The process that runs as a replica now; undefined while it is being replaced. */
  process(replica: number): OperatorProcess | undefined;
  /** Replicas that ended by themselves, except for those that lost the lease, which is what they ought to do. */
  readonly ends: readonly UnexpectedEnd[];
  /** How often a replica ended because it had lost the lease. */
  readonly leasesLost: () => number;
  /** Ends all for good. */
  stop(): Promise<void>;
}

/** Starts `count` replicas. */
export async function startOperators(cp: ControlPlane, count: number, options: OperatorOptions): Promise<Operators> {
  const running: (OperatorProcess | undefined)[] = [];
  const ends: UnexpectedEnd[] = [];
  const replacing = new Set<Promise<void>>();
  let leasesLost = 0;
  let isStopped = false;
  const start = async (replica: number): Promise<void> => {
    const operator = await startOperator(cp, options);
    running[replica] = operator;
    void operator.exited.then((code) => {
      if (running[replica] !== operator || isStopped) {
        return;
      }
      const log = operator.log();
      if (log.includes('"msg":"leadership lost"')) {
        leasesLost += 1;
      } else {
        ends.push({ code, log: log.slice(-4000) });
      }
      replace(replica, 1000);
    });
  };
  const replace = (replica: number, pause: number): void => {
    running[replica] = undefined;
    const replaced = sleep(pause).then(() => (isStopped ? undefined : start(replica)));
    replacing.add(replaced);
    void replaced.finally(() => replacing.delete(replaced));
  };
  for (let replica = 0; replica < count; replica += 1) {
    await start(replica);
  }
  return {
    kill: async (replica, pause) => {
      const operator = running[replica];
      if (operator !== undefined) {
        replace(replica, pause);
        await operator.end('SIGKILL');
      }
    },
    process: (replica) => running[replica],
    ends,
    leasesLost: () => leasesLost,
    stop: async () => {
      isStopped = true;
      await Promise.all(replacing);
      await Promise.all(running.map((operator) => operator?.end('SIGTERM')));
    },
  };
}

/** The replica that leads, of the first `count`; undefined when none does. */
export function leaderOf(operators: Operators, count: number): number | undefined {
  return Array.from({ length: count }, (_, replica) => replica).find((each) => isLeading(operators, each));
}

/** Whether a replica has begun to lead. */
export function isLeading(operators: Operators, replica: number): boolean {
  return operators.process(replica)?.log().includes('"msg":"leading"') === true;
}

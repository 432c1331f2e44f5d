import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane/start.ts';
import { type OperatorOptions, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import type { ReplicaPods } from '../support/replica-pods.ts';

/** Seconds of a lease as short as it may be, so that the next leader is not waited for longer than it lives. */
export const LEASE_SECONDS = 2;
/** The flag for it. */
export const LEASE: readonly string[] = leaseFlag(LEASE_SECONDS);

/** The flag for a lease of so many seconds. */
export function leaseFlag(seconds: number): readonly string[] {
  return ['--lease-duration', `${seconds}s`];
}

/** How a replica ended that nobody had ended. */
export interface UnexpectedEnd {
  readonly code: number | null;
  /** The end of its log. */
  readonly log: string;
}

/** One process as a replica. Instants are milliseconds of `performance.now()`. */
export interface ReplicaLife {
  readonly replica: number;
  readonly process: OperatorProcess;
  /** When it was killed, or has ended; undefined while it runs. */
  ended: number | undefined;
}

/** Replicas of the operator that are started again when they end, as a Deployment would. */
export interface Operators {
  /**
   * `kill -9` of a replica, which is replaced after `pause` milliseconds: in the same pod once its end was reported, or in another one where
   * it is not, as when a node fails. Resolves once it is gone.
   */
  kill(replica: number, pause: number, isReported?: boolean): Promise<void>;
  /** One more replica. Resolves to its number once its process runs. */
  add(): Promise<number>;
  /** Ends a replica with SIGTERM for good. Resolves once it is gone. */
  end(replica: number): Promise<void>;
  /** The process that runs as a replica now; undefined while it is being replaced. */
  process(replica: number): OperatorProcess | undefined;
  /** Every process that there was, in the order of their starts. */
  readonly lives: readonly ReplicaLife[];
  /** Replicas that ended by themselves, except for those that lost the lease, which is what they ought to do. */
  readonly ends: readonly UnexpectedEnd[];
  /** How often a replica ended because it had lost the lease. */
  readonly leasesLost: () => number;
  /** Ends all for good. */
  stop(): Promise<void>;
}

/** How to start replicas. */
export interface ReplicasOptions extends OperatorOptions {
  /** Reports on the containers of the replicas; nobody does unless given. */
  readonly pods?: ReplicaPods;
}

/** Starts `count` replicas. */
export async function startOperators(
  cp: ControlPlane,
  count: number,
  { pods, ...options }: ReplicasOptions,
): Promise<Operators> {
  const running: (ReplicaLife | undefined)[] = [];
  const lives: ReplicaLife[] = [];
  const ends: UnexpectedEnd[] = [];
  const replacing = new Set<Promise<void>>();
  /** How many pods of each replica there were before. */
  const generations = new Map<number, number>();
  const podOf = (replica: number): string => `evenkeel-${replica}-${generations.get(replica) ?? 0}`;
  let leasesLost = 0;
  let isStopped = false;
  const start = async (replica: number): Promise<void> => {
    const pod = podOf(replica);
    await pods?.begun(pod);
    const operator = await startOperator(cp, { ...options, ...(pods === undefined ? {} : { pod }) });
    const life: ReplicaLife = { replica, process: operator, ended: undefined };
    running[replica] = life;
    lives.push(life);
    void operator.exited.then((code) => {
      life.ended ??= performance.now();
      if (running[replica] !== life || isStopped) {
        return;
      }
      const log = operator.log();
      if (log.includes('"msg":"leadership lost"')) {
        leasesLost += 1;
      } else {
        ends.push({ code, log: log.slice(-4000) });
      }
      replace(replica, 1000, true);
    });
  };
  const replace = (replica: number, pause: number, isReported: boolean): void => {
    running[replica] = undefined;
    const pod = podOf(replica);
    const told = isReported ? pods?.ended(pod) : pods?.lost(pod);
    if (!isReported) {
      generations.set(replica, (generations.get(replica) ?? 0) + 1);
    }
    const replaced = Promise.all([told, sleep(pause)]).then(() => (isStopped ? undefined : start(replica)));
    replacing.add(replaced);
    void replaced.finally(() => replacing.delete(replaced));
  };
  for (let replica = 0; replica < count; replica += 1) {
    await start(replica);
  }
  return {
    kill: async (replica, pause, isReported = true) => {
      const life = running[replica];
      if (life !== undefined) {
        running[replica] = undefined;
        life.ended = performance.now();
        await life.process.end('SIGKILL');
        replace(replica, pause, isReported);
      }
    },
    add: async () => {
      const replica = running.length;
      await start(replica);
      return replica;
    },
    end: async (replica) => {
      const life = running[replica];
      running[replica] = undefined;
      await life?.process.end('SIGTERM');
    },
    process: (replica) => running[replica]?.process,
    lives,
    ends,
    leasesLost: () => leasesLost,
    stop: async () => {
      isStopped = true;
      await Promise.all(replacing);
      await Promise.all(running.map((life) => life?.process.end('SIGTERM')));
    },
  };
}

/** The replica that leads, of the first `count`; undefined when none does. */
export function leaderOf(operators: Operators, count: number): number | undefined {
  return Array.from({ length: count }, (_, replica) => replica).find((each) => isLeading(operators, each));
}

/** Whether a replica has begun to lead. */
function isLeading(operators: Operators, replica: number): boolean {
  return operators.process(replica)?.log().includes('"msg":"leading"') === true;
}

import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { entries } from '../../../src/execute/journal.ts';
import { REPLACEMENT_DEADLINE, STUCK_PATIENCE } from '../../../src/execute/verify.ts';
import { type PodInfo, type PodRef, podKey } from '../../../src/model/pod.ts';
import type { EpochSeconds } from '../../../src/model/units.ts';
import type { FakeCluster } from '../../support/fake-cluster.ts';
import type { FakePlans } from '../../support/fake-stores.ts';

/** What one process has read from the server since it began its pass. */
export interface Sight {
  /** Policies as the server gave them. */
  policies: readonly RebalancePolicy[];
  /** Whether the caches were good enough to tell the nodes. */
  synced: boolean;
}

/** One request for an eviction, from when it is written until it can disrupt nothing any more. */
interface Eviction {
  readonly uid: string;
  readonly owner: string;
  readonly plan: RebalancePlan;
  /** When the pod was last looked at before: what was made from then on may replace it. */
  readonly since: number;
  state: 'UnderWay' | 'Accepted' | 'Over';
  accepted: boolean;
}

/** What the ledger sees. */
export interface Witnessed {
  readonly cluster: FakeCluster;
  readonly now: () => EpochSeconds;
  readonly plans: FakePlans;
  /** Who may act for a policy, named by its uid, or for anything at all. */
  readonly leaders: (policy?: string) => readonly string[];
  readonly maxConcurrent: number;
}

/** The record of what reached the cluster: the oracle of the executor's invariants. Nothing that a process claims is in it. */
export interface Ledger {
  /** A process of this identity writes a request that changes something. Throws when it must not (16). */
  changing(identity: string): void;
  /** The server reads a pod for somebody. */
  looked(pod: Pick<PodRef, 'namespace' | 'name'>): void;
  /** An eviction is written by a process of this identity. Throws when it must not be (14, 16, 17). Resolves to what tells of its arrival. */
  sent(pod: PodRef, sight: Sight, identity: string): { arrived(before: number): void; lost(): void };
  /** A plan was written: what was evicted must not be forgotten (14). */
  journalled(): void;
  /** To be called whenever something happened. */
  follow(): void;
  /** Counts for people. */
  readonly evictions: () => { readonly sent: number; readonly accepted: number };
}

/** A broken invariant (quality.md 14 and those after it). */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant';
}

function broken(invariant: number, what: string): never {
  throw new BrokenInvariant(`invariant ${invariant}: ${what}`);
}

/** An empty record. */
export function createLedger(world: Witnessed): Ledger {
  const { cluster, now, plans, leaders } = world;
  const evictions: Eviction[] = [];
  const looks = new Map<string, number>();
  /** Pods that have taken an evicted one's place, by uid. */
  const taken = new Set<string>();

  const follow = (): void => {
    for (const eviction of evictions.filter(({ state }) => state === 'Accepted')) {
      const candidates = candidatesFor(cluster, eviction, taken);
      const replacement = candidates.find((pod) => isAvailable(cluster, pod, now()));
      if (replacement !== undefined) {
        taken.add(replacement.uid);
        eviction.state = 'Over';
      } else if (isGivenUp(eviction, candidates, now()) || isUnwanted(cluster, eviction)) {
        eviction.state = 'Over';
      }
    }
  };

  const checkBudget = (): void => {
    follow();
    const open = evictions.filter(({ state }) => state !== 'Over');
    for (const [policy, own] of Map.groupBy(open, ({ plan }) => plan.spec.policy.name)) {
      const uids = new Set(own.map(({ uid }) => uid));
      if (uids.size > world.maxConcurrent) {
        broken(14, `${uids.size} moves of ${policy} in flight, ${world.maxConcurrent} allowed: ${[...uids]}`);
      }
    }
    for (const [owner, own] of Map.groupBy(open, ({ owner: uid }) => uid)) {
      if (new Set(own.map(({ uid }) => uid)).size > 1) {
        broken(14, `two moves of one owner in flight: ${owner}`);
      }
    }
  };

  return {
    changing(identity) {
      if (!leaders().includes(identity)) {
        broken(16, `${identity} changes the cluster while ${leaders().join(' and ')} leads`);
      }
    },
    looked(pod) {
      looks.set(podKey(pod), Math.floor(now()));
    },
    sent(pod, sight, identity) {
      const plan = intentOf(plans, pod.uid);
      if (plan === undefined) {
        return broken(15, `${pod.name} ${pod.uid} is evicted, and no journal says that it is intended`);
      }
      checkSight(plan, sight);
      const own = leaders(plan.spec.policy.uid);
      if (!own.includes(identity)) {
        broken(16, `${identity} evicts for a policy that ${own.join(' and ')} leads`);
      }
      const move = plan.spec.moves.find((each) => each.pod.uid === pod.uid);
      const since = looks.get(podKey(pod)) ?? now();
      const eviction: Eviction = {
        uid: pod.uid,
        owner: move?.owner.uid ?? '',
        plan,
        since,
        state: 'UnderWay',
        accepted: false,
      };
      evictions.push(eviction);
      checkBudget();
      return {
        arrived(before) {
          const accepted = cluster.accepted.slice(before);
          eviction.accepted = accepted.length > 0;
          eviction.state = eviction.accepted ? 'Accepted' : 'Over';
          if (new Set(cluster.accepted).size !== cluster.accepted.length) {
            broken(15, `evicted twice: ${cluster.accepted.join(', ')}`);
          }
          if (accepted.some((uid) => uid !== pod.uid)) {
            broken(15, `${accepted} was evicted instead of ${pod.uid}`);
          }
          checkBudget();
        },
        lost() {
          eviction.state = 'Over';
        },
      };
    },
    journalled() {
      for (const { uid, plan } of evictions.filter(({ accepted }) => accepted)) {
        const now = plans.stored.get(plan.metadata.name);
        const phase = now && entries(now).find(({ run }) => run.podUID === uid)?.run.phase;
        if (phase === 'Planned' || phase === 'Skipped' || phase === 'Aborted') {
          broken(14, `${uid} was evicted and the journal says ${phase}`);
        }
      }
    },
    follow,
    evictions: () => ({ sent: evictions.length, accepted: cluster.accepted.length }),
  };
}

/** The stored plan that says that this pod is about to be evicted. */
function intentOf(plans: FakePlans, uid: string): RebalancePlan | undefined {
  return [...plans.stored.values()].find(
    (plan) =>
      plan.status?.phase === 'Executing' &&
      entries(plan).some(({ run }) => run.podUID === uid && run.phase === 'Intent'),
  );
}

/** What the process that evicts has last read must have allowed it. */
function checkSight(plan: RebalancePlan, { policies, synced }: Sight): void {
  const policy = policies.find(({ metadata }) => metadata.uid === plan.spec.policy.uid);
  if (policy === undefined || policy.metadata.generation !== plan.spec.policy.generation) {
    broken(16, `a move of ${plan.metadata.name} begins though its policy was deleted or edited`);
  }
  const { suspend, mode } = policy.spec;
  if (suspend) {
    broken(16, `a move of ${plan.metadata.name} begins though its policy is suspended`);
  }
  if (mode === 'DryRun' || (mode === 'Approve' && !plan.spec.approved)) {
    broken(17, `a move of ${plan.metadata.name} begins in mode ${mode}`);
  }
  if (!synced) {
    broken(16, `a move of ${plan.metadata.name} begins on stale caches`);
  }
}

function candidatesFor({ pods }: FakeCluster, { uid, owner, since }: Eviction, taken: ReadonlySet<string>) {
  return [...pods.values()].filter(
    (pod) =>
      pod.owner?.uid === owner &&
      pod.uid !== uid &&
      !pod.terminating &&
      pod.createdAt >= Math.floor(since) &&
      !taken.has(pod.uid),
  );
}

function isAvailable({ workloads }: FakeCluster, { ready, readySince, owner }: PodInfo, now: number): boolean {
  const minReady = workloads.get(owner?.uid ?? '')?.minReadySeconds ?? 0;
  return ready && readySince !== undefined && Math.floor(now) - readySince >= minReady;
}

/** Whether the pod is gone and its controller has as many as it wants: it was scaled down meanwhile. */
function isUnwanted({ pods, workloads }: FakeCluster, { uid, owner }: Eviction): boolean {
  const alive = [...pods.values()].filter((pod) => pod.owner?.uid === owner && !pod.terminating).length;
  return !pods.has(uid) && alive >= (workloads.get(owner)?.replicas ?? 0);
}

/** Whether nobody need wait for the replacement any longer: no controller made one in time, or its node has no room. */
function isGivenUp({ since }: Eviction, candidates: readonly PodInfo[], now: number): boolean {
  const stuck = candidates.some(
    ({ waiting, createdAt }) =>
      waiting?.pinnedTo !== undefined && waiting.unschedulable && now - createdAt >= STUCK_PATIENCE,
  );
  return stuck || now - since >= REPLACEMENT_DEADLINE;
}

import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { leaseOfShard } from '../../../src/control/shards/names.ts';
import { entries, podsInFlight } from '../../../src/execute/journal.ts';
import { isFinal } from '../../../src/execute/transitions.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { type FakeCluster, fakeCluster, placements } from '../../support/fake-cluster.ts';
import { type FakeJournalledPlans, fakeJournalledPlans } from '../../support/fake-journals.ts';
import { type FakeLeases, fakeLeases } from '../../support/fake-leases.ts';
import { type FakePlans, type FakePolicies, fakePolicies } from '../../support/fake-stores.ts';
import { NOON } from '../../support/test-clock.ts';
import { type VirtualTime, virtualTime } from '../../support/virtual-time.ts';
import { type Happening, type History, type Landing, type Mishap, TROUBLED } from './history.ts';
import { BrokenInvariant, createLedger } from './ledger.ts';
import { BASE, type Stage, startReplica } from './replica.ts';

/** What a history comes to. */
export interface End {
  /** UIDs of the pods that were evicted. */
  readonly accepted: readonly string[];
  readonly placements: readonly string[];
  /** How often what happened: phases in which moves ended, mishaps, terms of leaders. */
  readonly counts: ReadonlyMap<string, number>;
}

const POLICY = 'even';
const WEB = aWorkload('web', { replicas: 3 });
const API = aWorkload('api', { replicas: 3 });
const DB = aWorkload('db', { replicas: 3, kind: 'StatefulSet' });
const OWNERS = [WEB, API, DB] as const;
const PODS = OWNERS.flatMap((owner) => [0, 1, 2].map((index) => aPodOf(owner, `${owner.name}-${index}`, 'a')));
/** Longer than any move takes: five tries against a PDB, then ten minutes for a replacement. */
const LONGEST = 2_500;
/** Time between two looks at what is left, and how long that may be, whatever troubles the leaders still have. */
const LOOK_EVERY = 20;
const TIDY_WITHIN = 600;

/** The world of one history. */
interface Play {
  readonly history: History;
  readonly time: VirtualTime;
  readonly cluster: FakeCluster;
  readonly plans: FakeJournalledPlans;
  readonly policies: FakePolicies;
  /** Replicas, until when their caches are cut off. */
  readonly stale: Map<number, number>;
}

/** Plays a history to its end. Throws BrokenInvariant when one of invariants 14 to 18 does not hold at some step. */
export async function play(history: History): Promise<End> {
  const time = virtualTime();
  const now = () => epochSeconds(NOON + time.now());
  const world = { history, time, stale: new Map<number, number>(), ...(await build(history, time)) };
  const { cluster, plans, policies } = world;
  const leases = fakeLeases();
  const { maxConcurrent, shared } = history;
  const leaders = leadersBy(leases, shared);
  const ledger = createLedger({ cluster, now, plans, leaders, maxConcurrent });
  const counts = new Map<string, number>();
  let failure: unknown;
  const stage: Stage = {
    time,
    cluster,
    plans,
    policies,
    leases,
    shared,
    reported: history.reported,
    ended: new Map(),
    noteWait: seconds(history.noteWait),
    wholeUpTo: history.journalled ? 0 : Number.POSITIVE_INFINITY,
    ledger,
    mishap: mishapsOf(history),
    isStale: (replica) => (world.stale.get(replica) ?? 0) > time.now(),
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    fail: (error) => {
      failure ??= error;
    },
  };
  for (const [at, what] of history.happenings) {
    time.at(at, () => befall(world, what));
  }
  history.rates.forEach((rate, replica) => void time.at(0, () => startReplica(stage, replica, rate)));
  await untilQuiet(world, () => {
    ledger.follow();
    if (failure !== undefined) {
      throw failure;
    }
  });
  const { sent, accepted } = ledger.evictions();
  counts.set('evictions sent', sent).set('evictions accepted', accepted).set('plans', plans.stored.size);
  return { accepted: [...cluster.accepted], placements: placements(cluster), counts };
}

/** Who leads by the Leases as they are stored. */
function leadersBy(leases: FakeLeases, shared: boolean): (policy?: string) => readonly string[] {
  return (policy) => {
    const wanted = policy === undefined ? undefined : leaseOfShard(BASE, policy).name;
    const isOfShard = (name: string): boolean =>
      wanted === undefined ? !name.startsWith(`${BASE}-replica-`) : name === wanted;
    const held = [...leases.stored()].filter(([name]) => !shared || isOfShard(name));
    return held.map(([, { record }]) => record.holder).filter((holder) => holder !== '');
  };
}

async function untilQuiet(world: Play, check: () => void): Promise<void> {
  const { time, plans } = world;
  await time.run(troubledUntil(world.history), check);
  heal(world);
  while (executing(plans).length > 0) {
    if (time.now() > LONGEST) {
      throw new BrokenInvariant(
        `invariant 18: no end: ${JSON.stringify(executing(plans).map(({ status }) => status))}`,
      );
    }
    await time.run(time.now() + LOOK_EVERY, check);
  }
  const ended = time.now();
  await time.run(ended + LOOK_EVERY, check);
  for (let left = leftBehind(world); left !== undefined; left = leftBehind(world)) {
    if (time.now() > ended + TIDY_WITHIN) {
      throw new BrokenInvariant(`left behind: ${left}`);
    }
    await time.run(time.now() + LOOK_EVERY, check);
  }
  checkEnd(world);
}

/** A policy that makes no plans of its own has nothing to do but its first one, and what happens to it. */
function troubledUntil({ planning, happenings }: History): number {
  return planning ? TROUBLED : Math.max(1, ...happenings.map(([at]) => at + 1));
}

function executing({ stored }: FakePlans): readonly RebalancePlan[] {
  return [...stored.values()].filter(({ status }) => status?.phase === 'Executing');
}

function checkEnd({ plans }: Play): void {
  for (const plan of plans.stored.values()) {
    const open = entries(plan).filter(({ run }) => !isFinal(run.phase));
    if (open.length > 0 && ['Completed', 'Aborted'].includes(plan.status?.phase ?? '')) {
      throw new BrokenInvariant(`invariant 18: ${plan.metadata.name} ended before ${open[0]?.run.podUID}`);
    }
  }
}

/** Hints without a move, and pods that wait at the gate for nothing; undefined when there are none. */
function leftBehind({ plans, cluster }: Play): string | undefined {
  const inFlight = podsInFlight([...plans.stored.values()]);
  const hints = [...cluster.hints.keys()].filter((uid) => !inFlight.has(uid));
  const held = [...cluster.pods.values()].filter(({ waiting }) => waiting?.gated === true);
  return hints.length + held.length === 0
    ? undefined
    : `hints of ${hints}, at the gate ${held.map(({ name }) => name)}`;
}

/** What keeps moves and gates back has an end, and no plan is made any more; what befell pods and nodes stays. */
function heal({ cluster, stale }: Play): void {
  cluster.opensGates = true;
  cluster.metered = true;
  cluster.plannable = false;
  stale.clear();
}

async function build(history: History, time: VirtualTime): Promise<Pick<Play, 'cluster' | 'plans' | 'policies'>> {
  const owners = OWNERS.map((owner) => ({ ...owner, minReadySeconds: seconds(history.minReady) }));
  const plans = fakeJournalledPlans();
  const cluster = fakeCluster(
    time,
    [aNode('a', TEN_CORES), aNode('b', TEN_CORES), aNode('c', TEN_CORES)],
    owners,
    PODS,
    plans,
  );
  Object.assign(cluster.delays, history.delays);
  const answers = [...history.answers];
  cluster.script = () => answers.shift();
  cluster.bindTo = scheduler(cluster, history.landings);
  if (history.steering === 'Gate') {
    OWNERS.forEach(({ uid }) => void cluster.gated.add(uid));
  }
  const policies = fakePolicies();
  policies.apply(POLICY, specOf(history));
  const lastRun = new Date(NOON * 1000).toISOString();
  await policies.store.writeStatus(aPolicy(POLICY), { lastRun, observedGeneration: 1 }, new AbortController().signal);
  plans.put(firstPlan(history));
  return { cluster, plans, policies };
}

function specOf({ mode, planning, steering, maxConcurrent }: History) {
  return aPolicy(POLICY, {
    mode,
    interval: planning ? '20s' : '24h',
    historyLimit: 100,
    steering: { mode: steering },
    thresholds: { trigger: '0.05', minGain: '0.01', consecutive: 1 },
    budgets: [{ maxMoves: 10, maxConcurrent }],
    protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
  }).spec;
}

const FIRST_PHASES = { Automatic: 'Executing', Approve: 'AwaitingApproval', DryRun: 'Proposed' } as const;

function firstPlan({ moves, mode, steering }: History): RebalancePlan {
  const planned = moves.flatMap(([pod, to]) => (PODS[pod] === undefined ? [] : [aMove(PODS[pod], to)]));
  return aPlan(aPolicy(POLICY), planned, { phase: FIRST_PHASES[mode], steering });
}

/** Binds as `landings` say, then as the hints say, and otherwise like a scheduler that likes empty nodes. */
function scheduler(cluster: FakeCluster, landings: readonly Landing[]): FakeCluster['bindTo'] {
  const left = [...landings];
  const natural = cluster.bindTo;
  return (pod, hinted) => {
    const landing = left.shift() ?? 'hinted';
    switch (landing) {
      case 'hinted':
        return natural(pod, hinted);
      case 'elsewhere':
        return hinted === 'b' ? 'c' : 'b';
      case 'same':
        return 'a';
      case 'nowhere':
        return undefined;
      default:
        return landing satisfies never;
    }
  };
}

/** Hands out the mishaps of a history: each comes once so many calls have gone well. */
function mishapsOf({ mishaps, writeMishaps }: History): Stage['mishap'] {
  const all = countdown(mishaps);
  const ofChanges = countdown(writeMishaps);
  return (changes) => all() ?? (changes ? ofChanges() : undefined);
}

function countdown(list: History['mishaps']): () => Mishap | undefined {
  const left = [...list];
  let gap = left[0]?.[0] ?? 0;
  return () => {
    const [next, ...rest] = left;
    if (next === undefined || gap > 0) {
      gap -= 1;
      return undefined;
    }
    left.splice(0, left.length, ...rest);
    gap = rest[0]?.[0] ?? 0;
    return next[1];
  };
}

function befall({ history, time, cluster, plans, policies, stale }: Play, what: Happening): void {
  const spec = { ...specOf(history), ...policies.stored.get(POLICY)?.policy.spec };
  const apply = (changes: Readonly<Record<string, unknown>>): void => {
    if (policies.stored.has(POLICY)) {
      policies.apply(POLICY, { ...spec, ...changes });
    }
  };
  switch (what.kind) {
    case 'suspend':
    case 'resume':
      apply({ suspend: what.kind === 'suspend' });
      break;
    case 'edit':
      apply({ interval: spec.interval === '25s' ? '20s' : '25s' });
      break;
    case 'toDryRun':
      apply({ mode: 'DryRun' });
      break;
    case 'delete':
      policies.remove(POLICY);
      break;
    case 'recreate':
      policies.remove(POLICY);
      policies.apply(POLICY, specOf(history));
      break;
    case 'approve':
    case 'touchPlan':
      for (const plan of plans.whole.stored.values()) {
        plans.put({ ...plan, spec: { ...plan.spec, approved: plan.spec.approved || what.kind === 'approve' } });
      }
      break;
    case 'metricsOff':
    case 'metricsOn':
      cluster.metered = what.kind === 'metricsOn';
      break;
    case 'gatesClosed':
    case 'gatesOpen':
      cluster.opensGates = what.kind === 'gatesOpen';
      break;
    case 'removePod':
      cluster.remove([...cluster.pods.keys()][what.pod] ?? '');
      break;
    case 'scale':
      cluster.scale(OWNERS[what.owner]?.uid ?? '', what.replicas);
      break;
    case 'node':
      changeNode(cluster, what);
      break;
    case 'guard':
      cluster.minAvailable.set(OWNERS[what.owner]?.uid ?? '', what.minAvailable);
      break;
    case 'stale':
      stale.set(what.replica, time.now() + what.span);
      break;
    default:
      what satisfies never;
  }
}

function changeNode(cluster: FakeCluster, { node, state }: Happening & { readonly kind: 'node' }): void {
  if (state === 'full') {
    cluster.full.add(node);
  } else {
    cluster.full.delete(node);
    cluster.putNode(aNode(node, { ...TEN_CORES, ready: state !== 'notReady', unschedulable: state === 'cordoned' }));
  }
}

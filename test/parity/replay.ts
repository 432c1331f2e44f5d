import { createEvictor } from '../../src/adapters/kubernetes/evictor.ts';
import { seconds } from '../../src/model/units.ts';
import type { Plan, Transfer } from '../../src/plan/plan.ts';
import { plan } from '../../src/plan/planner.ts';
import { someOptions } from '../support/builders/options.ts';
import { transfersOf } from '../support/transfers.ts';
import { keyOf, type PodObject } from './kube-object.ts';
import { firstPods, type PlanScene, type RandomOwner, randomScene, replicaSetOf } from './random-owners.ts';
import { clearCluster, conditionOf, stageCluster } from './stage-cluster.ts';
import { installSteering, sendTo } from './steer.ts';
import type { World } from './world.ts';

/** A plan that kube-scheduler has replayed, move by move. */
export interface Replay {
  readonly seed: number;
  readonly strategy: Plan['strategy'];
  readonly planned: number;
  /** Moves whose replacement was bound, counted up to the first that was not. */
  readonly bound: number;
  /** Of those, bound to the planned node. */
  readonly landed: number;
  /** Why the first replacement that was not bound was refused. */
  readonly failure: string | undefined;
}

/** What a campaign of plans asks. */
export interface PlansOptions {
  /** Plans with at least one move. */
  readonly plans: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** Some clusters are in balance, or stuck. */
const MOST_CLUSTERS_PER_PLAN = 5;
const NEVER = new AbortController().signal;

/**
 * Plans random clusters one after the other and has every prefix of each plan replayed by the real scheduler, to which every
 * replacement is sent by mode Gate: it may run on the planned node and nowhere else.
 */
export async function replayPlans(world: World, { plans, seed, log }: PlansOptions): Promise<readonly Replay[]> {
  await installSteering(world);
  const replays: Replay[] = [];
  for (let next = seed; replays.length < plans; next += 1) {
    if (next - seed > MOST_CLUSTERS_PER_PLAN * plans) {
      throw new Error(`${next - seed} clusters gave only ${replays.length} plans with a move`);
    }
    const replay = await replayScene(world, randomScene(next));
    if (replay.planned > 0) {
      replays.push(replay);
    }
    log(`cluster ${next}: ${replay.landed} of ${replay.planned} moves landed; ${replays.length} of ${plans} plans`);
  }
  return replays;
}

async function replayScene(world: World, scene: PlanScene): Promise<Replay> {
  const { cluster } = scene;
  await stageCluster(world, cluster);
  await populate(world, scene);
  const planned = plan(await world.snapshot(), optionsOf(cluster.seed));
  const replay = await replayMoves(world, cluster.seed, planned);
  await clearCluster(world, cluster);
  return replay;
}

/** Balances requests, with no budget and no protection that time would lift. */
function optionsOf(seed: number): Parameters<typeof plan>[1] {
  return someOptions({
    strategy:
      seed % 2 === 0
        ? { type: 'RefineLB', overload: 1.05, refinements: 'Standard' }
        : { type: 'GreedyLB', minimizeMoves: true, tolerance: 0.02 },
    load: { source: 'Requests' },
    thresholds: { trigger: 0.05, minGain: 0.001, minImprovement: 0, minReduction: 0, headroom: [] },
    protections: {
      minPodAge: seconds(0),
      minReplicas: 1,
      localStorage: 'Allow',
      stabilization: seconds(0),
      cooldown: seconds(0),
    },
  });
}

/** Has the scheduler place the first pods of all owners, and gives those that found a node to their ReplicaSets. */
async function populate(world: World, { owners, crowded }: PlanScene): Promise<void> {
  const placed = new Map<RandomOwner, number>();
  for (const owner of owners) {
    for (const pod of firstPods(owner, crowded)) {
      placed.set(owner, (placed.get(owner) ?? 0) + (await placeFirst(world, pod)));
    }
  }
  const sets = [...placed].filter(([, replicas]) => replicas > 0).map(([owner, count]) => replicaSetOf(owner, count));
  await everyPodIs(world, 'Ready', (pod) => conditionOf(pod, 'Ready')?.status === 'True');
  await world.api.createAll(sets);
  await everyPodIs(world, 'adopted', (pod) => pod.metadata.ownerReferences !== undefined);
}

/** 1 when the pod is bound; a pod that fits nowhere is taken away again. */
async function placeFirst({ api, pods }: World, pod: PodObject): Promise<0 | 1> {
  const key = keyOf(pod);
  await api.create(pod);
  const isBound = await pods.until(`${key} is judged`, () => judged(pods.get(key) as PodObject | undefined));
  if (isBound) {
    return 1;
  }
  await api.remove(pod);
  await pods.until(`${key} is gone`, () => (pods.get(key) === undefined ? true : undefined));
  return 0;
}

/** Whether the scheduler has bound the pod; undefined while it has not decided. */
function judged(pod: PodObject | undefined): boolean | undefined {
  if (pod?.spec.nodeName !== undefined) {
    return true;
  }
  return conditionOf(pod, 'PodScheduled')?.reason === 'Unschedulable' ? false : undefined;
}

async function everyPodIs({ pods }: World, what: string, check: (pod: PodObject) => boolean): Promise<void> {
  await pods.until(`every pod is ${what}`, () =>
    pods.all().every((pod) => check(pod as PodObject)) ? true : undefined,
  );
}

async function replayMoves(world: World, seed: number, plan: Plan): Promise<Replay> {
  const { strategy } = plan;
  const moves = transfersOf(plan);
  const counts = { bound: 0, landed: 0 };
  for (const move of moves) {
    const replacement = await replayMove(world, move);
    if (replacement.spec.nodeName === undefined) {
      const why = conditionOf(replacement, 'PodScheduled')?.message ?? '';
      const failure = `move ${counts.bound + 1} of ${moves.length}, ${move.reason}: ${why}`;
      return { seed, strategy, planned: moves.length, ...counts, failure };
    }
    counts.bound += 1;
    counts.landed += replacement.spec.nodeName === move.to ? 1 : 0;
  }
  return { seed, strategy, planned: moves.length, ...counts, failure: undefined };
}

/** Evicts, sends the replacement to the node that the plan names, and waits for what the scheduler makes of it there. */
async function replayMove({ api, pods, ...world }: World, move: Transfer): Promise<PodObject> {
  const known = new Set(pods.all().map(({ metadata }) => metadata.uid));
  const answer = await createEvictor(api.client).evict(move.pod, { dryRun: false }, NEVER);
  if (answer.kind !== 'Accepted') {
    throw new Error(`evicting ${move.pod.namespace}/${move.pod.name}: ${JSON.stringify(answer)}`);
  }
  const { metadata } = await pods.until(`${move.pod.name} has a replacement`, () =>
    pods.all().find(({ metadata: { uid } }) => !known.has(uid)),
  );
  const { namespace = '', name, uid = '' } = metadata;
  await sendTo({ api, pods, ...world }, { namespace, name, uid }, move.to);
  return pods.until(`the replacement for ${move.pod.name} is judged`, () => {
    const replacement = pods.get(`${namespace}/${name}`) as PodObject | undefined;
    return judged(replacement) === undefined ? undefined : replacement;
  });
}

import { stringify } from 'yaml';
import type { PodInfo } from '../../src/model/pod.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { schedulerView } from '../../src/plan/scheduler-view.ts';
import { steeredAffinity } from '../../src/steer/affinity.ts';
import { choosePlacements } from '../../src/steer/choose-placements.ts';
import { createRandom } from '../support/random.ts';
import { askScheduler, clearProbe, type SchedulerVerdict, stageProbe } from './ask-scheduler.ts';
import type { CampaignOptions } from './campaign.ts';
import { pick, pickSome } from './choice.ts';
import { project } from './judge-probe.ts';
import type { PodObject } from './kube-object.ts';
import { randomCluster } from './random-cluster.ts';
import { type Probe, type ProbeContext, randomProbe } from './random-probe.ts';
import { clearCluster, stageCluster } from './stage-cluster.ts';
import type { World } from './world.ts';

/** What became of a pod that was steered to a node that could take it. */
export interface SteeredPod {
  readonly seed: number;
  readonly probe: number;
  readonly target: string;
  /** Whether it was kept to alternatives, and did not merely prefer its target. */
  readonly narrowed: boolean;
  readonly verdict: SchedulerVerdict;
  /** Why this must not be: it found no node, or one that its own constraints do not allow; `undefined`: all is well. */
  readonly failure: string | undefined;
}

const PROBES_PER_CLUSTER = 40;

/**
 * Steers random pods in random clusters, each to a random one of the nodes that can take it, and asks kube-scheduler where
 * they go. `verdicts` counts the pods that some node can take.
 */
export async function steerPods(
  world: World,
  { verdicts, seed, log }: CampaignOptions,
): Promise<readonly SteeredPod[]> {
  const steered: SteeredPod[] = [];
  for (let next = seed; steered.length < verdicts; next += 1) {
    const cluster = randomCluster(next);
    await stageCluster(world, cluster);
    const context = { cluster, snapshot: await world.snapshot() };
    for (let probe = 0; probe < PROBES_PER_CLUSTER && steered.length < verdicts; probe += 1) {
      steered.push(...(await steerOne(world, context, probe)));
    }
    await clearCluster(world, cluster);
    log(`cluster ${next}: ${steered.length} of ${verdicts} pods`);
  }
  return steered;
}

async function steerOne(world: World, context: ProbeContext, index: number): Promise<readonly SteeredPod[]> {
  const probe = randomProbe(context, index, 'Anywhere');
  try {
    await stageProbe(world, probe);
    const snapshot = await world.snapshot();
    const admitted = (await world.api.tryOut(probe.pod)) as PodObject;
    const pod = project(admitted);
    return pod.constraints.unsupported.length > 0 ? [] : await send(world, context, index, probe, pod, snapshot);
  } catch (error) {
    throw new Error(`probe ${index} of cluster ${context.cluster.seed}:\n${stringify(probe)}`, { cause: error });
  } finally {
    await clearProbe(world, probe);
  }
}

async function send(
  world: World,
  { cluster }: ProbeContext,
  index: number,
  probe: Probe,
  pod: PodInfo,
  snapshot: ClusterSnapshot,
): Promise<readonly SteeredPod[]> {
  const whole = { ...snapshot, pods: [...snapshot.pods, pod] };
  const view = schedulerView(whole);
  const open = [...view.feasible(view.podOf(pod.uid))].map((site) => view.nodes[site]?.name ?? '');
  if (open.length === 0) {
    return [];
  }
  const random = createRandom(cluster.seed * 31 + index);
  const target = pick(random, open);
  const fallbacks = pickSome(
    random,
    open.filter((name) => name !== target),
    random.below(3),
  );
  const placement = choosePlacements(whole, [{ uid: pod.uid, target, fallbacks }], 'Always').get(pod.uid);
  const wish = placement ?? { target, fallbacks, alternatives: undefined };
  const { affinity, isNarrowed } = steeredAffinity(probe.pod.spec['affinity'], wish);
  const { verdict } = await askScheduler(world, {
    ...probe,
    pod: { ...probe.pod, spec: { ...probe.pod.spec, affinity } },
  });
  const outcome = { seed: cluster.seed, probe: index, target, narrowed: isNarrowed, verdict };
  return [{ ...outcome, failure: failureOf(verdict, open, wish.alternatives) }];
}

function failureOf(
  verdict: SchedulerVerdict,
  open: readonly string[],
  alternatives: readonly string[] | undefined,
): string | undefined {
  const names = alternatives === undefined ? 'no names' : alternatives.join(', ');
  if (verdict.kind === 'Refused') {
    return `Pending with ${names}, though it fits on ${open.join(', ')}: ${verdict.message}`;
  }
  return open.includes(verdict.node)
    ? undefined
    : `on ${verdict.node} with ${names}, though it fits only on ${open.join(', ')}`;
}

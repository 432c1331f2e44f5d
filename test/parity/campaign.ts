import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { type Answer, askScheduler, clearProbe, keepsRoom, stageProbe } from './ask-scheduler.ts';
import { compare, judgeProbe, type OurVerdict } from './judge-probe.ts';
import { randomCluster } from './random-cluster.ts';
import { type Probe, type ProbeContext, randomProbe } from './random-probe.ts';
import { clearCluster, stageCluster } from './stage-cluster.ts';
import type { Judged } from './tally.ts';
import type { World } from './world.ts';

/** What a campaign asks. */
export interface CampaignOptions {
  /** Verdicts to reach; probes that our filters do not judge come on top. */
  readonly verdicts: number;
  /** Seed of the first cluster; the next ones follow. */
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** Verdicts in one cluster: few, since a cluster as a whole may be full, or without one of the things that filters look at. */
const PROBES_PER_CLUSTER = 25;

/** Random clusters one after the other, and in each random pods, about which both the scheduler and our filters are asked. */
export async function runCampaign(world: World, { verdicts, seed, log }: CampaignOptions): Promise<readonly Judged[]> {
  const judged: Judged[] = [];
  const count = (): number => judged.filter(({ ours }) => ours.kind === 'Judged').length;
  const started = performance.now();
  for (let next = seed; count() < verdicts; next += 1) {
    judged.push(...(await runCluster(world, next, Math.min(PROBES_PER_CLUSTER, verdicts - count()))));
    const elapsed = (performance.now() - started) / 1000;
    log(`cluster ${next}: ${count()} of ${verdicts} verdicts after ${elapsed.toFixed(0)} s`);
  }
  return judged;
}

/** One cluster from its creation to its end. */
async function runCluster(world: World, seed: number, probes: number): Promise<readonly Judged[]> {
  const cluster = randomCluster(seed);
  await stageCluster(world, cluster);
  const context = { cluster, snapshot: await world.snapshot() };
  const judged: Judged[] = [];
  for (let index = 0; index < probes; index += 1) {
    judged.push(await runProbe(world, context, index));
  }
  await clearCluster(world, cluster);
  return judged;
}

async function runProbe(world: World, context: ProbeContext, index: number): Promise<Judged> {
  const probe = randomProbe(context, index);
  const own = probe.storage.claims.length > 0;
  try {
    if (own) {
      await stageProbe(world, probe);
    }
    const snapshot = own ? await world.snapshot() : context.snapshot;
    const { verdict, admitted, ours } = await bothVerdicts(world, probe, snapshot);
    return { seed: context.cluster.seed, probe: index, node: probe.node, admitted, ours, theirs: verdict };
  } catch (error) {
    throw new Error(`probe ${index} of cluster ${context.cluster.seed}:\n${stringify(probe)}`, { cause: error });
  } finally {
    await clearProbe(world, probe);
  }
}

/** By when an overloaded machine, too, has forgotten a pod. */
const FORGOTTEN_MILLISECONDS = 5_000;

/** Where the scheduler may still have kept room for the pod before, it is asked again before it counts as of another opinion. */
async function bothVerdicts(
  world: World,
  probe: Probe,
  snapshot: ClusterSnapshot,
): Promise<Answer & { readonly ours: OurVerdict }> {
  const ask = async (): Promise<Answer & { readonly ours: OurVerdict }> => {
    const answer = await askScheduler(world, probe);
    return { ...answer, ours: judgeProbe(snapshot, answer.admitted, probe.node) };
  };
  const first = await ask();
  const differs = ['Disagree', 'OtherReason'].includes(compare(first.ours, first.verdict));
  if (!differs || !keepsRoom(world)) {
    return first;
  }
  await delay(FORGOTTEN_MILLISECONDS);
  return await ask();
}

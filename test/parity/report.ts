import { stringify } from 'yaml';
import { describeVerdict } from './judge-probe.ts';
import type { PodObject } from './kube-object.ts';
import type { Replay } from './replay.ts';
import type { SteeredPod } from './steered.ts';
import { failuresOf, type Judged, type Tally } from './tally.ts';

/** What came of a campaign, for people: a table, and every disagreement in full. */
export function reportOf(tally: Tally): string {
  return [
    `clusters       ${tally.clusters}`,
    `verdicts       ${tally.verdicts}, of them ${tally.unpinned} on pods that may run on any node`,
    `accepted       ${tally.accepted} (${percent(tally.accepted, tally.verdicts)})`,
    `not judged     ${tally.unsupported}`,
    `disagreements  ${tally.disagreements.length}`,
    `other reasons  ${tally.otherReasons.length}`,
    '',
    `${'refused by'.padEnd(20)}${'ours'.padStart(6)}${'scheduler'.padStart(11)}`,
    ...[...tally.filters].map(
      ([filter, { ours, theirs }]) => `${filter.padEnd(20)}${String(ours).padStart(6)}${String(theirs).padStart(11)}`,
    ),
    ...tally.disagreements.map((judged) => `\nDISAGREEMENT ${describeJudged(judged)}`),
    ...tally.otherReasons.map((judged) => `\nOTHER REASON ${describeJudged(judged)}`),
    ...failuresOf(tally).map((failure) => `FAILED: ${failure}`),
  ].join('\n');
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(0)} %`;
}

/** Everything about one probe: how to make it again, the pod, and both answers. */
export function describeJudged({ seed, probe, node, admitted, ours, theirs }: Judged): string {
  const answer = theirs.kind === 'Accepted' ? `accepted on ${theirs.node}` : `refused: ${theirs.message}`;
  return [
    `npm run parity -- --seed ${seed} --verdicts ${probe + 1}: probe ${probe}, node ${node ?? 'any'}`,
    `scheduler: ${answer}`,
    ...describeVerdict(ours).map((line) => `ours: ${line}`),
    stringify(essence(admitted)),
  ].join('\n');
}

/** The pod without what has no part in where it fits. */
function essence({ metadata, spec }: PodObject): object {
  const { namespace, name, labels } = metadata;
  const dull = new Set([
    'dnsPolicy',
    'enableServiceLinks',
    'preemptionPolicy',
    'restartPolicy',
    'schedulerName',
    'securityContext',
    'terminationGracePeriodSeconds',
  ]);
  return {
    metadata: { namespace, name, labels },
    spec: Object.fromEntries(Object.entries(spec).filter(([key]) => !dull.has(key))),
  };
}

/** What came of the replay of plans, for people. */
export function replayReport(replays: readonly Replay[]): string {
  const total = (count: (replay: Replay) => number): number => replays.reduce((sum, replay) => sum + count(replay), 0);
  const [planned, bound, landed] = [
    total((each) => each.planned),
    total((each) => each.bound),
    total((each) => each.landed),
  ];
  const failed = replays.filter(({ failure }) => failure !== undefined);
  return [
    `plans          ${replays.length}`,
    `moves          ${planned}`,
    `bound          ${bound} (${percent(bound, planned)})`,
    `on plan        ${landed} (${percent(landed, planned)})`,
    `plans failed   ${failed.length}`,
    ...failed.map(
      ({ seed, strategy, failure }) => `\nnpm run parity -- --plans 1 --seed ${seed} (${strategy}): ${failure}`,
    ),
  ].join('\n');
}

/** What became of steered pods, for people. */
export function steeredReport(pods: readonly SteeredPod[]): string {
  const narrowed = pods.filter((each) => each.narrowed);
  const hits = (some: readonly SteeredPod[]): string => {
    const landed = some.filter(({ verdict, target }) => verdict.kind === 'Accepted' && verdict.node === target);
    return `${landed.length} on their planned node (${percent(landed.length, some.length)})`;
  };
  const failed = pods.filter(({ failure }) => failure !== undefined);
  return [
    `pods           ${pods.length}, ${hits(pods)}`,
    `kept to names  ${narrowed.length}, ${hits(narrowed)}`,
    `failed         ${failed.length}`,
    ...failed.map(({ seed, probe, failure }) => `\nprobe ${probe} of cluster ${seed}: ${failure}`),
  ].join('\n');
}

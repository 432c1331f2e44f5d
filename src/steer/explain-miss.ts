import type { MissReason, MoveStatus } from '../api/v1alpha1/rebalance-plan.ts';
import { compareText } from '../model/compare-text.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { describeRefusal } from '../plan/filters/refusal.ts';
import { at, type PodIndex } from '../plan/indices.ts';
import type { FilterName } from '../plan/rejection-codes.ts';
import { type SchedulerView, schedulerView } from '../plan/scheduler-view.ts';
import { asSteered } from './constraints.ts';

/** Why a replacement runs elsewhere, for programs and for people. */
export interface Miss {
  readonly reason: MissReason;
  readonly message: string;
}

/** Filters that refuse a node because others have taken what it had. */
const ROOM: ReadonlySet<FilterName> = new Set(['NodeResourcesFit', 'NodePorts', 'NodeVolumeLimits']);

/** Plugins that are named for a difference of scores. */
const MOST_NAMED = 3;

/**
 * Why the scheduler put the pod with this uid elsewhere than on `target`, as our filters and scores have it in `snapshot`,
 * which was taken soon after, or has it wait; `undefined` when the snapshot does not have the pod. `isSteered`: the pod should
 * have been created with a preference for the target.
 */
export function explainMiss(
  snapshot: ClusterSnapshot,
  uid: string,
  target: string,
  isSteered: boolean,
): Miss | undefined {
  const pod = snapshot.pods.findIndex((each) => each.uid === uid);
  const info = snapshot.pods[pod];
  if (info === undefined) {
    return undefined;
  }
  if (isSteered && info.placement?.target !== target) {
    return { reason: 'NotSteered', message: `it was created without a preference for ${target}` };
  }
  const site = snapshot.nodes.findIndex(({ name }) => name === target);
  if (site < 0) {
    return { reason: 'TargetRefused', message: `${target} is gone` };
  }
  const view = schedulerView({ ...snapshot, pods: snapshot.pods.with(pod, asSteered(info)) });
  const [refusal] = view.refusals(pod, site);
  if (refusal !== undefined) {
    const reason = ROOM.has(refusal.filter) ? 'RoomTaken' : 'TargetRefused';
    return { reason, message: `${target} ${describeRefusal(refusal)}` };
  }
  return info.nodeName === undefined
    ? {
        reason: 'TargetRefused',
        message: `the scheduler finds no node, although ${target} has room as far as can be seen`,
      }
    : compareScores(view, pod, info.nodeName, target);
}

function compareScores(view: SchedulerView, pod: PodIndex, actual: string, target: string): Miss {
  const feasible = view.feasible(pod);
  const placeOf = (node: string): number => feasible.findIndex((site) => view.nodes[site]?.name === node);
  const [chosen, planned] = [placeOf(actual), placeOf(target)];
  if (chosen < 0) {
    return { reason: 'NotScored', message: `${target} has room, and ${actual} would refuse the pod by now` };
  }
  const totals = view.totals(pod, feasible);
  const [score, other] = [at(totals, chosen), at(totals, planned)];
  if (score < other) {
    return {
      reason: 'NotScored',
      message: `${target} would have scored ${other}, ${actual} ${score}: the scheduler did not look at it, one of ${feasible.length} nodes with room`,
    };
  }
  const names = differences(view, pod, feasible, chosen, planned);
  const how = score === other ? `as much as ${target}` : `${target} ${other}`;
  return { reason: 'OutscoredBy', message: `${actual} scores ${score}, ${how}${names === '' ? '' : `: ${names}`}` };
}

/** `PodTopologySpread 200 against 40`: the plugins that speak most for the node that was chosen. */
function differences(
  view: SchedulerView,
  pod: PodIndex,
  feasible: Int32Array,
  chosen: number,
  planned: number,
): string {
  return Object.entries(view.scores(pod, feasible))
    .map(([name, values]) => ({ name, ours: values[planned] ?? 0, theirs: values[chosen] ?? 0 }))
    .filter(({ ours, theirs }) => theirs > ours)
    .sort((left, right) => right.theirs - right.ours - (left.theirs - left.ours))
    .slice(0, MOST_NAMED)
    .map(({ name, ours, theirs }) => `${name} ${theirs} against ${ours}`)
    .join(', ');
}

/** `NotScored 2, RoomTaken 1`: how many replacements missed, by reason, the most frequent first; empty when none did. */
export function describeMisses(runs: readonly MoveStatus[]): string {
  const missed = runs.filter(({ phase }) => phase === 'Missed');
  return [...Map.groupBy(missed, ({ miss }) => miss?.reason ?? 'Unexplained')]
    .map(([reason, { length }]) => ({ reason, length }))
    .sort((left, right) => right.length - left.length || compareText(left.reason, right.reason))
    .map(({ reason, length }) => `${reason} ${length}`)
    .join(', ');
}

import type { PodInfo } from '../../src/model/pod.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { buildSnapshot } from '../../src/observe/snapshot-builder.ts';
import { describeRefusal } from '../../src/plan/filters/refusal.ts';
import { type NodeVerdict, verdictsIn } from '../../src/plan/verdicts.ts';
import type { SchedulerVerdict } from './ask-scheduler.ts';
import type { PodObject } from './kube-object.ts';
import { filtersIn } from './scheduler-message.ts';

/** What our filters say to one probe. */
export type OurVerdict =
  /** The planner moves no such pod. */
  | { readonly kind: 'Unsupported'; readonly detail: string }
  | {
      readonly kind: 'Judged';
      /** Names of the nodes that take the pod. */
      readonly fits: readonly string[];
      /** Of the node asked about, or of all nodes when the probe may run on any. */
      readonly verdicts: readonly NodeVerdict[];
    };

/** Our verdict on a pod as the API server admitted it, in the cluster as it was before. */
export function judgeProbe(snapshot: ClusterSnapshot, admitted: PodObject, node: string | undefined): OurVerdict {
  const probe = project(admitted);
  const [unsupported] = probe.constraints.unsupported;
  if (unsupported !== undefined) {
    return { kind: 'Unsupported', detail: `${unsupported.filter}: ${unsupported.detail}` };
  }
  const verdictOf = verdictsIn({ ...snapshot, pods: [...snapshot.pods, probe] });
  const nodes = snapshot.nodes.filter(({ name }) => node === undefined || name === node);
  const verdicts = nodes.map((each) => verdictOf(probe, each));
  return { kind: 'Judged', verdicts, fits: verdicts.filter(({ refusals }) => refusals.length === 0).map(nameOf) };
}

/** The planner's view of a pod. */
export function project(admitted: PodObject): PodInfo {
  const { pods, problems } = buildSnapshot([{ ...admitted, apiVersion: 'v1', kind: 'Pod' }]);
  const [pod] = pods;
  if (pod === undefined || problems.length > 0) {
    throw new Error(`a probe cannot be read: ${problems.join('; ')}`);
  }
  return pod;
}

function nameOf({ node }: NodeVerdict): string {
  return node;
}

/** How two verdicts on one probe compare. */
export type Comparison = 'Agree' | 'Disagree' | 'OtherReason' | 'Unsupported';

/**
 * Agree: where the scheduler put the pod we see a fit, or neither sees any. OtherReason: both refuse, but the scheduler
 * names a filter that did not refuse here.
 */
export function compare(ours: OurVerdict, theirs: SchedulerVerdict): Comparison {
  if (ours.kind === 'Unsupported') {
    return 'Unsupported';
  }
  if (theirs.kind === 'Accepted') {
    return ours.fits.includes(theirs.node) ? 'Agree' : 'Disagree';
  }
  if (ours.fits.length > 0) {
    return 'Disagree';
  }
  const refusing = new Set(refusingFilters(ours));
  return filtersIn(theirs.message).every((filter) => refusing.has(filter)) ? 'Agree' : 'OtherReason';
}

/** Filters that refuse at least one of the nodes asked about. */
export function refusingFilters(ours: OurVerdict): readonly string[] {
  const verdicts = ours.kind === 'Judged' ? ours.verdicts : [];
  return [...new Set<string>(verdicts.flatMap(({ refusals }) => refusals.map(({ filter }) => filter)))];
}

/** Our verdict, node by node, for people. */
export function describeVerdict(ours: OurVerdict): readonly string[] {
  return ours.kind === 'Unsupported'
    ? [`not judged: ${ours.detail}`]
    : ours.verdicts.map(({ node, refusals }) => {
        const reasons = refusals.map((refusal) => `${refusal.filter}: ${describeRefusal(refusal)}`);
        return `${node}: ${reasons.length === 0 ? 'fits' : reasons.join('; ')}`;
      });
}

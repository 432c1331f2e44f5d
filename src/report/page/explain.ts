import { podKey } from '../../model/pod.ts';
import type { Inquiry, PodStanding } from '../../plan/explain/inquiry.ts';
import { bestCandidates, explainNodeIn } from '../../plan/explain/node.ts';
import { explainPodIn, type NodeForPod } from '../../plan/explain/pod.ts';
import { amount, percent } from '../../plan/format.ts';
import type { Rejections } from '../../plan/plan.ts';
import { countCodes } from '../../plan/rejections.ts';
import { outcomeMessage } from '../plan-resource.ts';
import type { NodeDetail, PodDetail, PodNodeRow, PodRow, ReasonRow, StaysDetail } from './detail.ts';

/** Rows that a person reads of a long list; the page says how many there are. */
const MOST_NODES = 100;
const MOST_CANDIDATES = 25;
const MOST_EXAMPLES = 20;

/** A node in detail; `undefined` when the snapshot has none of this name. */
export function nodeDetail(inquiry: Inquiry, policy: string, name: string): NodeDetail | undefined {
  const found = explainNodeIn(inquiry, name, bestCandidates(MOST_CANDIDATES));
  if (found === undefined) {
    return undefined;
  }
  const { absent, load, mean, resources, pods, candidates } = found;
  return {
    kind: 'node',
    name,
    policy,
    ...(absent === undefined ? {} : { absent }),
    ...(load === undefined ? {} : { load }),
    ...(mean === undefined ? {} : { mean }),
    resources: resources.map(({ name: resource, allocatable, requested }) => ({
      name: resource,
      allocatable: amount(resource, allocatable),
      requested: amount(resource, requested),
    })),
    pods: pods.map(podRow),
    candidates: candidates.map((candidate) => ({
      ...podRow(candidate),
      ...(candidate.gain === undefined ? {} : { gain: candidate.gain }),
    })),
  };
}

/** A pod, by `namespace/name`, in detail; `undefined` when the snapshot has none of this name. */
export function podDetail(inquiry: Inquiry, policy: string, key: string): PodDetail | undefined {
  const { pods, snapshot } = inquiry.planningInput;
  const pod = [...pods, ...(snapshot.failedPods ?? [])].find((candidate) => podKey(candidate) === key);
  const found = pod === undefined ? undefined : explainPodIn(inquiry, pod.uid);
  if (found === undefined) {
    return undefined;
  }
  const refusals = found.nodes.flatMap(({ rejections }) => rejections.map(({ filter }) => filter));
  const counts = [...Map.groupBy(refusals, (filter) => filter)].map(([filter, all]) => [filter, all.length] as const);
  return {
    kind: 'pod',
    policy,
    ...podRow(found),
    nodes: found.nodes.toSorted(byUse).slice(0, MOST_NODES).map(nodeRow),
    allNodes: found.nodes.length,
    fittingNodes: found.nodes.filter(({ fits }) => fits).length,
    refusals: Object.fromEntries(counts.toSorted(([, left], [, right]) => right - left)),
  };
}

/** Its own node first, then those that fit, by what the move would gain. */
function byUse(left: NodeForPod, right: NodeForPod): number {
  return (
    Number(right.current) - Number(left.current) ||
    Number(right.fits) - Number(left.fits) ||
    (right.gain ?? Number.NEGATIVE_INFINITY) - (left.gain ?? Number.NEGATIVE_INFINITY) ||
    0
  );
}

function nodeRow({ node, current, fits, load, gain, score, rejections, absent, budgets }: NodeForPod): PodNodeRow {
  const takesNoPart: readonly ReasonRow[] =
    absent === undefined ? [] : [{ code: 'NodeNotParticipating', message: `takes no part: ${absent}`, numbers: {} }];
  return {
    node,
    current,
    fits,
    ...(load === undefined ? {} : { load }),
    ...(gain === undefined ? {} : { gain }),
    ...(score === undefined ? {} : { score }),
    remarks: [
      ...rejections.map(({ filter, message, numbers }) => ({ code: filter, message, numbers })),
      ...takesNoPart,
      ...budgets,
    ],
  };
}

function podRow({ pod, owner, node, load, decision, protections }: PodStanding): PodRow {
  return {
    pod: podKey(pod),
    ...(owner === undefined ? {} : { owner: `${owner.kind} ${owner.name}` }),
    ...(node === undefined ? {} : { node }),
    ...(load === undefined ? {} : { load }),
    decision: decision.kind,
    message: decided(decision),
    ...(decision.kind === 'Stays' ? { code: decision.code } : {}),
    protections,
  };
}

function decided(decision: PodStanding['decision']): string {
  switch (decision.kind) {
    case 'Moves':
      return `to ${decision.to ?? 'the queue'}${gainText(decision.gain)}: ${decision.message}`;
    case 'Removed':
    case 'Stays':
      return decision.message;
    case 'NotConsidered':
      return 'the policy is not about it';
    default:
      return decision satisfies never;
  }
}

/** A repair may gain nothing, or make the load less even: its message has the numbers. */
function gainText(gain: number): string {
  return gain > 0 ? `, gain ${percent(gain)}` : '';
}

/** Why pods stay by the plan of this moment. */
export function staysDetail({ plan }: Inquiry, policy: string): StaysDetail {
  const { rejections, outcome } = plan;
  return {
    kind: 'stays',
    policy,
    outcome: outcome.kind,
    message: outcomeMessage(plan),
    reasons: countCodes(rejections.reasons).map(([code, count]) => ({
      code,
      count,
      examples: examplesOf(rejections, code),
    })),
  };
}

function examplesOf({ pods, reasons }: Rejections, code: string): StaysDetail['reasons'][number]['examples'] {
  const found: { pod: string; message: string }[] = [];
  for (let place = 0; place < pods.length && found.length < MOST_EXAMPLES; place += 1) {
    const [pod, reason] = [pods[place], reasons[place]];
    if (pod !== undefined && reason?.code === code) {
      found.push({ pod: podKey(pod), message: reason.message });
    }
  }
  return found;
}

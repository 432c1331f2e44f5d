import { bitRate } from '../../model/bandwidth.ts';
import { count } from '../format.ts';
import type { PodIndex } from '../indices.ts';
import type { TrafficOptions } from '../options.ts';
import type { ApplicationTraffic, PlanOutcome, Reason, TrafficAmount, TrafficReport } from '../plan.ts';
import { isFree, type PlanningInput } from '../planning-input.ts';
import { isBudgetCode } from '../rejection-codes.ts';
import { countCodes } from '../rejections.ts';
import { type PlacedGraph, podsOfApplications } from './applications.ts';
import type { TrafficPlan, Treated } from './reduce-traffic.ts';

/** What passes between domains before and after the plan, in all and by application. */
export function trafficReport(input: PlanningInput, found: TrafficPlan, options: TrafficOptions): TrafficReport {
  const sum = (of: (each: Treated) => TrafficAmount): TrafficAmount => ({
    bandwidth: found.treated.reduce((total, each) => total + of(each).bandwidth, 0),
    cost:
      options.perGiB === undefined ? undefined : found.treated.reduce((total, each) => total + (of(each).cost ?? 0), 0),
  });
  return {
    domain: options.domain,
    before: sum(({ before }) => before),
    planned: sum(({ planned }) => planned),
    between: found.between,
    applications: found.treated
      .filter(({ before, left, moves }) => before.bandwidth > 0 || left !== undefined || moves > 0)
      .map((each): ApplicationTraffic => {
        const { graph, moves, before, planned } = each;
        const stays = moves > 0 ? undefined : whyItStays(input, found, each, options);
        return { namespace: graph.graph.namespace, name: graph.graph.name, moves, before, planned, stays };
      }),
  };
}

/** Why an application is not brought closer together. */
function whyItStays(
  { holds }: PlanningInput,
  { refused }: TrafficPlan,
  { running, left, before }: Treated,
  options: TrafficOptions,
): Reason {
  if (left !== undefined) {
    return left;
  }
  const budget = running.pods.flatMap((pod) => refused.get(pod) ?? [])[0];
  if (budget !== undefined) {
    return budget;
  }
  const held = running.pods.flatMap((pod) => (isFree(holds, pod) ? [] : (holds.all(pod)[0] ?? [])));
  const kept = countCodes(held).map(([code, times]) => `${code} ${times}`);
  const mayNot =
    held.length === 0
      ? ''
      : `; ${held.length} of its ${count(running.pods.length, 'pod')} may not move: ${kept.join(', ')}`;
  return {
    code: 'NotWorthMoving',
    message: `no moves of its pods save ${bitRate(options.minSaving)} each where nodes have room${mayNot}`,
    numbers: {
      bandwidth: before.bandwidth,
      minSaving: options.minSaving,
      pods: running.pods.length,
      held: held.length,
    },
  };
}

/** Why each movable pod stays that is not moved. */
export function explainTraffic(
  found: TrafficPlan,
  report: TrafficReport,
  graphs: readonly PlacedGraph[],
): (pod: PodIndex) => Reason {
  const members = new Set(podsOfApplications(graphs));
  const stays = new Map(report.applications.map(({ namespace, name, stays }) => [`${namespace}/${name}`, stays]));
  const reasons = new Map(
    found.treated.flatMap(({ graph, running }) => {
      const reason = stays.get(`${graph.graph.namespace}/${graph.graph.name}`);
      return reason === undefined ? [] : running.pods.map((pod) => [pod, reason] as const);
    }),
  );
  return (pod) => found.refused.get(pod) ?? reasons.get(pod) ?? (members.has(pod) ? IN_PLACE : ALONE);
}

const IN_PLACE: Reason = {
  code: 'NotNeeded',
  message: 'runs where its traffic costs the least, as far as room and budgets allow',
  numbers: {},
};
const ALONE: Reason = { code: 'NotNeeded', message: 'is a member of no AppGraph', numbers: {} };

/** Why there are no moves, or not more of them. */
export function trafficOutcome(
  { moves }: TrafficPlan,
  report: TrafficReport,
  graphs: readonly PlacedGraph[],
): PlanOutcome {
  const notes = [...stayingNote(report), ...claimedNote(graphs)];
  const text = notes.length === 0 ? undefined : notes.join('; ');
  if (moves.length > 0) {
    return { kind: 'Moves', obstacle: text };
  }
  if (graphs.length === 0) {
    return {
      kind: 'NothingToReroute',
      message: 'there is no AppGraph: write one for each application that is to be brought together',
    };
  }
  const stays = report.applications.filter(({ stays }) => stays !== undefined);
  if (stays.length === 0) {
    const none = `no traffic of ${count(graphs.length, 'AppGraph')} passes between values of ${report.domain}`;
    return { kind: 'NothingToReroute', message: text === undefined ? none : `${none}; ${text}` };
  }
  const codes = stays.map(({ stays }) => stays?.code ?? '');
  const kind = codes.some(isBudgetCode) ? 'BudgetExhausted' : codes.some(isBlocked) ? 'Blocked' : 'NoBeneficialMove';
  return { kind, message: text ?? '' };
}

/** Whether a person has to do something before the application can be looked at. */
function isBlocked(code: string): boolean {
  return code === 'TrafficUnknown' || code === 'SharedWorkload';
}

/** `2 applications stay spread; the first: shop/web with 20 Mb/s: ...`. */
function stayingNote({ applications }: TrafficReport): readonly string[] {
  const stuck = applications.filter(({ stays }) => stays !== undefined);
  const [first] = stuck;
  if (first?.stays === undefined) {
    return [];
  }
  const isMeasured = first.before.bandwidth > 0;
  const traffic = isMeasured ? ` with ${bitRate(first.before.bandwidth)}` : '';
  const who = `${first.namespace}/${first.name}${traffic}: ${first.stays.message}`;
  const how = isMeasured ? 'spread' : 'as it is';
  return [
    stuck.length === 1
      ? `1 application stays ${how}: ${who}`
      : `${stuck.length} applications stay ${isMeasured ? how : 'as they are'}; the first: ${who}`,
  ];
}

/** Pods that two members of a graph select. */
function claimedNote(graphs: readonly PlacedGraph[]): readonly string[] {
  const found = graphs.find(({ claimed }) => claimed.length > 0);
  const [pod] = found?.claimed ?? [];
  if (found === undefined || pod === undefined) {
    return [];
  }
  const name = `${found.graph.namespace}/${found.graph.name}`;
  return [`AppGraph ${name} selects ${pod}, which another member has already: a pod belongs to one member`];
}

import { escapeText } from '../model/escape.ts';
import { FULL_NAMES, shortNames } from '../model/short-names.ts';
import type { PodStanding } from '../plan/explain/inquiry.ts';
import type { WorkloadExplanation } from '../plan/explain/workload.ts';
import { count, percent } from '../plan/format.ts';
import { reasonOf } from './explanation-text.ts';
import { type Look, PLAIN, renderTable } from './table.ts';

const NUMBERS = new Set(['PODS', 'ADDS']);

/** Why the pods of a workload stay or go, for a terminal: how many have each verdict, then each pod; `wide` gives nodes their full names. */
export function workloadExplanationText(
  { workload, replicas, pods }: WorkloadExplanation,
  wide: boolean,
  look: Look = PLAIN,
): string {
  const { kind, namespace, name } = workload;
  const wanted = replicas === undefined ? '' : ` of ${count(replicas, 'replica')}`;
  const title = escapeText(`${kind} ${namespace}/${name}: ${count(pods.length, 'pod')}${wanted}.`);
  if (pods.length === 0) {
    return `${title}\n`;
  }
  const verdicts = Map.groupBy(pods, verdictOf);
  const summary = [...verdicts].map(([verdict, { length }]) => [verdict, String(length)]);
  const names = wide ? FULL_NAMES : shortNames(pods.flatMap(nodesOf));
  const rows = pods.map((pod) => [
    pod.pod.name,
    names(pod.node ?? '-'),
    pod.load === undefined ? '-' : percent(pod.load),
    names(reasonOf(pod)),
  ]);
  const tables = [
    renderTable(['VERDICT', 'PODS'], summary, NUMBERS, look),
    renderTable(['POD', 'NODE', 'ADDS', 'IN A PLAN MADE NOW'], rows, NUMBERS, look),
  ];
  return `${[title, ...tables].join('\n\n')}\n`;
}

/** Where a pod is, and where it would go. */
function nodesOf({ node, decision }: PodStanding): readonly string[] {
  return [node, decision.kind === 'Moves' ? decision.to : undefined].filter((name) => name !== undefined);
}

/** The code of what protects the pod, or else what the plan does with it. */
function verdictOf({ protections, violations, decision }: PodStanding): string {
  const [first] = protections;
  if (first !== undefined && violations.length === 0) {
    return first.code;
  }
  return decision.kind === 'Stays' ? decision.code : decision.kind;
}

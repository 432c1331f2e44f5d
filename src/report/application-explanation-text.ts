import { bitRate } from '../model/bandwidth.ts';
import { escapeText } from '../model/escape.ts';
import { FULL_NAMES, type ShortNames, shortNames } from '../model/short-names.ts';
import type { ApplicationExplanation, ApplicationPod, MemberExplanation } from '../plan/explain/application.ts';
import type { DomainForPod, Obstacle } from '../plan/explain/domain.ts';
import { count } from '../plan/format.ts';
import type { TrafficAmount } from '../plan/plan.ts';
import { reasonOf } from './explanation-text.ts';
import { domainsText, priceText, trafficChange } from './plan-traffic.ts';
import { type Look, PLAIN, renderTable } from './table.ts';
import { wrapSentences } from './wrap.ts';

const NUMBERS = new Set(['PODS', 'BANDWIDTH', 'BETWEEN NOW', 'PLANNED', 'COST/H NOW', 'COST/H PLANNED', 'WOULD SAVE']);

/**
 * Where an application runs, what passes between domains and why its pods stay or go, for a terminal; `wide` gives nodes their full
 * names and lists every domain and obstacle of the pods that stay.
 */
export function applicationExplanationText(app: ApplicationExplanation, wide: boolean, look: Look = PLAIN): string {
  const pods = app.members.flatMap((member) => member.pods);
  const names = wide ? FULL_NAMES : shortNames(pods.flatMap(nodesOf));
  const title = titleOf(app).map((text) => wrapSentences(names(escapeText(text)), look.columns));
  const tables = [
    memberTable(app, look),
    ...edgeTable(app, look),
    ...podTable(pods, names, look),
    ...elsewhereTable(pods, wide, names, look),
  ];
  return `${[title.join('\n'), ...tables].join('\n\n')}\n`;
}

/** Where a pod is, and where it would go. */
function nodesOf({ node, decision }: ApplicationPod): readonly string[] {
  return [node, decision.kind === 'Moves' ? decision.to : undefined].filter((name) => name !== undefined);
}

function titleOf(app: ApplicationExplanation): readonly string[] {
  const { namespace, name, domain, moves, before, stays, members, claimed } = app;
  const pods = members.reduce((sum, member) => sum + member.pods.length, 0);
  const title = `AppGraph ${namespace}/${name}: ${count(members.length, 'member')}, ${count(pods, 'pod')}.`;
  const change = `In a plan made now, ${count(moves, 'move')} ${trafficChange(app, moves === 1)}.`;
  const cost = before.cost === undefined ? '' : `, which costs ${priceText(before)} an hour`;
  const still = `Traffic between ${domainsText(domain)}: ${bitRate(before.bandwidth)}${cost}; a plan made now moves none of its pods.`;
  return [
    title,
    moves > 0 ? change : still,
    ...(stays === undefined ? [] : [`It stays as it is, ${stays.code}: ${stays.message}.`]),
    ...(claimed.length === 0 ? [] : [`Other members have these pods already: ${claimed.join(', ')}.`]),
  ];
}

function memberTable({ members }: ApplicationExplanation, look: Look): string {
  const rows = members.map(({ name, pods }) => [
    name,
    String(pods.length),
    domainCounts(pods, ({ domain }) => domain),
    domainCounts(pods, ({ planned }) => planned),
  ]);
  return renderTable(['MEMBER', 'PODS', 'NOW IN', 'PLANNED IN'], rows, NUMBERS, look);
}

/** `zone-a 2, zone-b 1`. */
function domainCounts(pods: MemberExplanation['pods'], domainOf: (pod: ApplicationPod) => string | undefined): string {
  const groups = [...Map.groupBy(pods, (pod) => domainOf(pod) ?? 'no domain')].sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  return groups.map(([domain, { length }]) => `${domain} ${length}`).join(', ') || '-';
}

function edgeTable({ edges, before }: ApplicationExplanation, look: Look): readonly string[] {
  const priced = before.cost !== undefined;
  const header = ['EDGE', 'BANDWIDTH', 'BETWEEN NOW', 'PLANNED', ...(priced ? ['COST/H NOW', 'COST/H PLANNED'] : [])];
  const rows = edges.map((edge) => [
    `${edge.from} -> ${edge.to}`,
    bitRate(edge.bandwidth),
    ...[edge.before, edge.planned].map(({ bandwidth }) => bitRate(bandwidth)),
    ...(priced ? [edge.before, edge.planned].map(priceText) : []),
  ]);
  return rows.length === 0 ? [] : [renderTable(header, rows, NUMBERS, look)];
}

function podTable(pods: readonly ApplicationPod[], names: ShortNames, look: Look): readonly string[] {
  const rows = pods.map((pod) => [pod.pod.name, names(pod.node ?? '-'), pod.domain ?? '-', names(reasonOf(pod))]);
  return rows.length === 0 ? [] : [renderTable(['POD', 'NODE', 'DOMAIN', 'IN A PLAN MADE NOW'], rows, NUMBERS, look)];
}

/** Pods that would save traffic in another domain, and what is against it. */
function elsewhereTable(
  pods: readonly ApplicationPod[],
  wide: boolean,
  names: ShortNames,
  look: Look,
): readonly string[] {
  const rows = pods.flatMap((pod) =>
    pod.elsewhere
      .slice(0, wide ? undefined : 1)
      .map((other) => [pod.pod.name, other.domain, savingText(other.saving), names(againstText(pod, other, wide))]),
  );
  return rows.length === 0 ? [] : [renderTable(['STAYS', 'IN DOMAIN', 'WOULD SAVE', 'BUT'], rows, NUMBERS, look)];
}

function savingText({ bandwidth, cost }: TrafficAmount): string {
  return cost === undefined ? bitRate(bandwidth) : `${bitRate(bandwidth)}, ${cost.toFixed(2)}/h`;
}

/** What protects the pod and what is in its way; only the first and how many there are more unless `wide`. */
function againstText({ protections }: ApplicationPod, { obstacles, nodes }: DomainForPod, wide: boolean): string {
  const all = [
    ...protections.map(({ code, message }) => `${code}: ${message}`),
    ...obstacles.map((obstacle) => obstacleText(obstacle, nodes)),
  ];
  const [first = 'only together with other moves that are not worth it', ...others] = all;
  return wide ? [first, ...others].join('; ') : others.length === 0 ? first : `${first} (and ${others.length} more)`;
}

function obstacleText({ code, message, nodes }: Obstacle, all: number): string {
  return nodes === undefined ? `${code}: ${message}` : `${code} on ${nodes} of ${count(all, 'node')}: ${message}`;
}

import {
  type AppGraphStatus,
  type GRAPH_CONDITION_TYPES,
  type GraphConditionReason,
  MAX_CROSSED_DOMAINS,
  MAX_LEARNT_EDGES,
} from '../api/v1alpha1/app-graph.ts';
import type { AppGraphInfo } from '../model/app-graph.ts';
import { bandwidthText, bitsPerSecond } from '../model/bandwidth.ts';
import { escapeText } from '../model/escape.ts';
import { formatInstant } from '../model/instant.ts';
import type { EpochSeconds } from '../model/units.ts';
import type { ApplicationTraffic, TrafficReport } from '../plan/plan.ts';

type Condition = NonNullable<AppGraphStatus['conditions']>[number];
type CrossDomain = NonNullable<AppGraphStatus['crossDomain']>;

/** What a condition of an AppGraph says. */
interface GraphVerdict {
  readonly type: (typeof GRAPH_CONDITION_TYPES)[number];
  readonly status: Condition['status'];
  readonly reason: GraphConditionReason;
  readonly message: string;
}

/** Codes of applications that are left alone, so that nothing is known of their traffic between domains. */
const LEFT_ALONE: ReadonlySet<string> = new Set(['TrafficUnknown', 'SharedWorkload', 'NodeNotParticipating']);

/**
 * The next status of an AppGraph after a run whose plan found `traffic`; without a report of traffic, what was known of it
 * stays. Pure.
 */
export function appGraphStatus(
  graph: AppGraphInfo,
  traffic: TrafficReport | undefined,
  old: AppGraphStatus,
  now: EpochSeconds,
): AppGraphStatus {
  const application = traffic?.applications.find(
    ({ namespace, name }) => namespace === graph.namespace && name === graph.name,
  );
  const verdicts = [
    ...(traffic === undefined ? [] : [validity(application)]),
    ...(graph.learning === undefined ? [] : [learntVerdict(graph.learning, graph.query?.server)]),
  ];
  const kept = (old.conditions ?? []).filter(({ type }) => type === 'Valid' && traffic === undefined);
  const next = verdicts.map((verdict) => conditionOf(verdict, old, graph.generation, now));
  const crossDomain = crossed(old.crossDomain ?? [], traffic, application);
  return {
    observedGeneration: graph.generation,
    conditions: [...kept, ...next],
    ...learntFields(graph),
    ...(crossDomain.length === 0 ? {} : { crossDomain }),
  };
}

function validity(application: ApplicationTraffic | undefined): GraphVerdict {
  const { code, message } = application?.stays ?? {};
  return code === 'SharedWorkload'
    ? { type: 'Valid', status: 'False', reason: code, message: message ?? '' }
    : { type: 'Valid', status: 'True', reason: 'AsExpected', message: 'no other AppGraph has its pods' };
}

function learntVerdict(learning: NonNullable<AppGraphInfo['learning']>, server: string | undefined): GraphVerdict {
  return learning.kind === 'Unknown'
    ? { type: 'Learnt', status: 'False', reason: learning.reason, message: learning.message }
    : { type: 'Learnt', status: 'True', reason: 'Answered', message: `Prometheus server ${server} has the traffic` };
}

/** lastTransitionTime changes only with status (apimachinery meta.SetStatusCondition). */
function conditionOf(
  { type, status, reason, message }: GraphVerdict,
  { conditions = [] }: AppGraphStatus,
  observedGeneration: number,
  now: EpochSeconds,
): Condition {
  const before = conditions.find((each) => each.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatInstant(now);
  return { type, status, reason, message: escapeText(message).slice(0, 1024), lastTransitionTime, observedGeneration };
}

function learntFields({ edges, learning }: AppGraphInfo): AppGraphStatus {
  const all = edges.reduce((sum, { bandwidth }) => sum + bandwidth, 0);
  if (learning?.kind === 'Unknown') {
    return {};
  }
  const total = { traffic: bandwidthText(all) };
  if (learning === undefined) {
    return total;
  }
  const largest = edges.toSorted((left, right) => right.bandwidth - left.bandwidth).slice(0, MAX_LEARNT_EDGES);
  return {
    ...total,
    learntAt: formatInstant(learning.at),
    edges: largest.map(({ from, to, bandwidth }) => ({ from, to, bandwidth: bandwidthText(bandwidth) })),
    moreEdges: edges.length - largest.length,
    ignoredSamples: learning.ignored,
  };
}

/** The traffic between domains, that of this run in the place of an older one. */
function crossed(
  old: CrossDomain,
  traffic: TrafficReport | undefined,
  application: ApplicationTraffic | undefined,
): CrossDomain {
  if (traffic === undefined) {
    return old;
  }
  const { domain } = traffic;
  const isUnknown = LEFT_ALONE.has(application?.stays?.code ?? '');
  const own = isUnknown ? [] : [{ domain, bandwidth: bandwidthText(application?.before.bandwidth ?? 0) }];
  return old.some((each) => each.domain === domain)
    ? old.flatMap((each) => (each.domain === domain ? own : [each]))
    : [...old, ...own].slice(-MAX_CROSSED_DOMAINS);
}

/** Figures that differ by a smaller share are no news. */
const NEWS = 0.1;

/** Whether a status says something new. When it was learnt, and figures that have changed by less than a tenth, do not count. */
export function isGraphNews(old: AppGraphStatus, next: AppGraphStatus): boolean {
  const [before, after] = [figuresOf(old), figuresOf(next)];
  const isNear = ([key, figure]: readonly [string, number]): boolean => {
    const known = before.get(key) ?? Number.NaN;
    return Math.abs(figure - known) <= NEWS * Math.max(figure, known);
  };
  return wordsOf(old) !== wordsOf(next) || before.size !== after.size || ![...after].every(isNear);
}

function wordsOf({ observedGeneration, conditions = [] }: AppGraphStatus): string {
  const said = conditions.map((each) => [each.type, each.status, each.reason, each.message, each.observedGeneration]);
  return JSON.stringify([observedGeneration, said]);
}

function figuresOf({
  edges = [],
  traffic,
  crossDomain = [],
  ignoredSamples = 0,
}: AppGraphStatus): ReadonlyMap<string, number> {
  return new Map([
    ['ignored', ignoredSamples],
    ...(traffic === undefined ? [] : [['traffic', bitsPerSecond(traffic)] as const]),
    ...edges.map(({ from, to, bandwidth }) => [JSON.stringify([from, to]), bitsPerSecond(bandwidth)] as const),
    ...crossDomain.map(({ domain, bandwidth }) => [JSON.stringify([domain]), bitsPerSecond(bandwidth)] as const),
  ]);
}

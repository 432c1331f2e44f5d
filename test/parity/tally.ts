import { FILTERS } from '../../src/plan/filters/index.ts';
import type { SchedulerVerdict } from './ask-scheduler.ts';
import { type Comparison, compare, type OurVerdict, refusingFilters } from './judge-probe.ts';
import type { PodObject } from './kube-object.ts';
import { filtersIn } from './scheduler-message.ts';

/** A probe with both verdicts. */
export interface Judged {
  /** Seed of the cluster and number of the probe in it: enough to make both again. */
  readonly seed: number;
  readonly probe: number;
  readonly node: string | undefined;
  readonly admitted: PodObject;
  readonly ours: OurVerdict;
  readonly theirs: SchedulerVerdict;
}

/** Refusals by one filter. */
export interface FilterCount {
  /** Probes that our filter refused somewhere. */
  readonly ours: number;
  /** Probes for which the scheduler names the filter; where several refuse a node, it names the first. */
  readonly theirs: number;
}

/** What came of a campaign. */
export interface Tally {
  readonly clusters: number;
  readonly verdicts: number;
  /** Of the verdicts: accepted by the scheduler. */
  readonly accepted: number;
  /** Probes that were not pinned to a node. */
  readonly unpinned: number;
  /** Probes with a constraint that the planner does not evaluate: they are no verdicts. */
  readonly unsupported: number;
  readonly filters: ReadonlyMap<string, FilterCount>;
  readonly disagreements: readonly Judged[];
  /** Both refuse, for different reasons. */
  readonly otherReasons: readonly Judged[];
}

/** Counts what was judged. */
export function tallyOf(judged: readonly Judged[]): Tally {
  const by = Map.groupBy(judged, ({ ours, theirs }): Comparison => compare(ours, theirs));
  const verdicts = judged.filter(({ ours }) => ours.kind === 'Judged');
  return {
    clusters: new Set(judged.map(({ seed }) => seed)).size,
    verdicts: verdicts.length,
    accepted: verdicts.filter(({ theirs }) => theirs.kind === 'Accepted').length,
    unpinned: verdicts.filter(({ node }) => node === undefined).length,
    unsupported: by.get('Unsupported')?.length ?? 0,
    filters: countFilters(verdicts),
    disagreements: by.get('Disagree') ?? [],
    otherReasons: by.get('OtherReason') ?? [],
  };
}

function countFilters(verdicts: readonly Judged[]): ReadonlyMap<string, FilterCount> {
  const counts = new Map<string, { ours: number; theirs: number }>();
  const countOf = (filter: string): { ours: number; theirs: number } => {
    const count = counts.get(filter) ?? { ours: 0, theirs: 0 };
    counts.set(filter, count);
    return count;
  };
  for (const { ours, theirs } of verdicts) {
    for (const filter of refusingFilters(ours)) {
      countOf(filter).ours += 1;
    }
    for (const filter of theirs.kind === 'Refused' ? filtersIn(theirs.message) : []) {
      countOf(filter).theirs += 1;
    }
  }
  return new Map([...counts].sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Filters by which the scheduler can refuse a pod without a node of its own: a pod that names its node is never scheduled. */
const EXPECTED = Object.keys(FILTERS).filter((filter) => filter !== 'NodeName');

/** One verdict in two hundred. */
const LEAST_SHARE = 1 / 200;

/** Filters that refused too seldom for the campaign to prove anything about them. */
export function rareFilters({ verdicts, filters }: Pick<Tally, 'verdicts' | 'filters'>): readonly string[] {
  const least = Math.max(1, Math.floor(verdicts * LEAST_SHARE));
  return EXPECTED.filter((filter) => (filters.get(filter)?.theirs ?? 0) < least);
}

/** Why the campaign does not show what it should, for people; empty when it does. */
export function failuresOf(tally: Tally): readonly string[] {
  const { disagreements, otherReasons, unsupported } = tally;
  return [
    ...(disagreements.length > 0 ? [`${disagreements.length} disagreements`] : []),
    ...(otherReasons.length > 0 ? [`${otherReasons.length} refusals for another reason`] : []),
    ...(unsupported > 0 ? [`${unsupported} probes that our filters do not judge`] : []),
    ...rareFilters(tally).map((filter) => `${filter} refused too seldom`),
  ];
}

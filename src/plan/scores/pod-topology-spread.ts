import type { PodInfo, SpreadConstraint } from '../../model/pod.ts';
import { nodeAffinity } from '../filters/node-affinity.ts';
import { taintToleration } from '../filters/taint-toleration.ts';
import { amountAt, at, type IndexTable, type PodIndex, type SiteIndex } from '../indices.ts';
import type { Domains } from '../topology/domains.ts';
import { isMandatory } from '../topology/trackers.ts';
import { MAX_SCORE, type Score } from './score.ts';
import { podAt, type ScoreContext } from './score-index.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** A constraint that ranks nodes, and the pods that it counts. */
interface Preference {
  readonly constraint: Pick<SpreadConstraint, 'topologyKey' | 'maxSkew' | 'nodeAffinityPolicy' | 'nodeTaintsPolicy'>;
  readonly pods: readonly Int32Array[];
}

/** What the scheduler spreads by when a pod has no constraints of its own (podtopologyspread.systemDefaultConstraints). */
const SYSTEM_DEFAULTS: readonly Preference['constraint'][] = [
  { topologyKey: HOSTNAME, maxSkew: 3, nodeAffinityPolicy: 'Honor', nodeTaintsPolicy: 'Ignore' },
  { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5, nodeAffinityPolicy: 'Honor', nodeTaintsPolicy: 'Ignore' },
];

/** Owners from whose selector the scheduler makes that of the defaults (helper.DefaultSelector). */
const SPREAD_OWNERS: ReadonlySet<string> = new Set(['ReplicaSet', 'StatefulSet', 'ReplicationController']);

/**
 * kube-scheduler's PodTopologySpread with ScheduleAnyway: the fewer matching pods in the node's domains, the better. A node
 * that lacks the topology key of one of the pod's own constraints gets 0.
 *
 * Pods without any constraint are spread by the system's defaults. The scheduler counts for them what the selectors of the
 * pod's Services and of its ReplicaSet, StatefulSet or ReplicationController all match, which comes to the pods of that
 * controller; so they are what is counted here. Pods of other controllers, which it spreads by their Services alone, are
 * not spread by default here: Services are not part of a snapshot.
 */
export const podTopologySpread: Score = (place, feasible, ground) => {
  const pod = podAt(ground.index, place);
  const hasOwn = pod.constraints.spread.length > 0;
  const preferences = hasOwn ? ownPreferences(pod, ground) : defaultPreferences(place, ground);
  if (preferences.length === 0) {
    return new Int32Array(feasible.length);
  }
  const keys = preferences.map(({ constraint }) => ground.index.domainsOf(constraint.topologyKey).of);
  const isRanked = (site: SiteIndex): boolean => !hasOwn || keys.every((of) => at(of, site) >= 0);
  const ranked = hasOwn ? feasible.filter(isRanked) : feasible;
  const sums = new Float64Array(ranked.length);
  for (const preference of preferences) {
    addCosts(sums, preference, pod, ranked, isRanked, ground);
  }
  const scores = turnAround(sums);
  return hasOwn ? spreadOut(scores, feasible, isRanked) : scores;
};

function ownPreferences({ constraints, namespace }: PodInfo, { index }: ScoreContext): readonly Preference[] {
  return constraints.spread
    .filter((constraint) => !isMandatory(constraint))
    .map((constraint) => ({ constraint, pods: index.terms().spreadOver(constraint, namespace) }));
}

function defaultPreferences(pod: PodIndex, { index }: ScoreContext): readonly Preference[] {
  const { owner } = podAt(index, pod);
  if (owner === undefined || !SPREAD_OWNERS.has(owner.kind)) {
    return [];
  }
  const pods = index.siblingsOf(pod);
  return SYSTEM_DEFAULTS.map((constraint) => ({ constraint, pods: [pods] }));
}

/** Adds what each node costs by one constraint (podtopologyspread.scoreForCount): nothing without the topology key. */
function addCosts(
  sums: Float64Array,
  { constraint, pods }: Preference,
  pod: PodInfo,
  ranked: IndexTable<number, SiteIndex>,
  isRanked: (site: SiteIndex) => boolean,
  ground: ScoreContext,
): void {
  const { topologyKey, maxSkew } = constraint;
  const { of, values } = ground.index.domainsOf(topologyKey);
  const isHost = topologyKey === HOSTNAME;
  const counts = new Map<number, number>();
  const count = (other: PodIndex): void => {
    const site = ground.siteOf(other);
    if (site >= 0 && (isHost || (isRanked(site) && isIncluded(constraint, pod, site, ground)))) {
      const place = isHost ? site : at(of, site);
      counts.set(place, (counts.get(place) ?? 0) + 1);
    }
  };
  for (const group of pods) {
    group.forEach(count);
  }
  const weight = Math.log((isHost ? ranked.length : domainsAmong(ranked, of, values.length)) + 2);
  for (let place = 0; place < ranked.length; place += 1) {
    const site = at(ranked, place);
    const domain = at(of, site);
    if (domain >= 0) {
      sums[place] = amountAt(sums, place) + (counts.get(isHost ? site : domain) ?? 0) * weight + (maxSkew - 1);
    }
  }
}

/** How many domains some nodes are in, those without the label together being one. */
function domainsAmong(sites: Int32Array, of: Domains['of'], domains: number): number {
  const isSeen = new Uint8Array(domains + 1);
  for (const site of sites) {
    isSeen[at(of, site) + 1] = 1;
  }
  return isSeen.reduce((sum, seen) => sum + seen, 0);
}

/** podtopologyspread.matchNodeInclusionPolicies. */
function isIncluded(
  { nodeAffinityPolicy, nodeTaintsPolicy }: Preference['constraint'],
  { constraints }: PodInfo,
  site: SiteIndex,
  { index }: ScoreContext,
): boolean {
  const node = index.nodes[site];
  return (
    node !== undefined &&
    (nodeAffinityPolicy === 'Ignore' || nodeAffinity({ constraints }, node) === undefined) &&
    (nodeTaintsPolicy === 'Ignore' || taintToleration({ constraints }, node) === undefined)
  );
}

/** From rounded costs to scores: the least costly nodes become 100 (podtopologyspread.NormalizeScore). */
function turnAround(costs: Float64Array): Int32Array {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (const cost of costs) {
    least = Math.min(least, Math.round(cost));
    most = Math.max(most, Math.round(cost));
  }
  const scores = new Int32Array(costs.length).fill(MAX_SCORE);
  if (most > 0) {
    for (let place = 0; place < costs.length; place += 1) {
      scores[place] = (MAX_SCORE * (most + least - Math.round(amountAt(costs, place)))) / most;
    }
  }
  return scores;
}

/** The scores of the ranked nodes at their places among all feasible ones, and 0 for the others. */
function spreadOut(scores: Int32Array, feasible: Int32Array, isRanked: (site: SiteIndex) => boolean): Int32Array {
  let next = 0;
  return feasible.map((site) => {
    if (!isRanked(site)) {
      return 0;
    }
    next += 1;
    return scores[next - 1] ?? 0;
  });
}

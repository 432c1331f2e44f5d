import { HOSTNAME_LABEL, type Placement } from '../model/placement.ts';
import type { PodInfo } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { nodesToScore } from '../plan/hit-ratio.ts';
import { at, itemAt, type PodIndex, type SiteIndex } from '../plan/indices.ts';
import { type SchedulerView, schedulerView } from '../plan/scheduler-view.ts';
import { canBeNarrowed, steeredConstraints } from './constraints.ts';

/** Nodes that a pod is kept to at most: enough that it finds room elsewhere should that of its target be taken. */
const MOST_ALTERNATIVES = 20;
/** Points by which the target is to beat an alternative, if there are enough such: others change between now and then. */
const MARGIN = 60;
/** How often alternatives that came out wrong are taken away before the preference stands alone. */
const MOST_ROUNDS = 3;

/** A pod that is about to be made anew, or that waits at our gate. */
export interface SteeredPod {
  /** UID of the pod in the snapshot whose constraints it has: of the one to evict, or its own. */
  readonly uid: string;
  readonly target: string;
  readonly fallbacks: readonly string[];
}

/** When a pod is kept to alternatives. */
export type Narrowing =
  /** Where the preference alone would not decide. */
  | 'IfNeeded'
  /** Wherever it can be: at our gate nothing else is to decide. */
  | 'Always';

/** A pod with alternatives, and where it could run without them. */
interface Proposal {
  readonly placement: Placement & { readonly alternatives: readonly string[] };
  /** Places of the nodes on which all filters let it run. */
  readonly feasible: ReadonlySet<SiteIndex>;
}

/**
 * Where pods are to run, by their UIDs, as the cluster stands in `snapshot` and once all of them are where they should be. A
 * preference decides only among nodes that the scheduler scores, and against other scores. Where it would not, the pod is kept
 * to alternatives (steering.md, named alternatives): nodes on which all filters let it run, and whose score stays below that
 * of the target, as our own scores have it under the very constraints that the pod will have. Where there are no such
 * alternatives, the preference stands alone. A pod that the snapshot does not have is preferred to its target, no more.
 */
export function choosePlacements(
  snapshot: ClusterSnapshot,
  pods: readonly SteeredPod[],
  narrowing: Narrowing,
): ReadonlyMap<string, Placement> {
  const plain = new Map<string, Placement>(
    pods.map(({ uid, target, fallbacks }) => [uid, { target, fallbacks, alternatives: undefined }]),
  );
  const view = viewOf(snapshot, plain);
  const proposals = new Map<string, Proposal>();
  for (const [uid, placement] of plain) {
    const proposal = propose(view, snapshot.pods, uid, placement, narrowing);
    if (proposal !== undefined) {
      proposals.set(uid, proposal);
    }
  }
  const settled = settle(snapshot, plain, proposals, MOST_ROUNDS);
  return new Map([...plain].map(([uid, placement]) => [uid, settled.get(uid)?.placement ?? placement]));
}

/** Takes away what comes out wrong under the names themselves, until nothing does. */
function settle(
  snapshot: ClusterSnapshot,
  plain: ReadonlyMap<string, Placement>,
  proposals: ReadonlyMap<string, Proposal>,
  rounds: number,
): ReadonlyMap<string, Proposal> {
  if (proposals.size === 0) {
    return proposals;
  }
  const placements = [...proposals].map(([uid, { placement }]) => [uid, placement] as const);
  const view = viewOf(snapshot, new Map([...plain, ...placements]));
  const next = new Map<string, Proposal>();
  let isSettled = true;
  for (const [uid, proposal] of proposals) {
    const better = confirmed(view, uid, proposal);
    isSettled &&= better === proposal;
    if (better !== undefined && (better === proposal || rounds > 0)) {
      next.set(uid, better);
    }
  }
  return isSettled ? proposals : settle(snapshot, plain, next, rounds - 1);
}

/** All of the pods on their targets, steered. */
function viewOf(snapshot: ClusterSnapshot, placements: ReadonlyMap<string, Placement>): SchedulerView {
  const pods = snapshot.pods.map((pod) => {
    const placement = placements.get(pod.uid);
    return placement === undefined
      ? pod
      : { ...pod, nodeName: placement.target, constraints: steeredConstraints(pod.constraints, placement) };
  });
  return schedulerView({ ...snapshot, pods });
}

/** A node by its place, and the score that it would come to. */
interface Candidate {
  readonly site: SiteIndex;
  readonly total: number;
}

/** Alternatives that look right; `undefined` where they are not needed, or cannot be named. */
function propose(
  view: SchedulerView,
  pods: readonly PodInfo[],
  uid: string,
  placement: Placement,
  narrowing: Narrowing,
): Proposal | undefined {
  const pod = view.podOf(uid);
  if (pod < 0 || !canBeNarrowed(itemAt(pods, pod).constraints)) {
    return undefined;
  }
  const feasible = view.feasible(pod);
  const totals = view.totals(pod, feasible);
  const ranking = [...feasible].map((site, place): Candidate => ({ site, total: at(totals, place) }));
  const target = ranking.find(({ site }) => view.nodes[site]?.name === placement.target);
  if (target === undefined) {
    return undefined;
  }
  const others = ranking.filter((candidate) => candidate !== target);
  const beaten = others.filter(({ total }) => total < target.total);
  const isDecided = feasible.length <= nodesToScore(view.nodes.length) && beaten.length === others.length;
  if (isDecided && narrowing === 'IfNeeded') {
    return undefined;
  }
  const ranked = inOrder(view, beaten, target.total, new Set(placement.fallbacks));
  const alternatives = nameNodes(view, pods, pod, [target.site, ...ranked]);
  return alternatives && { placement: { ...placement, alternatives }, feasible: new Set(feasible) };
}

/** Fallbacks first, then those that the target beats by far, the best of them first since they have most room, then the rest. */
function inOrder(
  { nodes }: SchedulerView,
  beaten: readonly Candidate[],
  best: number,
  fallbacks: ReadonlySet<string>,
): readonly SiteIndex[] {
  const classOf = ({ site, total }: Candidate): number => {
    const isFar = best - total >= MARGIN;
    return fallbacks.has(nodes[site]?.name ?? '') ? 0 : isFar ? 1 : 2;
  };
  return beaten
    .toSorted(
      (left, right) =>
        classOf(left) - classOf(right) ||
        (classOf(left) === 2 ? left.total - right.total : right.total - left.total) ||
        left.site - right.site,
    )
    .map(({ site }) => site);
}

/**
 * Host names of at most MOST_ALTERNATIVES nodes: of the first, which is the target, of one of each domain that must be there,
 * and of the others in their order. `undefined` when the target has no name of its own, or there are too many domains.
 */
function nameNodes(
  view: SchedulerView,
  pods: readonly PodInfo[],
  pod: PodIndex,
  ranked: readonly SiteIndex[],
): readonly string[] | undefined {
  const hosts = uniqueHosts(view);
  const [target = -1, ...others] = ranked;
  const cover = domainCover(view, pods, pod, ranked, hosts);
  const sites = [...new Set([target, ...cover, ...others])].filter((site) => hosts.has(site));
  return hosts.has(target) && cover.length <= MOST_ALTERNATIVES
    ? sites.slice(0, MOST_ALTERNATIVES).flatMap((site) => hosts.get(site) ?? [])
    : undefined;
}

/** Host names of the nodes that have one of their own. */
function uniqueHosts({ nodes }: SchedulerView): ReadonlyMap<SiteIndex, string> {
  const byHost = Map.groupBy(nodes.keys(), (site) => nodes[site]?.labels.get(HOSTNAME_LABEL));
  return new Map(
    [...byHost].flatMap(([host, [first, second]]) =>
      host === undefined || first === undefined || second !== undefined ? [] : [[first, host] as const],
    ),
  );
}

/**
 * One node of each domain by which the pod must be spread, of those that are ranked if it can be. PodTopologySpread counts only
 * nodes that match the node affinity of the pod (nodeAffinityPolicy Honor): a domain that no alternative is in would count no
 * more, and with minDomains the least count would be taken to be 0. In a domain that has no room, the node with most pods of
 * the same controller stands for it. By host name every node is a domain, and to leave some out makes the least count higher.
 */
function domainCover(
  view: SchedulerView,
  pods: readonly PodInfo[],
  pod: PodIndex,
  ranked: readonly SiteIndex[],
  hosts: ReadonlyMap<SiteIndex, string>,
): readonly SiteIndex[] {
  const { constraints, owner } = itemAt(pods, pod);
  const keys = constraints.spread
    .filter(
      ({ whenUnsatisfiable, nodeAffinityPolicy: policy }) =>
        whenUnsatisfiable === 'DoNotSchedule' && policy === 'Honor',
    )
    .map(({ topologyKey }) => topologyKey)
    .filter((key) => key !== HOSTNAME_LABEL);
  if (keys.length === 0) {
    return [];
  }
  const siblings = Map.groupBy(
    pods.filter((other) => other.owner?.uid === owner?.uid),
    ({ nodeName }) => nodeName,
  );
  const countOn = (site: SiteIndex): number => siblings.get(view.nodes[site]?.name)?.length ?? 0;
  const isCounted = (site: SiteIndex): boolean =>
    hosts.has(site) && view.refusals(pod, site).every(({ filter }) => filter !== 'NodeAffinity');
  const rest = [...view.nodes.keys()].filter(isCounted).sort((left, right) => countOn(right) - countOn(left));
  const covered = new Set<string>();
  return [...ranked.filter(isCounted), ...rest].filter((site) => {
    const domains = keys.map((key) => `${key}=${view.nodes[site]?.labels.get(key)}`);
    const isNew = domains.some((domain) => !covered.has(domain));
    for (const domain of domains) {
      covered.add(domain);
    }
    return isNew;
  });
}

/**
 * The proposal under whose names the target wins: the very same when it does, one with fewer names when some came out ahead,
 * or would take the pod only since there are names, `undefined` when the target itself takes it no more.
 */
function confirmed(view: SchedulerView, uid: string, proposal: Proposal): Proposal | undefined {
  const { placement, feasible } = proposal;
  const pod = view.podOf(uid);
  const open = view.feasible(pod);
  const totals = view.totals(pod, open);
  const target = open.findIndex((site) => view.nodes[site]?.name === placement.target);
  if (target < 0) {
    return undefined;
  }
  const wrong = new Set(
    [...open]
      .filter((site, place) => place !== target && (at(totals, place) >= at(totals, target) || !feasible.has(site)))
      .map((site) => view.nodes[site]?.labels.get(HOSTNAME_LABEL)),
  );
  const alternatives = placement.alternatives.filter((host) => !wrong.has(host));
  return wrong.size === 0 ? proposal : { ...proposal, placement: { ...placement, alternatives } };
}

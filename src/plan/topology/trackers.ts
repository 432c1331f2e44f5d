import type { NodeInfo } from '../../model/node.ts';
import { oncePer } from '../../model/once-per.ts';
import type { PodAffinityTerm, PodInfo, SchedulingConstraints, SpreadConstraint } from '../../model/pod.ts';
import { matches } from '../../model/selector.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { nodeAffinity } from '../filters/node-affinity.ts';
import { taintToleration } from '../filters/taint-toleration.ts';
import { at, type DomainIndex, type IndexTable, type SiteIndex, type TrackerIndex } from '../indices.ts';
import type { PodKind } from '../pod-kinds.ts';
import { createDomainIndex, type Domains } from './domains.ts';
import { createSelectorIndex } from './selector-index.ts';
import { resolveTerm, selects, type Term, termAsPlaced } from './terms.ts';

/** Counts pods of one kind per domain of one topology key. */
export interface Tracker {
  readonly domains: Domains;
  /** Domain by place of the node, -1 for nodes whose pods do not count. */
  readonly counted: IndexTable<SiteIndex, DomainIndex>;
  /** Domains with a node whose pods count. */
  readonly eligible: number;
}

/** A required anti-affinity term: who matches it, and who carries it. Trackers are named by their place. */
export interface AntiTerm {
  readonly matching: TrackerIndex;
  readonly holding: TrackerIndex;
}

/** A spread constraint of some pods, and the tracker of those that it counts. */
export interface SpreadTerm {
  readonly constraint: SpreadConstraint;
  readonly tracker: TrackerIndex;
}

/** Required terms of a pod that have to do with other pods. */
export interface PodTerms {
  /** One tracker per topology key, each counting the pods that match all terms; empty without required affinity. */
  readonly affinity: readonly TrackerIndex[];
  /** A term selects no pods at all, so that the affinity cannot be met. */
  readonly hopeless: boolean;
  readonly antiAffinity: readonly AntiTerm[];
  /** Constraints that refuse nodes. */
  readonly spread: readonly SpreadTerm[];
  /** Those that rank nodes; empty unless they are asked for. */
  readonly softSpread: readonly SpreadTerm[];
}

/** The trackers of a cluster. */
export interface Registry {
  readonly trackers: readonly Tracker[];
  /** Terms of pods with these constraints in this namespace, registered on first use. */
  readonly register: (constraints: SchedulingConstraints, namespace: string) => PodTerms;
  /** Trackers that count a pod of this kind, ascending; complete once all terms are registered. */
  readonly counting: (kind: PodKind) => IndexTable<number, TrackerIndex>;
  /** Trackers of the pods that carry an anti-affinity term which matches the pod. */
  readonly repelling: (kind: PodKind) => readonly TrackerIndex[];
  /** The constraints whose pods a tracker counts, each with another limit; empty for a tracker of anything else. */
  readonly constraintsOf: (tracker: TrackerIndex) => readonly SpreadConstraint[];
  /** The tracker of the pods of the same controller with the same images; `undefined` when these are not counted. */
  readonly duplicatesOf: (kind: PodKind) => TrackerIndex | undefined;
}

/** What is counted besides what the filters look at. */
export interface ExtraTrackers {
  /** Constraints that rank nodes. */
  readonly softSpread: boolean;
  /** Pods of one controller with the same images, node by node. */
  readonly duplicates: boolean;
}

/** The filters look at nothing more. */
export const NO_EXTRA_TRACKERS: ExtraTrackers = { softSpread: false, duplicates: false };

/** Says whether a pod of a kind counts, for pods whose labels match the selector under which the tracker is filed. */
interface Member {
  /** Counts the pods that are accepted, or those whose anti-affinity term accepts them. */
  readonly tracker: TrackerIndex;
  readonly side: 'Counted' | 'Repelled';
  readonly accepts: (kind: PodKind) => boolean;
}

const NO_TERMS: PodTerms = { affinity: [], hopeless: false, antiAffinity: [], spread: [], softSpread: [] };

/** Whether pods with these constraints bring any terms; those that only rank nodes are none unless `soft`. */
export function hasTerms({ podAffinity, podAntiAffinity, spread }: SchedulingConstraints, soft = false): boolean {
  return podAffinity.length > 0 || podAntiAffinity.length > 0 || (soft ? spread.length > 0 : spread.some(isMandatory));
}

/** Whether a spread constraint refuses nodes instead of ranking them. */
export function isMandatory({ whenUnsatisfiable }: SpreadConstraint): boolean {
  return whenUnsatisfiable === 'DoNotSchedule';
}

/** A registry without trackers over all nodes of a cluster. Equal terms share their trackers, whoever carries them. */
export function createRegistry(
  nodes: readonly NodeInfo[],
  namespaces: ClusterSnapshot['namespaces'],
  { softSpread, duplicates }: ExtraTrackers = NO_EXTRA_TRACKERS,
): Registry {
  const domainsOf = createDomainIndex(nodes);
  const trackers: Tracker[] = [];
  const byKey = new Map<string, TrackerIndex>();
  const members = createSelectorIndex<Member>();
  const grounds = new Map<string, Tracker>();
  const holders = new Map<SchedulingConstraints, Map<string, PodTerms>>();
  const limits = new Map<TrackerIndex, SpreadConstraint[]>();

  /** The tracker of this key; `make` is called for a new one. */
  const tracker = (key: string, make: () => Tracker, file: (place: TrackerIndex) => void): TrackerIndex => {
    const known = byKey.get(key);
    if (known !== undefined) {
      return known;
    }
    const place = trackers.push(make()) - 1;
    byKey.set(key, place);
    file(place);
    return place;
  };

  const everyNode = (topologyKey: string): Tracker => {
    const domains = domainsOf(topologyKey);
    return { domains, counted: domains.of, eligible: domains.values.length };
  };

  const antiTerm = (term: Term, asPlaced: Term): AntiTerm => {
    const file = (filed: Term, side: Member['side']) => (place: TrackerIndex) => {
      const accepts = ({ namespace }: PodKind): boolean => isIn(filed, namespace);
      members.add(filed.selector, { tracker: place, side, accepts });
    };
    const make = () => everyNode(term.topologyKey);
    return {
      holding: tracker(`holding ${JSON.stringify(term)}`, make, file(term, 'Repelled')),
      matching: tracker(`matching ${JSON.stringify(asPlaced)}`, make, file(asPlaced, 'Counted')),
    };
  };

  const affinityGroup = (terms: readonly Term[]): readonly TrackerIndex[] => {
    const [first] = terms;
    if (first === undefined) {
      return [];
    }
    const key = JSON.stringify(terms);
    const accepts = ({ namespace, labels }: PodKind): boolean =>
      terms.every((term) => selects(term, namespace, labels));
    return [...new Set(terms.map(({ topologyKey }) => topologyKey))].map((topologyKey) =>
      tracker(
        `affinity ${topologyKey} ${key}`,
        () => everyNode(topologyKey),
        (place) => members.add(first.selector, { tracker: place, side: 'Counted', accepts }),
      ),
    );
  };

  const spreadTerm = (
    constraint: SpreadConstraint,
    constraints: SchedulingConstraints,
    namespace: string,
  ): SpreadTerm => {
    const { selector } = constraint;
    const ground = groundKey(constraint, constraints);
    const place = tracker(
      `spread ${JSON.stringify([namespace, selector ?? null])} ${ground}`,
      () => {
        const known = grounds.get(ground) ?? eligibleNodes(constraint, constraints, nodes, domainsOf);
        grounds.set(ground, known);
        return known;
      },
      (found) => {
        // An empty selector counts no pods (podtopologyspread.countPodsMatchSelector), nor does a null one.
        if (selector !== undefined && selector.requirements.length > 0) {
          const accepts = (kind: PodKind): boolean => kind.namespace === namespace && !kind.terminating;
          members.add(selector, { tracker: found, side: 'Counted', accepts });
        }
      },
    );
    const known = limits.get(place) ?? [];
    if (!known.some((other) => hasLimitsOf(constraint, other))) {
      limits.set(place, [...known, constraint]);
    }
    return { constraint, tracker: place };
  };

  const create = (constraints: SchedulingConstraints, namespace: string): PodTerms => {
    const { podAffinity, podAntiAffinity, spread } = constraints;
    const resolve = (term: PodAffinityTerm): Term | undefined => resolveTerm(term, namespace, namespaces);
    const affinity = podAffinity.map(resolve);
    // Both readings must hold; they are mostly the same.
    const asPlaced = podAffinity.map(termAsPlaced).map(resolve);
    return {
      affinity: [...new Set([affinity, asPlaced].flatMap((terms) => affinityGroup(terms.filter(isTerm))))],
      hopeless: affinity.includes(undefined),
      antiAffinity: podAntiAffinity.flatMap((each) => {
        const [term, own] = [resolve(each), resolve(termAsPlaced(each))];
        return term === undefined || own === undefined ? [] : [antiTerm(term, own)];
      }),
      spread: spread.filter(isMandatory).map((constraint) => spreadTerm(constraint, constraints, namespace)),
      softSpread: softSpread
        ? spread
            .filter((constraint) => !isMandatory(constraint))
            .map((constraint) => spreadTerm(constraint, constraints, namespace))
        : [],
    };
  };

  const everySite: Tracker = {
    domains: { key: '', of: Int32Array.from(nodes.keys()), values: nodes.map(({ name }) => name) },
    counted: Int32Array.from(nodes.keys()),
    eligible: nodes.length,
  };
  /** By controller and images; pods that are being deleted do not count. */
  const duplicatesOf = oncePer(({ owner, constraints, terminating }: PodKind): readonly TrackerIndex[] =>
    duplicates && owner !== undefined && owner.kind !== 'DaemonSet' && !terminating
      ? [
          tracker(
            `duplicates ${owner.uid} ${constraints.images.toSorted().join(' ')}`,
            () => everySite,
            () => undefined,
          ),
        ]
      : [],
  );

  const register = (constraints: SchedulingConstraints, namespace: string): PodTerms => {
    if (!hasTerms(constraints, softSpread)) {
      return NO_TERMS;
    }
    const byNamespace = holders.get(constraints) ?? new Map<string, PodTerms>();
    holders.set(constraints, byNamespace);
    const known = byNamespace.get(namespace) ?? create(constraints, namespace);
    byNamespace.set(namespace, known);
    return known;
  };

  const matching = (kind: PodKind): readonly Member[] =>
    members.find(kind.labels).filter(({ accepts }) => accepts(kind));
  return {
    trackers,
    register,
    counting: (kind) => {
      const holding = register(kind.constraints, kind.namespace).antiAffinity.map((term) => term.holding);
      const counted = matching(kind).flatMap(({ side, tracker: place }) => (side === 'Counted' ? [place] : []));
      const places = new Set([...counted, ...holding, ...duplicatesOf(kind)]);
      return Int32Array.from(places).sort();
    },
    repelling: (kind) => matching(kind).flatMap(({ side, tracker: place }) => (side === 'Repelled' ? [place] : [])),
    constraintsOf: (place) => limits.get(place) ?? [],
    duplicatesOf: (kind) => duplicatesOf(kind)[0],
  };
}

function hasLimitsOf(left: SpreadConstraint, right: SpreadConstraint): boolean {
  return (
    left.maxSkew === right.maxSkew &&
    left.minDomains === right.minDomains &&
    left.whenUnsatisfiable === right.whenUnsatisfiable
  );
}

function isTerm(term: Term | undefined): term is Term {
  return term !== undefined;
}

function isIn({ namespaces }: Term, namespace: string): boolean {
  return namespaces === undefined || namespaces.includes(namespace);
}

/** Whether the pod matches the constraint's selector and so adds to the domain that it lands in. */
export function addsToSpread({ selector }: SpreadConstraint, { labels }: Pick<PodInfo, 'labels'>): boolean {
  return selector !== undefined && matches(selector, labels);
}

/** Equal for constraints that count pods on the same nodes by the same domains. */
function groundKey(constraint: SpreadConstraint, constraints: SchedulingConstraints): string {
  const { topologyKey, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
  const { nodeSelector, nodeAffinity: terms, tolerations, spread } = constraints;
  const keys = spread.filter((each) => isLike(each, constraint)).map((each) => each.topologyKey);
  const affinity = nodeAffinityPolicy === 'Honor' ? [[...nodeSelector].sort(), terms ?? null] : null;
  const taints = nodeTaintsPolicy === 'Honor' ? tolerations : null;
  return JSON.stringify([topologyKey, keys.sort(), affinity, taints]);
}

/** Whether both refuse nodes, or both rank them. */
function isLike(left: SpreadConstraint, right: SpreadConstraint): boolean {
  return isMandatory(left) === isMandatory(right);
}

/**
 * Nodes that carry the topology keys of all constraints of the pod that are as strict of the pod, and that the node policies do not leave out
 * (podtopologyspread.calPreFilterState, matchNodeInclusionPolicies).
 */
function eligibleNodes(
  constraint: SpreadConstraint,
  constraints: SchedulingConstraints,
  nodes: readonly NodeInfo[],
  domainsOf: (key: string) => Domains,
): Tracker {
  const { topologyKey, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
  const required = constraints.spread
    .filter((each) => isLike(each, constraint))
    .map((each) => domainsOf(each.topologyKey));
  const domains = domainsOf(topologyKey);
  const seen = new Set<number>();
  const counted = domains.of.map((domain, place) => {
    const node = nodes[place];
    const counts =
      node !== undefined &&
      required.every(({ of }) => at(of, place) >= 0) &&
      (nodeAffinityPolicy === 'Ignore' || nodeAffinity({ constraints }, node) === undefined) &&
      (nodeTaintsPolicy === 'Ignore' || taintToleration({ constraints }, node) === undefined);
    if (counts) {
      seen.add(domain);
    }
    return counts ? domain : -1;
  });
  return { domains, counted, eligible: seen.size };
}

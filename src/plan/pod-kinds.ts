import type { PodInfo, SchedulingConstraints } from '../model/pod.ts';
import type { Labels } from '../model/selector.ts';
import { at, type IndexTable, itemAt, type KindIndex, type PodIndex } from './indices.ts';

/** What pods of one template have in common. */
export interface PodKind
  extends Pick<
    PodInfo,
    'labels' | 'namespace' | 'terminating' | 'constraints' | 'owner' | 'priority' | 'priorityClassName'
  > {
  /** They have claims, of which each pod of a StatefulSet has its own. */
  readonly mounts: boolean;
}

/** Pods sorted into kinds, so that what is true of a template is worked out once. Pods are named by their place. */
export interface PodKinds {
  readonly list: readonly PodKind[];
  /** Place of the kind by place of the pod. */
  readonly ofPod: IndexTable<PodIndex, KindIndex>;
  /** The first pod of each kind. */
  readonly firstOf: IndexTable<KindIndex, PodIndex>;
}

/**
 * By identity, since pods of one template share labels and constraints; pods are in order, so the last kind is tried first.
 * Kinds are in the order of their first pods.
 */
export function sortIntoKinds(pods: readonly PodInfo[]): PodKinds {
  const list: PodKind[] = [];
  const byLabels = new Map<Labels, Map<SchedulingConstraints, number[]>>();
  const ofPod = new Int32Array(pods.length);
  const firstOf: PodIndex[] = [];
  const find = (pod: PodInfo, at: PodIndex): number => {
    const byConstraints = byLabels.get(pod.labels) ?? new Map<SchedulingConstraints, number[]>();
    byLabels.set(pod.labels, byConstraints);
    const candidates = byConstraints.get(pod.constraints) ?? [];
    byConstraints.set(pod.constraints, candidates);
    const known = candidates.find((place) => isOfKind(pod, list[place]));
    if (known !== undefined) {
      return known;
    }
    const { labels, namespace, terminating, constraints, owner, priority, priorityClassName, claims } = pod;
    const mounts = claims.length > 0;
    const kind = { labels, namespace, terminating, constraints, owner, priority, priorityClassName, mounts };
    const place = list.push(kind) - 1;
    candidates.push(place);
    firstOf.push(at);
    return place;
  };
  let last = -1;
  pods.forEach((pod, place) => {
    last = isOfKind(pod, list[last]) ? last : find(pod, place);
    ofPod[place] = last;
  });
  return { list, ofPod, firstOf: Int32Array.from(firstOf) };
}

/** What `make` makes of the kind of a pod: once for each, when it is first asked for. */
export function perKind<Value extends object>(
  { list, ofPod }: PodKinds,
  make: (kind: PodKind, place: KindIndex) => Value,
): (pod: PodIndex) => Value {
  const known: (Value | undefined)[] = new Array(list.length);
  return (pod) => {
    const place = at(ofPod, pod);
    const value = known[place] ?? make(itemAt(list, place), place);
    known[place] = value;
    return value;
  };
}

function isOfKind(pod: PodInfo, kind: PodKind | undefined): boolean {
  return (
    kind !== undefined &&
    pod.labels === kind.labels &&
    pod.constraints === kind.constraints &&
    pod.namespace === kind.namespace &&
    pod.terminating === kind.terminating &&
    pod.priority === kind.priority &&
    pod.priorityClassName === kind.priorityClassName &&
    pod.claims.length > 0 === kind.mounts &&
    (pod.owner === kind.owner || pod.owner?.uid === kind.owner?.uid)
  );
}

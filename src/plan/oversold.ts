import { MEASURED_RESOURCES, offeredOf, requestedOf } from '../model/resources.ts';
import { matches } from '../model/selector.ts';
import type { ServiceClass } from '../model/service-level.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { classOf } from '../qos/class-of.ts';
import type { ScopeOptions } from './options.ts';
import { scopeTest } from './scope.ts';

/** What promises are held against: requests of CPU and memory, and places for pods. */
const RESOURCES = [...MEASURED_RESOURCES, 'pods'] as const;
type PromisedResource = (typeof RESOURCES)[number];

/** A resource of which classes were promised more, at every moment in the mean, than nodes have for them. */
export interface Oversold {
  readonly resource: PromisedResource;
  /** Sum of SLO x requests over all pods in scope with a class, in the unit of the resource (millicores, bytes, pods). */
  readonly promised: number;
  /** What the nodes in scope can give to those pods: allocatable less what all others request there. */
  readonly capacity: number;
  /** Names of the classes that cannot get all of what they were promised, by importance; the least important first. */
  readonly givingWay: readonly string[];
}

/**
 * Whether more was promised than there is room for, whoever runs: of the resource for which it is so the most. `undefined` while
 * all promises fit, although starts, terminations and fragments of room may still keep some from being kept. Pods that have
 * ended, and nodes that take no pods, do not count.
 */
export function oversold(snapshot: ClusterSnapshot, scope: ScopeOptions): Oversold | undefined {
  const { promises, others } = shareOut(snapshot, scope);
  const nodes = snapshot.nodes.filter(
    ({ labels, ready, unschedulable }) => ready && !unschedulable && matches(scope.nodeSelector, labels),
  );
  const names = new Set(nodes.map(({ name }) => name));
  const taken = others.filter(({ nodeName }) => names.has(nodeName ?? ''));
  const found = RESOURCES.flatMap((resource) => {
    const allocatable = nodes.reduce((sum, node) => sum + offeredOf(node.allocatable, resource), 0);
    const capacity = allocatable - taken.reduce((sum, pod) => sum + requestedOf(pod.constraints.requests, resource), 0);
    const parts = promises.map(({ serviceClass, pods }) => ({
      serviceClass,
      promised: serviceClass.slo * pods.reduce((sum, pod) => sum + requestedOf(pod.constraints.requests, resource), 0),
    }));
    const promised = parts.reduce((sum, part) => sum + part.promised, 0);
    return promised > capacity ? [{ resource, promised, capacity, givingWay: givingWay(parts, capacity) }] : [];
  });
  return found.sort((left, right) => ratioOf(right) - ratioOf(left))[0];
}

/** A class with its pods, and what it was promised of a resource. */
interface Part {
  readonly serviceClass: ServiceClass;
  readonly promised: number;
}

function shareOut(snapshot: ClusterSnapshot, scope: ScopeOptions) {
  const isInScope = scopeTest(scope, snapshot);
  const alive = snapshot.pods.filter(({ phase }) => phase !== 'Succeeded' && phase !== 'Failed');
  const groups = Map.groupBy(alive, (pod) =>
    isInScope(pod) ? classOf(pod, snapshot.serviceLevels, snapshot.namespaces) : undefined,
  );
  const promises = [...groups].flatMap(([serviceClass, pods]) =>
    serviceClass === undefined ? [] : [{ serviceClass, pods: pods.filter(({ terminating }) => !terminating) }],
  );
  return { promises, others: groups.get(undefined) ?? [] };
}

/** Whose promises do not fit once those of all more important classes are kept. */
function givingWay(parts: readonly Part[], capacity: number): readonly string[] {
  const ranked = parts.toSorted(
    ({ serviceClass: left }, { serviceClass: right }) => left.importance - right.importance,
  );
  let left = capacity;
  const short: string[] = [];
  for (const { serviceClass, promised } of ranked) {
    left -= promised;
    if (left < 0 && promised > 0) {
      short.push(serviceClass.name);
    }
  }
  return short.reverse();
}

function ratioOf({ promised, capacity }: Pick<Oversold, 'promised' | 'capacity'>): number {
  return capacity <= 0 ? Number.POSITIVE_INFINITY : promised / capacity;
}

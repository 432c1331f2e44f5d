import { EXCLUDED_NAMESPACES } from '../model/excluded-namespaces.ts';
import type { PodInfo } from '../model/pod.ts';
import type { Labels } from '../model/selector.ts';
import type { AssignedClasses, ServiceClass, ServiceLevels } from '../model/service-level.ts';

/** Label of a pod template or a namespace that names the ServiceClass of its workloads. */
export const CLASS_LABEL = 'evenkeel.dev/service-class';

/**
 * Name of the class of a pod, whether there is such a class or not: the one that its label names, else the label of its
 * namespace, else that of its PriorityClass, else the default one, which pods of the system never have (api.md, service
 * classes).
 */
export function classNameOf(
  { labels, namespace, priorityClassName }: Pick<PodInfo, 'labels' | 'namespace' | 'priorityClassName'>,
  { byPriorityClass, byDefault }: AssignedClasses,
  namespaces: ReadonlyMap<string, Labels>,
): string | undefined {
  return (
    labels.get(CLASS_LABEL) ??
    namespaces.get(namespace)?.get(CLASS_LABEL) ??
    (priorityClassName === undefined ? undefined : byPriorityClass.get(priorityClassName)) ??
    (EXCLUDED_NAMESPACES.has(namespace) ? undefined : byDefault)
  );
}

/** The class of a pod (see classNameOf). `undefined` without one, and where the name is not that of a class that exists. */
export function classOf(
  pod: Pick<PodInfo, 'labels' | 'namespace' | 'priorityClassName'>,
  serviceLevels: ServiceLevels,
  namespaces: ReadonlyMap<string, Labels>,
): ServiceClass | undefined {
  const name = classNameOf(pod, serviceLevels, namespaces);
  return name === undefined ? undefined : serviceLevels.classes.get(name);
}

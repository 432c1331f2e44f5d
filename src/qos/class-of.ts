import type { PodInfo } from '../model/pod.ts';
import type { Labels } from '../model/selector.ts';
import type { ServiceClass, ServiceLevels } from '../model/service-level.ts';

/** Label of a pod template or a namespace that names the ServiceClass of its workloads. */
export const CLASS_LABEL = 'evenkeel.dev/service-class';

/**
 * The class of a pod: the one that its label names, else the label of its namespace, else that of its PriorityClass
 * (api.md). `undefined` without one, and where the name is not that of a class that exists.
 */
export function classOf(
  { labels, namespace, priorityClassName }: Pick<PodInfo, 'labels' | 'namespace' | 'priorityClassName'>,
  { classes, byPriorityClass }: ServiceLevels,
  namespaces: ReadonlyMap<string, Labels>,
): ServiceClass | undefined {
  const name =
    labels.get(CLASS_LABEL) ??
    namespaces.get(namespace)?.get(CLASS_LABEL) ??
    (priorityClassName === undefined ? undefined : byPriorityClass.get(priorityClassName));
  return name === undefined ? undefined : classes.get(name);
}

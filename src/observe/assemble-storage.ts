import type { PodInfo } from '../model/pod.ts';
import type { ClaimInfo, StorageInfo } from '../model/storage.ts';
import type { Collection } from './collection.ts';
import { compareText, sortByKey } from './order.ts';
import type { ProjectedStorageClass } from './project/storage-class.ts';

/** Volumes, claims and classes of a collection, each by name, and what nodes can attach. */
export function assembleStorage(collection: Collection): StorageInfo {
  const { claims, volumes, storageClasses, csiNodes, csiDrivers } = collection;
  const defaultClass = defaultStorageClass(storageClasses);
  return {
    claims: sortByKey(
      mapValues(
        claims,
        ({ claim, classUnknown }): ClaimInfo => (classUnknown ? { ...claim, storageClass: defaultClass } : claim),
      ),
    ),
    volumes: sortByKey(volumes),
    classes: sortByKey(
      mapValues(storageClasses, ({ storageClass, provisioner }) => ({
        ...storageClass,
        tracksCapacity: csiDrivers.get(provisioner)?.storageCapacity ?? false,
      })),
    ),
    attachLimits: sortByKey(mapValues(csiNodes, ({ limits }) => sortByKey(limits))),
  };
}

function mapValues<From, To>(map: ReadonlyMap<string, From>, change: (value: From) => To): ReadonlyMap<string, To> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}

/**
 * The class that admission, and later the volume controller, gives a claim that names none: the newest default, then the
 * first by name (GetDefaultClass); undefined when there is none.
 */
export function defaultStorageClass(classes: Collection['storageClasses']): string | undefined {
  const defaults = [...classes.values()].filter(({ isDefault }) => isDefault);
  return defaults.sort(byAge)[0]?.storageClass.name;
}

function byAge(left: ProjectedStorageClass, right: ProjectedStorageClass): number {
  return right.createdAt - left.createdAt || compareText(left.storageClass.name, right.storageClass.name);
}

/** The pod, its claims of these names with this class. */
export function withDefaultClass(pod: PodInfo, names: readonly string[], storageClass: string | undefined): PodInfo {
  if (names.length === 0) {
    return pod;
  }
  const claims = pod.claims.map(({ name, template }) => ({
    name,
    template: template !== undefined && names.includes(name) ? { ...template, storageClass } : template,
  }));
  return { ...pod, claims };
}

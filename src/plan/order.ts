import { compareText } from '../model/compare-text.ts';
import type { NodeInfo } from '../model/node.ts';
import type { PodInfo } from '../model/pod.ts';
import type { IndexTable, NodeIndex, PodIndex, SiteIndex } from './indices.ts';

/** The entries of a map by key: equal for maps with equal content. */
export function sortedEntries<Value>(map: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...map].sort(([left], [right]) => compareText(left, right));
}

/** The nodes by name. A snapshot promises that order, but equal plans for equal clusters must not hang on a promise. */
export function sortNodes(nodes: readonly NodeInfo[]): readonly NodeInfo[] {
  return sorted(nodes, (left, right) => compareText(left.name, right.name) || compareText(left.uid, right.uid));
}

/** The pods by namespace, name and uid: the order in which ties between equal loads are broken. */
export function sortPods(pods: readonly PodInfo[]): readonly PodInfo[] {
  return sorted(
    pods,
    (left, right) =>
      compareText(left.namespace, right.namespace) ||
      compareText(left.name, right.name) ||
      compareText(left.uid, right.uid),
  );
}

/** Place of each pod's node among `nodes`; -1 for pods without one that is known. */
export function locatePods<Place extends SiteIndex | NodeIndex = SiteIndex>(
  pods: readonly PodInfo[],
  nodes: readonly NodeInfo[],
): IndexTable<PodIndex, Place> {
  const places = new Map(nodes.map(({ name }, place) => [name, place]));
  const located = new Int32Array(pods.length);
  pods.forEach(({ nodeName }, pod) => {
    located[pod] = nodeName === undefined ? -1 : (places.get(nodeName) ?? -1);
  });
  return located;
}

/** `items` itself when they are in order, which takes one pass to see; else a sorted copy. */
function sorted<Item>(items: readonly Item[], compare: (left: Item, right: Item) => number): readonly Item[] {
  let previous: Item | undefined;
  for (const item of items) {
    if (previous !== undefined && compare(previous, item) > 0) {
      return items.toSorted(compare);
    }
    previous = item;
  }
  return items;
}

import type { NodeInfo } from '../../model/node.ts';
import type { StorageInfo } from '../../model/storage.ts';
import { targetRefusal } from '../filters/index.ts';
import type { Subject } from '../filters/refusal.ts';
import type { PodIndex, TrackerIndex } from '../indices.ts';
import type { IndexedNodes } from '../node-index.ts';
import { once } from '../once.ts';
import { nodeKey } from '../shapes.ts';

/** What the hosts of duplicates are counted with. */
export interface HostCounting {
  readonly nodes: readonly NodeInfo[];
  readonly storage: StorageInfo;
  readonly sites: () => IndexedNodes;
  /** One pod of each kind. */
  readonly samples: Iterable<PodIndex>;
}

/**
 * How many nodes the pods may run on that a tracker of duplicates counts, by the filters that look at the node alone. One number
 * for all of them, also where their constraints differ, as in a rollout: what is even for one is even for the others. It is that
 * of those with the widest choice.
 */
export function hostCounter({ nodes, storage, sites, samples }: HostCounting): (tracker: TrackerIndex) => number {
  const known = new Map<string, number>();
  const count = (subject: Subject): number => {
    const key = nodeKey(subject);
    const found = known.get(key) ?? nodes.filter((node) => targetRefusal(subject, node, storage) === undefined).length;
    known.set(key, found);
    return found;
  };
  const byTracker = once(() => {
    const most = new Map<TrackerIndex, number>();
    for (const pod of samples) {
      const subject = sites().subjectOf(pod, undefined);
      const { duplicates } = subject.topology;
      if (duplicates !== undefined) {
        most.set(duplicates.tracker, Math.max(most.get(duplicates.tracker) ?? 0, count(subject)));
      }
    }
    return most;
  });
  return (tracker) => byTracker().get(tracker) ?? 0;
}

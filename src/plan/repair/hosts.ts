import type { NodeInfo } from '../../model/node.ts';
import type { StorageInfo } from '../../model/storage.ts';
import { targetRefusal } from '../filters/index.ts';
import type { Subject } from '../filters/refusal.ts';
import { nodeKey } from '../shapes.ts';

/** How many of the nodes the filters that look at the node alone let a subject run on; counted once for its like. */
export function hostCounter(nodes: readonly NodeInfo[], storage: StorageInfo): (subject: Subject) => number {
  const known = new Map<string, number>();
  const bySubject = new WeakMap<Subject, number>();
  return (subject) => {
    const remembered = bySubject.get(subject);
    if (remembered !== undefined) {
      return remembered;
    }
    const key = nodeKey(subject);
    const count = known.get(key) ?? nodes.filter((node) => targetRefusal(subject, node, storage) === undefined).length;
    known.set(key, count);
    bySubject.set(subject, count);
    return count;
  };
}

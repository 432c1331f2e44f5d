import type { NodeIndex } from './indices.ts';
/** Which nodes have changed, oldest first, so that indexes over a state can catch up. */
export interface ChangeLog {
  readonly count: () => number;
  readonly node: (entry: number) => NodeIndex;
  /** Load of the node before and after the change. */
  readonly before: (entry: number) => number;
  readonly after: (entry: number) => number;
}

/** A change log and the means to write it. */
export interface ChangeWriter extends ChangeLog {
  readonly write: (node: NodeIndex, before: number, after: number) => void;
}

/** An empty log. */
export function createChangeLog(): ChangeWriter {
  const nodes: NodeIndex[] = [];
  const befores: number[] = [];
  const afters: number[] = [];
  return {
    count: () => nodes.length,
    node: (entry) => nodes[entry] ?? -1,
    before: (entry) => befores[entry] ?? 0,
    after: (entry) => afters[entry] ?? 0,
    write: (node, before, after) => {
      nodes.push(node);
      befores.push(before);
      afters.push(after);
    },
  };
}

import { elapsed } from '../../model/units.ts';
import { inSeconds, percent } from '../format.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { createAttempts, type EmptyingContext, type Kept, ofNode } from './attempts.ts';
import { wellUsed } from './requested.ts';
import { isControlPlane } from './residents.ts';

/** What came of the nodes. */
export interface Emptied {
  /** In the order in which they were emptied. */
  readonly nodes: readonly NodeIndex[];
  /** Why each of the others that has pods keeps them. */
  readonly kept: ReadonlyMap<NodeIndex, Kept>;
  /** Where the pods of the emptied nodes go. */
  readonly targets: ReadonlyMap<PodIndex, NodeIndex>;
}

/**
 * Empties nodes, the least used first, in rounds until one finds none: what has left may have stood in the way of others. A pod
 * whose target is emptied later goes on from there, so that the next plan finds no other node.
 */
export function emptyNodes(context: EmptyingContext): Emptied {
  const { residents } = context;
  const nodes: NodeIndex[] = [];
  const kept = new Map<NodeIndex, Kept>();
  const attempt = createAttempts(context);
  for (let before = -1; before !== nodes.length; ) {
    before = nodes.length;
    for (const node of leastUsedFirst(context)) {
      const why = residents.isEmpty(node) ? undefined : (unsuited(context, node) ?? attempt.empty(node));
      if (why !== undefined) {
        kept.set(node, why);
      } else if (attempt.hasEmptied(node) && !nodes.includes(node)) {
        kept.delete(node);
        nodes.push(node);
      }
    }
  }
  return { nodes, kept, targets: attempt.targets };
}

/** Of those that are used alike, the one with fewer pods. */
function leastUsedFirst({ state, residents }: EmptyingContext): readonly NodeIndex[] {
  return [...state.cluster.nodes.keys()].sort(
    (left, right) =>
      state.load(left) - state.load(right) || residents.on(left).size - residents.on(right).size || left - right,
  );
}

/** Why the node is not to be emptied, whoever runs there. */
function unsuited({ state, options, now }: EmptyingContext, node: NodeIndex): Kept | undefined {
  const { name, createdAt, labels } = itemAt(state.cluster.nodes, node);
  const used = wellUsed(state, node, options);
  if (used !== undefined) {
    const { share, resource } = used;
    const message = `${percent(share)} of the ${resource.name} of ${name} is requested, strategy.pack empties nodes below ${percent(resource.below)}`;
    return ofNode({ code: 'NotUnderutilized', message, numbers: { share, below: resource.below } });
  }
  const age = elapsed(createdAt, now);
  if (age < options.minNodeAge) {
    const message = `${name} is ${inSeconds(Math.round(age))} old, strategy.pack.minNodeAge is ${inSeconds(options.minNodeAge)}`;
    return ofNode({ code: 'MinNodeAge', message, numbers: { age, minNodeAge: options.minNodeAge } });
  }
  return isControlPlane(labels)
    ? ofNode({ code: 'NodeNotEmptied', message: `${name} belongs to the control plane`, numbers: {} })
    : undefined;
}

import type { NodeInfo, NodeSelectorTerm } from '../../model/node.ts';
import { holds, type Labels } from '../../model/selector.ts';
import type { Refusal, Subject } from './refusal.ts';

/**
 * kube-scheduler's NodeAffinity: every label of `nodeSelector`, and at least one required term of the node affinity.
 * Within a term every expression and field must hold; a term without any, and a list without terms, match no node
 * (component-helpers nodeaffinity.NewNodeSelector).
 */
export function nodeAffinity({ constraints }: Pick<Subject, 'constraints'>, node: NodeInfo): Refusal | undefined {
  for (const [key, value] of constraints.nodeSelector) {
    if (node.labels.get(key) !== value) {
      return { filter: 'NodeAffinity', field: 'nodeSelector' };
    }
  }
  const terms = constraints.nodeAffinity;
  if (terms !== undefined && !terms.some((term) => matchesTerm(term, node))) {
    return { filter: 'NodeAffinity', field: 'nodeAffinity' };
  }
  return undefined;
}

/** Whether a node meets one term: all of its expressions and fields. */
export function matchesTerm({ expressions, fields }: NodeSelectorTerm, node: NodeInfo): boolean {
  if (expressions.length === 0 && fields.length === 0) {
    return false;
  }
  if (!expressions.every((requirement) => holds(requirement, node.labels))) {
    return false;
  }
  if (fields.length === 0) {
    return true;
  }
  const known: Labels = new Map([['metadata.name', node.name]]);
  return fields.every((requirement) => known.has(requirement.key) && holds(requirement, known));
}

import { podKey } from '../../model/pod.ts';
import type { Cluster } from '../cluster.ts';
import { count, percent } from '../format.ts';
import { at, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { PackingOptions } from '../options.ts';
import type { KeptNode, PackingReport, PlanOutcome, Reason } from '../plan.ts';
import { isBudgetCode } from '../rejection-codes.ts';
import type { Kept } from './attempts.ts';
import type { Packing } from './pack.ts';

/** Nodes that the plan empties, those that an autoscaler could remove afterwards, and why others keep their pods. */
export function packingReport({ nodes, pods }: Cluster, packing: Packing): PackingReport {
  const nameOf = (node: NodeIndex): string => itemAt(nodes, node).name;
  return {
    emptied: packing.emptied.map(nameOf),
    removable: packing.removable.map(nameOf),
    kept: heldOf(packing).map(([node, { pod, reason }]): KeptNode => {
      const held = pod === undefined ? undefined : itemAt(pods, pod);
      const ref = held && { namespace: held.namespace, name: held.name, uid: held.uid };
      return { node: nameOf(node), pod: ref, reason };
    }),
  };
}

/** Nodes that request little enough and are not emptied all the same, the least used first. */
function heldOf({ kept, end }: Packing): readonly (readonly [NodeIndex, Kept])[] {
  return [...kept]
    .filter(([, { reason }]) => reason.code !== 'NotUnderutilized')
    .sort(([left], [right]) => end.load(left) - end.load(right) || left - right);
}

/** Why each movable pod that is not moved stays. */
export function explainPacking({ pods, home, nodes }: Cluster, { kept }: Packing): (pod: PodIndex) => Reason {
  const ofOthers = new Map<NodeIndex, Reason>();
  return (pod) => {
    const node = at(home, pod);
    const why = kept.get(node);
    if (why === undefined) {
      return UNTOUCHED;
    }
    if (why.pod === undefined || why.pod === pod) {
      return why.reason;
    }
    const reason = ofOthers.get(node) ?? {
      code: 'NodeNotEmptied',
      message: `${itemAt(nodes, node).name} keeps its pods: ${heldBy(pods, why)}`,
      numbers: {},
    };
    ofOthers.set(node, reason);
    return reason;
  };
}

/** Of pods that keep no node: those of DaemonSets, and those that are going. */
const UNTOUCHED: Reason = { code: 'NotNeeded', message: 'its node can be removed with it', numbers: {} };

function heldBy(pods: Cluster['pods'], { pod, reason }: Kept): string {
  return pod === undefined ? reason.message : `${podKey(itemAt(pods, pod))} ${reason.message}`;
}

/** Why there are no moves, or not more of them. */
export function packingOutcome({ pods, nodes }: Cluster, packing: Packing, options: PackingOptions): PlanOutcome {
  const held = heldOf(packing);
  const budget = held.find(([, { reason }]) => isBudgetCode(reason.code));
  const [example] = budget === undefined ? held : [budget];
  const text =
    example === undefined
      ? undefined
      : `${count(held.length, 'node')} below strategy.pack ${held.length === 1 ? 'keeps its pods' : 'keep their pods'}: on ${itemAt(nodes, example[0]).name} ${heldBy(pods, example[1])}`;
  if (packing.moves.length > 0) {
    return { kind: 'Moves', obstacle: text };
  }
  if (text === undefined) {
    const limits = options.resources.map(({ name, below }) => `${percent(below)} of ${name}`).join(' and ');
    const empty = packing.removable.length === 0 ? '' : `; ${removableText(packing.removable.length)}`;
    return { kind: 'NothingToPack', message: `no node with pods has requests below ${limits}${empty}` };
  }
  const rest = packing.removable.length === 0 ? text : `${text}; ${removableText(packing.removable.length)}`;
  return { kind: budget === undefined ? 'NoBeneficialMove' : 'BudgetExhausted', message: rest };
}

/** `an autoscaler can remove 2 nodes`. */
export function removableText(nodes: number): string {
  return `an autoscaler can remove ${count(nodes, 'node')}`;
}

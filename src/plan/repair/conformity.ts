import type { NodeInfo, Taint } from '../../model/node.ts';
import type { SchedulingConstraints } from '../../model/pod.ts';
import { matchesTerm } from '../filters/node-affinity.ts';
import { tolerates } from '../filters/taint-toleration.ts';
import type { TaintRepair } from '../options.ts';

/** Cordoning says that nothing more is to come; whoever wants what runs there moved names its taint. */
const CORDONED = 'node.kubernetes.io/unschedulable';

/** The taints of a node that the policy is about and the pod does not tolerate, in the order of the node. */
export function untolerated(
  { tolerations }: Pick<SchedulingConstraints, 'tolerations'>,
  { taints }: Pick<NodeInfo, 'taints'>,
  repair: TaintRepair,
): readonly Taint[] {
  return taints.length === 0
    ? taints
    : taints.filter(
        (taint) => isMeant(taint, repair) && !tolerations.some((toleration) => tolerates(toleration, taint)),
      );
}

/** Whether the policy is about a taint. NoExecute is left to the taint manager, which evicts at once or after tolerationSeconds. */
export function isMeant({ key, effect }: Taint, { soft, includedKeys, excludedKeys }: TaintRepair): boolean {
  const isOfEffect = effect === 'NoSchedule' || (soft && effect === 'PreferNoSchedule');
  const isOfKey = includedKeys === undefined ? key !== CORDONED : includedKeys.has(key);
  return isOfEffect && isOfKey && !excludedKeys.has(key);
}

/** The weights of the preferred terms that the node matches, added up, as kube-scheduler's NodeAffinity scores it. */
export function preferenceFor(
  { preferredNodeAffinity }: Pick<SchedulingConstraints, 'preferredNodeAffinity'>,
  node: NodeInfo,
): number {
  return preferredNodeAffinity.reduce((sum, { weight, term }) => sum + (matchesTerm(term, node) ? weight : 0), 0);
}

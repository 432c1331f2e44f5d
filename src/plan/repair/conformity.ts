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
export function isMeant(taint: Taint, { soft, includedTaints, excludedTaints }: TaintRepair): boolean {
  const { key, effect } = taint;
  const isOfEffect = effect === 'NoSchedule' || (soft && effect === 'PreferNoSchedule');
  const isIncluded = includedTaints === undefined ? key !== CORDONED : isNamed(taint, includedTaints);
  return isOfEffect && isIncluded && !isNamed(taint, excludedTaints);
}

function isNamed({ key, value }: Taint, names: ReadonlySet<string>): boolean {
  return names.has(key) || names.has(`${key}=${value}`);
}

/** The weights of the preferred terms that the node matches, added up, as kube-scheduler's NodeAffinity scores it. */
export function preferenceFor(
  { preferredNodeAffinity }: Pick<SchedulingConstraints, 'preferredNodeAffinity'>,
  node: NodeInfo,
): number {
  return preferredNodeAffinity.reduce((sum, { weight, term }) => sum + (matchesTerm(term, node) ? weight : 0), 0);
}

import type { NodeInfo } from '../../model/node.ts';
import { oncePer } from '../../model/once-per.ts';
import type { SchedulingConstraints } from '../../model/pod.ts';
import { nodeAffinity } from '../filters/node-affinity.ts';
import { describeRefusal } from '../filters/refusal.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { preferenceFor } from './conformity.ts';
import { constraintsOf, moveEach, nodeOf, type RepairRule, type Scene, type Wish } from './rule.ts';

/** Pods whose node does not meet what they require of it any more. */
export function requiredNodeAffinityRule(): RepairRule {
  const rule: RepairRule = {
    name: 'NodeAffinity',
    endsAnywhere: false,
    ofNodeAlone: true,
    movesUnready: false,
    concerns: (scene, pod) => {
      const { nodeSelector, nodeAffinity: terms } = constraintsOf(scene, pod);
      return nodeSelector.size > 0 || terms !== undefined;
    },
    clauseOf: (scene, pod) => {
      const { sites, siteOf } = scene.where;
      const node = sites.nodes[siteOf(pod)];
      const refusal = node && nodeAffinity(itemAt(sites.pods, pod), node);
      return refusal && `${nodeOf(scene, pod)} ${describeRefusal(refusal)}`;
    },
    repair: (run, suspects) => moveEach(run, rule, suspects, () => ({ lenientUpTo: 0 })),
  };
  return rule;
}

/** Pods for which some node that takes them meets more of what they prefer: moved to the one that meets most. */
export function preferredNodeAffinityRule(hosts: readonly NodeInfo[]): RepairRule {
  const highest = oncePer((constraints: SchedulingConstraints) => ({
    score: hosts.reduce((most, node) => Math.max(most, preferenceFor(constraints, node)), 0),
  }));
  const scoresOf = ({ where: { sites, siteOf } }: Scene, pod: PodIndex) => {
    const { constraints } = itemAt(sites.pods, pod);
    const node = sites.nodes[siteOf(pod)];
    return constraints.preferredNodeAffinity.length === 0 || node === undefined
      ? undefined
      : { now: preferenceFor(constraints, node), best: highest(constraints).score };
  };
  const rule: RepairRule = {
    name: 'NodeAffinity',
    endsAnywhere: false,
    ofNodeAlone: true,
    movesUnready: false,
    concerns: (scene, pod) => constraintsOf(scene, pod).preferredNodeAffinity.length > 0,
    clauseOf: (scene, pod) => {
      const scores = scoresOf(scene, pod);
      return scores === undefined || scores.now >= scores.best
        ? undefined
        : `${nodeOf(scene, pod)} meets ${scores.now} of ${scores.best} in the weights of what the pod prefers`;
    },
    // Where no node that meets more of it takes the pod, nothing is wrong with where it is.
    repair: (run, suspects) => {
      const wishOf = (pod: PodIndex): Wish => {
        const { now, best } = scoresOf(run.scene, pod) ?? { now: 0, best: 0 };
        const { constraints } = itemAt(run.state.cluster.pods, pod);
        const rankOf = (node: NodeIndex): number => {
          const score = preferenceFor(constraints, itemAt(run.state.cluster.nodes, node));
          return score > now ? -score : Number.POSITIVE_INFINITY;
        };
        return { rankOf, bestRank: -best };
      };
      for (const pod of suspects) {
        const wish = wishOf(pod);
        if (rule.clauseOf(run.scene, pod) !== undefined && run.targetOf(pod, wish) !== undefined) {
          run.move(pod, rule, wish);
        }
      }
    },
  };
  return rule;
}

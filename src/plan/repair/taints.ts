import type { Taint } from '../../model/node.ts';
import { describeRefusal } from '../filters/refusal.ts';
import { itemAt, type PodIndex } from '../indices.ts';
import type { TaintRepair } from '../options.ts';
import { isMeant, untolerated } from './conformity.ts';
import { moveEach, nodeOf, type RepairRule, type Scene } from './rule.ts';

/** Pods that do not tolerate a taint of their node. */
export function taintRule(repair: TaintRepair): RepairRule {
  const taintOf = ({ where }: Scene, pod: PodIndex): Taint | undefined => {
    const node = where.sites.nodes[where.siteOf(pod)];
    return node === undefined || node.taints.length === 0
      ? undefined
      : hardFirst(untolerated(itemAt(where.sites.pods, pod).constraints, node, repair));
  };
  const rule: RepairRule = {
    name: 'Taints',
    endsAnywhere: false,
    ofNodeAlone: true,
    movesUnready: false,
    concernsNode: ({ taints }) => taints.some((taint) => isMeant(taint, repair)),
    clauseOf: (scene, pod) => {
      const taint = taintOf(scene, pod);
      return taint && `${nodeOf(scene, pod)} ${describeRefusal({ filter: 'TaintToleration', taint })}`;
    },
    repair: (run, suspects) =>
      moveEach(run, rule, suspects, (pod) =>
        taintOf(run.scene, pod)?.effect === 'NoSchedule' ? { lenientUpTo: 0 } : {},
      ),
  };
  return rule;
}

function hardFirst(taints: readonly Taint[]): Taint | undefined {
  return taints.find(({ effect }) => effect === 'NoSchedule') ?? taints[0];
}

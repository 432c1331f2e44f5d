import { count } from '../format.ts';
import { at, itemAt, type PodIndex } from '../indices.ts';
import { moveEach, needsOf, nodeOf, type RepairRule, type Scene } from './rule.ts';

/** Pods of one controller with the same images beyond what an even spread over the nodes that take them has on each. */
export function duplicatesRule(): RepairRule {
  const rule: RepairRule = {
    name: 'Duplicates',
    endsAnywhere: false,
    ofNodeAlone: false,
    movesUnready: false,
    concerns: (scene, pod) => {
      const { duplicates } = needsOf(scene, pod);
      return duplicates !== undefined && scene.where.counts.most(duplicates.tracker) > 1;
    },
    clauseOf: (scene, pod) => {
      const crowd = crowdOf(scene, pod);
      return crowd === undefined || crowd.pods <= crowd.most
        ? undefined
        : `${nodeOf(scene, pod)} has ${count(crowd.pods, 'pod')} of its controller, ${crowd.most} for each node are even`;
    },
    repair: (run, suspects) => moveEach(run, rule, suspects, () => ({})),
  };
  return rule;
}

/** How many pods of its controller and images are where the pod is, and how many may be; `undefined`: it is alone. */
function crowdOf(scene: Scene, pod: PodIndex): { readonly pods: number; readonly most: number } | undefined {
  const { where, guard } = scene;
  const { counts, sites, siteOf } = where;
  const { duplicates } = needsOf(scene, pod);
  const site = siteOf(pod);
  const pods =
    duplicates === undefined || site < 0
      ? 0
      : counts.inDomain(
          duplicates.tracker,
          at(itemAt(counts.topologyIndex.trackers, duplicates.tracker).counted, site),
        );
  return pods < 2 || itemAt(sites.pods, pod).terminating
    ? undefined
    : { pods, most: guard.mostPerNode(sites.subjectOf(pod, undefined), where) };
}

import { count } from '../format.ts';
import { at, itemAt, type PodIndex } from '../indices.ts';
import type { Need } from '../topology/needs.ts';
import { type Place, podsNear } from '../topology/place.ts';
import { needsOf, type RepairRule, type Scene } from './rule.ts';
import { fewestThatTouchAll } from './vertex-cover.ts';

/**
 * Pods that run beside others although the required anti-affinity of either forbids it. Moving every pod of a vertex cover of the
 * graph of who repels whom ends all of it, and nothing smaller does.
 */
export function podAntiAffinityRule(): RepairRule {
  const rule: RepairRule = {
    name: 'PodAntiAffinity',
    endsAnywhere: false,
    ofNodeAlone: false,
    movesUnready: false,
    concerns: (scene, pod) =>
      repellentsOf(scene, pod).some(({ tracker, self }) => scene.where.counts.most(tracker) > (self ? 1 : 0)),
    clauseOf: (scene, pod) => {
      const near = repellentsOf(scene, pod).map((need) => ({ need, pods: podsNear(placeOf(scene, pod), need) }));
      const worst = near.find(({ pods }) => pods > 0);
      if (worst === undefined) {
        return undefined;
      }
      const { key } = itemAt(scene.where.counts.topologyIndex.trackers, worst.need.tracker).domains;
      return `${count(worst.pods, 'pod')} in its ${key} that required anti-affinity keeps apart from it`;
    },
    repair: (run, suspects) => {
      const neighbours = repelledPairs(run.scene, suspects);
      const stuck = new Set(suspects.filter((pod) => !run.mayMove(pod) || run.targetOf(pod, WISH) === undefined));
      for (let failed = true; failed; ) {
        const isOpen = (pod: PodIndex): boolean => rule.clauseOf(run.scene, pod) !== undefined;
        const edges = edgesAmong(neighbours, isOpen);
        const cover = fewestThatTouchAll(edges, (pod) => run.mayMove(pod) && !stuck.has(pod), run.compare);
        const refused = cover.filter((pod) => isOpen(pod) && !run.move(pod, rule, WISH));
        for (const pod of refused) {
          stuck.add(pod);
        }
        failed = refused.length > 0;
      }
      // Those that stay say why.
      for (const pod of suspects) {
        if (rule.clauseOf(run.scene, pod) !== undefined) {
          run.move(pod, rule, WISH);
        }
      }
    },
  };
  return rule;
}

const WISH = { lenientUpTo: 0 };

/** Pods that the pod must not be near. */
function repellentsOf(scene: Scene, pod: PodIndex): readonly Need[] {
  const { antiAffinity, repelledBy } = needsOf(scene, pod);
  return antiAffinity.length + repelledBy.length === 0 ? antiAffinity : [...antiAffinity, ...repelledBy];
}

function placeOf({ where: { counts, siteOf } }: Scene, pod: PodIndex): Place {
  const site = siteOf(pod);
  return { counts, site, home: site };
}

/** Which pods repel which, of those that are in the same domain. */
type Neighbours = ReadonlyMap<PodIndex, ReadonlySet<PodIndex>>;

/** Suspects with all pods of the cluster that they repel or that repel them; pods that nobody may move among these. */
function repelledPairs(scene: Scene, suspects: readonly PodIndex[]): Neighbours {
  const { where } = scene;
  const { trackers, countedBy, kinds } = where.counts.topologyIndex;
  const domainOf = (pod: PodIndex, tracker: number): number => {
    const site = where.siteOf(pod);
    return site < 0 ? -1 : at(itemAt(trackers, tracker).counted, site);
  };
  const watched = new Set(suspects.flatMap((pod) => repellentsOf(scene, pod).map(({ tracker }) => tracker)));
  const watching = Array.from(kinds.firstOf, (pod) => [...countedBy(pod)].filter((tracker) => watched.has(tracker)));
  const members = new Map<string, PodIndex[]>();
  kinds.ofPod.forEach((kind, pod) => {
    for (const tracker of itemAt(watching, kind)) {
      const domain = domainOf(pod, tracker);
      const key = `${tracker} ${domain}`;
      const there = members.get(key);
      if (there !== undefined) {
        there.push(pod);
      } else if (domain >= 0) {
        members.set(key, [pod]);
      }
    }
  });
  return new Map(
    suspects.map((pod) => {
      const near = repellentsOf(scene, pod).flatMap(
        ({ tracker }) => members.get(`${tracker} ${domainOf(pod, tracker)}`) ?? [],
      );
      return [pod, new Set(near.filter((other) => other !== pod))];
    }),
  );
}

/** Each pair once, while both are where they were: a pod that has moved is beside nobody whom it repels. */
function edgesAmong(
  neighbours: Neighbours,
  isOpen: (pod: PodIndex) => boolean,
): readonly (readonly [PodIndex, PodIndex])[] {
  return [...neighbours].flatMap(([pod, others]) =>
    isOpen(pod)
      ? [...others]
          .filter((other) => isOpen(other) && (pod < other || !neighbours.has(other)))
          .map((other) => [pod, other] as const)
      : [],
  );
}

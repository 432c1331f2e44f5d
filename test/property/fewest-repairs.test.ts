import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../src/model/pod.ts';
import { matches } from '../../src/model/selector.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import type { RepairOptions } from '../../src/plan/options.ts';
import { plan } from '../../src/plan/planner.ts';
import { statesOf } from '../support/apply-plan.ts';
import { someOptions } from '../support/builders/options.ts';
import { anAffinityTerm, aSpread } from '../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, aWorkload } from '../support/builders.ts';
import { fewestMoves, isFeasible } from '../support/fewest-moves.ts';
import { createRandom, type Random } from '../support/random.ts';

/** What ties pods to others. */
type Ties = Partial<Pick<PodInfo['constraints'], 'podAntiAffinity' | 'spread'>>;

/** Small enough that every placement can be tried. */
const SEEDS = 1000;
const MOST_MOVES = 4;

const pick = <Item>(random: Random, items: readonly Item[]): Item => items[random.below(items.length)] as Item;

function cluster(random: Random, constraints: (app: string) => Ties): ClusterSnapshot {
  const size = 2 + random.below(3);
  const nodes = Array.from({ length: size }, (_, place) =>
    aNode(`node-${place}`, {
      labels: { zone: pick(random, ['x', 'y']) },
      allocatable: { pods: pick(random, [2, 3, 8]) },
    }),
  );
  const apps = ['web', 'api'];
  const byApp = new Map(apps.map((app) => [app, aPod('template', { constraints: constraints(app) }).constraints]));
  const room = new Map(nodes.map(({ name, allocatable }) => [name, allocatable.pods]));
  const pods = Array.from({ length: 2 + random.below(6) }, (_, place): readonly PodInfo[] => {
    const [node, app] = [pick(random, nodes).name, pick(random, apps)];
    const free = room.get(node) ?? 0;
    room.set(node, free - 1);
    const pod = aPod(`pod-${place}`, {
      nodeName: node,
      owner: app,
      labels: { app },
      constraints: byApp.get(app) ?? {},
    });
    return free > 0 ? [pod] : [];
  }).flat();
  return aSnapshot({ nodes, pods, workloads: apps.map((name) => aWorkload(name)), usage: undefined });
}

/** Pairs of pods of which one repels the other; apart from the code under test. */
function repelledPairs({ nodes, pods }: ClusterSnapshot): number {
  const labelsOf = (pod: PodInfo) => nodes.find(({ name }) => name === pod.nodeName)?.labels;
  return pods.flatMap((pod) =>
    pod.constraints.podAntiAffinity.flatMap(({ selector, topologyKey }) =>
      pods.filter(
        (other) =>
          other !== pod &&
          selector !== undefined &&
          matches(selector, other.labels) &&
          labelsOf(other)?.get(topologyKey) === labelsOf(pod)?.get(topologyKey),
      ),
    ),
  ).length;
}

/** By how much the skews exceed what constraints allow, in sum. */
function excessSkew({ nodes, pods }: ClusterSnapshot): number {
  const apps = new Map(pods.map((pod) => [pod.owner?.uid, pod]));
  return [...apps.values()].reduce((sum, { constraints, labels }) => {
    return constraints.spread.reduce((total, { topologyKey, maxSkew }) => {
      const counts = new Map(nodes.map((node) => [node.labels.get(topologyKey), 0]));
      for (const pod of pods.filter((other) => other.labels.get('app') === labels.get('app'))) {
        const value = nodes.find(({ name }) => name === pod.nodeName)?.labels.get(topologyKey);
        counts.set(value, (counts.get(value) ?? 0) + 1);
      }
      return total + Math.max(0, Math.max(...counts.values()) - Math.min(...counts.values()) - maxSkew);
    }, sum);
  }, 0);
}

interface Score {
  readonly comparable: number;
  readonly best: number;
}

function compare(
  repair: Partial<RepairOptions>,
  wrongIn: (state: ClusterSnapshot) => number,
  constraintsBy: (random: Random) => (app: string) => Ties,
): Score {
  let [comparable, best] = [0, 0];
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = createRandom(seed);
    const snapshot = cluster(random, constraintsBy(random));
    const found = plan(snapshot, someOptions({ strategy: { type: 'None' }, repair }));
    const states = statesOf(snapshot, found);
    found.moves.forEach(({ pod, to }, place) => {
      expect(isFeasible(states[place] ?? snapshot, pod.uid, to ?? ''), `seed ${seed}`).toBe(true);
    });
    const end = states.at(-1) ?? snapshot;
    expect(repelledPairs(end), `seed ${seed}`).toBeLessThanOrEqual(repelledPairs(snapshot));
    expect(excessSkew(end), `seed ${seed}`).toBeLessThanOrEqual(excessSkew(snapshot));
    const least =
      wrongIn(snapshot) === 0
        ? undefined
        : fewestMoves(snapshot, { isDone: (state) => wrongIn(state) === 0, mayMove: () => true, most: MOST_MOVES });
    if (least !== undefined) {
      comparable += 1;
      best += wrongIn(end) === 0 && found.moves.length === least ? 1 : 0;
    }
  }
  return { comparable, best };
}

describe('against every placement of small clusters', () => {
  it('ends anti-affinity with the fewest moves that do', { timeout: 120_000 }, () => {
    const { comparable, best } = compare({ podAntiAffinity: true }, repelledPairs, (random) => {
      const terms = new Map(
        ['web', 'api'].map((app) => [
          app,
          random.next() < 0.7
            ? [
                anAffinityTerm(
                  { app: pick(random, ['web', 'api']) },
                  { topologyKey: pick(random, ['zone', 'kubernetes.io/hostname']) },
                ),
              ]
            : [],
        ]),
      );
      return (app) => ({ podAntiAffinity: terms.get(app) ?? [] });
    });
    expect(comparable).toBeGreaterThan(100);
    expect(best / comparable).toBeGreaterThanOrEqual(0.95);
  });

  it('brings spread within maxSkew with the fewest moves that do', { timeout: 120_000 }, () => {
    const { comparable, best } = compare({ topologySpread: { soft: false, tolerance: 0 } }, excessSkew, (random) => {
      const keys = new Map(
        ['web', 'api'].map((app) => [
          app,
          pick(random, [['zone'], ['kubernetes.io/hostname'], ['zone', 'kubernetes.io/hostname'], []]),
        ]),
      );
      const maxSkew = pick(random, [1, 1, 2]);
      return (app) => ({
        spread: (keys.get(app) ?? []).map((topologyKey) => aSpread({ app }, { topologyKey, maxSkew })),
      });
    });
    expect(comparable).toBeGreaterThan(100);
    expect(best / comparable).toBeGreaterThanOrEqual(0.95);
  });
});

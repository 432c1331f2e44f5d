import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../src/model/pod.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { milliCpu, seconds } from '../../src/model/units.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { plan } from '../../src/plan/planner.ts';
import { applyPlan, statesOf } from '../support/apply-plan.ts';
import { ALL_REPAIRS, greedyLb, pack, refineLb, someOptions } from '../support/builders/options.ts';
import { anAffinityTerm } from '../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, aWorkload } from '../support/builders.ts';
import { fewestMoves, isFeasible } from '../support/fewest-moves.ts';
import { createRandom, type Random } from '../support/random.ts';

/** Small enough that every sequence of moves can be tried. */
const SEEDS = 1500;
const MOST_MOVES = 3;
const ROOM = { strategy: { type: 'None' }, makesRoom: true } as const;

const pick = <Item>(random: Random, items: readonly Item[]): Item => items[random.below(items.length)] as Item;

/** Up to four nodes in two pools, nearly full of pods of which some are pinned and some may not be moved, and pods that wait. */
function cluster(random: Random, waiting: number): ClusterSnapshot {
  const nodes = Array.from({ length: 2 + random.below(3) }, (_, place) =>
    aNode(`node-${place}`, {
      labels: {
        pool: place === 0 ? 'small' : pick(random, ['small', 'large', 'large']),
        zone: pick(random, ['x', 'y']),
      },
      allocatable: { cpu: pick(random, [2000, 3000, 4000]), pods: pick(random, [2, 3, 8]) },
    }),
  );
  const someConstraints = (pinned: boolean, app: string) => ({
    requests: { cpu: pick(random, [500, 500, 1000, 1500]) },
    ...(pinned ? { nodeSelector: new Map([['pool', 'small']]) } : {}),
    ...(random.next() < 0.15 ? { podAntiAffinity: [anAffinityTerm({ app }, { topologyKey: 'zone' })] } : {}),
  });
  const aSomePod = (name: string, pinned: boolean): PodInfo => {
    const app = pick(random, ['web', 'api', 'db']);
    return aPod(name, {
      owner: random.next() < 0.1 ? undefined : app,
      labels: { app },
      priority: pick(random, [0, 0, 5]),
      constraints: someConstraints(pinned, app),
    });
  };
  const placed: PodInfo[] = [];
  const bare = aSnapshot({ nodes, usage: undefined });
  for (let place = 3 + random.below(6); place > 0; place -= 1) {
    const pod = aSomePod(`pod-${place}`, random.next() < 0.2);
    const to = pick(random, nodes).name;
    if (isFeasible({ ...bare, pods: [...placed, pod] }, pod.uid, to)) {
      placed.push({ ...pod, nodeName: to });
    }
  }
  const asking = Array.from(
    { length: waiting },
    (_, place): PodInfo => ({
      ...aSomePod(`waiting-${place}`, true),
      phase: 'Pending',
      ready: false,
      waiting: { gated: false, pinnedTo: undefined, unschedulable: true },
    }),
  );
  const workloads = ['web', 'api', 'db'].map((name) => aWorkload(name));
  return { ...bare, pods: [...placed, ...asking], workloads: new Map(workloads.map((each) => [each.uid, each])) };
}

const isWaiting = ({ nodeName }: PodInfo): boolean => nodeName === undefined;

/** Whether all these pods find nodes at once. */
function canSeat(snapshot: ClusterSnapshot, [pod, ...others]: readonly PodInfo[]): boolean {
  return (
    pod === undefined ||
    snapshot.nodes.some(({ name }) => {
      const pods = snapshot.pods.map((each) => (each.uid === pod.uid ? { ...each, nodeName: name } : each));
      return isFeasible(snapshot, pod.uid, name) && canSeat({ ...snapshot, pods }, others);
    })
  );
}

/** Pods without a node that have room, or get it, as the plan says. */
function served(snapshot: ClusterSnapshot, { rejections }: Plan): readonly PodInfo[] {
  const messages = new Map(rejections.pods.map(({ uid }, place) => [uid, rejections.reasons[place]?.message ?? '']));
  return snapshot.pods.filter((pod) => isWaiting(pod) && messages.get(pod.uid)?.startsWith('has no node yet'));
}

function expectFeasible(snapshot: ClusterSnapshot, found: Plan, seed: number): void {
  const states = statesOf(snapshot, found);
  found.moves.forEach(({ pod, to }, place) => {
    expect(isFeasible(states[place] ?? snapshot, pod.uid, to ?? ''), `seed ${seed}, move ${place}`).toBe(true);
  });
}

/** Nothing but resources keeps the pod from a node, and something else from another. */
function isPinned(snapshot: ClusterSnapshot, pod: PodInfo): boolean {
  const { constraints } = pod;
  const requests = { ...constraints.requests, cpu: milliCpu(0) };
  const light = { ...pod, constraints: { ...constraints, requests } };
  const nodes = snapshot.nodes.map((node) => ({ ...node, allocatable: { ...node.allocatable, pods: 100 } }));
  const pods = snapshot.pods.map((each) => (each.uid === pod.uid ? light : each));
  const allowed = nodes.filter(({ name }) => isFeasible({ ...snapshot, nodes, pods }, pod.uid, name));
  return allowed.length > 0 && allowed.length < nodes.length;
}

describe('room for a pinned pod, on random clusters', () => {
  it('is made by the fewest moves that make it, whenever moves do', { timeout: 240_000 }, () => {
    let [possible, made, fewest] = [0, 0, 0];
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const snapshot = cluster(createRandom(seed), 1);
      const found = plan(snapshot, someOptions(ROOM));
      expectFeasible(snapshot, found, seed);
      const [pod] = snapshot.pods.filter(isWaiting);
      const least =
        pod !== undefined && isPinned(snapshot, pod)
          ? fewestMoves(snapshot, {
              isDone: (state) => state.nodes.some(({ name }) => isFeasible(state, pod.uid, name)),
              mayMove: ({ owner, nodeName }) => owner !== undefined && nodeName !== undefined,
              most: MOST_MOVES,
            })
          : undefined;
      if (least !== undefined && least > 0) {
        possible += 1;
        made += found.moves.length > 0 ? 1 : 0;
        fewest += found.moves.length === least ? 1 : 0;
      } else if (least === 0) {
        expect(found.moves, `seed ${seed}`).toEqual([]);
      }
    }
    expect(possible).toBeGreaterThan(100);
    // What is missing takes a chain: a pod that leaves so that another that leaves has room.
    expect(fewest).toBe(made);
    expect(fewest / possible).toBeGreaterThanOrEqual(0.95);
  });

  it.each([
    { type: 'None' } as const,
    refineLb(),
    greedyLb({ minimizeMoves: false }),
    pack({ headroom: 0, minNodeAge: seconds(0) }),
  ])('is there once all moves of $type are made, and a second plan makes no more', { timeout: 120_000 }, (strategy) => {
    let [all, others] = [0, 0];
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const random = createRandom(10_000 + seed);
      const snapshot = cluster(random, 1 + random.below(3));
      const load = { source: 'Requests' } as const;
      const thresholds = { trigger: 0, minGain: 0 };
      const repair = random.next() < 0.3 ? { repair: ALL_REPAIRS } : {};
      const found = plan(snapshot, someOptions({ strategy, makesRoom: true, load, thresholds, ...repair }));
      expectFeasible(snapshot, found, seed);
      const end = applyPlan(snapshot, found);
      const withRoom = served(snapshot, found);
      expect(canSeat(end, withRoom), `seed ${seed}`).toBe(true);
      all += found.moves.filter(({ makesRoomFor }) => makesRoomFor !== undefined).length;
      others += found.moves.filter(({ makesRoomFor }) => makesRoomFor === undefined).length;
      const again = plan(end, someOptions({ ...ROOM, load }));
      const isSettled = end.pods.every(
        (pod) => !isWaiting(pod) || !isPinned(end, pod) || withRoom.some(({ uid }) => uid === pod.uid),
      );
      if (isSettled) {
        expect(again.moves, `seed ${seed}`).toEqual([]);
      }
    }
    expect(all).toBeGreaterThan(100);
    expect(strategy.type === 'None' || others > 100).toBe(true);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { initialState, type State } from '../../../src/plan/state.ts';
import { healthySnapshot, optionsArbitrary } from '../../support/arbitraries.ts';
import { aHostPort, anAffinityTerm, aSpread } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, type PodFields } from '../../support/builders.ts';
import { clusterOf, stateOf } from '../../support/state.ts';
import { loaded } from './strategies/loaded.ts';

const PERCENT = 1e7;

function picture(state: State): unknown {
  const nodes = state.cluster.nodes.map((_, node) => [state.load(node), [...state.movablePodsOn(node)].sort()]);
  const fits = state.cluster.pods.map((_, pod) =>
    state.cluster.nodes.map((__, node) => state.cluster.movable[pod] === 1 && state.fits(pod, node)),
  );
  return { nodes, fits, objective: state.objective(), placement: [...state.placement] };
}

function entriesOf({ changes }: State): readonly (readonly number[])[] {
  return Array.from({ length: changes.count() }, (_, entry) => [
    changes.node(entry),
    changes.before(entry),
    changes.after(entry),
  ]);
}

describe('the state of a plan', () => {
  it('is what it was after a pod went and came back', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, fc.nat(), fc.nat(), (snapshot, options, first, second) => {
        const state = stateOf(snapshot, options);
        const before = picture(state);
        const movable = [...state.placement.keys()].filter((pod) => state.cluster.movable[pod] === 1);
        const pod = movable[first % Math.max(1, movable.length)];
        const home = pod === undefined ? -1 : state.nodeOf(pod);
        if (pod !== undefined) {
          state.move(pod, second % state.cluster.nodes.length);
          state.move(pod, home);
        }
        expect(picture(state)).toEqual(before);
      }),
      { numRuns: 300 },
    );
  });

  it('predicts what a move does', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, fc.nat(), fc.nat(), (snapshot, options, first, second) => {
        const state = stateOf(snapshot, options);
        const movable = [...state.placement.keys()].filter((pod) => state.cluster.movable[pod] === 1);
        const pod = movable[first % Math.max(1, movable.length)];
        const to = second % state.cluster.nodes.length;
        if (pod === undefined || state.nodeOf(pod) === to) {
          return;
        }
        const from = state.nodeOf(pod);
        const higher = Math.max(state.load(from), state.load(to));
        const predicted = { from: state.loadWithout(pod), to: state.loadWith(pod, to), gain: state.gain(pod, to) };
        const objective = state.objective() + state.objectiveChange(pod, to);
        state.move(pod, to);
        expect({
          from: state.load(from),
          to: state.load(to),
          gain: higher - Math.max(state.load(from), state.load(to)),
        }).toEqual(predicted);
        expect(state.objective()).toBeCloseTo(objective, 12);
      }),
      { numRuns: 300 },
    );
  });

  it('is not changed through a fork, nor the fork through it', () => {
    const state = stateOf(loaded([30, 20], [10]));
    const before = picture(state);
    const fork = state.fork();
    fork.move(0, 1);
    expect(picture(state)).toEqual(before);
    expect(fork.load(1)).toBe(40 * PERCENT);
    state.move(1, 1);
    expect(fork.load(1)).toBe(40 * PERCENT);
  });

  it('shares no room with a fork of it, nor with another state of its cluster', () => {
    const pods = ['p', 'q'].map((name) => aPod(name, { nodeName: 'a', constraints: { requests: { cpu: 1000 } } }));
    const nodes = ['a', 'b'].map((name) => aNode(name, { allocatable: { cpu: 4000 } }));
    const cluster = clusterOf(aSnapshot({ nodes, pods, uses: { p: 500, q: 500 } }));
    const state = initialState(cluster);
    const freeIn = ({ whereabouts }: State) => [0, 1].map((site) => whereabouts.freeCapacityOf(site).cpu);
    state.move(0, 1);
    const fork = state.fork();
    state.move(1, 1);
    expect([freeIn(state), freeIn(fork)]).toEqual([
      [4000, 2000],
      [3000, 3000],
    ]);
    fork.move(0, 0);
    expect([freeIn(state), freeIn(fork), freeIn(initialState(cluster))]).toEqual([
      [4000, 2000],
      [2000, 4000],
      [2000, 4000],
    ]);
  });

  it('lists the movable pods of a node: those that are still there, then those that came, in that order', () => {
    const state = stateOf(loaded([30, 20, 10], [5, 4], []));
    const on = (node: number) => [...state.movablePodsOn(node)];
    expect([on(0), on(1), on(2)]).toEqual([[0, 1, 2], [3, 4], []]);
    state.move(4, 0);
    state.move(1, 2);
    state.move(3, 0);
    expect([on(0), on(1), on(2)]).toEqual([[0, 2, 4, 3], [], [1]]);
    state.move(4, 2);
    state.lift(3);
    expect([on(0), on(1), on(2)]).toEqual([[0, 2], [], [1, 4]]);
  });

  it('lists a pod once that came back, to its home or to another node', () => {
    const state = stateOf(loaded([30, 20], [5], []));
    const on = (node: number) => [...state.movablePodsOn(node)];
    for (const node of [1, 2, 1, 0]) {
      state.move(0, node);
    }
    expect([on(0), on(1), on(2)]).toEqual([[0, 1], [2], []]);
    state.move(0, 1);
    expect([on(0), on(1), on(2)]).toEqual([[1], [2, 0], []]);
  });

  it('lists the pods that came in a fork as well, and not those that come to one of the two later', () => {
    const state = stateOf(loaded([30, 20], [10], []));
    state.move(0, 2);
    const fork = state.fork();
    fork.move(1, 2);
    state.move(2, 2);
    expect([...fork.movablePodsOn(2)]).toEqual([0, 1]);
    expect([...state.movablePodsOn(2)]).toEqual([0, 2]);
  });

  it('tells which nodes have changed, so that indexes can follow', () => {
    const state = stateOf(loaded([30, 20], [10], [5]));
    state.move(0, 2);
    expect(entriesOf(state)).toEqual([
      [0, 50 * PERCENT, 20 * PERCENT],
      [2, 5 * PERCENT, 35 * PERCENT],
    ]);
    state.lift(1);
    expect(entriesOf(state).at(-1)).toEqual([0, 20 * PERCENT, 0]);
    expect([state.nodeOf(1), state.load(0)]).toEqual([-1, 0]);
  });

  it('refuses to judge a pod that is not movable: that is a bug of the caller', () => {
    const cluster = clusterOf(loaded([0, 20], [10]));
    expect(() => initialState(cluster).refusal(0, 1)).toThrow(RangeError);
  });
});

describe('a pod on a node that takes no part', () => {
  it.each(['a', 'z'])('is there for other pods until it is placed, and again once it is lifted: node %s', (name) => {
    const failed = aNode(name, { ready: false, labels: { zone: 'x' } });
    const nodes = [failed, aNode('b', { labels: { zone: 'x' } }), aNode('c', { labels: { zone: 'y' } })];
    const constraints = { podAntiAffinity: [anAffinityTerm({ app: 'db' })] };
    const pods = [aPod('db', { nodeName: name, labels: { app: 'db' } }), aPod('web', { nodeName: 'c', constraints })];
    const state = stateOf(aSnapshot({ nodes, pods, uses: { db: 100, web: 100 } }));
    const site = state.cluster.sites.nodes.findIndex((node) => node.name === name);
    const where = () => [state.nodeOf(0), state.whereabouts.siteOf(0), state.fits(1, 0)];
    expect(where()).toEqual([-1, site, false]);
    state.place(0, 1);
    expect(where()).toEqual([1, state.cluster.siteOf[1], true]);
    state.lift(0);
    expect(where()).toEqual([-1, site, false]);
    state.place(0, 1);
    expect(where()).toEqual([1, state.cluster.siteOf[1], true]);
  });
});

describe('a pod between two nodes', () => {
  it.each([0, 1])('is on neither, the first node of all or another: node %i', (home) => {
    const state = stateOf(loaded([20, 30], [10]));
    const pod = home === 0 ? 0 : 2;
    expect(state.whereabouts.siteOf(pod)).toBe(home);
    state.lift(pod);
    expect(state.whereabouts.siteOf(pod)).toBe(-1);
    state.place(pod, 1 - home);
    expect(state.whereabouts.siteOf(pod)).toBe(1 - home);
  });

  it('is on the first node of all once it was placed there, from one that takes no part', () => {
    const nodes = [aNode('a'), aNode('z', { ready: false })];
    const pods = [aPod('p', { nodeName: 'z' }), aPod('q', { nodeName: 'a' })];
    const state = stateOf(aSnapshot({ nodes, pods, uses: { p: 100, q: 100 } }));
    expect(state.whereabouts.siteOf(0)).toBe(1);
    state.place(0, 0);
    expect(state.whereabouts.siteOf(0)).toBe(0);
  });
});

describe('what verdicts on a pod depend on beyond the target', () => {
  const spread = { constraints: { spread: [aSpread({ app: 'web' })] }, labels: { app: 'web' } };
  const state = () =>
    stateOf(
      aSnapshot({
        nodes: ['a', 'b', 'c'].map((name) => aNode(name, { labels: { zone: name } })),
        pods: [
          aPod('plain', { nodeName: 'a' }),
          aPod('spread-0', { nodeName: 'a', ...spread }),
          aPod('spread-1', { nodeName: 'a', ...spread }),
        ],
        uses: { plain: 100, 'spread-0': 100, 'spread-1': 100 },
      }),
    );

  it('is nothing for a pod that looks at no other', () => {
    const moved = state();
    expect(moved.surroundings(0)).toBe(0);
    moved.move(1, 1);
    moved.move(0, 2);
    expect(moved.surroundings(0)).toBe(0);
  });

  it('is where the pod is, and where those are that it looks at', () => {
    const moved = state();
    const seen = [moved.surroundings(1)];
    moved.move(2, 1);
    seen.push(moved.surroundings(1));
    moved.move(1, 2);
    seen.push(moved.surroundings(1), moved.surroundings(2));
    expect(new Set(seen).size).toBe(4);
    expect(seen).not.toContain(0);
    moved.move(0, 2);
    expect(moved.surroundings(1)).toBe(seen[2]);
  });

  it('is where all of those are that it looks at, however many constraints it has', () => {
    const constraints = { spread: ['web', 'db'].map((app) => aSpread({ app })) };
    const nodes = ['a', 'b', 'c'].map((name) => aNode(name, { labels: { zone: name } }));
    const pods = [
      aPod('both', { nodeName: 'a', constraints }),
      aPod('db', { nodeName: 'a', labels: { app: 'db' } }),
      aPod('web', { nodeName: 'a', labels: { app: 'web' } }),
    ];
    const moved = stateOf(aSnapshot({ nodes, pods, uses: { both: 100, db: 100, web: 100 } }));
    const seen = [moved.surroundings(0)];
    for (const pod of [1, 2]) {
      moved.move(pod, 1);
      seen.push(moved.surroundings(0));
    }
    expect(new Set(seen).size).toBe(3);
  });

  it('is where the pod is, where a guard asks which node it leaves', () => {
    const cluster = clusterOf(loaded([20], [10], []));
    const seenWith = (looksBack: boolean) => {
      const guard = { breachOf: () => undefined, looksBack: () => looksBack, mostPerNode: () => 1 };
      const moved = initialState({ ...cluster, guard });
      const before = moved.surroundings(0);
      moved.move(0, 2);
      return [before, moved.surroundings(0)];
    };
    expect(new Set(seenWith(true)).size).toBe(2);
    expect(seenWith(false)).toEqual([0, 0]);
  });
});

describe('room on a node that the scheduler keeps for pending pods', () => {
  /** Pods of one core on a, which may go to the empty node b of two cores; what is pending is nominated to it. */
  function besides(pending: readonly PodFields[], fields: PodFields = {}): State {
    const nominees = pending.map((each, index) => aPod(`z${index}`, { nominatedNode: 'b', phase: 'Pending', ...each }));
    const pods = ['p', 'q'].map((name) =>
      aPod(name, { nodeName: 'a', priority: 5, constraints: { requests: { cpu: 1000 } }, ...fields }),
    );
    const nodes = [
      aNode('a', { labels: { zone: 'x' } }),
      aNode('b', { labels: { zone: 'y' }, allocatable: { cpu: 2000 } }),
    ];
    return stateOf(aSnapshot({ nodes, pods: [...pods, ...nominees], uses: { p: 500, q: 500 } }));
  }

  const cpu = (amount: number, priority = 5): PodFields => ({ priority, constraints: { requests: { cpu: amount } } });

  const judged = (state: State) => [
    state.fits(0, 1),
    state.passes(0, 1),
    state.refusedBy(0, 1),
    state.refusal(0, 1)?.filter,
  ];

  const open = [true, true, undefined, undefined];

  it('is closed to a pod of the same or a lower priority, and open to one of a higher', () => {
    const closed = [false, false, 'NodeResourcesFit', 'NodeResourcesFit'];
    expect(judged(besides([cpu(1001)]))).toEqual(closed);
    expect(judged(besides([cpu(1001, 6)]))).toEqual(closed);
    expect(judged(besides([cpu(1001, 4)]))).toEqual(open);
  });

  it('leaves the rest of the node to others', () => {
    expect(judged(besides([cpu(1000)]))).toEqual(open);
  });

  it('is that of all of them together', () => {
    expect(judged(besides([cpu(500), cpu(500)]))).toEqual(open);
    expect(besides([cpu(501), cpu(500)]).fits(0, 1)).toBe(false);
    expect(besides([cpu(500), cpu(501)]).fits(0, 1)).toBe(false);
  });

  it('is closed with its host ports', () => {
    const ports = { requests: {}, hostPorts: [aHostPort(80)] };
    const state = besides([{ ...cpu(100), constraints: ports }], { constraints: ports });
    expect(judged(state)).toEqual([false, false, 'NodePorts', 'NodePorts']);
  });

  it('is closed to pods that those repel, and takes part in nothing but that judgement', () => {
    const constraints = { requests: {}, podAntiAffinity: [anAffinityTerm({ app: 'db' })] };
    const state = besides([{ priority: 5, labels: { app: 'db' } }], { constraints });
    const before = picture(state);
    expect(judged(state)).toEqual([false, false, 'InterPodAffinity', 'InterPodAffinity']);
    expect(judged(state)).toEqual([false, false, 'InterPodAffinity', 'InterPodAffinity']);
    expect(picture(state)).toEqual(before);
  });

  it('is not taken twice, however often it is asked for', () => {
    const state = besides([cpu(900)]);
    expect([judged(state), judged(state), state.fits(1, 1)]).toEqual([open, open, true]);
    state.move(0, 1);
    expect([state.fits(1, 1), state.whereabouts.freeCapacityOf(1).cpu]).toEqual([false, 1000]);
  });
});

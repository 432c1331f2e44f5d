import { describe, expect, it } from 'vitest';
import { createSeats } from '../../../../src/plan/room/seats.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';
import { stateOf } from '../../../support/state.ts';

/** Waiting pods by name: what they request, and the nodes that they are pinned to. */
type Waiting = Readonly<Record<string, readonly [millicores: number, nodes: readonly number[]]>>;

/** Seats on nodes 0 to 3 of two cores, on which as much is used as said; `wanted` by others. */
function seatsFor(waiting: Waiting, used: readonly number[] = [], wanted: readonly number[] = []) {
  const names = ['n0', 'n1', 'n2', 'n3'];
  const nodes = [...names.map((name) => aNode(name, { allocatable: { cpu: 2000 } })), aNode('wait')];
  const residents = used.map((cpu, node) =>
    aPod(`r${node}`, { nodeName: `n${node}`, constraints: { requests: { cpu } } }),
  );
  const pods = Object.entries(waiting).map(([name, [cpu]]) =>
    aPod(name, { nodeName: 'wait', constraints: { requests: { cpu } } }),
  );
  const uses = Object.fromEntries([...residents, ...pods].map(({ name }) => [name, 1]));
  const state = stateOf(aSnapshot({ nodes, pods: [...residents, ...pods], uses }));
  const placeOf = (name: string) => state.cluster.pods.findIndex((pod) => pod.name === name);
  for (const name of Object.keys(waiting)) {
    state.lift(placeOf(name));
  }
  const seats = createSeats(state, (node) => wanted[node] ?? 0);
  const pinned = new Map(Object.entries(waiting).map(([name, [, on]]) => [name, { pod: placeOf(name), nodes: on }]));
  const pinnedPod = (name: string) => pinned.get(name) ?? { pod: -1, nodes: [] };
  return {
    seat: (...order: readonly string[]) => order.map((name) => seats.seat(pinnedPod(name))),
    seatOn: (name: string, node: number) => seats.seatOn(pinnedPod(name), node),
    /** Nodes of those that are seated, in the state as well. */
    nodes: () => {
      const seated = Object.keys(waiting).filter((name) => seats.nodeOf.has(placeOf(name)));
      const found = Object.fromEntries(seated.map((name) => [name, seats.nodeOf.get(placeOf(name))]));
      const inState = Object.keys(waiting).filter((name) => state.nodeOf(placeOf(name)) >= 0);
      expect(Object.fromEntries(inState.map((name) => [name, state.nodeOf(placeOf(name))]))).toEqual(found);
      return found;
    },
  };
}

describe('the seat of a waiting pod', () => {
  it('is on a node of its own that has room, of these the one that fewest others want, else the first', () => {
    const on = (used: readonly number[], wanted: readonly number[]) => {
      const seats = seatsFor({ w: [1000, [0, 1, 2]] }, used, wanted);
      return [seats.seat('w'), seats.nodes()];
    };
    expect(on([], [])).toEqual([[true], { w: 0 }]);
    expect(on([1001], [])).toEqual([[true], { w: 1 }]);
    expect(on([1000], [])).toEqual([[true], { w: 0 }]);
    expect(on([], [2, 1, 1])).toEqual([[true], { w: 1 }]);
    expect(on([0, 1500], [2, 1, 1])).toEqual([[true], { w: 2 }]);
    expect(on([1500, 1500, 1500], [])).toEqual([[false], {}]);
  });

  it('is taken by who sits there', () => {
    const seats = seatsFor({ w1: [1500, [0, 1]], w2: [1500, [0, 1]], w3: [1500, [0, 1]] });
    expect(seats.seat('w1', 'w2', 'w3')).toEqual([true, true, false]);
    expect(seats.nodes()).toEqual({ w1: 0, w2: 1 });
  });

  it('is that of another pod that can sit elsewhere', () => {
    const seats = seatsFor({ w1: [1500, [0, 1]], w2: [1600, [0]] });
    expect(seats.seat('w1', 'w2')).toEqual([true, true]);
    expect(seats.nodes()).toEqual({ w1: 1, w2: 0 });
  });

  it('is that of another pod that sits on a node by the moves of the plan', () => {
    const seats = seatsFor({ w1: [1500, [0, 1]], w2: [1600, [0]] });
    seats.seatOn('w1', 0);
    expect(seats.seat('w2')).toEqual([true]);
    expect(seats.nodes()).toEqual({ w1: 1, w2: 0 });
  });

  it('is got by a chain of others that each sit elsewhere', () => {
    const seats = seatsFor({ w1: [1500, [0, 1]], w2: [1600, [1, 2]], w3: [1700, [0]] });
    expect(seats.seat('w1', 'w2', 'w3')).toEqual([true, true, true]);
    expect(seats.nodes()).toEqual({ w1: 1, w2: 2, w3: 0 });
  });

  it('is none where the others have no other node, none with room, or need the same', () => {
    const none = (first: readonly [number, readonly number[]], used: readonly number[] = []) => {
      const seats = seatsFor({ w1: first, w2: [1600, [0]] }, used);
      expect(seats.seat('w1', 'w2')).toEqual([true, false]);
      return seats.nodes();
    };
    expect(none([1500, [0]])).toEqual({ w1: 0 });
    expect(none([1500, [0, 1]], [0, 1000])).toEqual({ w1: 0 });
    expect(none([1600, [0, 1]], [0, 0])).toEqual({ w1: 0 });
    expect(seatsFor({ w1: [1600, [0, 1]], w2: [1600, [0]] }).seat('w1', 'w2')).toEqual([true, false]);
  });

  it('is none where there is no room without the other either, which then keeps its own', () => {
    const seats = seatsFor({ w1: [500, [0, 1]], w2: [1600, [0]] }, [1000]);
    expect(seats.seat('w1', 'w2')).toEqual([true, false]);
    expect(seats.nodes()).toEqual({ w1: 0 });
  });

  it('is none where two would only change places', () => {
    const seats = seatsFor({ w1: [1500, [0, 1]], w2: [1600, [0, 1]], w3: [1700, [0, 1]] });
    expect(seats.seat('w1', 'w2', 'w3')).toEqual([true, true, false]);
    expect(seats.nodes()).toEqual({ w1: 0, w2: 1 });
  });
});

import { describe, expect, it } from 'vitest';
import { epochSeconds } from '../../../../src/model/units.ts';
import type { Budget } from '../../../../src/plan/budgets/budget.ts';
import { createTargetSearch } from '../../../../src/plan/repair/targets.ts';
import { findRoom, type RoomSearch } from '../../../../src/plan/room/find-room.ts';
import { aNode, aPod, aSnapshot, NOW, type PodFields, type Resources } from '../../../support/builders.ts';
import { stateOf } from '../../../support/state.ts';

const FREE: Budget = { check: () => undefined, spend: () => undefined, refund: () => undefined };

interface Fields {
  /** Residents by name, which begins with their node, and what they request. */
  readonly residents: Readonly<Record<string, readonly [Resources, PodFields?]>>;
  readonly asks?: Resources;
  /** How many others wait for a node. */
  readonly wanted?: Readonly<Record<string, number>>;
  readonly pinned?: readonly string[];
  readonly held?: readonly string[];
  readonly stuck?: readonly string[];
  readonly most?: number;
  /** Further nodes with as many millicores, for those that leave. */
  readonly elsewhere?: Readonly<Record<string, number>>;
}

const MIB = 2 ** 20;

/** Room for a pod of one core on the nodes s1 and s2 of two: the node, and who leaves it, where to. */
function roomFor({ residents, asks = { cpu: 1000 }, wanted = {}, pinned = [], ...fields }: Fields) {
  const { held = [], stuck = [], most = 9, elsewhere = { z1: 9000 } } = fields;
  const small = ['s1', 's2'].map((name) => aNode(name, { allocatable: { cpu: 2000, memory: 2000 * MIB } }));
  const nodes = [
    ...small,
    ...Object.entries({ ...elsewhere, zw: 1000 }).map(([name, cpu]) => aNode(name, { allocatable: { cpu } })),
  ];
  const pods = Object.entries(residents).map(([name, [requests, more]]) =>
    aPod(name, { nodeName: name.slice(0, 2), owner: name, constraints: { requests }, ...more }),
  );
  const waits = aPod('w', { nodeName: 'zw', owner: 'w', constraints: { requests: asks } });
  const uses = Object.fromEntries([...pods, waits].map(({ name, constraints }) => [name, constraints.requests.cpu]));
  const state = stateOf(aSnapshot({ nodes, pods: [...pods, waits], uses }));
  const nameOf = (node: number) => state.cluster.nodes[node]?.name ?? '';
  const podName = (pod: number) => state.cluster.pods[pod]?.name ?? '';
  let spent = 0;
  const budgets: Budget = {
    check: () => (spent < most ? undefined : { code: 'MaxMoves', message: 'full', numbers: {} }),
    spend: () => {
      spent += 1;
    },
    refund: () => {
      spent -= 1;
    },
  };
  const within: RoomSearch = {
    state,
    budgets: { ...budgets, refusals: () => [], maxMoves: most },
    search: createTargetSearch(state, FREE, false),
    residentsOf: (node) => state.movablePodsOn(node),
    holdOf: (pod) => (held.includes(podName(pod)) ? { code: 'MinPodAge', message: 'young', numbers: {} } : undefined),
    canLeave: (pod) => !stuck.includes(podName(pod)),
    isPinnedTo: (node) => pinned.includes(nameOf(node)),
    wantedBy: (node) => wanted[nameOf(node)] ?? 0,
  };
  const before = [...state.placement];
  const places = state.cluster.nodes.flatMap(({ name }, node) => (name.startsWith('s') ? [node] : []));
  const found = findRoom(
    within,
    state.cluster.pods.findIndex(({ name }) => name === 'w'),
    places,
  );
  expect([[...state.placement], spent]).toEqual([before, 0]);
  return (
    found && [nameOf(found.node), ...found.departures.map(({ pod, targets }) => [podName(pod), ...targets.map(nameOf)])]
  );
}

const core = (fields: PodFields = {}, cpu = 1000): readonly [Resources, PodFields?] => [{ cpu }, fields];
const full = { s1a: core(), s1b: core(), s2a: core(), s2b: core() };

describe('room for a pod', () => {
  it('is on the first node, of equals the first pod leaves', () => {
    expect(roomFor({ residents: full })).toEqual(['s1', ['s1a', 'z1']]);
  });

  it('is made by as few pods as can be, whoever they are', () => {
    const residents = { s1a: core({}, 500), s1b: core({}, 500), s1c: core({}, 500), s1d: core({}, 500) };
    expect(roomFor({ residents: { ...residents, s2a: core({ priority: 9 }, 2000) } })).toEqual(['s2', ['s2a', 'z1']]);
    expect(roomFor({ residents: { ...residents, s2a: core({ priority: 9 }, 900), s2b: core({}, 1100) } })).toEqual([
      's2',
      ['s2b', 'z1'],
    ]);
  });

  it('is made by the least important pods, on one node and of several', () => {
    expect(roomFor({ residents: { ...full, s1b: core({ priority: -1 }) } })).toEqual(['s1', ['s1b', 'z1']]);
    expect(roomFor({ residents: { ...full, s2b: core({ priority: -1 }) } })).toEqual(['s2', ['s2b', 'z1']]);
    const young = { createdAt: epochSeconds(NOW - 900) };
    expect(roomFor({ residents: { ...full, s1b: core(young) } })).toEqual(['s1', ['s1b', 'z1']]);
    expect(roomFor({ residents: { ...full, s2b: core(young) } })).toEqual(['s2', ['s2b', 'z1']]);
  });

  it('is made by the youngest of equals, wherever it stands among them', () => {
    const aged = (...ages: readonly number[]) =>
      Object.fromEntries(
        ages.map((age, place) => [`s1${'abc'[place]}`, core({ createdAt: epochSeconds(NOW - age) }, 600)]),
      );
    const held = ['s2a'];
    const others = { s2a: core({}, 2000) };
    const leaver = (...ages: readonly number[]) =>
      roomFor({ residents: { ...aged(...ages), ...others }, asks: { cpu: 700 }, held })?.[1]?.[0];
    expect(leaver(9000, 8000, 7000)).toBe('s1c');
    expect(leaver(9000, 7000, 8000)).toBe('s1b');
    expect(leaver(7000, 9000, 8000)).toBe('s1a');
  });

  it('is left by pods of one size in the order of all pods, whoever is the youngest', () => {
    const young = core({ createdAt: epochSeconds(NOW - 900) });
    expect(roomFor({ residents: { ...full, s1b: young }, asks: { cpu: 2000 }, held: ['s2a', 's2b'] })).toEqual([
      's1',
      ['s1a', 'z1'],
      ['s1b', 'z1'],
    ]);
  });

  it('goes by the most important of several that leave', () => {
    const half = (priority: number) => core({ priority }, 500);
    const residents = {
      s1a: half(1),
      s1b: half(5),
      s1c: core({ priority: 9 }),
      s2a: half(3),
      s2b: half(4),
      s2c: core({ priority: 9 }),
    };
    const held = ['s1c', 's2c'];
    expect(roomFor({ residents, held })?.[0]).toBe('s2');
    expect(roomFor({ residents: { ...residents, s2b: half(5) }, held })?.[0]).toBe('s1');
    expect(roomFor({ residents: { ...residents, s2a: half(0), s2b: half(5) }, held })?.[0]).toBe('s2');
  });

  it('is on the node that fewer others wait for, or where more is freed when both are waited for', () => {
    expect(roomFor({ residents: full, wanted: { s1: 1 } })?.[0]).toBe('s2');
    expect(roomFor({ residents: full, wanted: { s1: 2, s2: 1 } })?.[0]).toBe('s2');
    expect(roomFor({ residents: full, wanted: { s1: 1, s2: 1 } })?.[0]).toBe('s1');
    const larger = { ...full, s2a: core({}, 800), s2b: core({}, 1200) };
    expect(roomFor({ residents: larger, wanted: { s1: 1, s2: 2 } })).toEqual(['s2', ['s2b', 'z1']]);
    expect(roomFor({ residents: larger, wanted: { s1: 2, s2: 1 } })?.[0]).toBe('s2');
    expect(roomFor({ residents: larger, wanted: { s1: 1, s2: 1 } })?.[0]).toBe('s2');
    const first = { ...full, s1a: core({}, 800), s1b: core({}, 1200) };
    expect(roomFor({ residents: first, wanted: { s1: 2, s2: 1 } })?.[0]).toBe('s1');
    expect(roomFor({ residents: larger, wanted: { s2: 1 } })?.[0]).toBe('s1');
    expect(roomFor({ residents: larger })?.[0]).toBe('s1');
  });

  it('is made by the largest of equals where others wait for the node as well', () => {
    const memory = { s1a: [{ cpu: 1000, memory: MIB }], s1b: [{ cpu: 1000, memory: 2 * MIB }] } as const;
    const held = ['s2a', 's2b'];
    const crowded = { ...memory, s2a: core(), s2b: core() };
    expect(roomFor({ residents: crowded, held, wanted: { s1: 1 } })).toEqual(['s1', ['s1b', 'z1']]);
    expect(roomFor({ residents: crowded, held })).toEqual(['s1', ['s1a', 'z1']]);
  });

  it('is not made by pods that are held, have nowhere to go, or are one too many for the budgets', () => {
    expect(roomFor({ residents: full, held: ['s1a'] })).toEqual(['s1', ['s1b', 'z1']]);
    expect(roomFor({ residents: full, stuck: ['s1a', 's1b'] })).toEqual(['s2', ['s2a', 'z1']]);
    expect(roomFor({ residents: full, held: ['s1a', 's2a'], stuck: ['s1b', 's2b'] })).toBeUndefined();
    expect(roomFor({ residents: full, asks: { cpu: 2000 } })).toEqual(['s1', ['s1a', 'z1'], ['s1b', 'z1']]);
    expect(roomFor({ residents: full, asks: { cpu: 2000 }, most: 2 })?.[0]).toBe('s1');
    expect(roomFor({ residents: full, asks: { cpu: 2000 }, most: 1 })).toBeUndefined();
    expect(roomFor({ residents: full, most: 0 })).toBeUndefined();
  });

  it('is none that no number of pods can make', () => {
    expect(roomFor({ residents: full, asks: { cpu: 2001 } })).toBeUndefined();
    expect(roomFor({ residents: full, elsewhere: { z1: 999 } })).toBeUndefined();
  });

  it('is made by pods that go to nodes that nobody waits for, as far as there are any', () => {
    const elsewhere = { z1: 9000, z2: 5000 };
    expect(roomFor({ residents: full, elsewhere })).toEqual(['s1', ['s1a', 'z1', 'z2']]);
    expect(roomFor({ residents: full, elsewhere, pinned: ['z1'] })).toEqual(['s1', ['s1a', 'z2', 'z1']]);
  });

  it('sends the largest first, and others where these leave them room', () => {
    const residents = { s1a: core({}, 600), s1b: core({}, 1400), s2a: core(), s2b: core() };
    const found = roomFor({ residents, asks: { cpu: 2000 }, held: ['s2a', 's2b'], elsewhere: { z1: 1400, z2: 700 } });
    expect(found).toEqual(['s1', ['s1b', 'z1'], ['s1a', 'z2']]);
  });
});

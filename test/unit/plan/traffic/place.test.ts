import { describe, expect, it } from 'vitest';
import { applicationOf, type Edge } from '../../../../src/plan/traffic/application.ts';
import { importanceOf, orderOf } from '../../../../src/plan/traffic/importance.ts';
import { createLinkLoads } from '../../../../src/plan/traffic/network.ts';
import { carryOut, placeApplication } from '../../../../src/plan/traffic/place.ts';
import { type PlacementRequest, SEARCH_LIMITS } from '../../../../src/plan/traffic/request.ts';
import { meshOf, plainHosts, requestFor } from '../../../support/plain-hosts.ts';

const FREE = { capacity: Number.POSITIVE_INFINITY, price: 0 };

/** Components by their cores, on hosts by theirs that cost nothing. */
function coresOn(components: readonly number[], hosts: readonly number[], edges: readonly Edge[] = []) {
  return {
    application: applicationOf(
      components.map((cores) => Float64Array.of(cores)),
      edges,
    ),
    machines: plainHosts(hosts.map((cores) => ({ capacity: [cores], prices: [0] }))),
  };
}

function place(
  components: readonly number[],
  hosts: readonly number[],
  edges: readonly Edge[] = [],
  given: Partial<PlacementRequest> = {},
) {
  const { application, machines } = coresOn(components, hosts, edges);
  return placeApplication(
    requestFor(application, machines.of(application), meshOf(hosts.map(() => FREE)), undefined, given),
  );
}

describe('an application that does not fit', () => {
  it('is told which resource is missing', () => {
    expect(place([3, 3], [4, 1])).toEqual({
      kind: 'Unplaced',
      missing: { kind: 'Resource', resource: 0, demanded: 6, free: 5 },
    });
  });

  it('is told without a search where nodes have enough in sum and not in one piece', () => {
    expect(place(Array<number>(11).fill(3), Array<number>(5).fill(8))).toEqual({
      kind: 'Unplaced',
      missing: { kind: 'Pieces', resource: 0, each: 3, components: 11, room: 10 },
    });
  });

  it('is told which component no host takes', () => {
    const { application, machines } = coresOn([1, 1], [4, 4]);
    const hosts = machines.of(application, (component) => component !== 1);
    expect(placeApplication(requestFor(application, hosts, meshOf([FREE, FREE])))).toEqual({
      kind: 'Unplaced',
      missing: { kind: 'Host', component: 1 },
    });
  });

  it('is told that every way was tried', () => {
    expect(place([5, 5, 3, 3], [9, 7])).toEqual({
      kind: 'Unplaced',
      missing: expect.objectContaining({ kind: 'Combination' }),
    });
  });

  it('is told when the limit of steps is reached', () => {
    // Two of the large ones fill each host but for 10.
    const sizes = [...Array<number>(12).fill(45), ...Array<number>(5).fill(11)];
    const hosts = Array<number>(6).fill(100);
    const limits = { ...SEARCH_LIMITS, steps: 300 };
    const { missing } = { missing: undefined, ...place(sizes, hosts, [], { limits }) };
    expect(missing).toEqual({
      kind: 'Steps',
      steps: expect.toSatisfy((steps) => steps <= 300 + sizes.length),
      component: expect.any(Number),
    });
  });
});

describe('an application that fits', () => {
  it('is placed together where that is possible, though the cheapest host has no room for all', () => {
    const { application } = coresOn([2, 2], [], [{ from: 0, to: 1, bandwidth: 10 }]);
    const machines = plainHosts([
      { capacity: [2], prices: [0.01] },
      { capacity: [4], prices: [0.1] },
    ]);
    const dear = { capacity: Number.POSITIVE_INFINITY, price: 1 };
    const placement = placeApplication(requestFor(application, machines.of(application), meshOf([dear, dear])));
    expect(placement).toMatchObject({ kind: 'Placed', hosts: [1, 1], cost: expect.closeTo(0.4, 12) });
  });

  it('stays where it is when moving saves less than a move counts', () => {
    const edges = [{ from: 0, to: 1, bandwidth: 1 }];
    const homes = [0, 1];
    const uplinks = [0, 1].map(() => ({ capacity: Number.POSITIVE_INFINITY, price: 1 }));
    const { application, machines } = coresOn([1, 1], [4, 4], edges);
    const hosts = machines.of(application);
    const at = (movePrice: number) =>
      placeApplication(requestFor(application, hosts, meshOf(uplinks), undefined, { homes, movePrice }));
    expect(at(2.5)).toMatchObject({ hosts: [0, 1], cost: 2 });
    expect(at(1.5)).toMatchObject({ cost: 1.5 });
  });

  it.each([
    ['the cheapest of all ways where they are few', 8, [1, 1, 1]],
    ['what single changes come to where they are more', 7, [0, 0, 0]],
  ])('gets %s', (_, ways, hosts) => {
    // All three talk so much that only together they leave the host that is the cheaper one for the first.
    const demands = [
      [4, 0],
      [0, 1],
      [0, 1],
    ];
    const edges = [
      { from: 0, to: 1, bandwidth: 10 },
      { from: 0, to: 2, bandwidth: 10 },
      { from: 1, to: 2, bandwidth: 10 },
    ];
    const application = applicationOf(
      demands.map((amounts) => Float64Array.from(amounts)),
      edges,
    );
    const machines = plainHosts([
      { capacity: [10, 10], prices: [0.025, 1] },
      { capacity: [10, 10], prices: [0.05, 0.5] },
    ]);
    const uplinks = [0, 1].map(() => ({ capacity: Number.POSITIVE_INFINITY, price: 1 }));
    const limits = { ...SEARCH_LIMITS, ways };
    const request = requestFor(application, machines.of(application), meshOf(uplinks), undefined, { limits });
    expect(placeApplication(request)).toMatchObject({ kind: 'Placed', hosts });
  });

  it('gets the first of several ways that cost the same, be it one of few or of many', () => {
    const price = { prices: [1] };
    const application = applicationOf(
      [1, 1].map((cores) => Float64Array.of(cores)),
      [],
    );
    for (const ways of [1, 9]) {
      const machines = plainHosts([4, 4, 4].map((cores) => ({ capacity: [cores], ...price })));
      const limits = { ...SEARCH_LIMITS, ways };
      const mesh = meshOf([FREE, FREE, FREE]);
      const request = requestFor(application, machines.of(application), mesh, undefined, { limits });
      expect(placeApplication(request)).toEqual({ kind: 'Placed', hosts: [0, 0], cost: 2 });
    }
  });

  it('sums its new traffic over a link before it compares', () => {
    // Each of the two talks passes the uplink of the middle one alone, both together do not.
    const edges = [
      { from: 0, to: 1, bandwidth: 6 },
      { from: 0, to: 2, bandwidth: 6 },
    ];
    const { application, machines } = coresOn([3, 1, 1], [3, 1, 1], edges);
    const at = (capacity: number) =>
      placeApplication(
        requestFor(application, machines.of(application), meshOf([0, 1, 2].map(() => ({ capacity, price: 0 })))),
      ).kind;
    expect([at(11), at(12)]).toEqual(['Unplaced', 'Placed']);
  });

  it('is on its hosts and links once it is carried out', () => {
    const { application, machines } = coresOn([3, 1], [3, 1], [{ from: 0, to: 1, bandwidth: 6 }]);
    const network = meshOf([FREE, FREE]);
    const loads = createLinkLoads(network);
    const request = requestFor(application, machines.of(application), network, loads);
    carryOut(request, [0, 1]);
    expect([machines.used(), loads.load(0), loads.load(1)]).toEqual([2, 6, 6]);
  });
});

describe('the order of components', () => {
  const edges = [
    { from: 0, to: 1, bandwidth: 5 },
    { from: 1, to: 2, bandwidth: 10 },
  ];

  it('is that of their importance, what they talk to counted by bandwidth beside the largest', () => {
    const { application } = coresOn([4, 1, 2], [], edges);
    expect([0, 1, 2].map((component) => importanceOf(application, component, 0))).toEqual([4.5, 5, 3]);
    expect(orderOf(application, () => false)).toEqual([1, 0, 2]);
  });

  it('begins with those that are pinned', () => {
    const { application } = coresOn([4, 1, 2], [], edges);
    expect(orderOf(application, (component) => component === 2)).toEqual([2, 1, 0]);
  });
});

describe('the edges of an application', () => {
  it('add up for a pair, whatever their direction, and need a bandwidth', () => {
    const demands = [1, 1].map((cores) => Float64Array.of(cores));
    const application = applicationOf(demands, [
      { from: 0, to: 1, bandwidth: 2 },
      { from: 1, to: 0, bandwidth: 3 },
    ]);
    expect(application.talks).toEqual([[{ with: 1, bandwidth: 5 }], [{ with: 0, bandwidth: 5 }]]);
    expect(applicationOf(demands, [{ from: 0, to: 1, bandwidth: 0 }]).talks).toEqual([[], []]);
  });

  it('are refused where they name one component twice, one that is not there, or no amount', () => {
    const demands = [1, 1].map((cores) => Float64Array.of(cores));
    const edge = (from: number, to: number, bandwidth: number) => () =>
      applicationOf(demands, [{ from, to, bandwidth }]);
    expect(edge(0, 0, 1)).toThrow(RangeError);
    expect(edge(0, 2, 1)).toThrow('component 2, and there are 2');
    expect(edge(0, 1, -1)).toThrow('-1 bits per second');
    expect(edge(0, 1, Number.NaN)).toThrow(RangeError);
  });
});

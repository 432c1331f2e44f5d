import { describe, expect, it } from 'vitest';
import { applicationOf, type Edge } from '../../../../src/plan/traffic/application.ts';
import { createRanking } from '../../../../src/plan/traffic/candidates.ts';
import { type PlacementRequest, SEARCH_LIMITS } from '../../../../src/plan/traffic/request.ts';
import { createSeats } from '../../../../src/plan/traffic/seats.ts';
import { meshOf, type PlainHost, plainHosts, requestFor, type Uplink } from '../../../support/plain-hosts.ts';

const FREE: Uplink = { capacity: Number.POSITIVE_INFINITY, price: 0 };

interface Scene {
  /** What each component demands of each resource. */
  readonly components: readonly (readonly number[])[];
  readonly hosts: readonly PlainHost[];
  readonly edges?: readonly Edge[];
  readonly uplinks?: readonly Uplink[];
  /** Hosts of components that have a seat, by component. */
  readonly seated?: readonly (readonly [component: number, host: number])[];
  readonly given?: Partial<PlacementRequest>;
}

/** The hosts for component 0, the best first, with their costs. */
function ranked({ components, hosts, edges = [], uplinks = hosts.map(() => FREE), seated = [], given = {} }: Scene) {
  const application = applicationOf(
    components.map((demands) => Float64Array.from(demands)),
    edges,
  );
  const machines = plainHosts(hosts).of(application);
  const request = requestFor(application, machines, meshOf(uplinks), undefined, given);
  const seats = createSeats(request);
  for (const [component, host] of seated) {
    seats.take(component, host);
  }
  return [...createRanking(request, seats).best(0)];
}

function order(scene: Scene): readonly number[] {
  return ranked(scene).map(({ host }) => host);
}

/** Hosts of so many cores that cost the same. */
function hostsOf(...capacities: readonly (readonly number[])[]): readonly PlainHost[] {
  return capacities.map((capacity) => ({ capacity, prices: capacity.map(() => 1) }));
}

const TALK = [{ from: 0, to: 1, bandwidth: 10 }];

describe('the hosts for a component', () => {
  it('are those that have room for it, the cheapest first, with what it costs there', () => {
    const hosts = [3, 1, 2].map((price) => ({ capacity: [4], prices: [price] }));
    expect(ranked({ components: [[2]], hosts })).toEqual([
      { host: 1, cost: 2 },
      { host: 2, cost: 4 },
      { host: 0, cost: 6 },
    ]);
    expect(order({ components: [[2]], hosts: hostsOf([1.9], [2], [2.1]) })).toEqual([1, 2]);
    expect(order({ components: [[2, 3]], hosts: hostsOf([2, 2], [1, 3], [2, 3]) })).toEqual([2]);
    expect(order({ components: [[2]], hosts: hostsOf([1], [1]) })).toEqual([]);
  });

  it('are no more than the limits name', () => {
    const hosts = hostsOf([4], [4], [4]);
    const given = (candidates: number) => ({ limits: { ...SEARCH_LIMITS, candidates } });
    expect(order({ components: [[2]], hosts, given: given(2) })).toEqual([0, 1]);
    expect(order({ components: [[2]], hosts, given: given(3) })).toEqual([0, 1, 2]);
    expect(order({ components: [[2]], hosts, given: given(0) })).toEqual([]);
  });

  it('come in their order where they are as good, and used and full ones first', () => {
    expect(order({ components: [[2]], hosts: hostsOf([4], [4]) })).toEqual([0, 1]);
    expect(order({ components: [[2]], hosts: hostsOf([5], [4], [6]) })).toEqual([1, 0, 2]);
    const used = { components: [[2], [1]], hosts: hostsOf([4], [9]) };
    expect(order({ ...used, seated: [[1, 1]] })).toEqual([1, 0]);
  });

  it('prefer those on which what they talk to has room as well', () => {
    expect(order({ components: [[2], [2]], hosts: hostsOf([2], [4]), edges: TALK })).toEqual([1, 0]);
    expect(order({ components: [[2], [2]], hosts: hostsOf([2], [4]) })).toEqual([0, 1]);
  });

  it('are only as good as the resource that is short the most, whichever it is', () => {
    const two = [2, 2];
    const alone = { components: [two, two], edges: TALK };
    expect(order({ ...alone, hosts: hostsOf([2, 9], [4, 4]) })).toEqual([1, 0]);
    expect(order({ ...alone, hosts: hostsOf([9, 2], [9, 9]) })).toEqual([1, 0]);
    // The other one talks twice as much to a third, so that half of it matters.
    const scene = { components: [two, two, two], edges: [...TALK, { from: 1, to: 2, bandwidth: 20 }] };
    expect(order({ ...scene, hosts: hostsOf([3, 2], [3, 3], [4, 3.5]) })).toEqual([2, 1, 0]);
    expect(order({ ...scene, hosts: hostsOf([2, 3], [3, 3], [3.5, 4]) })).toEqual([2, 1, 0]);
  });

  it('do not heed room for what has a seat already', () => {
    const scene = { components: [[2], [2]], hosts: hostsOf([2], [4], [2]), edges: TALK };
    expect(order({ ...scene, seated: [[1, 2]] })).toEqual([0, 1]);
  });

  it('prefer those whose links carry what is said to others, and where those are already', () => {
    const dear = (capacity: number): Uplink => ({ capacity, price: 0 });
    const scene = { components: [[2], [4]], hosts: hostsOf([3], [3], [9]), edges: TALK };
    expect(order({ ...scene, uplinks: [dear(5), dear(10), dear(10)], seated: [[1, 2]] })).toEqual([2, 1]);
    expect(order({ ...scene, uplinks: [dear(10), dear(10), dear(10)], seated: [[1, 2]] })).toEqual([2, 0, 1]);
  });

  it('count what the traffic to those that have a seat costs', () => {
    const paid = [1, 2, 4].map((price) => ({ capacity: Number.POSITIVE_INFINITY, price }));
    const found = ranked({
      components: [[2], [1]],
      hosts: hostsOf([4], [4], [4]),
      edges: TALK,
      uplinks: paid,
      seated: [[1, 2]],
    });
    expect(found.map(({ host, cost }) => [host, cost])).toEqual([
      [2, 2],
      [0, 2 + 10 * (1 + 4)],
      [1, 2 + 10 * (2 + 4)],
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { domainNetwork, domainPairs, trafficDomains } from '../../../../src/plan/traffic/domains.ts';
import { createLinkLoads } from '../../../../src/plan/traffic/network.ts';
import { aNode, aSnapshot } from '../../../support/builders.ts';
import { clusterOf } from '../../../support/state.ts';

const GIB = 2 ** 30;

describe('the domains of traffic', () => {
  it('are the values of the label by name, with their nodes; a node without it is in none', () => {
    const zones = [undefined, 'c', 'a', 'c', 'b'];
    const nodes = zones.map((zone, place) => aNode(`n${place}`, { labels: zone === undefined ? {} : { zone } }));
    const domains = trafficDomains(clusterOf(aSnapshot({ nodes })), 'zone');
    expect(domains.names).toEqual(['a', 'b', 'c']);
    expect([...domains.of]).toEqual([-1, 2, 0, 2, 1]);
    expect(domains.nodes).toEqual([[2], [4], [1, 3]]);
    expect(domainPairs(domains)).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
    ]);
  });
});

describe('the network of domains', () => {
  const network = domainNetwork(3, [{ between: [2, 0], price: 7, capacity: 100 }], 2, [
    { cpu: 0.5, memory: 0 },
    { cpu: 1, memory: 3 },
  ]);

  it('has a price for each pair, in either direction, and none within a domain', () => {
    const prices = [0, 1, 2].map((from) => [0, 1, 2].map((to) => network.routePrice(from, to)));
    expect(prices).toEqual([
      [0, 2, 7],
      [2, 0, 2],
      [7, 2, 0],
    ]);
  });

  it('has one link for each pair, with its price and its capacity', () => {
    expect(network.route(1, 1)).toEqual([]);
    expect(network.route(0, 2)).toEqual(network.route(2, 0));
    const routes = [network.route(0, 1), network.route(0, 2), network.route(1, 2)].map(([link = -1]) => link);
    expect(new Set(routes).size).toBe(3);
    expect(routes.map((link) => network.prices[link])).toEqual([2, 7, 2]);
    expect(routes.map((link) => network.capacities[link])).toEqual([
      Number.POSITIVE_INFINITY,
      100,
      Number.POSITIVE_INFINITY,
    ]);
    expect(network.outward(0)).toEqual([routes[0], routes[1]]);
    expect(network.outward(1)).toEqual([routes[0], routes[2]]);
    expect(network.outward(2)).toEqual([routes[1], routes[2]]);
  });

  it('has a price for what a pod requests in a domain, and none where nothing is said', () => {
    const demand = Float64Array.of(2000, 4 * GIB);
    expect([0, 1, 2].map((host) => network.hostPrice(demand, host))).toEqual([1, 14, 0]);
    expect(network.hostPrice(Float64Array.of(2000), 1)).toBe(2);
    expect(network.hostPrice(new Float64Array(), 1)).toBe(0);
  });

  it('carries what is added between two domains on their link alone, until it is taken away', () => {
    const loads = createLinkLoads(network);
    const [near = -1] = network.route(0, 1);
    const [far = -1] = network.route(0, 2);
    loads.add(0, 2, 60);
    loads.add(2, 0, 50);
    loads.add(1, 1, 40);
    expect([loads.load(far), loads.free(far)]).toEqual([110, -10]);
    expect([loads.load(near), loads.free(near)]).toEqual([0, Number.POSITIVE_INFINITY]);
    loads.add(0, 2, -60);
    expect([loads.load(far), loads.free(far)]).toEqual([50, 50]);
  });
});

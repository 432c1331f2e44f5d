import { describe, expect, it } from 'vitest';
import { applicationOf, type Edge } from '../../../../src/plan/traffic/application.ts';
import { type DomainPrice, domainNetwork } from '../../../../src/plan/traffic/domains.ts';
import { cheaperPlacements } from '../../../../src/plan/traffic/enumerate.ts';

interface Case {
  readonly homes: readonly number[];
  readonly edges?: readonly Edge[];
  readonly hosts?: number;
  readonly movePrice?: number;
  readonly running?: readonly DomainPrice[];
  readonly held?: readonly number[];
}

/** Components of a core each; a bit per second between two hosts costs 1. */
function cheaper({ homes, edges = [], hosts = 2, movePrice = 0, running = [], held = [] }: Case) {
  const application = applicationOf(
    homes.map(() => Float64Array.of(1000)),
    edges,
  );
  return cheaperPlacements(
    { name: 'app', application, pods: [...homes.keys()] },
    {
      homes,
      hosts,
      network: domainNetwork(hosts, [], 1, running),
      movePrice,
      mayLeave: (component) => !held.includes(component),
    },
  );
}

const edges = [
  { from: 0, to: 1, bandwidth: 5 },
  { from: 1, to: 2, bandwidth: 3 },
];

describe('the placements that are cheaper than the one that an application has', () => {
  it('are all of them, the cheapest first', () => {
    expect(cheaper({ homes: [0, 1, 1], edges })).toEqual([
      [0, 0, 0],
      [1, 1, 1],
      [0, 0, 1],
      [1, 1, 0],
    ]);
  });

  it('are none where nothing costs less', () => {
    expect(cheaper({ homes: [0, 0, 0], edges })).toEqual([]);
    expect(cheaper({ homes: [0, 1] })).toEqual([]);
  });

  it('count what their moves cost, and must cost less with it', () => {
    expect(cheaper({ homes: [0, 1, 1], edges, movePrice: 1.5 })).toEqual([
      [1, 1, 1],
      [0, 0, 0],
      [0, 0, 1],
    ]);
    expect(cheaper({ homes: [0, 1, 1], edges, movePrice: 5 })).toEqual([]);
    expect(cheaper({ homes: [0, 1, 1], edges, movePrice: 4.9 })).toEqual([[1, 1, 1]]);
  });

  it('count what running costs', () => {
    const running = [
      { cpu: 2, memory: 0 },
      { cpu: 1, memory: 0 },
    ];
    expect(cheaper({ homes: [0, 0], running })).toEqual([
      [1, 1],
      [0, 1],
      [1, 0],
    ]);
  });

  it('leave those where they are that may not leave', () => {
    expect(cheaper({ homes: [0, 1, 1], edges, held: [0] })).toEqual([
      [0, 0, 0],
      [0, 0, 1],
    ]);
    expect(cheaper({ homes: [0, 1, 1], edges, held: [0, 1] })).toEqual([]);
  });

  it('are not looked for where there are more than 20,000 ways, by who may leave', () => {
    const homes = Array<number>(15).fill(0);
    expect(cheaper({ homes })).toBeUndefined();
    expect(cheaper({ homes, held: [0] })).toEqual([]);
    expect(cheaper({ homes: [0, 1], hosts: 141 })).toEqual([]);
    expect(cheaper({ homes: [0, 1], hosts: 142 })).toBeUndefined();
  });
});

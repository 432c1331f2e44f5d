import { describe, expect, it } from 'vitest';
import { domainNetwork } from '../../src/plan/traffic/domains.ts';
import { createLinkLoads } from '../../src/plan/traffic/network.ts';
import { type RerouteContext, rerouteAll, talk, trafficCost } from '../../src/plan/traffic/reroute.ts';
import { createRandom } from '../support/random.ts';
import { domainsOf, runningCase, type StagedCase, stage } from '../support/running-apps.ts';

/** A case of any size and fullness; of every third the links are limited, in every second some pods may not leave. */
function aCase(seed: number) {
  const { below, next } = createRandom(seed);
  const settings = {
    seed,
    nodes: 4 + below(30),
    zones: 2 + below(3),
    applications: 1 + below(12),
    members: 2 + below(9),
    utilisation: 0.3 + 0.55 * next(),
  };
  const staged = stage(runningCase(settings));
  const held = new Set([...staged.state.cluster.pods.keys()].filter(() => seed % 2 === 0 && next() < 0.3));
  return { ...(seed % 3 === 0 ? withLimits(staged, next) : staged), held };
}

/** Every link carries what it does now, and a little more. */
function withLimits(staged: StagedCase, next: () => number): StagedCase {
  const { domains, running, state } = staged;
  const count = domains.names.length;
  const links = Array.from({ length: count }, (_, one) =>
    Array.from({ length: one }, (_, other) => {
      const capacity = staged.loads.load(other * count + one) * (1 + next() / 4);
      return { between: [other, one] as const, price: 1e-9, capacity };
    }),
  ).flat();
  const network = domainNetwork(count, links, 0);
  const loads = createLinkLoads(network);
  for (const each of running) {
    talk(each, loads, domainsOf(each, state, domains), 1);
  }
  return { ...staged, network, loads };
}

/** A budget that allows at most so many moves. */
function budgetOf(most: number): Pick<RerouteContext, 'spend' | 'refund'> {
  let spent = 0;
  return {
    spend: () => {
      const isAllowed = spent < most;
      spent += isAllowed ? 1 : 0;
      return isAllowed;
    },
    refund: () => {
      spent -= 1;
    },
  };
}

function contextOf(each: StagedCase, held: ReadonlySet<number>, most = Number.POSITIVE_INFINITY): RerouteContext {
  const highest = Math.max(...each.state.cluster.nodes.map((_, node) => each.state.load(node)));
  return {
    ...each,
    movePrice: 1e-9,
    minSaving: 1e-4,
    mayMove: (pod) => !held.has(pod),
    ...budgetOf(most),
    upTo: 1.1 * highest,
  };
}

const SEEDS = Array.from({ length: 90 }, (_, place) => 1 + place);

describe('applications that are rerouted', () => {
  it('save what is said, by moves that are feasible in their order, each pod once and none that is held', () => {
    let moved = 0;
    for (const seed of SEEDS) {
      const { held, ...each } = aCase(seed);
      const replay = each.state.fork();
      const homes = each.running.map((one) => domainsOf(one, each.state, each.domains));
      const context = contextOf(each, held);
      const rerouted = rerouteAll(context, each.running);
      const pods = rerouted.flatMap(({ moves }) => moves.map(({ pod }) => pod));
      expect(new Set(pods).size, `seed ${seed}`).toBe(pods.length);
      expect(pods.filter((pod) => held.has(pod))).toEqual([]);
      for (const { application, moves, before, after } of rerouted) {
        expect(before).toBeCloseTo(
          trafficCost(application, each.network, homes[each.running.indexOf(application)] ?? []),
          12,
        );
        expect(after).toBeCloseTo(
          trafficCost(application, each.network, domainsOf(application, each.state, each.domains)),
          12,
        );
        expect(before - after).toBeGreaterThanOrEqual(context.minSaving);
        for (const { pod, from, to } of moves) {
          expect(replay.nodeOf(pod)).toBe(from);
          expect(replay.fits(pod, to), `seed ${seed}: pod ${pod}`).toBe(true);
          replay.move(pod, to);
          expect(replay.load(to)).toBeLessThanOrEqual(context.upTo);
        }
      }
      moved += pods.length;
    }
    expect(moved).toBeGreaterThan(1000);
  });

  it.each([
    ['all moves', Number.POSITIVE_INFINITY],
    ['five moves', 5],
    ['one move', 1],
  ])('leave the links as their traffic is, and none above its limit, when budgets allow %s', (_, most) => {
    let limited = 0;
    for (const seed of SEEDS) {
      const { held, ...each } = aCase(seed);
      const rerouted = rerouteAll(contextOf(each, held, most), each.running);
      expect(rerouted.flatMap(({ moves }) => moves).length).toBeLessThanOrEqual(most);
      const anew = createLinkLoads(each.network);
      for (const one of each.running) {
        talk(one, anew, domainsOf(one, each.state, each.domains), 1);
      }
      for (const [link, capacity] of each.network.capacities.entries()) {
        expect(each.loads.load(link)).toBeCloseTo(anew.load(link), 3);
        expect(each.loads.load(link)).toBeLessThanOrEqual(capacity * (1 + 1e-9));
        limited += capacity > 0 && capacity < Number.POSITIVE_INFINITY ? 1 : 0;
      }
    }
    expect(limited).toBeGreaterThan(20);
  });

  it('are none when no saving is large enough, and none of those with a pod outside of the domains', () => {
    const { held, ...each } = aCase(1);
    expect(rerouteAll({ ...contextOf(each, held), minSaving: 1 }, each.running)).toEqual([]);
    const nowhere = { ...each.domains, of: each.domains.of.map(() => -1) };
    expect(rerouteAll({ ...contextOf(each, held), domains: nowhere }, each.running)).toEqual([]);
  });
});

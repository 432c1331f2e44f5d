import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { plan } from '../../../src/plan/planner.ts';
import { planningInputOf } from '../../../src/plan/planning-input.ts';
import { greedyLb, someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSnapshot, type PodFields } from '../../support/builders.ts';

/** Nodes by name at these percentages, those of upper case cordoned; the pods of `held` keep data there. */
function cluster(loads: Readonly<Record<string, number>>, held = ''): ClusterSnapshot {
  const names = Object.keys(loads);
  const nodes = names.map((name) =>
    aNode(name, { allocatable: { cpu: 10_000 }, unschedulable: name === name.toUpperCase() }),
  );
  const fields = (name: string): PodFields => ({ nodeName: name, localStorage: held.includes(name) });
  const pods = names.map((name) => aPod(`on-${name}`, fields(name)));
  const uses = Object.fromEntries(names.map((name) => [`on-${name}`, (loads[name] ?? 0) * 100]));
  return aSnapshot({ nodes, pods, uses });
}

describe('cordoned nodes', () => {
  /** Which nodes take part, which are left out although their load is known, and which are absent. */
  function parts(snapshot: ClusterSnapshot) {
    const { participants, leftOut, absent } = planningInputOf(snapshot, someOptions()).participation;
    const namesOf = (nodes: typeof participants) => nodes.map(({ node }) => node.name).join('');
    return [namesOf(participants), namesOf(leftOut), [...absent.keys()].join('')];
  }

  it('take part when they are above the mean of those that do, and in the order of the nodes', () => {
    expect(parts(cluster({ a: 10, b: 30, C: 21 }))).toEqual(['Cab', '', '']);
    expect(parts(cluster({ a: 10, b: 30, C: 20 }))).toEqual(['ab', 'C', 'C']);
    expect(parts(cluster({ a: 10, b: 30, C: 19 }))).toEqual(['ab', 'C', 'C']);
  });

  it('raise the mean for the others by taking part, the most loaded first', () => {
    expect(parts(cluster({ a: 10, b: 10, C: 27, D: 60 }))).toEqual(['CDab', '', '']);
    expect(parts(cluster({ a: 10, b: 10, C: 26, D: 60 }))).toEqual(['Dab', 'C', 'C']);
    expect(parts(cluster({ a: 10, b: 10, C: 60, D: 26 }))).toEqual(['Cab', 'D', 'D']);
  });

  it('take no part where no pod may leave them, nor without any that takes part by itself', () => {
    expect(parts(cluster({ a: 10, b: 10, C: 60 }, 'C'))).toEqual(['ab', 'C', 'C']);
    expect(parts(cluster({ C: 60, D: 70 }))).toEqual(['', 'CD', 'CD']);
  });
});

describe('overloaded nodes that take no part', () => {
  function message(loads: Readonly<Record<string, number>>): string | undefined {
    const held = Object.keys(loads).join('');
    const { outcome } = plan(cluster(loads, held), someOptions({ thresholds: { trigger: 0.25 } }));
    return outcome.kind === 'Moves' ? outcome.obstacle : outcome.message;
  }
  const named = (name: string, load: number) => `${name} takes no part at ${load}.00 %: it is cordoned`;

  it('are named when they are above the highest that does by the trigger or more', () => {
    expect(message({ a: 25, b: 12, C: 50 })).toContain(`; ${named('C', 50)}`);
    expect(message({ a: 25, b: 12, C: 49 })).not.toContain('takes no part');
    expect(message({ a: 12, b: 25, C: 50 })).toContain(named('C', 50));
  });

  it('are named the highest first, at most three of them, and the others counted', () => {
    const four = message({ a: 10, b: 10, C: 60, D: 90, E: 70, F: 80 });
    const names = [named('D', 90), named('F', 80), named('E', 70)].join('; ');
    expect(four).toMatch(new RegExp(`; ${names}; so do 1 more that are overloaded$`));
    expect(message({ a: 10, b: 10, C: 60, D: 90, E: 70, F: 80, G: 50 })).toMatch(/; so do 2 more that are overloaded$/);
    expect(message({ a: 10, b: 10, D: 90, E: 70, F: 80 })?.endsWith(`; ${names}`)).toBe(true);
    expect(message({ a: 10, b: 10, D: 90, E: 20, F: 80 })?.endsWith(`; ${named('D', 90)}; ${named('F', 80)}`)).toBe(
      true,
    );
  });

  it('are named beside the moves of a plan', () => {
    const loads = { a: 10, b: 10, C: 90 };
    const snapshot = cluster(loads, 'C');
    const extra = Array.from({ length: 4 }, (_, place) => aPod(`p${place}`, { nodeName: 'a' }));
    const uses = { 'on-a': 1000, 'on-b': 1000, 'on-C': 9000, p0: 500, p1: 500, p2: 500, p3: 500 };
    const busy = aSnapshot({ nodes: snapshot.nodes, pods: [...snapshot.pods, ...extra], uses });
    const { outcome, moves } = plan(busy, someOptions({ strategy: greedyLb() }));
    expect(moves.length).toBeGreaterThan(0);
    expect(outcome).toEqual({ kind: 'Moves', obstacle: named('C', 90) });
  });
});

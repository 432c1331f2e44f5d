import { describe, expect, it } from 'vitest';
import { plainSubject, type Subject } from '../../../../src/plan/filters/refusal.ts';
import { NO_REPAIRS, type RepairOptions } from '../../../../src/plan/options.ts';
import { sortIntoKinds } from '../../../../src/plan/pod-kinds.ts';
import { createGuard } from '../../../../src/plan/repair/guard.ts';
import { emptyCounts, type TopologyCounts } from '../../../../src/plan/topology/counts.ts';
import { type KeptSpread, NO_NEEDS, type TopologyNeeds } from '../../../../src/plan/topology/needs.ts';
import { indexTopology } from '../../../../src/plan/topology/topology-index.ts';
import { aSpread, aTaint, aToleration } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, constraints } from '../../../support/builders.ts';

/** Sites 0 and 1 are in zone x, 2 in y, 3 in z, and 4 in none. */
const ZONES = ['x', 'x', 'y', 'z', undefined];
const nodes = ZONES.map((zone, site) => aNode(`n${site}`, { labels: zone === undefined ? {} : { zone } }));

/** Pods `web` by zone, so many on each site. */
function counted(...perSite: readonly number[]): TopologyCounts {
  const pod = aPod('p', { labels: { app: 'web' }, constraints: { spread: [aSpread({ app: 'web' })] } });
  const counts = emptyCounts(indexTopology(nodes, sortIntoKinds([pod]), new Map()));
  perSite.forEach((pods, site) => {
    for (let added = 0; added < pods; added += 1) {
      counts.add(0, site);
    }
  });
  return counts;
}

const need: KeptSpread = { tracker: 0, self: true, maxSkew: 1, minDomains: 1, adds: 1, soft: false };

function aSubject(topology: Partial<TopologyNeeds>, asks: Parameters<typeof constraints>[0] = {}): Subject {
  return { ...plainSubject(constraints(asks)), topology: { ...NO_NEEDS, ...topology } };
}

/** What the guard says of a move from one site, -1 for none, to another. */
function judged(
  subject: Subject,
  [home, site]: readonly [number, number],
  counts: TopologyCounts,
  repair: Partial<RepairOptions> = {},
  hosts = 3,
) {
  const node = nodes[site] ?? aNode('nowhere');
  const from = nodes[home];
  return createGuard({ ...NO_REPAIRS, ...repair }, () => hosts).breachOf(subject, {
    node,
    from,
    place: { counts, site, home },
  });
}

describe('the spread that a plan keeps', () => {
  const skewOf = (
    kept: Partial<KeptSpread>,
    route: readonly [number, number],
    counts: TopologyCounts,
    tolerance = 0,
  ): number | undefined => {
    const topologySpread = { soft: true, tolerance };
    const breach = judged(aSubject({ kept: [{ ...need, ...kept }] }), route, counts, { topologySpread });
    return breach?.refusal.filter === 'PodTopologySpread' ? breach.refusal.skew : undefined;
  };

  it('is broken by a pod that comes to the fullest zone, and says by how much', () => {
    expect(judged(aSubject({ kept: [need] }), [2, 0], counted(1, 0, 1, 1))).toEqual({
      refusal: { filter: 'PodTopologySpread', topologyKey: 'zone', domain: 'x', skew: 2, maxSkew: 1 },
      soft: false,
    });
  });

  it('is broken by a pod that leaves the emptiest zone, also for a node in none', () => {
    expect(skewOf({}, [2, 3], counted(2, 0, 1, 1))).toBe(2);
    expect(judged(aSubject({ kept: [need] }), [2, 4], counted(2, 0, 1, 1))).toEqual({
      refusal: { filter: 'PodTopologySpread', topologyKey: 'zone', domain: undefined, skew: 2, maxSkew: 1 },
      soft: false,
    });
  });

  it('is broken by a pod from nowhere, or from a node in no zone, that fills the fullest zone', () => {
    expect([skewOf({}, [-1, 0], counted(1, 0, 0, 0)), skewOf({}, [4, 1], counted(1, 0, 0, 0))]).toEqual([2, 2]);
    expect([skewOf({}, [-1, 2], counted(1, 0, 0, 0)), skewOf({}, [4, 2], counted(1, 0, 0, 0))]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('is not touched by a pod that does not count, or stays in its zone', () => {
    expect(skewOf({ adds: 0 }, [2, 0], counted(1, 0, 1, 1))).toBeUndefined();
    expect(skewOf({}, [0, 1], counted(5, 0, 1, 1))).toBeUndefined();
    expect(skewOf({}, [-1, 4], counted(5, 0, 1, 1))).toBeUndefined();
  });

  it('is kept while the skew is no more than allowed, with the tolerance of the policy', () => {
    expect(skewOf({ maxSkew: 2 }, [2, 0], counted(1, 0, 1, 1))).toBeUndefined();
    expect(skewOf({}, [2, 0], counted(1, 0, 1, 1), 1)).toBeUndefined();
    expect(skewOf({}, [2, 0], counted(2, 0, 1, 1), 1)).toBe(3);
  });

  it('is kept where it is broken already, and the move makes it no worse', () => {
    expect(skewOf({}, [0, 2], counted(5, 0, 1, 1))).toBeUndefined();
    expect(skewOf({}, [2, 3], counted(5, 0, 2, 1))).toBeUndefined();
    expect(skewOf({}, [2, 0], counted(5, 0, 2, 1))).toBe(5);
  });

  it('counts from none where there are fewer zones than the constraint asks for', () => {
    expect(skewOf({ minDomains: 3 }, [-1, 0], counted(1, 0, 1, 1))).toBeUndefined();
    expect(skewOf({ minDomains: 4 }, [-1, 0], counted(1, 0, 1, 1))).toBe(2);
    expect(skewOf({ minDomains: 4 }, [2, 3], counted(1, 0, 1, 1))).toBe(2);
    expect(skewOf({ minDomains: 4 }, [2, 0], counted(4, 0, 4, 5))).toBeUndefined();
  });

  it('is asked of every constraint, those that only rank nodes last', () => {
    const soft = { ...need, soft: true };
    const full = counted(1, 0, 1, 1);
    expect(judged(aSubject({ kept: [soft] }), [2, 0], full)).toMatchObject({ soft: true });
    expect(judged(aSubject({ kept: [soft, need] }), [2, 0], full)).toMatchObject({ soft: false });
    expect(judged(aSubject({ kept: [{ ...need, maxSkew: 9 }, soft] }), [2, 0], full)).toMatchObject({ soft: true });
    expect(judged(aSubject({ kept: [{ ...need, maxSkew: 9 }, need] }), [2, 0], full)).toMatchObject({ soft: false });
    expect(judged(aSubject({}), [2, 0], full)).toBeUndefined();
  });
});

describe('the nodes that a plan keeps pods from', () => {
  const tainted = aNode('n9', { taints: [aTaint('hard'), aTaint('old', '', 'PreferNoSchedule')] });
  const place = { counts: counted(), site: 0, home: -1 };
  const taints = { soft: true, includedTaints: undefined, excludedTaints: new Set<string>() };
  const breach = (repair: Partial<RepairOptions>, asks: Parameters<typeof constraints>[0] = {}) =>
    createGuard({ ...NO_REPAIRS, ...repair }, () => 1).breachOf(aSubject({}, asks), {
      node: tainted,
      from: undefined,
      place,
    });

  it('are those with a soft taint that the policy repairs and the pod does not tolerate', () => {
    expect(breach({ taints })).toEqual({
      refusal: { filter: 'TaintToleration', taint: aTaint('old', '', 'PreferNoSchedule') },
      soft: true,
    });
    expect(breach({})).toBeUndefined();
    expect(breach({ taints: { ...taints, soft: false } })).toBeUndefined();
    expect(breach({ taints: { ...taints, excludedTaints: new Set(['old']) } })).toBeUndefined();
    expect(breach({ taints }, { tolerations: [aToleration({ key: 'old', operator: 'Exists' })] })).toBeUndefined();
  });

  it('are those that it prefers less than its own, where the policy repairs that', () => {
    const prefer = (zone: string, weight: number) => ({
      weight,
      term: { expressions: [{ key: 'zone', operator: 'In' as const, values: [zone] }], fields: [] },
    });
    const subject = aSubject({}, { preferredNodeAffinity: [prefer('x', 10), prefer('y', 20)] });
    const preferred = { nodeAffinity: 'Preferred' } as const;
    expect(judged(subject, [2, 0], counted(), preferred)).toEqual({
      refusal: { filter: 'NodeAffinity', field: 'preferred nodeAffinity' },
      soft: true,
    });
    expect(judged(subject, [0, 2], counted(), preferred)).toBeUndefined();
    expect(judged(subject, [0, 1], counted(), preferred)).toBeUndefined();
    expect(judged(subject, [-1, 4], counted(), preferred)).toBeUndefined();
    expect(judged(subject, [2, 0], counted(), { nodeAffinity: 'Required' })).toBeUndefined();
  });

  it('depend on where the pod is only where preferences are repaired, and it has some', () => {
    const term = { weight: 1, term: { expressions: [], fields: [] } };
    const looks = (nodeAffinity: RepairOptions['nodeAffinity'], preferredNodeAffinity = [term]) =>
      createGuard({ ...NO_REPAIRS, nodeAffinity }, () => 1).looksBack(constraints({ preferredNodeAffinity }));
    expect([looks('Preferred'), looks('Required'), looks('Preferred', [])]).toEqual([true, false, false]);
  });
});

describe('duplicates on one node', () => {
  const duplicates = { tracker: 0, self: true };

  it('are as many as there have to be with the nodes that there are', () => {
    const most = (pods: number, hosts: number) =>
      createGuard(NO_REPAIRS, () => hosts).mostPerNode(aSubject({ duplicates }), { counts: counted(pods) });
    expect([most(0, 3), most(3, 3), most(4, 3), most(7, 3), most(2, 0)]).toEqual([1, 1, 2, 3, 2]);
    expect(createGuard(NO_REPAIRS, () => 1).mostPerNode(aSubject({}), { counts: counted(4) })).toBe(1);
  });

  it('are not made more than that, and the pod itself is none', () => {
    const crowd = (route: readonly [number, number], hosts: number, ...pods: number[]) =>
      judged(aSubject({ duplicates }), route, counted(...pods), {}, hosts);
    expect(crowd([2, 0], 3, 1, 0, 1, 1)).toEqual({
      refusal: { filter: 'Duplicates', pods: 1, most: 1 },
      soft: true,
    });
    expect(crowd([2, 0], 3, 1, 0, 2, 1)).toBeUndefined();
    expect(crowd([2, 0], 3, 2, 0, 2, 0)?.refusal).toEqual({ filter: 'Duplicates', pods: 2, most: 2 });
    expect(crowd([2, 0], 3, 0, 0, 1, 1)).toBeUndefined();
    expect(crowd([0, 0], 3, 1, 0, 1, 1)).toBeUndefined();
    expect(judged(aSubject({}), [2, 0], counted(5, 0, 1, 1))).toBeUndefined();
  });
});

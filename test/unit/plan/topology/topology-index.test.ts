import { describe, expect, it } from 'vitest';
import { EVERYTHING } from '../../../../src/model/selector.ts';
import { sortIntoKinds } from '../../../../src/plan/pod-kinds.ts';
import { NO_NEEDS } from '../../../../src/plan/topology/needs.ts';
import { type CountedForRepairs, indexTopology } from '../../../../src/plan/topology/topology-index.ts';
import { anAffinityTerm, aSpread, aTaint } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, labels, type PodFields, selecting } from '../../../support/builders.ts';

const NODES = [
  aNode('a', { labels: { zone: 'x', disk: 'ssd' } }),
  aNode('b', { labels: { zone: 'x' } }),
  aNode('c', { labels: { zone: 'y', disk: 'hdd' }, taints: [aTaint('own')] }),
  aNode('bare'),
];
const NOTHING: CountedForRepairs = { softSpread: false, duplicates: false, keepsSpread: false };
const web = { app: 'web' };
const soft = { whenUnsatisfiable: 'ScheduleAnyway' } as const;

/** The index over pods in the order in which they are given. */
function indexed(pods: readonly PodFields[], extra: Partial<CountedForRepairs> = {}, namespaces = new Map()) {
  const kinds = sortIntoKinds(pods.map((fields, place) => aPod(`p${place}`, fields)));
  const index = indexTopology(NODES, kinds, namespaces, { ...NOTHING, ...extra });
  return {
    index,
    needs: pods.map((_, place) => index.needsOf(place)),
    countedBy: pods.map((_, place) => [...index.countedBy(place)]),
    trackers: index.trackers.map(({ domains, counted, eligible }) => [domains.key, [...counted], eligible] as const),
  };
}

const zones = ['zone', [0, 0, 1, -1], 2] as const;

describe('what pods ask of other pods', () => {
  it('is nothing without terms that refuse nodes', () => {
    const found = indexed([{}, { constraints: { spread: [aSpread(web, soft)] } }]);
    expect(found.needs).toEqual([NO_NEEDS, NO_NEEDS]);
    expect(found.trackers).toEqual([]);
    expect(found.countedBy).toEqual([[], []]);
  });

  it('is nothing of those that the terms of others do not concern', () => {
    const { needs, countedBy } = indexed([{ constraints: { podAffinity: [anAffinityTerm(web)] } }, {}]);
    expect(needs[1]).toBe(NO_NEEDS);
    expect(countedBy[1]).toEqual([]);
  });

  it('is to be near pods that match, of which they may be one', () => {
    const podAffinity = [anAffinityTerm(web)];
    const { needs, countedBy, trackers } = indexed([
      { labels: web, constraints: { podAffinity } },
      { constraints: { podAffinity } },
      { labels: web },
    ]);
    expect(needs[0]).toEqual({ ...NO_NEEDS, affinity: [{ tracker: 0, self: true }], matchesItself: true });
    expect(needs[1]).toEqual({ ...NO_NEEDS, affinity: [{ tracker: 0, self: false }] });
    expect(needs[2]).toBe(NO_NEEDS);
    expect(countedBy).toEqual([[0], [], [0]]);
    expect(trackers).toEqual([zones]);
  });

  it('is to be near pods that match all terms, in the domain of each topology key', () => {
    const podAffinity = [anAffinityTerm(web), anAffinityTerm({ tier: 'db' }, { topologyKey: 'disk' })];
    const { needs, countedBy, trackers } = indexed([
      { labels: web, constraints: { podAffinity } },
      { labels: { ...web, tier: 'db' } },
      { labels: { tier: 'db' } },
    ]);
    expect(needs[0]).toMatchObject({
      affinity: [
        { tracker: 0, self: false },
        { tracker: 1, self: false },
      ],
      matchesItself: false,
    });
    expect(countedBy).toEqual([[], [0, 1], []]);
    expect(trackers).toEqual([zones, ['disk', [0, -1, 1, -1], 2]]);
  });

  it('cannot be met where a term selects no pods', () => {
    const { needs } = indexed([{ constraints: { podAffinity: [anAffinityTerm(undefined)] } }]);
    expect(needs[0]).toMatchObject({ hopeless: true, affinity: [] });
    const both = [anAffinityTerm(undefined), anAffinityTerm(web)];
    expect(indexed([{ constraints: { podAffinity: both } }]).needs[0]).toMatchObject({
      hopeless: true,
      affinity: [{ tracker: 0 }],
    });
  });

  it('is to be apart from pods that match, and from those whose terms match them', () => {
    const { needs, countedBy } = indexed([
      { constraints: { podAntiAffinity: [anAffinityTerm(web)] } },
      { labels: web },
      { labels: web, constraints: { podAntiAffinity: [anAffinityTerm(web)] } },
      { labels: web, namespace: 'bank' },
    ]);
    const [holding, matching] = [0, 1];
    expect(needs[0]).toEqual({
      ...NO_NEEDS,
      matchesItself: true,
      antiAffinity: [{ tracker: matching, self: false }],
    });
    expect(needs[1]).toEqual({ ...NO_NEEDS, matchesItself: true, repelledBy: [{ tracker: holding, self: false }] });
    expect(needs[2]).toEqual({
      ...NO_NEEDS,
      matchesItself: true,
      antiAffinity: [{ tracker: matching, self: true }],
      repelledBy: [{ tracker: holding, self: true }],
    });
    expect(needs[3]).toBe(NO_NEEDS);
    expect(countedBy).toEqual([[holding], [matching], [holding, matching], []]);
  });

  it('concerns the namespaces that a term names or selects, or all', () => {
    const repelled = (fields: Parameters<typeof anAffinityTerm>[1]) => {
      const namespaces = new Map([
        ['bank', labels({ team: 'red' })],
        ['shop', labels()],
      ]);
      const pods = [
        { constraints: { podAntiAffinity: [anAffinityTerm(web, fields)] } },
        { labels: web },
        { labels: web, namespace: 'bank' },
      ];
      return indexed(pods, {}, namespaces)
        .needs.slice(1)
        .map(({ repelledBy }) => repelledBy.length > 0);
    };
    expect(repelled({})).toEqual([true, false]);
    expect(repelled({ namespaces: ['bank'] })).toEqual([false, true]);
    expect(repelled({ namespaceSelector: selecting({ team: 'red' }) })).toEqual([false, true]);
    expect(repelled({ namespaceSelector: EVERYTHING })).toEqual([true, true]);
  });

  it('is to be spread, counting themselves where the selector matches them', () => {
    const spread = [aSpread(web, { maxSkew: 3, minDomains: 2 })];
    const { needs, countedBy } = indexed([
      { labels: web, constraints: { spread } },
      { constraints: { spread } },
      { labels: web, terminating: true, constraints: { spread } },
      { labels: web, namespace: 'bank' },
    ]);
    const need = { tracker: 0, maxSkew: 3, minDomains: 2 };
    expect(needs.map(({ spread: found }) => found)).toEqual([
      [{ ...need, self: true, adds: 1 }],
      [{ ...need, self: false, adds: 0 }],
      [{ ...need, self: false, adds: 1 }],
      [],
    ]);
    expect(countedBy).toEqual([[0], [], [], []]);
  });

  it('counts nobody with an empty selector', () => {
    const { needs, countedBy } = indexed([{ labels: web, constraints: { spread: [aSpread({})] } }]);
    expect(needs[0]?.spread).toMatchObject([{ self: false, adds: 1 }]);
    expect(countedBy).toEqual([[]]);
  });
});

describe('the nodes whose pods a spread constraint counts', () => {
  const ground = (constraints: NonNullable<PodFields['constraints']>, extra: Partial<CountedForRepairs> = {}) =>
    indexed([{ constraints }], extra).trackers;

  it('carry the topology keys of all constraints that are as strict', () => {
    const hard = [aSpread(web), aSpread(web, { topologyKey: 'disk' })];
    expect(ground({ spread: hard })).toEqual([
      ['zone', [0, -1, 1, -1], 2],
      ['disk', [0, -1, 1, -1], 2],
    ]);
    const mixed = [aSpread(web), aSpread(web, { topologyKey: 'disk', ...soft })];
    expect(ground({ spread: mixed })).toEqual([zones]);
    expect(ground({ spread: mixed }, { softSpread: true })).toEqual([zones, ['disk', [0, -1, 1, -1], 2]]);
  });

  it('are those that the pod selects and, where that is asked for, tolerates', () => {
    const nodeSelector = labels({ disk: 'ssd' });
    expect(ground({ nodeSelector, spread: [aSpread(web)] })).toEqual([['zone', [0, -1, -1, -1], 1]]);
    expect(ground({ nodeSelector, spread: [aSpread(web, { nodeAffinityPolicy: 'Ignore' })] })).toEqual([zones]);
    expect(ground({ spread: [aSpread(web, { nodeTaintsPolicy: 'Honor' })] })).toEqual([['zone', [0, 0, -1, -1], 1]]);
  });

  it('are counted once for all pods whose constraints count the same', () => {
    const constraint = aSpread(web);
    const of = (...pods: readonly PodFields['constraints'][]) =>
      indexed(pods.map((each) => ({ constraints: each ?? {} }))).trackers.length;
    expect(of({ spread: [constraint] }, { spread: [aSpread(web, { maxSkew: 2 })] })).toBe(1);
    expect(of({ spread: [constraint] }, { spread: [aSpread({ app: 'db' })] })).toBe(2);
    expect(of({ spread: [constraint] }, { spread: [constraint], nodeSelector: labels({ disk: 'ssd' }) })).toBe(2);
    const onDisk = (disk: string) => [
      { expressions: [{ key: 'disk', operator: 'In' as const, values: [disk] }], fields: [] },
    ];
    const [ssd, hdd] = [onDisk('ssd'), onDisk('hdd')].map((nodeAffinity) => ({ spread: [constraint], nodeAffinity }));
    expect([of(ssd, hdd), of(ssd, { spread: [constraint] }), of(ssd, ssd)]).toEqual([2, 2, 1]);
    const honest = aSpread(web, { nodeTaintsPolicy: 'Honor' });
    expect(of({ spread: [constraint] }, { spread: [honest] })).toBe(2);
    const ignoring = aSpread(web, { nodeAffinityPolicy: 'Ignore' });
    expect(of({ spread: [ignoring] }, { spread: [ignoring], nodeSelector: labels({ disk: 'ssd' }) })).toBe(1);
  });
});

describe('the spread constraints that a move of a pod may break', () => {
  const kept = (pods: readonly PodFields[], extra: Partial<CountedForRepairs> = {}) =>
    indexed(pods, { keepsSpread: true, ...extra }).needs.map((needs) => needs.kept);

  it('are none unless the policy keeps them', () => {
    expect(kept([{ labels: web, constraints: { spread: [aSpread(web)] } }], { keepsSpread: false })).toEqual([[]]);
  });

  it('are those that it carries, and those of others that count it, each limit once', () => {
    const limit = { tracker: 0, maxSkew: 1, minDomains: 1, soft: false };
    const found = kept([
      { labels: web, constraints: { spread: [aSpread(web)] } },
      { constraints: { spread: [aSpread(web)] } },
      { labels: web },
      { labels: { app: 'db' } },
    ]);
    expect(found).toEqual([
      [{ ...limit, self: true, adds: 1 }],
      [{ ...limit, self: false, adds: 0 }],
      [{ ...limit, self: true, adds: 1 }],
      [],
    ]);
  });

  it('are all limits of those who count the same pods', () => {
    const found = kept([
      { constraints: { spread: [aSpread(web)] } },
      { constraints: { spread: [aSpread(web, { maxSkew: 2 })] } },
      { constraints: { spread: [aSpread(web, { minDomains: 3 })] } },
      { constraints: { spread: [aSpread(web, { maxSkew: 2 })], tolerations: [] } },
      { labels: web },
    ]);
    expect(found.at(-1)?.map(({ maxSkew, minDomains }) => [maxSkew, minDomains])).toEqual([
      [1, 1],
      [2, 1],
      [1, 3],
    ]);
  });

  it('are also those that only rank nodes, where these are asked for', () => {
    const pods = [{ labels: web, constraints: { spread: [aSpread(web, soft)] } }, { labels: web }];
    expect(kept(pods)).toEqual([[], []]);
    const limit = { tracker: 0, self: true, maxSkew: 1, minDomains: 1, adds: 1, soft: true };
    expect(kept(pods, { softSpread: true })).toEqual([[limit], [limit]]);
    const both = [{ labels: web, constraints: { spread: [aSpread(web), aSpread(web, soft)] } }];
    expect(kept(both, { softSpread: true })[0]?.map((each) => each.soft)).toEqual([false, true]);
  });
});

describe('duplicates', () => {
  const of = (...pods: readonly PodFields[]) =>
    indexed(pods, { duplicates: true }).needs.map(({ duplicates }) => duplicates?.tracker);
  const running = (...images: readonly string[]): PodFields => ({ constraints: { images } });

  it('are pods of one controller with the same images, in whatever order', () => {
    expect(of(running('a', 'b'), running('b', 'a'), running('a'), { ...running('a', 'b'), owner: 'api' })).toEqual([
      0, 0, 1, 2,
    ]);
  });

  it('are none of pods without a controller, of DaemonSets and of those that are being deleted', () => {
    const daemon = { kind: 'DaemonSet', name: 'd', uid: 'd' };
    expect(of({}, { owner: undefined }, { owner: daemon }, { terminating: true })).toEqual([
      0,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('are counted node by node, each for itself', () => {
    const { needs, countedBy, trackers } = indexed([{}, { terminating: true }], { duplicates: true });
    expect(needs[0]).toEqual({ ...NO_NEEDS, matchesItself: true, duplicates: { tracker: 0, self: true } });
    expect(countedBy).toEqual([[0], []]);
    expect(trackers).toEqual([['', [0, 1, 2, 3], 4]]);
  });

  it('are not counted unless the policy asks for it', () => {
    expect(indexed([{ labels: web }, { constraints: { podAffinity: [anAffinityTerm(web)] } }]).needs[0]).toBe(NO_NEEDS);
  });
});

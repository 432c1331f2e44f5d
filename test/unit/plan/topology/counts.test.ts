import { describe, expect, it } from 'vitest';
import { sortIntoKinds } from '../../../../src/plan/pod-kinds.ts';
import { emptyCounts, type TopologyCounts } from '../../../../src/plan/topology/counts.ts';
import { indexTopology } from '../../../../src/plan/topology/topology-index.ts';
import { aSpread } from '../../../support/builders/scheduling.ts';
import { aNode, aPod } from '../../../support/builders.ts';

/** Of pods `web` by zone; nodes 0 and 1 are in the first zone, 2 in the second, and 3 in none. Pod 2 counts nowhere. */
function counts(): TopologyCounts {
  const nodes = [...['x', 'x', 'y'].map((zone, place) => aNode(`n${place}`, { labels: { zone } })), aNode('n3')];
  const web = { labels: { app: 'web' }, constraints: { spread: [aSpread({ app: 'web' })] } };
  const pods = [aPod('p0', web), aPod('p1', web), aPod('p2', { labels: { app: 'db' } })];
  return emptyCounts(indexTopology(nodes, sortIntoKinds(pods), new Map()));
}

/** Pods by zone, their sum, the fewest and the most. */
function picture(found: TopologyCounts): unknown {
  const [x, y] = [found.inDomain(0, 0), found.inDomain(0, 1)];
  return { x, y, zones: found.byDomain(0).size, total: found.total(0), least: found.least(0), most: found.most(0) };
}

describe('the counts of pods by domain', () => {
  it('are nothing without pods', () => {
    const none = counts();
    expect(none.topologyIndex.trackers).toHaveLength(1);
    expect(picture(none)).toEqual({ x: 0, y: 0, zones: 0, total: 0, least: 0, most: 0 });
  });

  it('follow pods that come and go', () => {
    const some = counts();
    some.add(0, 0);
    expect(picture(some)).toEqual({ x: 1, y: 0, zones: 1, total: 1, least: 0, most: 1 });
    some.add(1, 1);
    some.add(0, 2);
    expect(picture(some)).toEqual({ x: 2, y: 1, zones: 2, total: 3, least: 1, most: 2 });
    some.remove(0, 0);
    some.add(1, 2);
    expect(picture(some)).toEqual({ x: 1, y: 2, zones: 2, total: 3, least: 1, most: 2 });
    some.remove(1, 1);
    expect(picture(some)).toEqual({ x: 0, y: 2, zones: 1, total: 2, least: 0, most: 2 });
  });

  it('leave out pods that are not selected, and nodes without the key', () => {
    const some = counts();
    some.add(2, 0);
    some.add(0, 3);
    expect(picture(some)).toEqual(picture(counts()));
    expect(some.version(0)).toBe(0);
  });

  it('tell by their version that they have changed, also where a pod came back', () => {
    const some = counts();
    some.add(0, 0);
    const before = some.version(0);
    some.remove(0, 0);
    some.add(0, 0);
    expect(some.version(0)).toBe(before + 2);
  });

  it('are not changed through a fork, nor the fork through them, nor one fork through another', () => {
    const some = counts();
    some.add(0, 0);
    const [first, second] = [some.fork(), some.fork()];
    first.add(1, 0);
    some.add(1, 2);
    second.remove(0, 0);
    expect(picture(some)).toEqual({ x: 1, y: 1, zones: 2, total: 2, least: 1, most: 1 });
    expect(picture(first)).toEqual({ x: 2, y: 0, zones: 1, total: 2, least: 0, most: 2 });
    expect(picture(second)).toEqual({ x: 0, y: 0, zones: 0, total: 0, least: 0, most: 0 });
  });

  it('are not changed through the fork of a fork, once that has written', () => {
    const some = counts();
    some.add(0, 0);
    const fork = some.fork();
    fork.add(1, 0);
    const late = fork.fork();
    fork.add(1, 0);
    late.add(1, 2);
    expect(picture(some)).toMatchObject({ x: 1, y: 0, total: 1 });
    expect(picture(fork)).toMatchObject({ x: 3, y: 0, total: 3 });
    expect(picture(late)).toMatchObject({ x: 2, y: 1, total: 3 });
  });
});

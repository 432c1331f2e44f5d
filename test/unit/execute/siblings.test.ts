import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../src/execute/move.ts';
import { observeMove } from '../../../src/execute/observe-move.ts';
import { cameAfter, recordSiblings } from '../../../src/execute/siblings.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { after as later, seconds } from '../../../src/model/units.ts';
import type { ClusterReader } from '../../../src/ports.ts';
import { aMove } from '../../support/builders/plan.ts';
import { aPodOf } from '../../support/builders.ts';
import {
  aWorld,
  DB_0,
  db,
  forever,
  PODS,
  phases,
  put,
  run,
  stepOnce,
  WEB_1,
  WEB_2,
  web,
} from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';

/** The same world, where API servers that set creation times have other clocks than the one that is asked. */
function skewed(w: World, shift: (pod: PodInfo) => number): World {
  const reader: ClusterReader = {
    ...w.ports.reader,
    podsOfOwner: async (...args) =>
      (await w.ports.reader.podsOfOwner(...args)).map((pod) => ({
        ...pod,
        createdAt: later(pod.createdAt, seconds(shift(pod))),
      })),
  };
  return { ...w, ports: { ...w.ports, reader } };
}

const isNew = ({ uid }: PodInfo): boolean => !PODS.some((known) => known.uid === uid);

describe('recordSiblings', () => {
  const pods = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...aPodOf(web, `web-${index}`, 'a'),
      createdAt: later(WEB_1.createdAt, seconds(index)),
    }));

  it('knows each of a few pods by its UID alone', () => {
    const known = pods(64);
    const isLater = cameAfter(recordSiblings(known));
    expect(known.filter(isLater)).toEqual([]);
    expect(isLater({ ...WEB_1, uid: 'another', createdAt: later(WEB_1.createdAt, seconds(-86_400)) })).toBe(true);
  });

  it('keeps the 64 youngest of many, and takes what was created before those for known', () => {
    const known = pods(5_000);
    const siblings = recordSiblings(known);
    const isLater = cameAfter(siblings);
    expect(known.filter(isLater)).toEqual([]);
    expect(isLater({ ...WEB_1, uid: 'another', createdAt: later(WEB_1.createdAt, seconds(4_999)) })).toBe(true);
    expect(JSON.stringify(siblings).length).toBeLessThan(450);
  });

  it('keeps the creation time of the oldest that it records where it does not record all', () => {
    expect(recordSiblings(pods(64)).since).toBeUndefined();
    const siblings = recordSiblings(pods(65));
    expect(siblings.since).toBe(formatInstant(later(WEB_1.createdAt, seconds(1))));
    const at = (span: number) => ({ ...WEB_1, uid: 'another', createdAt: later(WEB_1.createdAt, seconds(span)) });
    expect([0, 1, 2].map((span) => cameAfter(siblings)(at(span)))).toEqual([false, true, true]);
  });

  it('records the same in whatever order pods are listed, also where they are as old', () => {
    const known = pods(70).map((pod, index) => ({ ...pod, createdAt: later(WEB_1.createdAt, seconds(index % 2)) }));
    const siblings = recordSiblings(known);
    expect(recordSiblings(known.toReversed())).toEqual(siblings);
    expect(siblings.digests).toHaveLength(35 * 6);
    expect(siblings.since).toBe(formatInstant(later(WEB_1.createdAt, seconds(1))));
    expect(known.filter(cameAfter(siblings))).toEqual([]);
  });

  it.each([65, 100, 1000])('knows each of %d pods that were created in the same second', (count) => {
    const known = pods(count).map((pod) => ({ ...pod, createdAt: WEB_1.createdAt }));
    const isLater = cameAfter(recordSiblings(known));
    expect(known.filter(isLater)).toEqual([]);
    expect(isLater({ ...WEB_1, uid: 'another', createdAt: later(WEB_1.createdAt, seconds(1)) })).toBe(true);
  });

  it('records nothing of an owner without pods', () => {
    expect(cameAfter(recordSiblings([]))(WEB_1)).toBe(true);
  });
});

describe('the replacement of an evicted pod', () => {
  it('is found although the API server that made it has a clock an hour behind', async () => {
    const w = skewed(aWorld(), (pod) => (isNew(pod) ? -3_600 : 0));
    put(w, [aMove(WEB_1, 'b')]);
    expect(phases(await run(w))).toEqual(['Landed']);
  });

  it('is explained only where it is not on its planned node, and once', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    const asked: string[] = [];
    const reader: ClusterReader = {
      ...w.ports.reader,
      placements: async (...args) => {
        asked.push('placements');
        return w.ports.reader.placements(...args);
      },
    };
    await stepOnce(w);
    await w.clock.advance(10);
    const look = async (to: string, miss: JournalEntry['run']['miss']) => {
      asked.splice(0);
      const siblings = recordSiblings(PODS);
      const status = { podUID: WEB_1.uid, phase: 'AwaitingReplacement', attempt: 1, siblings } as const;
      const run = miss === undefined ? status : { ...status, miss };
      const { replacement } = await observeMove(
        { index: 0, move: aMove(WEB_1, to), run },
        new Set(),
        true,
        reader,
        forever,
      );
      return [replacement?.node, replacement?.miss === undefined, asked.length];
    };
    const [node = ''] = [...w.cluster.pods.values()].filter(isNew).map(({ nodeName }) => nodeName);
    const other = node === 'b' ? 'c' : 'b';
    expect(await look(node, undefined)).toEqual([node, true, 0]);
    expect(await look(other, undefined)).toEqual([node, false, 1]);
    expect(await look(other, { reason: 'OutscoredBy', message: 'known' })).toEqual([node, true, 0]);
  });

  it('is not a sibling that was made before, by an API server whose clock is ahead', async () => {
    const w = skewed(aWorld(), (pod) => (pod.uid === WEB_2.uid ? 86_400 : 0));
    w.cluster.delays.recreate = Number.POSITIVE_INFINITY;
    put(w, [aMove(WEB_1, 'b')]);
    await stepOnce(w);
    await w.clock.advance(5);
    await stepOnce(w);
    expect(phases(await stepOnce(w))).toEqual(['AwaitingReplacement']);
  });

  it('is the new one also of a hundred pods that were created in the same second', async () => {
    const crowd = Array.from({ length: 100 }, (_, index) => aPodOf(web, `web-${index}`, 'a', 50));
    const w = aWorld(crowd);
    put(
      w,
      crowd.slice(0, 1).map((pod) => aMove(pod, 'b')),
    );
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Landed']);
    expect(crowd.map(({ uid }) => uid)).not.toContain(plan.status?.moves?.[0]?.replacement?.uid);
  });

  it('is told from a pod that its controller made between the intent and the eviction', async () => {
    const w = aWorld();
    w.cluster.delays.recreate = 30;
    const between = { ...aPodOf(web, 'web-9', 'a'), createdAt: w.clock.now() };
    let isMade = false;
    w.tap = (when, call) => {
      if (when === 'after' && call === 'plans.writeStatus' && !isMade) {
        isMade = true;
        w.cluster.putPod(between);
      }
    };
    put(w, [aMove(WEB_1, 'b')]);
    await stepOnce(w);
    await w.clock.advance(5);
    await stepOnce(w);
    expect(phases(await stepOnce(w))).toEqual(['AwaitingReplacement']);
    const plan = await run(w);
    expect(plan.status?.moves?.[0]?.replacement?.uid).not.toBe(between.uid);
    expect(phases(plan)).toEqual(['Landed']);
  });

  it('is not a pod that another move claims', async () => {
    const w = aWorld();
    const move = aMove(WEB_1, 'b');
    const siblings = recordSiblings([WEB_1]);
    const entry = {
      index: 0,
      move,
      run: { podUID: WEB_1.uid, phase: 'AwaitingReplacement', attempt: 0, siblings },
    } as const;
    const found = async (claimed: readonly string[]) =>
      (await observeMove(entry, new Set(claimed), false, w.ports.reader, forever)).replacement?.uid;
    expect(await found([])).toBe(WEB_2.uid);
    expect(await found([WEB_2.uid])).toBeUndefined();
  });

  it('of a StatefulSet has the same name, though a younger pod of it is older', async () => {
    const w = aWorld();
    const scaledUp = { ...aPodOf(db, 'db-1', 'a'), createdAt: later(DB_0.createdAt, seconds(1)) };
    const again = { ...DB_0, uid: 'again', createdAt: later(DB_0.createdAt, seconds(2)) };
    w.cluster.vanish('pod', DB_0.uid);
    w.cluster.putPod(scaledUp);
    w.cluster.putPod(again);
    const run = {
      podUID: DB_0.uid,
      phase: 'AwaitingReplacement',
      attempt: 0,
      siblings: recordSiblings([DB_0]),
    } as const;
    const seen = await observeMove(
      { index: 0, move: aMove(DB_0, 'b'), run },
      new Set(),
      false,
      w.ports.reader,
      forever,
    );
    expect(seen.replacement?.uid).toBe('again');
  });

  it('is found among more pods than a journal keeps, and the plan stays small', async () => {
    const crowd = Array.from({ length: 5_000 }, (_, index) => ({
      ...aPodOf(web, `web-${index}`, 'a', 1),
      createdAt: later(WEB_1.createdAt, seconds(index % 600)),
    }));
    const w = aWorld(crowd);
    let largest = 0;
    w.tap = (when, call, args) => {
      if (when === 'before' && call === 'plans.writeStatus') {
        largest = Math.max(largest, JSON.stringify(args[1]).length);
      }
    };
    put(w, [aMove(crowd[0] ?? WEB_1, 'b')]);
    expect(phases(await run(w))).toEqual(['Landed']);
    expect(largest).toBeLessThan(1_500);
  });
});

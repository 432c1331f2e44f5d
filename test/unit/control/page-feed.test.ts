import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPageFeed, type PageSource, type PageUpdate } from '../../../src/control/page-feed.ts';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';
import { testClock } from '../../support/test-clock.ts';

const stopping: AbortController[] = [];
afterEach(() => {
  for (const each of stopping.splice(0)) {
    each.abort();
  }
});

/** One node with a pod that uses so much. */
function using(cpu: number): ClusterSnapshot {
  return aSnapshot({ nodes: [aNode('node-1')], pods: [aPod('web-1', { nodeName: 'node-1' })], uses: { 'web-1': cpu } });
}

function stage() {
  const clock = testClock();
  const reported: unknown[] = [];
  const stored = { policy: aPolicy('even', {}), invalid: [] };
  const state = { snapshot: using(1000), failure: undefined as string | undefined, snapshots: 0, looks: 0 };
  let ring = (): void => undefined;
  const source: PageSource = {
    title: 'here',
    role: () => 'Leader',
    excludedNamespaces: new Set(),
    snapshot: async () => {
      state.snapshots += 1;
      if (state.failure !== undefined) {
        throw new Error(state.failure);
      }
      return state.snapshot;
    },
    plans: async () => {
      state.looks += 1;
      return { policies: [stored], plans: [] };
    },
    watch: (changed, signal) => {
      ring = changed;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  const feed = createPageFeed(source, { clock, report: (error) => reported.push(error) });
  return { feed, clock, state, reported, ring: () => ring(), watch: () => watch(feed) };
}

/** Somebody who watches, and what they were told. */
function watch(feed: ReturnType<typeof createPageFeed>) {
  const leaving = new AbortController();
  stopping.push(leaving);
  const heard: PageUpdate[] = [];
  const done = (async () => {
    for await (const update of feed.updates(leaving.signal)) {
      heard.push(update);
    }
  })();
  return { heard, events: () => heard.map(({ event }) => event), leave: () => leaving.abort(), done };
}

describe('a feed', () => {
  it('reads nothing while nobody watches', async () => {
    const { clock, state } = stage();
    await clock.advance(120);
    expect(state).toMatchObject({ snapshots: 0, looks: 0 });
  });

  it('tells the whole state first and then only what changed', async () => {
    const { clock, state, watch: begin } = stage();
    const { heard, events } = begin();
    await clock.advance(1);
    state.snapshot = using(2000);
    await clock.advance(15);
    expect(events().filter((event) => event !== 'beat')).toEqual(['state', 'patch']);
    expect(JSON.parse(heard.find(({ event }) => event === 'patch')?.data ?? '')).toEqual({
      nodes: { 'node-1': { now: { cpu: 0.5 } } },
    });
  });

  it('takes a snapshot every 15 seconds, however often plans change, and looks at those once a second at most', async () => {
    const { clock, state, ring, watch: begin } = stage();
    begin();
    for (let tenth = 0; tenth < 290; tenth += 1) {
      ring();
      await clock.advance(0.1);
    }
    expect(state.snapshots).toBe(2);
    expect(state.looks).toBeLessThanOrEqual(31);
    expect(state.looks).toBeGreaterThanOrEqual(28);
  });

  it('works out a patch once, however many watch', async () => {
    const { clock, state, watch: begin } = stage();
    const all = [begin(), begin(), begin()];
    await clock.advance(1);
    state.snapshot = using(2000);
    const stringify = vi.spyOn(JSON, 'stringify');
    await clock.advance(15);
    const patches = all.map(({ heard }) => heard.find(({ event }) => event === 'patch')?.data);
    const made = stringify.mock.results.filter(({ value }) => value === patches[0]);
    stringify.mockRestore();
    expect(patches).toEqual(Array.from(all, () => expect.stringContaining('node-1')));
    expect(made).toHaveLength(1);
  });

  it('says every five seconds that it is still there', async () => {
    const { clock, watch: begin } = stage();
    const { events } = begin();
    await clock.advance(14);
    expect(events()).toEqual(['state', 'beat', 'beat']);
  });

  it('looks once for all who watch, and no more some seconds after the last has left', async () => {
    const { clock, state, watch: begin } = stage();
    const [one, other] = [begin(), begin()];
    await clock.advance(1);
    expect(state.snapshots).toBe(1);
    one.leave();
    await one.done;
    await clock.advance(20);
    expect(state.snapshots).toBe(2);
    other.leave();
    await other.done;
    await clock.advance(60);
    expect(state.snapshots).toBe(2);
  });

  it('goes on for who comes back soon', async () => {
    const { clock, state, watch: begin } = stage();
    const first = begin();
    await clock.advance(1);
    first.leave();
    await first.done;
    await clock.advance(3);
    const second = begin();
    await clock.advance(10);
    expect(second.events()[0]).toBe('state');
    expect(state.snapshots).toBe(1);
  });

  it('keeps what it knows and says what is wrong when the cluster cannot be read, and no more when it can', async () => {
    const { clock, state, reported, watch: begin } = stage();
    const { heard } = begin();
    await clock.advance(1);
    state.failure = 'pods cut off for 70 s';
    await clock.advance(15);
    expect(heard.findLast(({ event }) => event === 'patch')?.data).toBe('{"trouble":"pods cut off for 70 s"}');
    expect(reported).toHaveLength(1);
    state.failure = undefined;
    await clock.advance(15);
    expect(heard.findLast(({ event }) => event === 'patch')?.data).toBe('{"trouble":null}');
  });

  it('reports that it cannot read or watch, but not once nobody listens', async () => {
    const failing = stage();
    failing.state.failure = 'no list';
    const { leave, done } = failing.watch();
    await failing.clock.advance(1);
    expect(failing.reported.map(String)).toEqual(['Error: no list']);
    leave();
    await done;
    await failing.clock.advance(60);
    expect(failing.reported).toHaveLength(1);
  });

  it('answers who asks once, and explains what is there', async () => {
    const { feed, clock } = stage();
    const { signal } = new AbortController();
    const [state, node, pod, stays, nobody] = [
      feed.state(signal),
      feed.explain({ about: 'node', name: 'node-1', policy: undefined }, signal),
      feed.explain({ about: 'pod', name: 'shop/web-1', policy: 'even' }, signal),
      feed.explain({ about: 'stays', name: '', policy: 'even' }, signal),
      feed.explain({ about: 'pod', name: 'shop/web-2', policy: 'even' }, signal),
    ];
    await clock.advance(1);
    expect(JSON.parse(await state)).toMatchObject({ title: 'here', role: 'Leader', pods: 1 });
    expect(await node).toMatchObject({ kind: 'node', name: 'node-1', pods: [{ pod: 'shop/web-1' }] });
    expect(await pod).toMatchObject({ kind: 'pod', node: 'node-1', allNodes: 1 });
    expect(await stays).toMatchObject({ kind: 'stays', policy: 'even' });
    expect(await nobody).toBeUndefined();
  });
});

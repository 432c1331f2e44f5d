import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPageFeed, type PageSource, type PageUpdate } from '../../../src/control/page-feed.ts';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import type { StoredPolicy } from '../../../src/ports.ts';
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

/** A policy as it is stored, valid unless said otherwise. */
function stored(name: string, spec: unknown = {}, invalid: StoredPolicy['invalid'] = []): StoredPolicy {
  return { policy: aPolicy(name, spec), invalid };
}

function stage() {
  const clock = testClock();
  const reported: unknown[] = [];
  const state = {
    snapshot: using(1000),
    policies: [stored('even')],
    failure: undefined as string | undefined,
    wait: Promise.resolve(),
    snapshots: 0,
    looks: 0,
  };
  let ring = (): void => undefined;
  const source: PageSource = {
    title: 'here',
    role: () => 'Leader',
    excludedNamespaces: new Set(),
    snapshot: async () => {
      state.snapshots += 1;
      await state.wait;
      if (state.failure !== undefined) {
        throw new Error(state.failure);
      }
      return state.snapshot;
    },
    plans: async () => {
      state.looks += 1;
      return { policies: state.policies, plans: [] };
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

  it('looks at plans with each snapshot only, while nothing changes', async () => {
    const { clock, state, watch: begin } = stage();
    begin();
    await clock.advance(29);
    expect(state).toMatchObject({ snapshots: 2, looks: 2 });
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
    state.snapshot = using(2000);
    await clock.advance(2);
    expect(state.snapshots).toBe(2);
    expect(second.events()).toContain('patch');
  });

  it('looks for five seconds after the last has left, and anew for who comes later', async () => {
    const { clock, state, ring, watch: begin } = stage();
    const { leave, done } = begin();
    await clock.advance(1);
    leave();
    await done;
    const looksAfter = async (span: number): Promise<number> => {
      const before = state.looks;
      ring();
      await clock.advance(span);
      return state.looks - before;
    };
    expect(await looksAfter(4.5)).toBe(1);
    await clock.advance(1);
    expect(await looksAfter(60)).toBe(0);
    state.snapshot = using(2000);
    const { heard } = begin();
    await clock.advance(1);
    expect(heard.map(({ event }) => event)).toEqual(['state']);
    expect(JSON.parse(heard[0]?.data ?? '')).toMatchObject({ nodes: { 'node-1': { now: { cpu: 0.5 } } } });
  });

  it('counts its five seconds from the last who has left, also where others had left just before', async () => {
    const { clock, state, ring, watch: begin } = stage();
    for (let visit = 0; visit < 2; visit += 1) {
      const { leave, done } = begin();
      await clock.advance(1);
      leave();
      await done;
      await clock.advance(1);
    }
    // The first has left at 1 s, the second at 3 s.
    await clock.advance(3.5);
    const before = state.looks;
    ring();
    await clock.advance(0.4);
    expect(state.looks).toBe(before + 1);
    await clock.advance(1);
    ring();
    await clock.advance(60);
    expect(state.looks).toBe(before + 1);
  });

  it('looks no more some seconds after the last question was answered', async () => {
    const { feed, clock, state } = stage();
    const { signal } = new AbortController();
    const question = { about: 'node', name: 'node-1', policy: undefined } as const;
    const answers = [feed.state(signal), feed.explain(question, signal)];
    await clock.advance(1);
    await Promise.all(answers);
    await clock.advance(60);
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

  it('explains by the policy that is asked about, else by the first that is valid', async () => {
    const { feed, clock, state } = stage();
    state.policies = [
      stored('broken', {}, ['spec is of no use']),
      stored('even'),
      stored('other', { scope: { nodeSelector: { matchLabels: { pool: 'other' } } } }),
    ];
    const { signal } = new AbortController();
    const about = async (policy: string | undefined) => {
      const answer = feed.explain({ about: 'node', name: 'node-1', policy }, signal);
      await clock.advance(0.1);
      return await answer;
    };
    const first = await about(undefined);
    expect(first).toMatchObject({ kind: 'node', policy: 'even' });
    expect(first).not.toHaveProperty('absent');
    expect(await about('other')).toMatchObject({ policy: 'other', absent: expect.any(String) });
    expect(await about('broken')).toBeUndefined();
    expect(await about('nobody')).toBeUndefined();
  });

  it('explains by the last snapshot and by the policy as it stands', async () => {
    const { feed, clock, state, ring, watch: begin } = stage();
    begin();
    const { signal } = new AbortController();
    const about = async () => {
      const answer = feed.explain({ about: 'node', name: 'node-1', policy: 'even' }, signal);
      await clock.advance(0.1);
      return await answer;
    };
    expect(await about()).toMatchObject({ pods: [{ pod: 'shop/web-1' }] });
    state.snapshot = aSnapshot({ nodes: [aNode('node-1')] });
    await clock.advance(15);
    const emptied = await about();
    expect(emptied).toMatchObject({ pods: [] });
    expect(emptied).not.toHaveProperty('absent');
    const { policy } = stored('even', { scope: { nodeSelector: { matchLabels: { pool: 'other' } } } });
    state.policies = [{ policy: { ...policy, metadata: { ...policy.metadata, generation: 2 } }, invalid: [] }];
    ring();
    await clock.advance(2);
    expect(await about()).toMatchObject({ pods: [], absent: expect.any(String) });
  });

  it('explains nothing while the cluster is not known', async () => {
    const { feed, clock, state } = stage();
    state.failure = 'no list';
    const answer = feed.explain({ about: 'node', name: 'node-1', policy: 'even' }, new AbortController().signal);
    await clock.advance(1);
    expect(await answer).toBeUndefined();
  });

  it('answers nobody whose question is withdrawn before anything is known', async () => {
    const { feed, clock, state } = stage();
    const asking = new AbortController();
    state.wait = new Promise(() => undefined);
    const answer = feed.state(asking.signal);
    const settled = Promise.allSettled([answer]);
    await clock.advance(12);
    asking.abort(new Error('withdrawn'));
    await clock.advance(1);
    expect(await settled).toEqual([{ status: 'rejected', reason: new Error('withdrawn') }]);
  });
});

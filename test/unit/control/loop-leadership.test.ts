import { describe, expect, it } from 'vitest';
import { REST } from '../../../src/control/shards/names.ts';
import { seconds } from '../../../src/model/units.ts';
import { aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { FakeLeadership } from '../../support/fake-leadership.ts';
import type { World, WorldPorts } from '../../support/fake-world.ts';
import { AUTOMATIC, evictions, plansOf, play, tilted } from '../../support/played.ts';
import { NOON } from '../../support/test-clock.ts';

interface Shared {
  readonly w: World;
  readonly leadership: FakeLeadership;
  /** The uid of a policy, which is its shard. */
  uid(policy: string): string;
  /** Runs the loop of this replica for so many seconds. */
  run(span: number, script?: Readonly<Record<number, () => void>>): Promise<number>;
}

/** A replica that leads nothing yet, with ports of its own. */
function shared(ports: (w: World) => Partial<WorldPorts> = () => ({})): Shared {
  const w = tilted();
  const leadership = new FakeLeadership();
  return {
    w,
    leadership,
    uid: (policy) => w.policies.stored.get(policy)?.policy.metadata.uid ?? expect.fail(`no policy ${policy}`),
    run: (span, script) => play({ ...w, ports: { ...w.ports, ...ports(w), leadership } }, span, script),
  };
}

/** The span of a decision that takes `span` seconds to observe, whatever is aborted meanwhile. */
function slowly(span: number) {
  return (w: World): Partial<WorldPorts> => ({
    reader: {
      ...w.ports.reader,
      snapshot: async (...given) => {
        await w.clock.sleep(seconds(span), new AbortController().signal);
        return await w.ports.reader.snapshot(...given);
      },
    },
  });
}

describe('a policy that this replica does not lead', () => {
  it('is not looked at: nothing is planned, evicted or written for it', async () => {
    const { w, leadership, run, uid } = shared();
    w.policies.apply('even', AUTOMATIC);
    leadership.give(REST, 1);
    await run(600);
    expect(w.calls).not.toContain('reader.snapshot');
    expect(plansOf(w)).toEqual([]);
    expect(evictions(w)).toEqual([]);
    expect(w.policies.writes()).toBe(0);
    expect([...w.nextRuns]).toEqual([]);
    expect(leadership.kept).toEqual(new Set([REST, uid('even')]));
  });

  it('is looked at as soon as it is led, beside others', async () => {
    const { w, leadership, run, uid } = shared();
    w.policies.apply('even', { interval: '10m' });
    w.policies.apply('odd', { interval: '10m' });
    leadership.give(uid('odd'), 1);
    await run(60, { 30: () => leadership.give(uid('even'), 4) });
    expect(w.nextRuns).toEqual(
      new Map([
        ['odd', NOON + 600],
        ['even', NOON + 30 + 600],
      ]),
    );
  });

  it('keeps no timers: the schedule that it had goes with the lead', async () => {
    let running = 0;
    const { w, leadership, run, uid } = shared((world) => ({
      startCron: (...given) => {
        const timer = world.ports.startCron(...given);
        running += 1;
        return {
          ...timer,
          stop: () => {
            running -= 1;
            timer.stop();
          },
        };
      },
    }));
    w.policies.apply('even', { schedule: '*/5 * * * *' });
    const counts: number[] = [];
    const count = (): void => void counts.push(running);
    await run(60, {
      10: count,
      11: () => leadership.give(uid('even'), 1),
      20: count,
      21: () => leadership.lose(uid('even')),
      30: count,
    });
    expect(counts).toEqual([0, 1, 0]);
  });

  it('is led with the rest where its strategy lets pods in at the gate', async () => {
    const { w, leadership, run } = shared();
    w.policies.apply('qos', { strategy: { type: 'QoSDriven' }, interval: '10m' });
    leadership.give(REST, 1);
    await run(30);
    expect(leadership.kept).toEqual(new Set([REST]));
    expect([...w.nextRuns.keys()]).toEqual(['qos']);
  });

  it('that was deleted has its plans brought to their end by whoever leads it', async () => {
    const { w, leadership, run, uid } = shared();
    w.policies.apply('even', {});
    const shard = uid('even');
    leadership.give(shard, 1);
    await run(30);
    expect(plansOf(w)).toHaveLength(1);
    leadership.lose(shard);
    w.policies.remove('even');
    await run(60);
    expect(plansOf(w)).toHaveLength(1);
    expect(leadership.kept).toEqual(new Set([REST, shard]));
    leadership.give(shard, 2);
    await run(60);
    expect(plansOf(w)).toEqual([]);
  });
});

describe('a policy that this replica leads', () => {
  it('has intents with the epoch of the term in which they are recorded', async () => {
    const { w, leadership, run, uid } = shared();
    w.policies.apply('even', { ...AUTOMATIC, budgets: [{ maxConcurrent: 1 }] });
    w.cluster.delays.ready = 30;
    leadership.give(uid('even'), 7);
    // Between two moves of one plan, the lead goes to another replica and comes back.
    await run(200, {
      40: () => void leadership.handOver(uid('even')),
      42: () => leadership.give(uid('even'), 9),
    });
    const [plan] = plansOf(w);
    const [first, ...others] = plan?.status?.moves?.map(({ leaderEpoch }) => leaderEpoch) ?? [];
    expect(first).toBe(7);
    expect(new Set(others)).toEqual(new Set([9]));
  });

  it('has its work ended as soon as the term is lost', async () => {
    const ends: number[] = [];
    const { w, leadership, run, uid } = shared((world) => ({
      reader: {
        ...world.ports.reader,
        snapshot: (signal) =>
          new Promise((_, reject) =>
            signal.addEventListener('abort', () => {
              ends.push(world.clock.now() - NOON);
              reject(signal.reason);
            }),
          ),
      },
    }));
    w.policies.apply('even', AUTOMATIC);
    leadership.give(uid('even'), 1);
    await run(60, { 20: () => leadership.lose(uid('even')) });
    expect(ends).toEqual([20]);
    expect(w.failures()).toBe(0);
    expect(plansOf(w)).toEqual([]);
  });
});

describe('a hand-over', () => {
  it('waits for the work under way on the policy, which is not cut off, and begins none', async () => {
    const { w, leadership, run, uid } = shared(slowly(30));
    w.policies.apply('even', {});
    leadership.give(uid('even'), 1);
    let over: number | undefined;
    const handOver = (): void =>
      void leadership.handOver(uid('even')).then(() => {
        over = w.clock.now() - NOON;
      });
    await run(300, { 5: handOver });
    expect(over).toBe(30);
    expect(plansOf(w)).toHaveLength(1);
    expect(w.calls.filter((call) => call === 'reader.snapshot')).toHaveLength(1);
  });

  it('does not wait for the work on another policy', async () => {
    const { w, leadership, run, uid } = shared(slowly(30));
    w.policies.apply('even', {});
    w.policies.apply('odd', {});
    leadership.give(uid('even'), 1);
    let over: number | undefined;
    const handOver = (): void =>
      void leadership.handOver(uid('odd')).then(() => {
        over = w.clock.now() - NOON;
      });
    await run(60, { 5: handOver });
    expect(over).toBe(5);
  });

  it('stores what was noted, for the next leader to read', async () => {
    const stored: (readonly unknown[] | undefined)[] = [];
    // Notes that nothing else writes for a long time.
    const { w, leadership, run, uid } = shared((world) => world.newProcess(seconds(1_000)));
    w.policies.apply('even', { ...AUTOMATIC, budgets: [{ maxConcurrent: 1 }] });
    w.cluster.delays.ready = 600;
    leadership.give(uid('even'), 1);
    const look = (): void => void stored.push(plansOf(w)[0]?.status?.moves?.map(({ phase }) => phase));
    await run(60, {
      40: look,
      41: () => void leadership.handOver(uid('even')).then(look),
    });
    expect(w.cluster.accepted).toHaveLength(1);
    expect(stored[0]?.[0]).toBe('Intent');
    expect(stored[1]?.[0]).not.toBe('Intent');
  });
});

describe('what a replica tells of policies', () => {
  it('is what it leads, and of all policies and plans where it leads the rest, as long as it does', async () => {
    const policies: string[] = [];
    const hitRatios: unknown[] = [];
    const led: string[] = [];
    const { w, leadership, run, uid } = shared((world) => ({
      telemetry: {
        ...world.ports.telemetry,
        policies: (all) => void policies.push(all.map(({ policy }) => policy.metadata.name).join(' ')),
        hitRatios: (ratios) => void hitRatios.push([...ratios]),
        led: (names) => void led.push(names.join(' ')),
      },
    }));
    const told: unknown[] = [];
    const look = (): void => void told.push([policies.at(-1), hitRatios.at(-1), led.at(-1)]);
    w.policies.apply('even', { interval: '10m', suspend: true });
    w.policies.apply('odd', { interval: '10m', suspend: true });
    const landed = { podUID: 'uid-web-1', phase: 'Landed', attempt: 0 } as const;
    const plan = aPlan(aPolicy('file'), [], { phase: 'Completed', steering: 'Gate', moves: [landed] });
    w.plans.put({ ...plan, spec: { ...plan.spec, policy: { name: 'file', uid: '', generation: 0 } } });
    leadership.give(uid('odd'), 1);
    await run(60, {
      10: look,
      11: () => leadership.give(REST, 1),
      20: look,
      21: () => leadership.lose(REST),
      30: look,
    });
    expect(told).toEqual([
      ['', [], 'odd'],
      ['even odd', [['Gate', 1]], 'odd'],
      ['', [], 'odd'],
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { RUN_REQUEST_ANNOTATION } from '../../../src/api/v1alpha1/run-request.ts';
import { leadingEverything } from '../../../src/control/shards/leadership.ts';
import { aTaint } from '../../support/builders/scheduling.ts';
import { aNode, aPodOf, TEN_CORES } from '../../support/builders.ts';
import { placements } from '../../support/fake-cluster.ts';
import { type World, world } from '../../support/fake-world.ts';
import {
  AUTOMATIC,
  condition,
  evenPods,
  evictions,
  messageOf,
  OWNERS,
  plansOf,
  play,
  tilted,
} from '../../support/played.ts';
import { NOON } from '../../support/test-clock.ts';

describe('runLoop', () => {
  it('in mode DryRun stores one plan, keeps it, and never evicts', async () => {
    const w = tilted();
    w.policies.apply('even', {});
    await play(w, 3_600);
    expect(plansOf(w).map(({ status }) => status?.phase)).toEqual(['Proposed']);
    expect(plansOf(w)[0]?.spec.moves).toHaveLength(2);
    expect(evictions(w)).toEqual([]);
    expect(w.calls).not.toContain('steering.place');
    expect(w.calls.filter((call) => call === 'reader.snapshot')).toHaveLength(12);
    expect(condition(w, 'even', 'PlanReady')).toBe('True DryRun');
    expect(condition(w, 'even', 'Ready')).toBe('True AsExpected');
    expect(w.events.map(({ reason }) => reason)).toEqual(['PlanComputed']);
  });

  it('reports when the next run is due, and none for a suspended policy', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '10m' });
    w.policies.apply('off', { suspend: true });
    await play(w, 30);
    expect(w.nextRuns).toEqual(
      new Map([
        ['even', NOON + 600],
        ['off', undefined],
      ]),
    );
  });

  it('says which replica leads a policy as soon as it does, without a run', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '10m' });
    const led = async (leader: string | undefined) => {
      await play({ ...w, ports: { ...w.newProcess(), leadership: leadingEverything(leader, undefined) } }, 30);
      return w.policies.stored.get('even')?.policy.status;
    };
    const first = await led('evenkeel-a');
    expect(first?.leader).toBe('evenkeel-a');
    const second = await led('evenkeel-b');
    expect(second).toMatchObject({ leader: 'evenkeel-b', lastRun: first?.lastRun });
    expect(await led(undefined)).not.toHaveProperty('leader');
  });

  it('looks at the metrics between runs for a policy that smooths them, unless it is suspended', async () => {
    const load = { smoothing: '10m' };
    const [smooth, suspended] = [tilted(), tilted()];
    smooth.policies.apply('even', { load });
    suspended.policies.apply('even', { load, suspend: true });
    await play(smooth, 3_590);
    await play(suspended, 3_590);
    const looks = (w: World) => w.calls.filter((call) => call === 'reader.measured').length;
    expect([looks(smooth), looks(suspended)]).toEqual([120, 0]);
    expect(smooth.calls.filter((call) => call === 'reader.snapshot')).toHaveLength(12);
  });

  it('plans from smoothed metrics: what is over soon moves nothing', async () => {
    const moves = async (smoothing: string): Promise<number> => {
      const w = world([aNode('a', TEN_CORES), aNode('b', TEN_CORES), aNode('c', TEN_CORES)], OWNERS, evenPods(1_000));
      w.policies.apply('even', {
        load: { smoothing },
        interval: '10m',
        thresholds: { consecutive: 1, trigger: '0.2' },
      });
      const use = (cpu: number) => () => {
        for (const pod of evenPods(cpu)) {
          w.cluster.putPod(pod);
        }
      };
      await play(w, 700, { 590: use(2_500), 610: use(1_000) });
      return plansOf(w).flatMap(({ spec }) => spec.moves ?? []).length;
    };
    expect(await moves('0s')).toBeGreaterThan(0);
    expect(await moves('10m')).toBe(0);
  });

  it.each([
    ['waits for newer samples after a plan has ended', {}, ['True Fresh', 'False AwaitingSamples']],
    ['plans again at once by requests, which need no samples', { source: 'Requests' }, ['True Fresh']],
  ])('%s', async (_, load, expected) => {
    const w = tilted();
    w.policies.apply('even', { ...AUTOMATIC, load, protections: { cooldown: '0s' } });
    const seen = new Set<string>();
    const look = () => void seen.add(condition(w, 'even', 'MetricsFresh'));
    await play(w, 60, Object.fromEntries(Array.from({ length: 50 }, (_each, second) => [second + 5, look])));
    expect(plansOf(w)[0]?.status?.phase).toBe('Completed');
    expect([...seen]).toEqual(expected);
  });

  it('stores what it has noted when it is stopped', async () => {
    const w = tilted();
    const stop = new AbortController();
    w.policies.apply('even', AUTOMATIC);
    w.tap = (when, call, [, options]) => {
      if (when === 'after' && call === 'evictor.evict' && !(options as { dryRun: boolean }).dryRun) {
        w.clock.at(w.clock.now() + 0.5, () => stop.abort());
      }
    };
    await play(w, 600, {}, stop);
    const [plan] = plansOf(w).filter(({ status }) => status?.phase === 'Executing');
    const evicted = plan?.status?.moves?.filter(({ podUID }) => w.cluster.accepted.includes(podUID));
    expect(new Set(evicted?.map(({ phase }) => phase))).toEqual(new Set(['Evicting']));
  });

  it('in mode Approve waits, carries out exactly the plan that was approved, and measures the result', async () => {
    const w = tilted();
    w.policies.apply('even', { mode: 'Approve', interval: '10s', thresholds: { consecutive: 2 } });
    await play(w, 120);
    const [waiting] = plansOf(w);
    expect(waiting?.status?.phase).toBe('AwaitingApproval');
    expect(condition(w, 'even', 'PlanReady')).toBe('True AwaitingApproval');
    expect(evictions(w)).toEqual([]);
    await w.plans.store.approve(waiting?.metadata.name ?? '', new AbortController().signal);
    await play(w, 120);
    const [done, next] = plansOf(w);
    expect(done).toMatchObject({
      metadata: { name: waiting?.metadata.name },
      status: { phase: 'Completed', steering: 'AdmissionPolicy' },
    });
    expect(w.cluster.accepted).toEqual(waiting?.spec.moves.map(({ pod }) => pod.uid));
    expect(done?.status?.imbalance?.actual?.cpu?.max).toBe('0.6');
    expect(next?.status?.phase).toBe('AwaitingApproval');
  });

  it('repairs in the first run above the trigger, and balances in the third', async () => {
    const tainted = aNode('d', { ...TEN_CORES, taints: [aTaint('old')] });
    const odd = aPodOf(OWNERS[0] as (typeof OWNERS)[number], 'odd-1', 'd', 100);
    const w = tilted();
    w.cluster.putNode(tainted);
    w.cluster.putPod(odd);
    w.policies.apply('even', { ...AUTOMATIC, repair: { taints: {} } });
    await play(w, 9);
    const [first] = plansOf(w);
    expect(first?.spec).toMatchObject({ strategy: 'None', moves: [{ from: 'd', repairs: ['Taints'] }] });
    await play(w, 600);
    expect(plansOf(w).some(({ spec }) => spec.strategy === 'RefineLB')).toBe(true);
  });

  it('in mode Automatic acts in the third run above the trigger, not before, and levels the nodes', async () => {
    const w = tilted();
    w.policies.apply('even', { ...AUTOMATIC, protections: { cooldown: '0s' } });
    await play(w, 19);
    expect(evictions(w)).toEqual([]);
    expect(plansOf(w)).toEqual([]);
    expect(condition(w, 'even', 'PlanReady')).toBe('False AwaitingConsecutive');
    await play(w, 600);
    expect(plansOf(w).every(({ status }) => status?.phase === 'Completed')).toBe(true);
    expect(
      placements(w.cluster)
        .map((place) => place.split(' ').at(-1))
        .sort()
        .join(''),
    ).toMatch(/^a{3,4}b{2,3}c{2,3}$/);
    expect(new Set(w.cluster.accepted).size).toBe(w.cluster.accepted.length);
    expect(condition(w, 'even', 'Converged')).toMatch(/^True (Balanced|NoBeneficialMove)$/);
    expect(condition(w, 'even', 'Executing')).toBe('False Idle');
    expect(w.policies.stored.get('even')?.policy.status?.hitRatio).toBe('1');
    expect([...w.cluster.hints.keys()]).toEqual([]);
  });

  it('does nothing for a suspended policy, and runs it when it is resumed', async () => {
    const w = tilted();
    w.policies.apply('even', { ...AUTOMATIC, suspend: true });
    await play(w, 300);
    expect(w.calls).not.toContain('reader.snapshot');
    expect(plansOf(w)).toEqual([]);
    expect(condition(w, 'even', 'Ready')).toBe('False Suspended');
    w.policies.apply('even', AUTOMATIC);
    await play(w, 60);
    expect(plansOf(w)).not.toEqual([]);
  });

  it('runs once for each request, also right after the last run, and reports which one it has answered', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '1h' });
    const ask = (request: string) => () => w.policies.annotate('even', RUN_REQUEST_ANNOTATION, request);
    const runs = () => w.calls.filter((call) => call === 'reader.snapshot').length;
    await play(w, 300);
    expect(runs()).toBe(1);
    await play(w, 300, { 60: ask('first'), 120: ask('second'), 180: ask('second') });
    expect(runs()).toBe(1 + 2);
    expect(w.policies.stored.get('even')?.policy.status).toMatchObject({
      lastRun: '2026-01-01T12:07:00Z',
      lastRunRequest: 'second',
    });
  });

  it('answers a request of any length once, and keeps the beginning of it', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '1h' });
    await play(w, 300, { 60: () => w.policies.annotate('even', RUN_REQUEST_ANNOTATION, 'x'.repeat(100_000)) });
    expect(w.calls.filter((call) => call === 'reader.snapshot')).toHaveLength(2);
    expect(w.policies.stored.get('even')?.policy.status?.lastRunRequest).toBe('x'.repeat(64));
  });

  it('lets a request wait while the policy is suspended, and while a plan is carried out', async () => {
    const w = tilted();
    w.policies.apply('even', { ...AUTOMATIC, suspend: true });
    w.policies.annotate('even', RUN_REQUEST_ANNOTATION, 'now');
    await play(w, 300);
    expect(w.calls).not.toContain('reader.snapshot');
    w.cluster.delays.ready = 500;
    w.policies.apply('even', AUTOMATIC);
    const asked = 120;
    await play(w, 400, { [asked]: () => w.policies.annotate('even', RUN_REQUEST_ANNOTATION, 'again') });
    expect(condition(w, 'even', 'Executing')).toBe('True Executing');
    expect(w.policies.stored.get('even')?.policy.status?.lastRunRequest).toBe('now');
  });

  it('holds to budgets and maintenance windows in a run that was asked for', async () => {
    const w = tilted();
    const closed = { maxMoves: 0, schedule: '0 0 * * *', duration: '24h' };
    w.policies.apply('even', { ...AUTOMATIC, thresholds: { consecutive: 1 }, budgets: [closed] });
    await play(w, 300, { 60: () => w.policies.annotate('even', RUN_REQUEST_ANNOTATION, 'now') });
    expect(w.policies.stored.get('even')?.policy.status?.lastRunRequest).toBe('now');
    expect(evictions(w)).toEqual([]);
  });

  it('takes no controller up again within its cooldown', async () => {
    const w = tilted();
    w.policies.apply('even', { ...AUTOMATIC, budgets: [{ perNode: 2, perOwner: 1 }] });
    const plansByOwner = () => {
      const moves = plansOf(w).flatMap(({ metadata, spec }) =>
        spec.moves.map(({ owner }) => ({ owner: owner.name, plan: metadata.name })),
      );
      return [...Map.groupBy(moves, ({ owner }) => owner).values()].map(({ length }) => length);
    };
    await play(w, 540);
    expect(plansOf(w)).toHaveLength(2);
    expect(plansByOwner()).toEqual([1, 1, 1, 1]);
  });

  it('writes a status only when something has changed', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '1h' });
    w.policies.apply('off', { suspend: true });
    w.policies.apply('wrong', { mode: 'Auto' });
    await play(w, 10);
    const before = w.policies.writes();
    const passes = await play(w, 1_800);
    expect(w.policies.writes() - before).toBeLessThanOrEqual(1);
    expect(passes).toBeLessThan(70);
  });

  it('does not write a status every second while a plan is carried out for longer than the interval', async () => {
    const w = tilted();
    w.cluster.delays.ready = 500;
    w.policies.apply('even', AUTOMATIC);
    await play(w, 100);
    expect(condition(w, 'even', 'Executing')).toBe('True Executing');
    const before = w.policies.writes();
    await play(w, 300);
    expect(w.policies.writes() - before).toBeLessThanOrEqual(2);
  });

  it('runs an edited policy at once, without stumbling over the plan that it had', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '1h' });
    await play(w, 60, { 30: () => w.policies.apply('even', { interval: '1h', historyLimit: 5 }) });
    expect(w.failures()).toBe(0);
    expect(
      plansOf(w).map(({ metadata, status }) => [metadata.name.replace(/^even-\w{10}/, ''), status?.phase]),
    ).toEqual([
      ['', 'Superseded'],
      ['-2', 'Proposed'],
    ]);
    expect(w.policies.stored.get('even')?.policy.status?.lastRun).toBe('2026-01-01T12:00:30Z');
  });

  it('leaves contested pods to the older policy and says so', async () => {
    const w = tilted();
    w.policies.apply('a-old', {});
    w.policies.apply('b-young', {});
    await play(w, 5);
    expect(condition(w, 'a-old', 'Accepted')).toBe('True Valid');
    expect(condition(w, 'b-young', 'Accepted')).toBe('False Conflicting');
    expect(messageOf(w, 'b-young', 'Accepted')).toContain('8 pods of policy a-old');
    expect(plansOf(w).map(({ spec }) => spec.policy.name)).toEqual(['a-old']);
  });
});

import { describe, expect, it } from 'vitest';
import type { ConditionType } from '../../../src/api/v1alpha1/conditions.ts';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { runLoop } from '../../../src/control/loop.ts';
import { podsInFlight } from '../../../src/execute/journal.ts';
import type { ServiceLedger, ServiceLevels } from '../../../src/model/service-level.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { NOON } from '../../support/fake-clock.ts';
import { placements } from '../../support/fake-cluster.ts';
import { aMove, aNode, aPlan, aPod, aPolicy, aWorkload, ownerOf } from '../../support/fake-objects.ts';
import { type World, world } from '../../support/fake-world.ts';
import { aLedger, aServiceClass, serviceLevels } from '../../support/service-levels.ts';

const OWNERS = ['api', 'db', 'mail', 'web'].map((name) => aWorkload(name));

/** Node a carries eight pods of 10 % each, nodes b and c nothing: two moves a plan, by perNode of the default budget. */
function tilted(): World {
  const pods = OWNERS.flatMap((owner) => [1, 2].map((index) => aPod(owner, `${owner.name}-${index}`, 'a', 1_000)));
  return world([aNode('a'), aNode('b'), aNode('c')], OWNERS, pods);
}

/** Two pods on each node; those of one use `cpu`, the others 1,000m. */
function evenPods(cpu: number): ReturnType<typeof aPod>[] {
  return OWNERS.slice(0, 3).flatMap((owner, place) =>
    [1, 2].map((index) => aPod(owner, `${owner.name}-${index}`, 'abc'.charAt(place), place === 0 ? cpu : 1_000)),
  );
}

/** Ledgers of workloads of two pods that have all run for an hour, and go on so from this second on. */
function twoOfEach(second: number, now: Pick<ServiceLedger, 'running' | 'waiting'>): ServiceLevels {
  const times = { useful: 2 * (3600 + second) };
  const span = { admittedAt: epochSeconds(NOON - 3600), asOf: epochSeconds(NOON + second) };
  const ledgers = OWNERS.map((workload) => aLedger({ owner: ownerOf(workload), times, ...span, ...now }));
  return serviceLevels([aServiceClass({ slo: 0.95, window: 600 })], ledgers);
}

/** Runs the loop for `span` seconds; `script` says what happens meanwhile, by second. Resolves to the number of good passes. */
async function play(w: World, span: number, script: Readonly<Record<number, () => void>> = {}): Promise<number> {
  const stop = new AbortController();
  let passes = 0;
  for (const [second, action] of Object.entries(script)) {
    w.clock.at(w.clock.now() + Number(second), action);
  }
  w.clock.at(w.clock.now() + span, () => stop.abort());
  await runLoop(
    w.ports,
    {
      excludedNamespaces: new Set(['kube-system']),
      passed: () => {
        passes += 1;
      },
    },
    stop.signal,
  );
  return passes;
}

function condition(w: World, policy: string, type: ConditionType): string {
  const found = w.policies.stored.get(policy)?.status?.conditions?.find((each) => each.type === type);
  return `${found?.status} ${found?.reason}`;
}

function messageOf(w: World, policy: string, type: ConditionType): string | undefined {
  return w.policies.stored.get(policy)?.status?.conditions?.find((each) => each.type === type)?.message;
}

function plansOf(w: World): readonly RebalancePlan[] {
  return [...w.plans.stored.values()];
}

function evictions(w: World): readonly string[] {
  return w.calls.filter((call) => /^(evict|dry-run) /.test(call));
}

const AUTOMATIC = { mode: 'Automatic', interval: '10s', thresholds: { consecutive: 3 } };

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
      const w = world([aNode('a'), aNode('b'), aNode('c')], OWNERS, evenPods(1_000));
      w.policies.apply('even', {
        load: { smoothing },
        interval: '10m',
        thresholds: { consecutive: 1, trigger: '0.2' },
      });
      const use = (cpu: number) => () => {
        for (const pod of evenPods(cpu)) {
          w.cluster.pods.set(pod.uid, pod);
        }
      };
      await play(w, 700, { 590: use(2_500), 610: use(1_000) });
      return plansOf(w).flatMap(({ spec }) => spec.moves ?? []).length;
    };
    expect(await moves('0s')).toBeGreaterThan(0);
    expect(await moves('10m')).toBe(0);
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
    expect(w.policies.stored.get('even')?.status?.hitRatio).toBe('1');
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

  it('stops a running plan when its policy is suspended, and follows what is in flight', async () => {
    const w = tilted();
    w.policies.apply('even', AUTOMATIC);
    w.cluster.delays.ready = 60;
    w.policies.apply('even', { ...AUTOMATIC, budgets: [{ maxConcurrent: 1 }] });
    await play(w, 300, { 25: () => w.policies.apply('even', { ...AUTOMATIC, suspend: true }) });
    const [plan] = plansOf(w);
    expect(plan?.status).toMatchObject({ phase: 'Aborted', message: 'policy even is suspended' });
    expect(w.cluster.accepted).toHaveLength(1);
    const [first, ...others] = plan?.status?.moves?.map(({ phase }) => phase) ?? [];
    expect(first).toBe('Landed');
    expect(others).not.toEqual([]);
    expect(new Set(others)).toEqual(new Set(['Aborted']));
  });

  it('begins nothing for a policy that is suspended while the pass is busy with another one', async () => {
    const w = tilted();
    const scope = (app: string) => ({ scope: { podSelector: { matchLabels: { app } } } });
    w.policies.apply('a-first', { ...AUTOMATIC, ...scope('api') });
    w.policies.apply('b-second', AUTOMATIC);
    await play(w, 15);
    w.tap = (when, call, [plan]) => {
      const { spec } = (plan ?? {}) as Partial<RebalancePlan>;
      if (when === 'before' && call === 'plans.writeStatus' && spec?.policy.name === 'a-first') {
        w.policies.apply('b-second', { ...AUTOMATIC, suspend: true });
      }
    };
    const [pod] = [...w.cluster.pods.values()].filter(({ owner }) => owner?.name === 'api');
    const first = w.policies.stored.get('a-first') ?? aPolicy('a-first');
    const second = w.policies.stored.get('b-second') ?? aPolicy('b-second');
    const other = [...w.cluster.pods.values()].find(({ owner }) => owner?.name === 'web');
    w.plans.put(aPlan(first, [aMove(pod ?? aPod(aWorkload('x'), 'x', 'a'), 'b')]));
    w.plans.put(aPlan(second, [aMove(other ?? aPod(aWorkload('y'), 'y', 'a'), 'c')]));
    await play(w, 3);
    expect(evictions(w).filter((call) => call.startsWith('evict '))).toEqual([`evict ${pod?.name}`]);
  });

  it('stops a running plan when a window closes the cluster to moves, says until when, and goes on after it', async () => {
    const w = tilted();
    w.cluster.delays.ready = 60;
    const office = { maxMoves: 0, schedule: '1 12 * * *', duration: '1h', timeZone: 'Etc/UTC' };
    w.policies.apply('even', { ...AUTOMATIC, budgets: [{ maxConcurrent: 1 }, office] });
    await play(w, 600);
    const [plan] = plansOf(w);
    expect(plan?.status).toMatchObject({
      phase: 'Aborted',
      message: 'budgets[1] came into force after the plan was made, until 13:01 Etc/UTC',
    });
    expect(w.cluster.accepted).toHaveLength(1);
    expect(condition(w, 'even', 'PlanReady')).toBe('False BudgetExhausted');
    expect(condition(w, 'even', 'Converged')).toBe('False BudgetExhausted');
    expect(messageOf(w, 'even', 'PlanReady')).toBe('no moves until 13:01 Etc/UTC: budgets[1]');
    expect(w.events.filter(({ reason }) => reason === 'BudgetExhausted').map(({ note }) => note)).toEqual([
      'no moves until 13:01 Etc/UTC: budgets[1]',
    ]);
    await play(w, 3_600);
    expect(w.cluster.accepted.length).toBeGreaterThan(1);
  });

  it('stops a running plan when its moves cost more service than was expected', async () => {
    const w = tilted();
    // Pods were Ready 100 s after their creation: two such starts fit in, but not one of 200 s and one of 100 s.
    w.cluster.delays.ready = 200;
    const budgets = [
      { maxConcurrent: 1, perNode: 2 },
      { maxOverhead: '290s', window: '1h' },
    ];
    w.policies.apply('even', { ...AUTOMATIC, budgets });
    await play(w, 600);
    const [plan] = plansOf(w);
    expect(plan?.spec.moves.map(({ cost }) => cost)).toEqual(['100', '100']);
    expect(plan?.status?.moves?.map(({ phase }) => phase)).toEqual(['Landed', 'Aborted']);
    expect(plan?.status?.message).toMatch(
      /^19\d s of service were lost in the last 3600 s, the next move would cost 100 s: maxOverhead of budgets\[1\] allows 290 s$/,
    );
    expect(plan?.status?.moves?.[0]?.unavailableSeconds).toBeGreaterThanOrEqual(200);
    expect(messageOf(w, 'even', 'PlanReady')).toMatch(/^MaxOverhead keeps \d pods where they are: a start takes /);
    expect(w.cluster.accepted).toHaveLength(1);
  });

  it('stops a running plan when a move takes so long that the workload falls below its SLO', async () => {
    const w = tilted();
    w.cluster.delays.ready = 90;
    w.policies.apply('even', {
      ...AUTOMATIC,
      interval: '10m',
      thresholds: { consecutive: 1 },
      budgets: [{ maxConcurrent: 1, perNode: 2 }],
    });
    w.cluster.serviceLevels = twoOfEach(0, { running: 2, waiting: 0 });
    await play(w, 600, {
      3: () => {
        w.cluster.serviceLevels = twoOfEach(3, { running: 1, waiting: 1 });
      },
    });
    const [plan] = plansOf(w);
    expect(plan?.status).toMatchObject({ phase: 'Aborted', stopped: 'ServiceLevelMissed' });
    expect(plan?.status?.message).toMatch(
      /^ReplicaSet shop\/\w+ has 94\.\d\d % over 600 s, its class batch promises 95\.00 %: the plan has cost it 6\d s of service$/,
    );
    expect(w.cluster.accepted).toHaveLength(1);
    expect(condition(w, 'even', 'Degraded')).toBe('True ServiceLevelMissed');
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

  it('ends a plan whose policy was deleted, and looks after the others', async () => {
    const w = tilted();
    w.cluster.delays.ready = 60;
    w.policies.apply('even', AUTOMATIC);
    let ended: RebalancePlan | undefined;
    w.tap = (when, call, [name]) => {
      ended = when === 'before' && call === 'plans.remove' ? w.plans.of(String(name)) : ended;
    };
    await play(w, 300, { 25: () => w.policies.remove('even') });
    expect(ended?.status).toMatchObject({ phase: 'Completed', summary: { total: 2, done: 2, landed: 2 } });
    expect(plansOf(w)).toEqual([]);
    expect(w.cluster.accepted).toHaveLength(2);
    expect([...w.cluster.hints.keys()]).toEqual([]);
  });

  it('deletes plans that wait for nobody any more, and leaves those that a person made from a file', async () => {
    const w = tilted();
    w.policies.apply('even', {});
    await play(w, 60);
    const [proposed] = plansOf(w);
    const fromFile = aPlan(aPolicy('file'), [], { phase: 'Proposed' });
    w.plans.put({ ...fromFile, spec: { ...fromFile.spec, policy: { name: 'file', uid: '', generation: 0 } } });
    w.policies.remove('even');
    await play(w, 60);
    expect(proposed?.status?.phase).toBe('Proposed');
    expect(plansOf(w).map(({ spec }) => spec.policy.name)).toEqual(['file']);
  });

  it('begins again beside what a deleted policy of the same name left in flight, within the same limits', async () => {
    const w = tilted();
    w.cluster.delays.ready = 60;
    const one = { ...AUTOMATIC, budgets: [{ maxConcurrent: 1 }] };
    w.policies.apply('even', one);
    const inFlight: number[] = [];
    w.tap = (when, call, [, options]) => {
      if (when === 'before' && call === 'evictor.evict' && !(options as { dryRun: boolean }).dryRun) {
        inFlight.push(podsInFlight(plansOf(w)).size);
      }
    };
    const again = () => {
      w.policies.apply('even', one);
      const made = w.policies.stored.get('even') ?? aPolicy('even');
      w.policies.stored.set('even', { ...made, metadata: { ...made.metadata, uid: 'uid-anew' } });
    };
    await play(w, 400, { 25: () => w.policies.remove('even'), 26: again });
    expect(new Set(inFlight)).toEqual(new Set([1]));
    expect(w.cluster.accepted.length).toBeGreaterThan(1);
  });

  it('says of a bad policy what is wrong with it, and goes on with the others', async () => {
    const w = tilted();
    w.policies.apply('bad', { mode: 'Auto', thresholds: { trigger: 0.1 } });
    w.policies.apply('cron', { schedule: '0 0 1 * 1' });
    w.policies.apply('never', { budgets: [{ maxMoves: 0, schedule: '0 0 30 2 *', duration: '1h' }] });
    w.policies.apply('even', {});
    await play(w, 60);
    expect(condition(w, 'bad', 'Accepted')).toBe('False InvalidSpec');
    expect(messageOf(w, 'bad', 'Accepted')).toContain('spec.thresholds.trigger: is 0.1 but must be a string');
    expect(condition(w, 'bad', 'Ready')).toBe('False InvalidSpec');
    expect(condition(w, 'cron', 'Accepted')).toBe('False InvalidSchedule');
    expect(condition(w, 'never', 'Accepted')).toBe('False InvalidSchedule');
    expect(messageOf(w, 'never', 'Accepted')).toBe(
      'spec.budgets[0].schedule: schedule "0 0 30 2 *" is not a cron expression: 30 2 is an impossible day of month for the given month',
    );
    expect(condition(w, 'even', 'Accepted')).toBe('True Valid');
    expect(plansOf(w).map(({ spec }) => spec.policy.name)).toEqual(['even']);
  });

  it('takes a policy up again once it is corrected', async () => {
    const w = tilted();
    w.policies.apply('even', { mode: 'Auto' });
    await play(w, 60, { 30: () => w.policies.apply('even', { mode: 'DryRun' }) });
    expect(condition(w, 'even', 'Accepted')).toBe('True Valid');
    expect(plansOf(w)).toHaveLength(1);
  });

  it('removes hints that belong to no move in flight, and leaves the others', async () => {
    const w = tilted();
    const signal = new AbortController().signal;
    const pod = [...w.cluster.pods.values()][0] ?? aPod(aWorkload('web'), 'web', 'a');
    const inFlight = { podUID: pod.uid, phase: 'Verifying', attempt: 0, startedAt: '2026-01-01T12:00:00Z' } as const;
    w.plans.put(aPlan(aPolicy('gone'), [aMove(pod, 'b')], { moves: [inFlight] }));
    const hint = { ownerUID: 'x', nodeName: 'b', plan: 'p' };
    const stale = w.plans.of('gone-0123456789');
    await w.cluster.steering.place('shop', { ...hint, podUID: pod.uid }, stale, signal);
    await w.cluster.steering.place('shop', { ...hint, podUID: 'stale' }, stale, signal);
    await play(w, 5);
    expect([...w.cluster.hints.keys()]).toEqual([pod.uid]);
  });

  it('degrades a policy whose run fails, leaves the other alone, and recovers', async () => {
    const w = tilted();
    w.policies.apply('a-first', { scope: { podSelector: { matchLabels: { app: 'api' } } } });
    w.policies.apply('b-second', { scope: { podSelector: { matchLabels: { app: 'web' } } } });
    let broken = true;
    w.tap = (when, call) => {
      if (broken && when === 'before' && call === 'reader.snapshot') {
        broken = false;
        throw new Error('nodes is forbidden');
      }
    };
    await play(w, 3);
    expect(condition(w, 'a-first', 'Degraded')).toBe('True ObserveFailed');
    expect(messageOf(w, 'a-first', 'Degraded')).toBe('nodes is forbidden');
    expect(condition(w, 'a-first', 'Ready')).toBe('False ObserveFailed');
    expect(condition(w, 'b-second', 'Ready')).toBe('True AsExpected');
    expect(w.failures()).toBe(1);
    await play(w, 10);
    expect(condition(w, 'a-first', 'Degraded')).toBe('False AsExpected');
    expect(condition(w, 'a-first', 'Ready')).toBe('True AsExpected');
  });

  it('is no longer degraded when a plan that could not be carried on goes on', async () => {
    const w = tilted();
    w.cluster.delays.ready = 30;
    w.policies.apply('even', { ...AUTOMATIC, interval: '1h', thresholds: { consecutive: 1 } });
    let broken = false;
    w.tap = (when, call) => {
      if (broken && when === 'before' && call === 'reader.podsOfOwner') {
        throw new Error('etcd leader changed');
      }
    };
    await play(w, 10, {
      5: () => {
        broken = true;
      },
    });
    expect(condition(w, 'even', 'Degraded')).toBe('True ExecuteFailed');
    broken = false;
    await play(w, 10);
    expect(condition(w, 'even', 'Degraded')).toBe('False AsExpected');
  });

  it('goes on with other policies when the status of one is refused', async () => {
    const w = tilted();
    w.policies.apply('a-first', {});
    w.policies.apply('b-second', {});
    w.tap = (when, call, args) => {
      const [policy] = args as readonly [{ metadata: { name: string } }];
      if (when === 'before' && call === 'policies.writeStatus' && policy.metadata.name === 'a-first') {
        throw new Error('status is invalid');
      }
    };
    await play(w, 10);
    expect(condition(w, 'b-second', 'Accepted')).toMatch(/Valid|Conflicting/);
  });

  it('tries again after a pass that could not read anything, and counts only good ones', async () => {
    const w = tilted();
    w.policies.apply('even', {});
    w.tap = (when, call) => {
      if (when === 'before' && call === 'policies.list' && w.clock.now() < NOON + 12) {
        throw new Error('connection refused');
      }
    };
    expect(await play(w, 11)).toBe(0);
    expect(w.failures()).toBe(3);
    expect(await play(w, 20)).toBeGreaterThan(0);
    expect(plansOf(w)).toHaveLength(1);
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

  it('does not write a status more than once a try while runs fail', async () => {
    const w = tilted();
    w.policies.apply('even', {});
    w.tap = (_, call) => {
      if (call === 'reader.snapshot') {
        throw new Error('503');
      }
    };
    await play(w, 100);
    expect(w.failures()).toBeLessThanOrEqual(21);
    expect(w.policies.writes()).toBeLessThanOrEqual(21);
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
    expect(w.policies.stored.get('even')?.status?.lastRun).toBe('2026-01-01T12:00:30Z');
  });

  it('ends a plan that was cut off between its creation and its first status', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '1h' });
    const { status: _, ...plan } = aPlan(aPolicy('even'), [], {});
    w.plans.put({ ...plan, metadata: { ...plan.metadata, name: 'even-cut' } });
    await play(w, 5);
    expect(w.plans.of('even-cut').status).toMatchObject({
      phase: 'Superseded',
      message: expect.stringContaining('cut off'),
    });
  });

  it('deletes ended plans beyond historyLimit', async () => {
    const w = tilted();
    w.policies.apply('even', { historyLimit: 1 });
    const policy = aPolicy('even');
    for (const day of [1, 2, 3]) {
      const plan = aPlan(policy, [], { phase: 'Completed', finishedAt: '2025-12-03T00:00:00Z' });
      w.plans.put({
        ...plan,
        metadata: { name: `even-${day}` },
        spec: { ...plan.spec, takenAt: `2025-12-0${day}T00:00:00Z` },
      });
    }
    await play(w, 5);
    expect([...w.plans.stored.keys()].filter((name) => /even-\d$/.test(name))).toEqual(['even-3']);
  });

  it('leaves contested pods to the older policy and says so', async () => {
    const w = tilted();
    w.policies.apply('a-old', {});
    w.policies.apply('b-young', {});
    await play(w, 5);
    expect(condition(w, 'a-old', 'Accepted')).toBe('True Valid');
    expect(condition(w, 'b-young', 'Accepted')).toBe('False Conflicting');
    expect(messageOf(w, 'b-young', 'Accepted')).toContain('8 pods to a-old');
    expect(plansOf(w).map(({ spec }) => spec.policy.name)).toEqual(['a-old']);
  });

  it('plans nothing without metrics, keeps what was measured, and says so', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '10s' });
    await play(w, 5);
    w.cluster.metered = false;
    await play(w, 30);
    expect(condition(w, 'even', 'MetricsFresh')).toBe('False MetricsUnavailable');
    expect(condition(w, 'even', 'Ready')).toBe('False MetricsUnavailable');
    const status = w.policies.stored.get('even')?.status;
    expect(status?.imbalance).toBe('0.8');
    expect(status?.history?.map(({ outcome, actual }) => [outcome, actual]).at(-1)).toEqual(['Moves', undefined]);
    expect(plansOf(w).map(({ status: each }) => each?.phase)).toEqual(['Proposed']);
  });

  it('carries on after a restart in the middle of a plan', async () => {
    const w = tilted();
    w.cluster.delays.ready = 20;
    w.policies.apply('even', { ...AUTOMATIC, interval: '1h', thresholds: { consecutive: 1 } });
    for (let restart = 0; restart < 20; restart += 1) {
      await play(w, 3);
    }
    expect(plansOf(w).map(({ status }) => status?.phase)).toEqual(['Completed']);
    expect(new Set(w.cluster.accepted).size).toBe(w.cluster.accepted.length);
  });

  it('moves nothing when a policy insists on steering that is not installed, and says what to do', async () => {
    const w = tilted();
    w.cluster.steerable = false;
    w.policies.apply('even', { ...AUTOMATIC, thresholds: { consecutive: 1 }, steering: { mode: 'AdmissionPolicy' } });
    await play(w, 30);
    expect(condition(w, 'even', 'Degraded')).toBe('True SteeringUnavailable');
    expect(messageOf(w, 'even', 'Degraded')).toContain('or write mode: Auto');
    expect(w.cluster.accepted).toEqual([]);
  });

  it('uses Gate when the policy asks for it, never otherwise, and says what to install where it may not', async () => {
    const asked = tilted();
    asked.policies.apply('even', { ...AUTOMATIC, thresholds: { consecutive: 1 }, steering: { mode: 'Gate' } });
    await play(asked, 30);
    expect(plansOf(asked)[0]?.status?.steering).toBe('Gate');
    const auto = tilted();
    auto.cluster.steerable = false;
    auto.policies.apply('even', { ...AUTOMATIC, thresholds: { consecutive: 1 } });
    await play(auto, 30);
    expect(plansOf(auto)[0]?.status?.steering).toBe('None');
    const refused = tilted();
    refused.cluster.opensGates = false;
    refused.policies.apply('even', { ...AUTOMATIC, thresholds: { consecutive: 1 }, steering: { mode: 'Gate' } });
    await play(refused, 30);
    expect(condition(refused, 'even', 'Ready')).toBe('False SteeringUnavailable');
    expect(messageOf(refused, 'even', 'Ready')).toContain('install deploy/overlays/gate');
    expect(refused.cluster.accepted).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { MovePhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy, RebalancePolicyStatus } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { plan as computePlan } from '../../../src/plan/planner.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { applyVerdicts, type Verdict } from '../../../src/report/conditions.ts';
import { hitRatiosByMode } from '../../../src/report/hit-ratio.ts';
import { type PolicyFacts, policyStatus } from '../../../src/report/policy-status.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aLedger, aServiceClass, classReports, NO_SERVICES } from '../../support/builders/service-levels.ts';
import { aNode, aPodOf, aWorkload, NOW as BUILT, TEN_CORES } from '../../support/builders.ts';
import { fakeCluster } from '../../support/fake-cluster.ts';
import { NOON, testClock } from '../../support/test-clock.ts';

const VALID: Verdict = { status: 'True', reason: 'Valid', message: 'the policy is valid' };
const web = aWorkload('web', { replicas: 8 });
const pods = [1, 2, 3, 4].map((index) => aPodOf(web, `web-${index}`, 'a', 1_000));
const cluster = fakeCluster(testClock(), [aNode('a', TEN_CORES), aNode('b', TEN_CORES)], [web], pods);
const snapshot = await cluster.reader.snapshot(new AbortController().signal);
const plan = computePlan(snapshot, resolveOptions(aPolicy('even').spec));
const level: Plan = { ...plan, moves: [], outcome: { kind: 'Balanced', message: 'level enough' } };
const blind: Plan = {
  ...plan,
  moves: [],
  outcome: { kind: 'MetricsUnavailable', message: 'no Metrics API' },
  imbalance: { before: {}, planned: {} },
  spread: { before: 0, planned: 0 },
};
const later = (span: number) => epochSeconds(NOON + span);

function facts(changes: Partial<PolicyFacts> = {}): PolicyFacts {
  return {
    acceptance: VALID,
    suspended: false,
    run: undefined,
    postponed: undefined,
    plans: [],
    nextRun: undefined,
    ledgers: undefined,
    steering: undefined,
    leader: undefined,
    past: {},
    ...changes,
  };
}

function ran(result: Plan, changes: Partial<NonNullable<PolicyFacts['run']>> = {}): Partial<PolicyFacts> {
  const run = {
    startedAt: NOON,
    plan: result,
    services: NO_SERVICES,
    stored: undefined,
    aboveTrigger: 3,
    consecutive: 3,
  };
  return { run: { ...run, ...changes } };
}

function unfresh(reason: Verdict['reason']): Verdict {
  return { status: 'False', reason, message: 'because' };
}

function conditions(status: RebalancePolicyStatus): Readonly<Record<string, string>> {
  return Object.fromEntries((status.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is} ${reason}`]));
}

function statusOf(changes: Partial<PolicyFacts>, policy: RebalancePolicy = aPolicy('even')): RebalancePolicyStatus {
  return policyStatus(policy, facts(changes), NOON);
}

/** The statuses of a policy after these passes, one every `step` seconds. */
function statusesOf(passes: readonly Partial<PolicyFacts>[], step = 60): readonly RebalancePolicyStatus[] {
  let policy = aPolicy('even');
  return passes.map((changes, pass) => {
    const status = policyStatus(policy, facts(changes), later(pass * step));
    policy = { ...policy, status };
    return status;
  });
}

describe('applyVerdicts', () => {
  const yes: Verdict = { status: 'True', reason: 'Valid', message: 'a' };

  it('keeps the order of the conditions and leaves alone what has no verdict', () => {
    const first = applyVerdicts([], { Ready: yes, Accepted: yes }, 1, NOON);
    expect(first.map(({ type }) => type)).toEqual(['Accepted', 'Ready']);
    const second = applyVerdicts(first, { PlanReady: yes }, 2, later(9));
    expect(second.map(({ type, observedGeneration }) => [type, observedGeneration])).toEqual([
      ['Accepted', 1],
      ['PlanReady', 2],
      ['Ready', 1],
    ]);
  });

  it('changes lastTransitionTime with the status only', () => {
    const first = applyVerdicts([], { Ready: yes }, 1, NOON);
    const reworded = applyVerdicts(first, { Ready: { ...yes, reason: 'AsExpected', message: 'b' } }, 2, later(60));
    expect(reworded[0]).toMatchObject({
      reason: 'AsExpected',
      message: 'b',
      lastTransitionTime: '2026-01-01T12:00:00Z',
      observedGeneration: 2,
    });
    const turned = applyVerdicts(reworded, { Ready: { ...yes, status: 'False' } }, 2, later(120));
    expect(turned[0]?.lastTransitionTime).toBe('2026-01-01T12:02:00Z');
  });

  it('keeps messages within what the CRD allows', () => {
    const [condition] = applyVerdicts([], { Ready: { ...yes, message: 'x'.repeat(9_999) } }, 1, NOON);
    expect(condition?.message).toHaveLength(1_024);
  });
});

describe('policyStatus', () => {
  it('awaits the first run', () => {
    expect(conditions(statusOf({}))).toEqual({
      Accepted: 'True Valid',
      MetricsFresh: 'Unknown AwaitingFirstRun',
      LedgerFresh: 'Unknown AwaitingFirstRun',
      PlanReady: 'Unknown AwaitingFirstRun',
      Executing: 'False Idle',
      Converged: 'Unknown AwaitingFirstRun',
      Degraded: 'False AsExpected',
      Ready: 'Unknown AwaitingFirstRun',
    });
  });

  it('names the plan whose run could not report, since its operator ended before', () => {
    const running = aPlan(aPolicy('even'), []);
    const found = statusOf({ plans: [running] }).conditions?.find(({ type }) => type === 'Converged');
    expect(found?.message).toBe('the run that made even-0123456789 could not report');
  });

  it.each<[string, Record<string, unknown>, Partial<PolicyFacts>, string, string]>([
    ['DryRun with moves', {}, ran(plan), 'True DryRun', 'False MovesPending'],
    ['Approve with moves', { mode: 'Approve' }, ran(plan), 'True AwaitingApproval', 'False MovesPending'],
    ['Automatic with moves', { mode: 'Automatic' }, ran(plan), 'True Planned', 'False MovesPending'],
    [
      'Automatic, too early',
      { mode: 'Automatic' },
      ran(plan, { aboveTrigger: 2 }),
      'False AwaitingConsecutive',
      'False MovesPending',
    ],
    ['a level cluster', {}, ran(level), 'False Balanced', 'True Balanced'],
    ['no metrics', {}, ran(blind), 'False MetricsUnavailable', 'Unknown MetricsUnavailable'],
  ])('says of %s whether there is a plan and whether there is more to do', (_, spec, changes, planReady, converged) => {
    const found = conditions(statusOf(changes, aPolicy('even', spec)));
    expect([found['PlanReady'], found['Converged']]).toEqual([planReady, converged]);
  });

  it.each<[string, Partial<PolicyFacts>, string]>([
    ['all is well', ran(plan), 'True AsExpected'],
    [
      'the policy is invalid',
      { acceptance: { status: 'False', reason: 'InvalidSpec', message: 'x' }, ...ran(plan) },
      'False InvalidSpec',
    ],
    [
      'the run failed',
      { postponed: { Degraded: { status: 'True', reason: 'ObserveFailed', message: 'x' } } },
      'False ObserveFailed',
    ],
    ['the first run finds no metrics', ran(blind), 'Unknown AwaitingSamples'],
    ['it is suspended', { ...ran(plan), suspended: true }, 'False Suspended'],
    ['some ledgers are missing', { ...ran(plan), ledgers: unfresh('LedgersIncomplete') }, 'True AsExpected'],
    ['ledgers are not kept', { ...ran(plan), ledgers: unfresh('LedgersUnavailable') }, 'False LedgersUnavailable'],
  ])('is ready or not when %s', (_, changes, ready) => {
    expect(conditions(statusOf(changes))['Ready']).toBe(ready);
  });

  it('stays ready while samples are awaited, and is not when two runs in a row find none', () => {
    const runs = [ran(plan), ran(blind), ran(plan), ran(blind), ran(blind), ran(plan)];
    const ready = statusesOf(runs).map((status) => conditions(status)['Ready']);
    const seen = ['True AsExpected', 'True AwaitingSamples'];
    expect(ready).toEqual([...seen, ...seen, 'False MetricsUnavailable', 'True AsExpected']);
  });

  it('is not ready ten minutes after samples were missed, even without another run', () => {
    const [first, second, third] = statusesOf([ran(plan), ran(blind), {}], 599).map((status) => conditions(status));
    expect([first?.['Ready'], second?.['Ready']]).toEqual(['True AsExpected', 'True AwaitingSamples']);
    expect(third?.['Ready']).toBe('True AwaitingSamples');
    const [, , late] = statusesOf([ran(plan), ran(blind), {}], 600).map((status) => conditions(status));
    expect(late?.['Ready']).toBe('False MetricsUnavailable');
  });

  it('is not Converged while protections block what would have to move', () => {
    const message = 'all 4 pods in scope are protected by minPodAge; the earliest is free at 12:05 UTC';
    const blocked: Plan = { ...level, outcome: { kind: 'Blocked', message } };
    const found = policyStatus(aPolicy('even'), facts(ran(blocked)), NOON).conditions ?? [];
    const converged = found.find(({ type }) => type === 'Converged');
    expect(converged).toMatchObject({ status: 'False', reason: 'Blocked', message });
    expect(conditions({ conditions: found })['Ready']).toBe('True AsExpected');
  });

  it('says for how many runs a plan waits, and when the next one is', () => {
    const policy = aPolicy('even', { mode: 'Automatic' });
    const waiting = facts({ ...ran(plan, { aboveTrigger: 1 }), nextRun: later(300) });
    const ready = policyStatus(policy, waiting, NOON).conditions?.find(({ type }) => type === 'PlanReady');
    expect(ready?.message).toBe(
      `${plan.moves.length} moves; the spread was at or above thresholds.trigger in 1 of 3 consecutive runs; the next run is at 12:05 UTC`,
    );
  });

  it('records runs newest first, at most ten, each with what the next one measured', () => {
    let policy = aPolicy('even');
    for (let run = 0; run < 12; run += 1) {
      const measured = { ...plan, spread: { before: run / 100, planned: 0 } };
      const status = policyStatus(policy, facts(ran(measured, { startedAt: later(run) })), later(run));
      policy = { ...policy, status };
    }
    const { history = [], imbalance, lastRun } = policy.status ?? {};
    expect(history).toHaveLength(10);
    expect(history.slice(0, 2)).toEqual([
      { time: '2026-01-01T12:00:11Z', outcome: 'Moves', moves: plan.moves.length, before: '0.11', planned: '0' },
      {
        time: '2026-01-01T12:00:10Z',
        outcome: 'Moves',
        moves: plan.moves.length,
        before: '0.1',
        planned: '0',
        actual: '0.11',
      },
    ]);
    expect([imbalance, lastRun]).toEqual(['0.11', '2026-01-01T12:00:11Z']);
  });

  it('takes nothing that a run without metrics found for a measurement', () => {
    const first = { ...aPolicy('even'), status: statusOf(ran(plan)) };
    const second = policyStatus(first, facts(ran(blind)), later(60));
    expect(second.imbalance).toBe('0.4');
    expect(second.history?.[1]?.actual).toBeUndefined();
    const third = policyStatus({ ...first, status: second }, facts(ran(plan)), later(120));
    expect(third.imbalance).toBe('0.4');
  });

  it('waits for no runs above the trigger where the strategy does not', () => {
    const automatic = aPolicy('even', { mode: 'Automatic' });
    const ready = (strategy: Plan['strategy']) =>
      conditions(statusOf(ran({ ...plan, strategy }, { aboveTrigger: 0 }), automatic))['PlanReady'];
    expect([ready('RefineLB'), ready('QoSDriven')]).toEqual(['False AwaitingConsecutive', 'True Planned']);
  });

  it('says what workloads got at the last run, and no more when none has a class any longer', () => {
    const classes = classReports([{ serviceClass: aServiceClass(), ledger: aLedger() }], BUILT);
    const services = { ...NO_SERVICES, classes };
    const first = { ...aPolicy('even'), status: statusOf(ran(plan, { services })) };
    expect(first.status).toMatchObject({ serviceClasses: [{ name: 'batch', workloads: 1 }], sloMissed: 0 });
    const between = policyStatus(first, facts(), later(30));
    expect(between.serviceClasses).toEqual(first.status.serviceClasses);
    const second = policyStatus(first, facts(ran(plan)), later(60));
    expect(Object.keys(second)).not.toContain('serviceClasses');
    expect(Object.keys(second)).not.toContain('sloMissed');
  });

  it('keeps condition LedgerFresh as it was while nothing is known', () => {
    const first = { ...aPolicy('even'), status: statusOf({ ...ran(plan), ledgers: unfresh('LedgersIncomplete') }) };
    expect(conditions(policyStatus(first, facts(ran(plan)), later(60)))['LedgerFresh']).toBe('False LedgersIncomplete');
  });

  it('sums up the newest plan: counts, repairs and then the largest gains first, phases', () => {
    const moves = pods.map((pod, index) => ({
      ...aMove(pod, 'b'),
      gain: `0.0${index + 1}`,
      ...(index === 0 ? { repairs: ['Taints' as const] } : {}),
    }));
    const phases = ['Landed', 'Missed', 'Failed', 'Skipped'] as const;
    const journal = pods.map(
      ({ uid }, index) => ({ podUID: uid, phase: phases[index] ?? 'Planned', attempt: 0 }) as const,
    );
    const newest = aPlan(aPolicy('even'), moves, { phase: 'Aborted', message: '1 of 4 moves failed', moves: journal });
    const older = { ...newest, metadata: { name: 'older' }, spec: { ...newest.spec, takenAt: '2025-12-31T00:00:00Z' } };
    const { plan: summary, hitRatio } = statusOf({ plans: [older, newest] });
    expect(summary).toMatchObject({
      name: 'even-0123456789',
      phase: 'Aborted',
      moves: { total: 4, done: 2, failed: 1, skipped: 1 },
    });
    expect(summary?.topMoves.map(({ gain }) => gain)).toEqual(['0.01', '0.04', '0.03', '0.02']);
    expect(summary?.topMoves.map(({ repairs }) => repairs)).toEqual([['Taints'], undefined, undefined, undefined]);
    expect(hitRatio).toBe('0.5');
  });

  it('warns of an aborted plan with failures until a later run', () => {
    const journal = [{ podUID: 'uid-web-1', phase: 'Failed', attempt: 0 } as const];
    const aborted: RebalancePlan = aPlan(aPolicy('even'), [], {
      phase: 'Aborted',
      message: '1 of 4 moves failed',
      stopped: 'TooManyFailures',
      moves: journal,
    });
    expect(conditions(statusOf({ plans: [aborted] }))['Degraded']).toBe('True TooManyFailures');
    expect(conditions(statusOf({ plans: [aborted], ...ran(level) }))['Degraded']).toBe('False AsExpected');
  });

  it.each([
    ['TooManyFailures', 'True TooManyFailures'],
    ['ClusterUnhealthy', 'True ClusterUnhealthy'],
    ['MetricsUnavailable', 'True MetricsUnavailable'],
    ['MetricsIncomplete', 'True MetricsIncomplete'],
    ['ServiceLevelMissed', 'True ServiceLevelMissed'],
    ['PolicyChanged', 'False AsExpected'],
    ['BudgetExhausted', 'False AsExpected'],
  ])('says which rule stopped the newest plan, and warns when it was trouble: %s', (stopped, degraded) => {
    const aborted = aPlan(aPolicy('even'), [], { phase: 'Aborted', message: 'because', stopped });
    const status = statusOf({ plans: [aborted] });
    expect(conditions(status)).toMatchObject({ Executing: `False ${stopped}`, Degraded: degraded });
    expect(status.conditions?.find(({ type }) => type === 'Executing')?.message).toBe(
      'plan even-0123456789 was stopped: because',
    );
  });

  it('says how far a plan is while it is carried out', () => {
    const running = aPlan(aPolicy('even'), [], { summary: { total: 4, done: 1, landed: 1 } });
    const found = statusOf({ plans: [running] }).conditions?.find(({ type }) => type === 'Executing');
    expect(found).toMatchObject({
      status: 'True',
      reason: 'Executing',
      message: 'plan even-0123456789: 1 of 4 moves ended',
    });
  });

  it('names the replica that leads the policy now, and none without leader election', () => {
    const led = statusOf({ leader: 'evenkeel-7d9f-abcde' });
    expect(led.leader).toBe('evenkeel-7d9f-abcde');
    const policy = { ...aPolicy('even'), status: led };
    expect(statusOf({ leader: 'evenkeel-7d9f-fghij' }, policy).leader).toBe('evenkeel-7d9f-fghij');
    expect(statusOf({}, policy)).not.toHaveProperty('leader');
  });

  it('is the same for the same facts, so that nothing is written twice', () => {
    const once = statusOf({ ...ran(plan), nextRun: later(300) });
    const again = policyStatus({ ...aPolicy('even'), status: once }, facts({ nextRun: later(300) }), later(5));
    expect(again).toEqual(once);
  });
});

describe('hitRatiosByMode', () => {
  it('counts replacements that run, by the steering of their plan, and leaves out modes without any', () => {
    const of = (steering: 'Gate' | 'None', ...phases: readonly MovePhase[]) =>
      aPlan(aPolicy('even'), [], {
        steering,
        moves: phases.map((phase, index) => ({ podUID: `${index}`, phase, attempt: 0 })),
      });
    const plans = [of('Gate', 'Landed', 'Landed', 'Failed'), of('Gate', 'Landed', 'Missed'), of('None', 'Skipped')];
    expect([...hitRatiosByMode(plans)]).toEqual([['Gate', 0.75]]);
    expect([...hitRatiosByMode([])]).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { PlanPhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import type { RunCause } from '../../../src/control/due.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import { type RunResult, runPolicy } from '../../../src/control/run.ts';
import { aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, TEN_CORES } from '../../support/builders.ts';
import { forever } from '../../support/execution.ts';
import { type World, world } from '../../support/fake-world.ts';
import { evenPods, OWNERS, tilted } from '../../support/played.ts';

const AUTOMATIC = { mode: 'Automatic', thresholds: { consecutive: 1 } };
const THREE = ['a', 'b', 'c'].map((name) => aNode(name, TEN_CORES));

type Imbalance = NonNullable<NonNullable<RebalancePlan['status']>['imbalance']>;

type Condition = NonNullable<NonNullable<RebalancePolicy['status']>['conditions']>[number];
/** What the status of the policy says. */
type Told = Pick<Condition, 'type' | 'status' | 'reason'>;

/** How the policy stands, and why it runs. */
interface Standing {
  readonly spec?: Record<string, unknown>;
  readonly plans?: readonly RebalancePlan[];
  readonly cause?: RunCause;
  readonly conditions?: readonly Told[];
  readonly aboveTrigger?: number;
  readonly observed?: number;
}

/** A run of a policy. Fails when it is postponed. */
async function run(w: World, standing: Standing = {}): Promise<RunResult & { readonly kind: 'Planned' }> {
  const { spec = {}, plans = [], cause = 'News', conditions = [], aboveTrigger = 0, observed = 1 } = standing;
  const made = aPolicy('even', spec);
  const known = conditions.map((told) => ({
    ...told,
    message: 'as it stands',
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T11:00:00Z',
  }));
  const status: NonNullable<RebalancePolicy['status']> = {
    observedGeneration: observed,
    aboveTrigger,
    conditions: known,
  };
  const stored = { policy: { ...made, status }, invalid: [] };
  const context = { stored, policies: [stored], plans, excludedNamespaces: new Set<string>(), pace: OPERATOR_PACE };
  const result = await runPolicy({ ...context, cause }, w.ports, forever);
  return result.kind === 'Planned' ? result : expect.fail(result.why);
}

function balanced(): World {
  return world(THREE, OWNERS, evenPods(1_000));
}

async function storedBy(w: World, standing: Standing): Promise<RebalancePlan> {
  return (await run(w, standing)).facts.stored ?? expect.fail('no plan is stored');
}

/** Stores the plan, and has it as it stands then. */
function put(w: World, plan: RebalancePlan): RebalancePlan {
  w.plans.put(plan);
  return w.plans.of(plan.metadata.name);
}

describe('a run that changes no plan', () => {
  const ready = (reason: Condition['reason']): Told => ({ type: 'PlanReady', status: 'False', reason });
  const degraded = (reason: Condition['reason']): Told => ({ type: 'Degraded', status: 'True', reason });
  const FINE: Told = { type: 'Degraded', status: 'False', reason: 'AsExpected' };
  const BROKEN = degraded('ObserveFailed');

  it('is news where the status says something else of it', async () => {
    const w = balanced();
    const { facts, isNews } = await run(w);
    expect([facts.plan.outcome.kind, facts.stored, isNews]).toEqual(['Balanced', undefined, true]);
    const told = async (...conditions: readonly Told[]) => (await run(w, { conditions })).isNews;
    expect(await told(ready('Balanced'), FINE)).toBe(false);
    expect(await told(ready('BudgetExhausted'), FINE)).toBe(true);
    expect(await told(ready('Balanced'), BROKEN)).toBe(true);
  });

  it.each<[RunCause, boolean]>([
    ['Schedule', true],
    ['Request', true],
    ['News', false],
    ['Again', false],
  ])('is news where it was for %s: %s', async (cause, isNews) => {
    const w = balanced();
    expect((await run(w, { cause, conditions: [ready('Balanced'), FINE] })).isNews).toBe(isNews);
  });

  it('since a plan stands for it is news where nothing is wrong any more', async () => {
    const w = tilted();
    const plan = await storedBy(w, { spec: AUTOMATIC });
    const kept = async (status: RebalancePlan['status'], told: Told) => {
      const plans = [{ ...plan, status: { ...plan.status, ...status } }];
      const { facts, isNews } = await run(w, { spec: AUTOMATIC, plans, conditions: [told] });
      expect(facts.stored?.metadata.name).toBe(plan.metadata.name);
      return isNews;
    };
    expect(await kept({}, FINE)).toBe(false);
    expect(await kept({}, BROKEN)).toBe(true);
    expect(await kept({ stopped: 'BudgetExhausted' }, degraded('BudgetExhausted'))).toBe(false);
    expect(await kept({ stopped: 'BudgetExhausted' }, FINE)).toBe(false);
  });

  it('is news where people look at the plan, which stands for it', async () => {
    const w = tilted();
    const plan = await storedBy(w, {});
    expect(plan.status?.phase).toBe('Proposed');
    expect(await run(w, { plans: [plan] })).toMatchObject({ isNews: true, facts: { stored: plan } });
  });
});

describe('the plan of a run', () => {
  it('is carried out at once, with the steering that there is, where the policy is automatic', async () => {
    const w = tilted();
    const plan = await storedBy(w, { spec: AUTOMATIC });
    expect(plan.status).toMatchObject({ phase: 'Executing', steering: 'AdmissionPolicy' });
    expect(plan.status?.startedAt).toBeDefined();
    expect(w.plans.of(plan.metadata.name).status?.steering).toBe('AdmissionPolicy');
    const { steering: none, ...line } = w.lines.find((each) => each.line === 'plan computed')?.fields ?? {};
    expect(none).toBe('AdmissionPolicy');
    expect(line).toMatchObject({ phase: 'Executing', moves: plan.spec.moves.length });
  });

  it.each<[string, PlanPhase]>([
    ['DryRun', 'Proposed'],
    ['Approve', 'AwaitingApproval'],
  ])('is not begun, and nobody asks what steers, where the mode is %s', async (mode, phase) => {
    const w = tilted();
    const plan = await storedBy(w, { spec: { ...AUTOMATIC, mode } });
    expect(plan.status?.phase).toBe(phase);
    expect(plan.status).not.toHaveProperty('steering');
    expect(plan.status).not.toHaveProperty('startedAt');
    expect(w.calls).not.toContain('steering.offers');
    expect(plan.status?.moves?.map(({ phase: each }) => each)).toEqual(plan.spec.moves.map(() => 'Planned'));
    expect(plan.status?.summary).toMatchObject({ total: plan.spec.moves.length, done: 0 });
  });

  it('is told once, in an event of the policy', async () => {
    const w = tilted();
    const plan = await storedBy(w, { spec: AUTOMATIC });
    expect(w.events).toEqual([
      {
        type: 'Normal',
        reason: 'PlanComputed',
        note: `plan ${plan.metadata.name}: ${plan.status?.message}`,
        regarding: { kind: 'RebalancePolicy', name: 'even', uid: 'uid-even' },
      },
    ]);
  });

  it('has another name than one that was the same, however often that was made', async () => {
    const w = tilted();
    const names: string[] = [];
    for (let time = 0; time < 3; time += 1) {
      names.push((await storedBy(w, { spec: AUTOMATIC })).metadata.name);
    }
    const [first] = names;
    expect(names).toEqual([first, `${first}-2`, `${first}-3`]);
  });

  it('tries a move no sooner that was refused in the plan whose place it takes', async () => {
    const w = tilted();
    const plan = await storedBy(w, { spec: AUTOMATIC });
    const [refused, other] = plan.status?.moves ?? [];
    const runs = [
      ...(refused === undefined ? [] : [{ ...refused, attempt: 2, notBefore: '2026-01-01T12:05:00Z' }]),
      ...(other === undefined ? [] : [{ ...other, notBefore: '2026-01-01T12:06:00Z' }]),
    ];
    expect(runs).toHaveLength(2);
    const moves = plan.spec.moves.map((each) => ({ ...each, to: 'elsewhere' }));
    const old: RebalancePlan = {
      ...plan,
      spec: { ...plan.spec, moves },
      status: { ...plan.status, moves: runs },
    };
    const next = await storedBy(w, { spec: AUTOMATIC, plans: [put(w, old)] });
    expect(next.metadata.name).not.toBe(plan.metadata.name);
    expect(next.status?.moves).toEqual([runs[0], other]);
    expect(w.plans.of(plan.metadata.name).status).toMatchObject({
      phase: 'Superseded',
      moves: [{ phase: 'Aborted', outcome: 'a later run made another plan' }, { phase: 'Aborted' }],
    });
  });
});

describe('a run above the trigger', () => {
  const spec = { ...AUTOMATIC, thresholds: { consecutive: 3 } };

  it.each([
    [0, 1, 1, undefined],
    [1, 1, 2, undefined],
    [2, 1, 3, 'Executing'],
    [3, 1, 4, 'Executing'],
    [2, 0, 1, undefined],
  ] as const)(
    'that comes after %d others, which the status tells of generation %d, is number %d, and is acted on: %s',
    async (aboveTrigger, observed, count, phase) => {
      const { facts } = await run(tilted(), { spec, aboveTrigger, observed });
      expect([facts.aboveTrigger, facts.stored?.status?.phase]).toEqual([count, phase]);
    },
  );

  it('is not one below it, whatever was before', async () => {
    expect((await run(balanced(), { spec, aboveTrigger: 2 })).facts.aboveTrigger).toBe(0);
  });
});

describe('what a run measures', () => {
  const ended = (phase: PlanPhase, imbalance: Imbalance = {}): RebalancePlan =>
    aPlan(aPolicy('even'), [], { phase, finishedAt: '2026-01-01T11:00:00Z', imbalance });

  /** What the plan says of the imbalance after a run. */
  async function imbalanceAfter(w: World, plan: RebalancePlan): Promise<Imbalance> {
    await run(w, { plans: [put(w, plan)] });
    return w.plans.of(plan.metadata.name).status?.imbalance ?? {};
  }

  it.each<[PlanPhase, boolean]>([
    ['Completed', true],
    ['Aborted', true],
    ['Superseded', false],
  ])('is the result of a plan that is %s: %s', async (phase, isResult) => {
    const { actual } = await imbalanceAfter(tilted(), ended(phase));
    expect(actual !== undefined).toBe(isResult);
  });

  it('is not the result of a plan that has one', async () => {
    const first = await imbalanceAfter(balanced(), ended('Completed'));
    expect(first.actual).toBeDefined();
    expect((await imbalanceAfter(tilted(), ended('Completed'))).actual).not.toEqual(first.actual);
    expect(await imbalanceAfter(tilted(), ended('Completed', first))).toEqual(first);
  });
});

describe('budgets that keep the cluster unbalanced', () => {
  const spec = { ...AUTOMATIC, budgets: [{ maxMoves: 0 }] };
  const told = async (conditions: readonly Told[] = [], given: Record<string, unknown> = spec) => {
    const w = tilted();
    await run(w, { spec: given, conditions });
    return w.events.map(({ reason }) => reason);
  };

  it('are told of once', async () => {
    expect(await told()).toEqual(['BudgetExhausted']);
    expect(await told([{ type: 'PlanReady', status: 'True', reason: 'Executing' }])).toEqual(['BudgetExhausted']);
    expect(await told([{ type: 'PlanReady', status: 'False', reason: 'BudgetExhausted' }])).toEqual([]);
  });

  it('are not told of where they do not', async () => {
    expect(await told([], AUTOMATIC)).toEqual(['PlanComputed']);
  });
});

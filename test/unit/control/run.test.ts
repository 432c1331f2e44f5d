import { describe, expect, it } from 'vitest';
import type { PlanPhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import type { RunCause } from '../../../src/control/due.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import { type RunResult, runPolicy } from '../../../src/control/run.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import type { Measured, UsageHistory } from '../../../src/plan/usage-history.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aTaint } from '../../support/builders/scheduling.ts';
import { aServiceClass, serviceLevels } from '../../support/builders/service-levels.ts';
import { aNode, aPodOf, atGate, TEN_CORES } from '../../support/builders.ts';
import { forever } from '../../support/execution.ts';
import { type World, world } from '../../support/fake-world.ts';
import { evenPods, OWNERS, tilted } from '../../support/played.ts';
import { NOON } from '../../support/test-clock.ts';

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

/** A run of a policy; `history` stands in for what it has measured before. */
async function attempt(w: World, standing: Standing = {}, history?: UsageHistory): Promise<RunResult> {
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
  return await runPolicy({ ...context, cause }, w.ports, forever, history);
}

/** A run of a policy. Fails when it is postponed. */
async function run(w: World, standing: Standing = {}): Promise<RunResult & { readonly kind: 'Planned' }> {
  const result = await attempt(w, standing);
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
  it('is news where it is stored', async () => {
    const conditions: readonly Told[] = [{ type: 'Degraded', status: 'False', reason: 'AsExpected' }];
    const { facts, isNews } = await run(tilted(), { spec: AUTOMATIC, conditions });
    expect([facts.stored?.status?.phase, isNews]).toEqual(['Executing', true]);
  });

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

/** The same with a pod on a node that has got a taint. */
function tiltedWithTaint(): World {
  const w = tilted();
  w.cluster.putNode(aNode('d', { ...TEN_CORES, taints: [aTaint('old')] }));
  w.cluster.putPod(aPodOf(OWNERS[0] ?? expect.fail('no workload'), 'odd-1', 'd', 100));
  return w;
}

const REPAIRS = { repair: { taints: {} } };

describe('a run that comes just after pods were moved', () => {
  const MOVED = aPlan(aPolicy('even'), [aMove(aPodOf(OWNERS[0] ?? expect.fail('no workload'), 'api-0', 'a'), 'b')], {
    phase: 'Completed',
    finishedAt: formatInstant(NOON),
    moves: [{ podUID: 'uid-api-0', phase: 'Landed', attempt: 1 }],
  });
  const plans = [MOVED];

  it('waits for newer samples, and decides nothing', async () => {
    const w = tilted();
    const result = await attempt(w, { spec: AUTOMATIC, plans });
    const why = result.kind === 'Postponed' ? result.why : expect.fail('it has planned');
    expect(why).toMatch(/^the last plan has ended: the next run waits for newer samples of 3 nodes, /);
    const told = { status: 'False', reason: 'AwaitingSamples', message: why };
    expect(result).toEqual({
      kind: 'Postponed',
      why,
      verdicts: { MetricsFresh: told, PlanReady: told, Converged: { ...told, status: 'Unknown' } },
    });
    expect(w.calls).not.toContain('plans.list');
    expect(w.plans.stored.size).toBe(0);
  });

  it.each([
    ['goes by requests', { load: { source: 'Requests' } }],
    ['only repairs', { strategy: { type: 'None' }, ...REPAIRS }],
  ])('plans at once for a policy that %s', async (_, spec) => {
    const w = tilted();
    expect((await attempt(w, { spec, plans: [put(w, MOVED)] })).kind).toBe('Planned');
  });

  it.each([
    ['repairs', REPAIRS],
    ['makes room', { makeRoom: 'Pinned' }],
  ])(
    'looks whether there is something else to do for a policy that %s, and waits where there is not',
    async (_, spec) => {
      const w = tilted();
      expect((await attempt(w, { spec: { ...AUTOMATIC, ...spec }, plans })).kind).toBe('Postponed');
      expect(w.calls).toContain('plans.list');
      expect(w.plans.stored.size).toBe(0);
    },
  );

  it('repairs what is to be repaired, and leaves the load for later', async () => {
    const w = tiltedWithTaint();
    const spec = { ...AUTOMATIC, ...REPAIRS };
    const { facts } = await run(w, { spec, plans: [put(w, MOVED)], aboveTrigger: 2 });
    expect(facts.stored?.spec).toMatchObject({ strategy: 'None', moves: [{ from: 'd', repairs: ['Taints'] }] });
    expect(facts.aboveTrigger).toBe(2);
  });

  it('takes no samples into the history that are older than the moves, and plans by the history otherwise', async () => {
    const w = tilted();
    const added: Measured[] = [];
    const level = world(THREE, OWNERS, evenPods(1_000));
    const smoothed = await level.ports.reader.snapshot(forever);
    const history: UsageHistory = {
      add: (measured) => void added.push(measured),
      smooth: (snapshot) => ({ ...snapshot, usage: smoothed.usage, pods: smoothed.pods }),
    };
    expect((await attempt(w, { spec: AUTOMATIC, plans }, history)).kind).toBe('Postponed');
    expect(added).toHaveLength(0);
    const result = await attempt(w, { spec: AUTOMATIC }, history);
    expect(added).toHaveLength(1);
    expect(result.kind === 'Planned' ? result.facts.plan.outcome.kind : undefined).toBe('Balanced');
  });
});

describe('a run with something to repair', () => {
  it.each([
    ['Automatic', 1, 'None', 1],
    ['Automatic', 2, 'RefineLB', 3],
    ['Approve', 1, 'None', 1],
    ['DryRun', 0, 'RefineLB', 3],
  ])(
    'in mode %s after %d others above the trigger, where three in a row count, has a plan of %s',
    async (mode, aboveTrigger, strategy, moves) => {
      const spec = { mode, thresholds: { consecutive: 3 }, ...REPAIRS };
      const { facts } = await run(tiltedWithTaint(), { spec, aboveTrigger });
      expect([facts.plan.strategy, facts.plan.moves.length]).toEqual([strategy, moves]);
    },
  );

  it('says what it would do for the load alone, before that is due', async () => {
    const { facts } = await run(tilted(), { spec: { mode: 'Automatic', thresholds: { consecutive: 3 }, ...REPAIRS } });
    expect([facts.plan.strategy, facts.plan.moves.length, facts.stored]).toEqual(['RefineLB', 2, undefined]);
  });
});

describe('a run at the bounds of the policy', () => {
  it('counts as above the trigger where the spread just reaches it', async () => {
    const count = async (trigger: string) => {
      const { facts } = await run(tilted(), { spec: { ...AUTOMATIC, thresholds: { consecutive: 3, trigger } } });
      return [facts.plan.spread.before, facts.aboveTrigger];
    };
    expect(await count('0.8')).toEqual([0.8, 1]);
    expect(await count('0.801')).toEqual([0.8, 0]);
  });

  it('counts as above the trigger where just as many nodes have samples as must have them', async () => {
    const spec = { ...AUTOMATIC, load: { minCoverage: '1' }, thresholds: { consecutive: 3 } };
    expect((await run(tilted(), { spec })).facts.aboveTrigger).toBe(1);
  });
});

describe('plans under way', () => {
  /** A plan with a move from node a under way, and so many that have not begun. */
  function underWay(owner: string, pending: number): RebalancePlan {
    const pods = OWNERS.slice(0, 1 + pending).map((workload) => aPodOf(workload, `${workload.name}-1`, 'a', 1_000));
    const plan = aPlan(
      aPolicy(owner),
      pods.map((pod) => aMove(pod, 'b')),
      {
        moves: pods.map(({ uid }, place) => ({
          podUID: uid,
          phase: place === 0 ? 'Evicting' : 'Planned',
          attempt: 0,
          ...(place === 0 ? { startedAt: formatInstant(NOON) } : {}),
        })),
      },
    );
    return plan;
  }
  const spec = { ...AUTOMATIC, budgets: [{ perNode: 1 }] };

  it('of the policy itself count against its budgets, those of others do not', async () => {
    const own = tilted();
    const plans = [put(own, underWay('even', 0))];
    expect((await run(own, { spec, plans })).facts.plan.moves).toHaveLength(0);
    const others = tilted();
    put(others, underWay('other', 0));
    expect((await run(others, { spec })).facts.plan.moves).toHaveLength(1);
  });

  it('go on where all of their moves have begun; the others give way', async () => {
    const free = { ...AUTOMATIC, budgets: [{ perNode: 5 }] };
    const runsAfter = async (pending: number) => {
      const w = tilted();
      const plan = put(w, underWay('even', pending));
      const { facts } = await run(w, { spec: free, plans: [plan] });
      expect(facts.stored?.metadata.name).not.toBe(plan.metadata.name);
      return w.plans.of(plan.metadata.name).status?.moves?.map(({ phase }) => phase);
    };
    expect(await runsAfter(0)).toEqual(['Evicting']);
    expect(await runsAfter(1)).toEqual(['Evicting', 'Aborted']);
  });

  it('that only propose something give way to another one, and to none, which is news', async () => {
    const w = tilted();
    const old = put(w, { ...underWay('even', 1), status: { phase: 'Proposed' } });
    const { facts } = await run(w, { plans: [old] });
    expect(facts.stored?.status?.phase).toBe('Proposed');
    expect(w.plans.of(old.metadata.name).status?.phase).toBe('Superseded');
    const level = balanced();
    const idle = put(level, { ...underWay('even', 1), status: { phase: 'Proposed' } });
    const conditions: readonly Told[] = [{ type: 'PlanReady', status: 'False', reason: 'Balanced' }];
    const result = await run(level, { plans: [idle], conditions });
    expect([result.facts.stored, result.isNews]).toEqual([undefined, true]);
    expect(level.plans.of(idle.metadata.name).status?.phase).toBe('Superseded');
  });

  it('stay as they are while there are no metrics, which is news', async () => {
    const w = tilted();
    const plan = put(w, { ...underWay('even', 1), status: { phase: 'Proposed' } });
    w.cluster.metered = false;
    const conditions: readonly Told[] = [{ type: 'PlanReady', status: 'False', reason: 'MetricsUnavailable' }];
    const { facts, isNews } = await run(w, { plans: [plan], conditions });
    expect([facts.plan.outcome.kind, facts.stored, isNews]).toEqual(['MetricsUnavailable', undefined, true]);
    expect(w.plans.of(plan.metadata.name).status?.phase).toBe('Proposed');
  });
});

describe('a plan that failing nodes have stopped', () => {
  /** What stands for the next run: the plan itself, or another one. */
  async function next(stopped: 'ClusterUnhealthy' | 'Suspended', phase: PlanPhase, recovered: boolean) {
    const w = tilted();
    const failing = ['x', 'y', 'z'].map((name) => aNode(name, { ...TEN_CORES, ready: false }));
    failing.forEach(w.cluster.putNode);
    const plan = await storedBy(w, { spec: AUTOMATIC });
    const moves = plan.status?.moves?.map((move) => ({ ...move, phase: 'Aborted' as const })) ?? [];
    const ended = put(w, { ...plan, status: { ...plan.status, phase, stopped, moves } });
    if (recovered) {
      failing.forEach((node) => void w.cluster.putNode({ ...node, ready: true, unschedulable: true }));
    }
    const { facts } = await run(w, { spec: AUTOMATIC, plans: [ended] });
    return facts.stored?.metadata.name === plan.metadata.name ? 'itself' : facts.stored?.status?.phase;
  }

  it('stands for the next that would be the same, as long as they fail', async () => {
    expect(await next('ClusterUnhealthy', 'Aborted', false)).toBe('itself');
    expect(await next('ClusterUnhealthy', 'Aborted', true)).toBe('Executing');
    expect(await next('Suspended', 'Aborted', false)).toBe('Executing');
    expect(await next('ClusterUnhealthy', 'Superseded', false)).toBe('Executing');
  });
});

describe('pods that wait for their ledgers', () => {
  const label = (pod: PodInfo): PodInfo => ({ ...pod, labels: new Map([['evenkeel.dev/service-class', 'batch']]) });
  const [api, db] = OWNERS;
  const RUNNING = label(aPodOf(api ?? expect.fail('no workload'), 'api-1', 'a', 9_000));
  const WAITING: PodInfo = atGate(label(aPodOf(db ?? expect.fail('no workload'), 'db-1', '', 9_000)));

  it.each<[string, readonly PodInfo[], boolean]>([
    ['one that is at the gate', [RUNNING, WAITING], true],
    ['one that runs', [RUNNING], false],
    [
      'one that has passed the gate',
      [{ ...WAITING, waiting: { gated: false, pinnedTo: undefined, unschedulable: false } }],
      false,
    ],
  ])('have the policy of QoSDriven run again soon: %s', async (_, pods, awaitsLedgers) => {
    const w = world(THREE.slice(0, 1), OWNERS, pods);
    w.cluster.serviceLevels = serviceLevels([aServiceClass()], []);
    const spec = { strategy: { type: 'QoSDriven' }, mode: 'Automatic' };
    expect((await run(w, { spec })).awaitsLedgers).toBe(awaitsLedgers);
  });
});

it('a run tells what it has found, and what its budgets leave', async () => {
  const w = tilted();
  await w.clock.advance(100);
  const told: Parameters<World['ports']['telemetry']['planned']>[0][] = [];
  const telemetry = { ...w.ports.telemetry, planned: (found: (typeof told)[number]) => void told.push(found) };
  const { facts } = await run({ ...w, ports: { ...w.ports, telemetry } });
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ policy: 'even', plan: facts.plan, duration: 0, services: facts.services });
});

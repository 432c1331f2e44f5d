import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import type { LedgerHealth } from '../../../src/control/ledger-health.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import { createPolicyMemory, type PolicyMemory } from '../../../src/control/policy-memory.ts';
import { reconcilePolicy } from '../../../src/control/reconcile-policy.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import { NO_SERVICE_LEVELS } from '../../../src/model/service-level.ts';
import { epochSeconds, type Seconds } from '../../../src/model/units.ts';
import { ConflictError, type StoredPolicy } from '../../../src/ports.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aServiceClass, serviceLevels } from '../../support/builders/service-levels.ts';
import { aNode, aPodOf, atGate, TEN_CORES } from '../../support/builders.ts';
import { forever } from '../../support/execution.ts';
import type { World, WorldPorts } from '../../support/fake-world.ts';
import { condition, messageOf, OWNERS, plansOf, tilted } from '../../support/played.ts';
import { NOON } from '../../support/test-clock.ts';

/** One policy that passes look at, one by one. */
interface Bench {
  readonly w: World;
  readonly memory: PolicyMemory;
  /** One look. Resolves to the time until the next. */
  look(hintProblem?: string, signal?: AbortSignal): Promise<Seconds>;
  stored(): StoredPolicy;
  /** What is remembered of it. */
  remembered(): ReturnType<PolicyMemory['of']>;
}

function bench(spec: Record<string, unknown>, ports: Partial<WorldPorts> = {}): Bench {
  const w = tilted();
  w.cluster.putNode(aNode('d', TEN_CORES));
  w.cluster.putNode(aNode('e', TEN_CORES));
  w.policies.apply('even', spec);
  const memory = createPolicyMemory(() => undefined, w.ports);
  const stored = (): StoredPolicy => w.policies.stored.get('even') ?? expect.fail('the policy is gone');
  return {
    w,
    memory,
    stored,
    remembered: () => memory.of(stored()),
    async look(hintProblem, signal = forever) {
      const policies = await w.ports.policies.list(forever);
      const context = {
        stored: policies[0] ?? expect.fail('the policy is gone'),
        policies,
        plans: await w.ports.plans.list(forever),
        excludedNamespaces: new Set<string>(),
        pace: OPERATOR_PACE,
        maxInFlight: 100,
        hintProblem,
      };
      return await reconcilePolicy(context, memory, { ...w.ports, ...ports }, signal);
    },
  };
}

/** A plan of the policy that was made and ended so many seconds before noon. */
function ended({ policy }: StoredPolicy, name: string, ago: number): RebalancePlan {
  const at = formatInstant(epochSeconds(NOON - ago));
  const plan = aPlan(policy, [], { phase: 'Completed', finishedAt: at });
  return { ...plan, metadata: { name }, spec: { ...plan.spec, takenAt: at } };
}

/** A plan of the policy that is being carried out: a pod of each workload is to leave node a. */
function underWay({ policy }: StoredPolicy): RebalancePlan {
  const pods = OWNERS.map((workload) => aPodOf(workload, `${workload.name}-1`, 'a', 1_000));
  const moves = pods.map(({ uid }) => ({ podUID: uid, phase: 'Planned' as const, attempt: 0 }));
  return aPlan(
    policy,
    pods.map((pod, place) => aMove(pod, 'bcde'.charAt(place))),
    { moves, steering: 'None' },
  );
}

/** Throws from these calls of ports on. */
function failAt(w: World, failing: string, error: Error): void {
  w.tap = (when, call) => {
    if (when === 'before' && call === failing) {
      throw error;
    }
  };
}

function linesOf(w: World, line: string): readonly Readonly<Record<string, unknown>>[] {
  return w.lines.filter((each) => each.line === line).map(({ fields }) => fields);
}

describe('the moves of a plan that begin together', () => {
  const WIDE = { maxMoves: 10, perNode: 10, perNamespace: 10 };

  it.each<[string, readonly Record<string, unknown>[], number]>([
    ['two where no budget says otherwise', [WIDE], 2],
    ['as many as a budget says', [{ ...WIDE, maxConcurrent: 3 }], 3],
    ['as many as the least of all budgets', [{ ...WIDE, maxConcurrent: 3 }, { ...WIDE, maxConcurrent: 1 }, WIDE], 1],
    [
      'as many as those in force say',
      [
        { ...WIDE, maxConcurrent: 3 },
        { ...WIDE, maxConcurrent: 1, schedule: '0 20 * * *', duration: '1h', timeZone: 'Etc/UTC' },
      ],
      3,
    ],
  ])('are %s', async (_, budgets, many) => {
    const { w, look, stored } = bench({ mode: 'Automatic', interval: '1h', budgets });
    w.plans.put(underWay(stored()));
    await look();
    const moves = plansOf(w)[0]?.status?.moves ?? [];
    expect(moves.filter(({ phase }) => phase !== 'Planned')).toHaveLength(many);
  });
});

describe('plans that are kept no longer', () => {
  const SPEC = { suspend: true, historyLimit: 1 };

  function withThree(): Bench {
    const made = bench(SPEC);
    for (const [place, name] of ['newest', 'older', 'oldest'].entries()) {
      made.w.plans.put(ended(made.stored(), name, 100 * (place + 1)));
    }
    return made;
  }

  const left = (w: World): readonly string[] => plansOf(w).map(({ metadata }) => metadata.name);

  it('are deleted once the status counts them', async () => {
    const { w, look, stored } = withThree();
    await look();
    expect(stored().policy.status?.deletedPlans).toEqual(['older', 'oldest']);
    expect(left(w)).toEqual(['newest']);
    expect(w.calls.indexOf('policies.writeStatus')).toBeLessThan(w.calls.indexOf('plans.remove'));
    await look();
    expect(stored().policy.status).not.toHaveProperty('deletedPlans');
  });

  it('stay while the status cannot be written, since somebody else has written it', async () => {
    const { w, look } = withThree();
    failAt(w, 'policies.writeStatus', new ConflictError('newer'));
    await look();
    expect(left(w)).toEqual(['newest', 'older', 'oldest']);
    expect(linesOf(w, 'write conflict')).toEqual([{ policy: 'even', ledger: undefined, problem: 'newer' }]);
    expect(w.failures()).toBe(0);
  });

  it('are deleted also where the status says all that it would say', async () => {
    const { w, look } = withThree();
    failAt(w, 'plans.remove', new ConflictError('newer'));
    await look();
    const writes = w.policies.writes();
    w.tap = () => undefined;
    await look();
    expect(left(w)).toEqual(['newest']);
    expect(w.policies.writes()).toBe(writes);
  });

  it('degrade their policy in the next status where they cannot be deleted, until they are', async () => {
    const { w, look } = withThree();
    await look();
    w.plans.put(ended(w.policies.stored.get('even') ?? expect.fail('no policy'), 'more', 400));
    failAt(w, 'plans.remove', new Error('forbidden'));
    await look();
    expect(condition(w, 'even', 'Degraded')).toBe('False AsExpected');
    await look();
    expect([condition(w, 'even', 'Degraded'), messageOf(w, 'even', 'Degraded')]).toEqual([
      'True ExecuteFailed',
      'forbidden',
    ]);
    w.tap = () => undefined;
    await look();
    await look();
    expect(condition(w, 'even', 'Degraded')).toBe('False AsExpected');
  });
});

describe('a policy that is degraded', () => {
  type Condition = NonNullable<NonNullable<RebalancePolicy['status']>['conditions']>[number];

  /** What becomes of that in a look without a run. */
  async function degradedAfter(reason: Condition['reason'], hintProblem?: string, fails = false): Promise<string> {
    const { w, look, stored } = bench({ suspend: true });
    await look();
    const { policy } = stored();
    const conditions = (policy.status?.conditions ?? []).map((each) =>
      each.type === 'Degraded' ? { ...each, status: 'True' as const, reason, message: 'as it stood' } : each,
    );
    await w.ports.policies.writeStatus(policy, { ...policy.status, conditions }, forever);
    w.plans.put(underWay(stored()));
    if (fails) {
      failAt(w, 'plans.writeStatus', new ConflictError('newer'));
    }
    await look(hintProblem);
    return `${condition(w, 'even', 'Degraded')}: ${messageOf(w, 'even', 'Degraded')}`;
  }

  it('is so no longer where what was wrong is over', async () => {
    expect(await degradedAfter('HintsRemain')).toBe('False AsExpected: nothing failed');
  });

  it('stays so where nothing shows that it is over', async () => {
    expect(await degradedAfter('ObserveFailed')).toBe('True ObserveFailed: as it stood');
  });

  it('is so while a hint remains that none of its moves needs', async () => {
    expect(await degradedAfter('HintsRemain', 'hint x remains')).toBe('True HintsRemain: hint x remains');
    expect(await degradedAfter('AsExpected', 'hint x remains')).toBe('True HintsRemain: hint x remains');
  });
});

describe('a stage of a look that fails', () => {
  it('is logged and counted, and leaves the other stages alone', async () => {
    const { w, look, remembered } = bench({ mode: 'DryRun' });
    failAt(w, 'reader.snapshot', new Error('503'));
    await look();
    expect(w.failures()).toBe(1);
    expect(linesOf(w, 'policy failed')).toEqual([{ policy: 'even', err: expect.objectContaining({ message: '503' }) }]);
    expect(messageOf(w, 'even', 'Degraded')).toBe('503');
    expect([remembered().notBefore, remembered().ranAt, remembered().isPostponed]).toEqual([
      NOON + 5,
      undefined,
      false,
    ]);
  });

  it('keeps neither the run nor the status from what is known of the plans', async () => {
    const { w, look, stored } = bench({ suspend: true });
    w.plans.put(underWay(stored()));
    failAt(w, 'plans.writeStatus', new Error('etcd leader changed'));
    await look();
    expect([condition(w, 'even', 'Degraded'), messageOf(w, 'even', 'Degraded')]).toEqual([
      'True ExecuteFailed',
      'etcd leader changed',
    ]);
    expect(condition(w, 'even', 'Accepted')).toBe('True Valid');
  });

  it('says what was thrown, whatever that was', async () => {
    const { w, look } = bench({ mode: 'DryRun' });
    w.tap = (when, call) => {
      if (when === 'before' && call === 'reader.snapshot') {
        throw 'a text';
      }
    };
    await look();
    expect(messageOf(w, 'even', 'Degraded')).toBe('a text');
  });

  it('is neither after the end', async () => {
    const { w, look } = bench({ mode: 'DryRun' });
    const stop = new AbortController();
    w.tap = (when, call) => {
      if (when === 'before' && call === 'reader.snapshot') {
        stop.abort();
        throw new Error('cut off');
      }
    };
    await expect(look(undefined, stop.signal)).rejects.toThrow('cut off');
    expect([w.failures(), w.lines, w.policies.writes()]).toEqual([0, [], 0]);
  });

  it('is none where somebody else was faster', async () => {
    const { w, look } = bench({ mode: 'DryRun' });
    failAt(w, 'plans.create', new ConflictError('there is one'));
    await look();
    expect(w.failures()).toBe(0);
    expect(linesOf(w, 'write conflict')).toEqual([{ policy: 'even', ledger: undefined, problem: 'there is one' }]);
    expect(condition(w, 'even', 'Degraded')).not.toContain('True');
  });
});

describe('a run', () => {
  it('is logged with what came of it, and remembered', async () => {
    const { w, look, remembered, stored } = bench({ mode: 'DryRun', interval: '10m' });
    expect(await look()).toBe(600);
    const [plan] = plansOf(w);
    expect(condition(w, 'even', 'PlanReady')).toBe('True DryRun');
    expect(linesOf(w, 'run finished')).toEqual([
      {
        policy: 'even',
        cause: 'Schedule',
        outcome: 'Moves',
        moves: plan?.spec.moves.length,
        plan: plan?.metadata.name,
        result: plan?.status?.message,
      },
    ]);
    expect(remembered()).toMatchObject({ ranAt: NOON, notBefore: NOON + 1, isPostponed: false, againAt: undefined });
    expect(stored().policy.status?.lastRun).toBe(formatInstant(NOON));
    expect(w.nextRuns).toEqual(new Map([['even', NOON + 600]]));
  });

  it('that is postponed is logged once, and tried again in five seconds', async () => {
    const { w, look, remembered, stored } = bench({ mode: 'Automatic', interval: '10m' });
    const { policy } = stored();
    const pod = aPodOf(OWNERS[0] ?? expect.fail('no workload'), 'gone', 'a');
    const moved = aPlan(policy, [aMove(pod, 'b')], {
      phase: 'Completed',
      finishedAt: formatInstant(NOON),
      moves: [{ podUID: pod.uid, phase: 'Landed', attempt: 1 }],
    });
    w.plans.put(moved);
    expect(await look()).toBe(5);
    expect(linesOf(w, 'run postponed')).toHaveLength(1);
    expect(remembered()).toMatchObject({ ranAt: undefined, notBefore: NOON + 5, isPostponed: true });
    await w.clock.advance(5);
    await look();
    const why = messageOf(w, 'even', 'PlanReady');
    expect(why).toContain('the next run waits for newer samples');
    expect(linesOf(w, 'run postponed')).toEqual([{ policy: 'even', cause: 'Schedule', result: why }]);
    expect(condition(w, 'even', 'Converged')).toBe('Unknown AwaitingSamples');
  });

  it('is none where none is due: then the plans are not read again', async () => {
    const { w, look } = bench({ mode: 'DryRun', interval: '10m' });
    await look();
    const before = w.calls.length;
    await w.clock.advance(60);
    expect(await look()).toBe(540);
    expect(w.calls.slice(before).filter((call) => call === 'plans.list' || call === 'reader.snapshot')).toEqual([
      'plans.list',
    ]);
    expect(linesOf(w, 'run finished')).toHaveLength(1);
  });

  it.each([
    ['spec', { mode: 'Auto' }, 'False InvalidSpec'],
    ['schedule', { schedule: '0 0 1 * 1' }, 'False InvalidSchedule'],
  ])('is none, and none is announced, where the %s is not valid', async (_, spec, accepted) => {
    const { w, look } = bench(spec);
    expect(await look()).toBe(Number.POSITIVE_INFINITY);
    expect(condition(w, 'even', 'Accepted')).toBe(accepted);
    expect(w.calls).not.toContain('reader.snapshot');
    expect(w.nextRuns).toEqual(new Map([['even', undefined]]));
  });

  it('is none for a policy that is not valid, whose plans go on to their end all the same', async () => {
    const { w, look, stored } = bench({ schedule: '0 0 1 * 1' });
    w.plans.put(underWay(stored()));
    await look();
    expect(condition(w, 'even', 'Accepted')).toBe('False InvalidSchedule');
    expect(w.calls).not.toContain('reader.snapshot');
    expect(w.nextRuns).toEqual(new Map([['even', undefined]]));
    expect(w.calls).toContain('plans.list');
  });

  it('fails where the steering is not there that the policy insists on, and remembers what there is otherwise', async () => {
    const insists = bench({
      mode: 'Automatic',
      interval: '10m',
      thresholds: { consecutive: 1 },
      steering: { mode: 'AdmissionPolicy' },
    });
    insists.w.cluster.steerable = false;
    await insists.look();
    expect(condition(insists.w, 'even', 'Degraded')).toBe('True SteeringUnavailable');
    const { look, remembered } = bench({ mode: 'Automatic', interval: '10m' });
    await look();
    expect(remembered().steering).toBeDefined();
  });

  it('at news, once for each, that comes to nothing new leaves the status as it is', async () => {
    const { w, look, remembered, stored } = bench({
      mode: 'Automatic',
      interval: '10m',
      strategy: { type: 'QoSDriven' },
    });
    await look();
    const { status } = stored().policy;
    await w.clock.advance(20);
    w.ports.demand.tell([{ uid: 'uid-new', owner: 'uid-of-it' }]);
    const runs = () => w.calls.filter((call) => call === 'reader.snapshot').length;
    await look();
    expect([runs(), remembered().ranAt, remembered().demand]).toEqual([2, NOON + 20, 1]);
    await w.clock.advance(20);
    await look();
    expect([runs(), linesOf(w, 'run finished').length]).toEqual([2, 1]);
    expect(stored().policy.status).toEqual(status);
    expect(status?.nextRun).toBe(formatInstant(epochSeconds(NOON + 600)));
    expect(w.nextRuns.get('even')).toBe(NOON + 620);
  });

  it('comes again in five seconds while a pod at the gate waits for its ledger', async () => {
    const { w, look, remembered } = bench({ mode: 'Automatic', interval: '10m', strategy: { type: 'QoSDriven' } });
    const [workload = expect.fail('no workload')] = OWNERS;
    w.cluster.serviceLevels = serviceLevels([aServiceClass()], []);
    for (const node of ['b', 'c', 'd', 'e']) {
      w.cluster.putPod(aPodOf(workload, `full-${node}`, node, 9_000));
    }
    w.cluster.putPod({
      ...atGate(aPodOf(workload, 'waiting', '', 9_000)),
      labels: new Map([['evenkeel.dev/service-class', 'batch']]),
    });
    expect(await look()).toBe(5);
    expect(remembered()).toMatchObject({ ranAt: NOON, againAt: NOON + 5 });
    await w.clock.advance(5);
    await look();
    expect(remembered()).toMatchObject({ ranAt: NOON, againAt: NOON + 10 });
  });

  it('that comes again for ledgers is no run of its own', async () => {
    const { w, look, remembered } = bench({ mode: 'Automatic', interval: '10m', strategy: { type: 'QoSDriven' } });
    await look();
    expect(remembered()).toMatchObject({ ranAt: NOON, againAt: undefined });
    remembered().againAt = epochSeconds(NOON + 20);
    await w.clock.advance(20);
    await look();
    expect(w.calls.filter((call) => call === 'reader.snapshot')).toHaveLength(2);
    expect(remembered()).toMatchObject({ ranAt: NOON, notBefore: NOON + 21, againAt: undefined });
  });
});

describe('a look without a run', () => {
  it('takes samples for a policy that smooths them, and for no other', async () => {
    const reads = async (load: Record<string, unknown>) => {
      const { w, look } = bench({ suspend: false, interval: '10m', load });
      await look();
      await w.clock.advance(60);
      w.calls.length = 0;
      await look();
      return w.calls.filter((call) => call.startsWith('reader.'));
    };
    expect(await reads({ smoothing: '10m' })).toEqual(['reader.measured']);
    expect(await reads({})).toEqual([]);
  });

  it('begins a plan that was approved, and says so', async () => {
    const { w, look, stored } = bench({ mode: 'Approve', interval: '10m' });
    const plan = underWay(stored());
    w.plans.put({
      ...plan,
      spec: { ...plan.spec, approved: true },
      status: { ...plan.status, phase: 'AwaitingApproval' },
    });
    await look();
    expect(plansOf(w)[0]?.status).toMatchObject({ phase: 'Executing', steering: 'AdmissionPolicy' });
    expect(linesOf(w, 'plan approved')).toEqual([
      expect.objectContaining({ plan: plan.metadata.name, moves: 4, steering: 'AdmissionPolicy' }),
    ]);
  });
});

describe('ledgers', () => {
  it.each<[string, LedgerHealth, string]>([
    ['kept', { kind: 'Kept' }, 'False LedgersIncomplete'],
    ['not kept', { kind: 'Failing', why: 'forbidden' }, 'False LedgersUnavailable'],
  ])('that are %s are told of in the status', async (_, health, told) => {
    const { w, look } = bench(
      { mode: 'Automatic', strategy: { type: 'QoSDriven' } },
      { ledgerNews: { health: () => health, levels: () => NO_SERVICE_LEVELS } },
    );
    w.cluster.serviceLevels = serviceLevels([aServiceClass()], []);
    const [pod] = w.cluster.pods.values();
    const labels = new Map([['evenkeel.dev/service-class', 'batch']]);
    w.cluster.putPod({ ...(pod ?? expect.fail('no pod')), labels });
    await look();
    expect(condition(w, 'even', 'LedgerFresh')).toBe(told);
  });

  it('that nobody has looked at yet are awaited, and so are those of a policy that has not run', async () => {
    const awaiting = bench(
      { mode: 'Automatic', strategy: { type: 'QoSDriven' } },
      { ledgerNews: { health: () => ({ kind: 'Awaiting' }), levels: () => NO_SERVICE_LEVELS } },
    );
    await awaiting.look();
    const suspended = bench({ suspend: true });
    await suspended.look();
    const run = bench({});
    await run.look();
    expect([awaiting, suspended, run].map(({ w }) => condition(w, 'even', 'LedgerFresh'))).toEqual([
      'Unknown AwaitingFirstRun',
      'Unknown AwaitingFirstRun',
      'True NotNeeded',
    ]);
  });
});

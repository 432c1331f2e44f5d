import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONDITION_TYPES, type ConditionReason } from '../../src/api/v1alpha1/conditions.ts';
import type { Plan, PlanOutcome } from '../../src/plan/plan.ts';
import { plan as computePlan } from '../../src/plan/planner.ts';
import { resolveOptions } from '../../src/plan/resolve-options.ts';
import type { ServiceReport } from '../../src/plan/service-report.ts';
import type { Verdict, Verdicts } from '../../src/report/conditions.ts';
import { type PolicyFacts, policyStatus } from '../../src/report/policy-status.ts';
import { aPlan } from '../support/builders/plan.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { NO_SERVICES } from '../support/builders/service-levels.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../support/builders.ts';
import { fakeCluster } from '../support/fake-cluster.ts';
import { NOON, testClock } from '../support/test-clock.ts';
import { ROOT } from './pages.ts';
import { firstCells, sectionOf } from './sections.ts';

const web = aWorkload('web', { replicas: 8 });
const cluster = fakeCluster(
  testClock(),
  [aNode('a', TEN_CORES), aNode('b', TEN_CORES)],
  [web],
  [aPodOf(web, 'web-1', 'a', 1_000)],
);
const planned = computePlan(
  await cluster.reader.snapshot(new AbortController().signal),
  resolveOptions(aPolicy('even').spec),
);

const message = 'because';
const is = (status: Verdict['status'], reason: ConditionReason): Verdict => ({ status, reason, message });

/** Everything that a pass can find of a policy's validity (reconcile-policy.ts). */
const ACCEPTANCES = [
  is('True', 'Valid'),
  is('False', 'InvalidSpec'),
  is('False', 'InvalidSchedule'),
  is('False', 'Conflicting'),
];
/** Everything that a run can come to. */
const OUTCOMES: Readonly<Record<PlanOutcome['kind'], PlanOutcome>> = {
  Moves: { kind: 'Moves', obstacle: undefined },
  Balanced: { kind: 'Balanced', message },
  NoBeneficialMove: { kind: 'NoBeneficialMove', message },
  BudgetExhausted: { kind: 'BudgetExhausted', message },
  Blocked: { kind: 'Blocked', message },
  NothingToBalance: { kind: 'NothingToBalance', message },
  NothingToRepair: { kind: 'NothingToRepair', message },
  NothingToPack: { kind: 'NothingToPack', message },
  NothingToReroute: { kind: 'NothingToReroute', message },
  MetricsUnavailable: { kind: 'MetricsUnavailable', message },
  MetricsIncomplete: { kind: 'MetricsIncomplete', message },
};
/** Why a run came to nothing, or a plan was not carried on (run.ts, reconcile-policy.ts). */
const POSTPONEMENTS: readonly (Verdicts | undefined)[] = [
  undefined,
  {
    MetricsFresh: is('False', 'AwaitingSamples'),
    PlanReady: is('False', 'AwaitingSamples'),
    Converged: is('Unknown', 'AwaitingSamples'),
  },
  { Degraded: is('True', 'ObserveFailed') },
  { Degraded: is('True', 'ExecuteFailed') },
  { Degraded: is('True', 'HintsRemain') },
  { Degraded: is('True', 'SteeringUnavailable') },
];
/** service-status.ts */
const LEDGERS: readonly (Verdict | undefined)[] = [
  undefined,
  is('True', 'Fresh'),
  is('True', 'NotNeeded'),
  is('False', 'LedgersUnavailable'),
  is('False', 'LedgersIncomplete'),
  is('False', 'UnknownServiceClass'),
];

/** service-report.ts */
const SERVICES: readonly ServiceReport[] = [
  NO_SERVICES,
  { ...NO_SERVICES, oversold: { resource: 'cpu', promised: 2_000, capacity: 1_000, givingWay: ['batch'] } },
];

const runbook = readFileSync(join(ROOT, 'docs', 'runbook.md'), 'utf8');
const stops = firstCells(sectionOf(runbook, 2, 'When a plan stops'));
const plans = [
  [],
  [aPlan(aPolicy('even'), [], { phase: 'Executing' })],
  ...stops.map((stopped) => [aPlan(aPolicy('even'), [], { phase: 'Aborted', stopped, message })]),
];

function runOf(outcome: PlanOutcome, aboveTrigger: number, services: ServiceReport): NonNullable<PolicyFacts['run']> {
  const plan: Plan = { ...planned, outcome };
  return { startedAt: NOON, plan, services, stored: undefined, aboveTrigger, consecutive: 3 };
}

/** Every combination of what is listed above. */
function allFacts(): readonly PolicyFacts[] {
  const outcomes = Object.values(OUTCOMES);
  const runs = [
    undefined,
    ...outcomes.flatMap((outcome) =>
      [1, 3].flatMap((above) => SERVICES.map((services) => runOf(outcome, above, services))),
    ),
  ];
  return ACCEPTANCES.flatMap((acceptance) =>
    [false, true].flatMap((suspended) =>
      runs.flatMap((run) =>
        (run === undefined ? POSTPONEMENTS : [undefined]).flatMap((postponed) =>
          LEDGERS.flatMap((ledgers) =>
            plans.map((own) => ({
              acceptance,
              suspended,
              run,
              past: {},
              postponed,
              ledgers,
              plans: own,
              nextRun: undefined,
              steering: undefined,
              leader: undefined,
            })),
          ),
        ),
      ),
    ),
  );
}

/** Each reason of each condition that the status of a policy gives for any of these facts. */
function reasonsGiven(): ReadonlyMap<string, ReadonlySet<string>> {
  const given = new Map<string, Set<string>>(CONDITION_TYPES.map((type) => [type, new Set()]));
  const specs = [...['DryRun', 'Approve', 'Automatic'].map((mode) => ({ mode })), { strategy: { type: 'QoSDriven' } }];
  const policies = specs.map((spec) => aPolicy('even', spec));
  for (const facts of allFacts()) {
    for (const { type, reason } of policies.flatMap((policy) => policyStatus(policy, facts, NOON).conditions ?? [])) {
      given.get(type)?.add(reason);
    }
  }
  return given;
}

describe('the runbook', () => {
  const given = reasonsGiven();

  it.each(CONDITION_TYPES)('has under %s the reasons that this condition gives, and no others', (type) => {
    expect([...firstCells(sectionOf(runbook, 3, type))].sort()).toEqual([...(given.get(type) ?? [])].sort());
  });
});

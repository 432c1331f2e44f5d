import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy, StrategyName } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { messageParts } from '../../src/report/plan-text.ts';
import { type AuditEvent, acceptedEvictions } from '../control-plane/audit.ts';
import { nodeLoads, standardDeviation } from '../control-plane/node-loads.ts';
import { applyScenario, loadScenario, waitForMetrics } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject } from '../support/resources.ts';
import { startWithWebhook } from '../support/webhook.ts';

/** What is to be shown. */
export interface Rebalancing {
  /** A scenario out of test/scenarios. */
  readonly scenario: string;
  readonly strategy: StrategyName;
  /** What is installed; default `default`. */
  readonly overlay?: 'default' | 'webhook';
  /** Default Auto. */
  readonly steering?: RebalancePolicy['spec']['steering']['mode'];
  readonly log: (line: string) => void;
}

/** What happened, by the cluster's own word. */
export interface RebalancingResult {
  /** CPU load by node, measured by metrics-server. */
  readonly before: ReadonlyMap<string, number>;
  readonly after: ReadonlyMap<string, number>;
  readonly stddevBefore: number;
  readonly stddevAfter: number;
  readonly plans: readonly RebalancePlan[];
  /** Of the policy, in the end. */
  readonly steering: NonNullable<RebalancePolicy['status']>['steering'];
  readonly planned: number;
  readonly landed: number;
  readonly evictions: readonly AuditEvent[];
  /** Moves of each of the three runs that followed the last plan. */
  readonly laterRuns: readonly number[];
}

/** How far apart the loads of nodes may be: closer together they are left alone. */
export const DEMO_TRIGGER = 0.05;
/** Runs that must follow the last plan without a move. */
const QUIET_RUNS = 3;
const DEADLINE_MS = 8 * 60_000;

/** A policy that may move all it wants, at once: what is shown is the planner, not the caution of the defaults. */
export function demoPolicy(strategy: StrategyName, steering: Rebalancing['steering'] = 'Auto'): object {
  return policyObject('demo', {
    mode: 'Automatic',
    interval: '15s',
    strategy: { type: strategy },
    thresholds: { trigger: String(DEMO_TRIGGER), consecutive: 1 },
    budgets: [{ maxMoves: 100, maxConcurrent: 8 }],
    protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
    steering: { mode: steering },
  });
}

/** Starts a control plane with the scenario, lets the operator rebalance it, and waits for three quiet runs. */
export async function rebalance({
  scenario,
  strategy,
  overlay = 'default',
  steering = 'Auto',
  log,
}: Rebalancing): Promise<RebalancingResult> {
  const cp = await startControlPlane({ log });
  let operator: OperatorProcess | undefined;
  try {
    await install(cp, overlay);
    await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', `${scenario}.yaml`)), { log });
    await waitForMetrics(cp, { log });
    const before = await nodeLoads(cp);
    operator = overlay === 'webhook' ? await startWithWebhook(cp) : await startOperator(cp);
    await cp.apply([demoPolicy(strategy, steering)]);
    await untilQuiet(cp, log).catch((error: unknown) => {
      throw new Error(`${String(error)}\noperator's log ends with:\n${operator?.log().slice(-4000)}`, { cause: error });
    });
    return await collect(cp, before);
  } finally {
    await operator?.end('SIGTERM');
    await cp.stop();
  }
}

/** Follows plans of policy `demo` until three runs in a row, by status.history, had no moves after the last plan. */
export async function untilQuiet(
  cp: ControlPlane,
  log: (line: string) => void,
  patienceMs: number = DEADLINE_MS,
): Promise<void> {
  const told = new Set<string>();
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    const plans = await getPlans(cp);
    for (const line of plans.flatMap(progress)) {
      if (!told.has(line)) {
        told.add(line);
        log(line);
      }
    }
    const open = plans.some(({ status }) => status?.phase === 'Executing');
    if (plans.length > 0 && !open && (await quietRuns(cp)).length >= QUIET_RUNS) {
      return;
    }
    await sleep(500);
  }
  const phases = (await getPlans(cp)).map(({ metadata, status }) => `${metadata.name} ${status?.phase}`);
  const runs = (await getPolicy(cp, 'demo')).status?.history ?? [];
  throw new Error(
    `the cluster did not come to rest within ${patienceMs / 60_000} minutes; plans: ${phases.join(', ')}; runs: ${JSON.stringify(runs)}`,
  );
}

async function quietRuns(cp: ControlPlane): Promise<readonly number[]> {
  const { status } = await getPolicy(cp, 'demo');
  const runs = (status?.history ?? []).map(({ moves }) => moves);
  const lastPlan = runs.findIndex((moves) => moves > 0);
  return lastPlan < 0 ? [] : runs.slice(0, lastPlan);
}

function progress({ metadata, spec, status }: RebalancePlan): readonly string[] {
  const [headline] = messageParts(spec.message);
  const head = `plan ${metadata.name}: ${headline}`;
  const moves = spec.moves.flatMap(({ pod, from, to }, index) => {
    const run = status?.moves?.[index];
    return run?.finishedAt === undefined
      ? []
      : [`  ${run.phase.padEnd(7)} ${pod.namespace}/${pod.name}  ${from} -> ${to}  ${run.outcome ?? ''}`];
  });
  return [head, ...moves];
}

/** What has happened to a cluster whose nodes had these loads before. */
export async function collect(cp: ControlPlane, before: ReadonlyMap<string, number>): Promise<RebalancingResult> {
  const [plans, after, audit, laterRuns] = [
    await getPlans(cp),
    await nodeLoads(cp),
    await cp.audit(),
    await quietRuns(cp),
  ];
  const runs = plans.flatMap(({ status }) => status?.moves ?? []);
  return {
    before,
    after,
    stddevBefore: standardDeviation([...before.values()]),
    stddevAfter: standardDeviation([...after.values()]),
    plans,
    steering: (await getPolicy(cp, 'demo')).status?.steering,
    planned: plans.reduce((sum, { spec }) => sum + spec.moves.length, 0),
    landed: runs.filter(({ phase }) => phase === 'Landed').length,
    evictions: acceptedEvictions(audit),
    laterRuns: laterRuns.slice(0, QUIET_RUNS),
  };
}

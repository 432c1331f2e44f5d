import { join } from 'node:path';
import { applyScenario, loadScenario, waitForMetrics } from '../control-plane/scenario.ts';
import type { Scenario } from '../control-plane/scenario-parse.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { install, installShared } from '../support/operator-process.ts';
import { policyObject } from '../support/resources.ts';

/** Moves that may be under way at a time. */
export const MAX_CONCURRENT = 3;

/** What cluster a campaign plays on. */
export interface Stage {
  /** File in test/scenarios, or what one would say. */
  readonly scenario: string | Scenario;
  /** How often usage is read, a Go duration. */
  readonly metricResolution: string;
  /** Whether to wait until the usage of every node is that of its pods. */
  readonly measured: boolean;
  /** Whether the operator has the rights with which replicas share policies; default false. */
  readonly shared?: boolean;
}

/** The cluster of the demo. */
export const DEMO: Stage = { scenario: 'demo.yaml', metricResolution: '10s', measured: true };

/** A control plane with an unbalanced cluster, by default that of the demo, and everything of deploy/ but a running operator. */
export async function setStage(log: (line: string) => void, stage: Stage = DEMO): Promise<ControlPlane> {
  const { scenario, metricResolution, measured, shared = false } = stage;
  const cp = await startControlPlane({ log, metricResolution });
  try {
    await (shared ? installShared(cp, 'default') : install(cp, 'default'));
    const path = join(import.meta.dirname, '..', 'scenarios', String(scenario));
    await applyScenario(cp, typeof scenario === 'string' ? loadScenario(path) : scenario, { log });
    if (measured) {
      await waitForMetrics(cp, { log });
    }
    return cp;
  } catch (error) {
    await cp.stop();
    throw error;
  }
}

/** A policy that acts on whatever it sees at once, so that much happens in little time, `maxMoves` in a plan. */
export async function applyEagerPolicy(cp: ControlPlane, name: string, maxMoves = 30): Promise<void> {
  await cp.apply([eagerPolicy(name, { maxMoves, maxConcurrent: MAX_CONCURRENT })]);
}

/** The same as an object, with a budget, about what is in `scope`. */
export function eagerPolicy(
  name: string,
  budget: Readonly<Record<string, unknown>>,
  scope: Readonly<Record<string, unknown>> = {},
): object {
  return policyObject(name, {
    mode: 'Automatic',
    interval: '10s',
    historyLimit: 100,
    thresholds: { trigger: '0.05', consecutive: 1 },
    scope,
    budgets: [budget],
    protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
  });
}

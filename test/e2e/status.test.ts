import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RebalancePolicy } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { applyScenario, loadScenario, waitForMetrics } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { type ObjectWatch, watchObjects } from '../support/object-watch.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { policyObject } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 180_000, log };
const PROTECTIONS = { minPodAge: '1h', stabilization: '0s', cooldown: '0s' };
/** Requests are uneven at once; one plan may even them. */
const SPEC = {
  mode: 'Automatic',
  interval: '10s',
  load: { source: 'Requests' },
  budgets: [{ maxMoves: 50, maxConcurrent: 10 }],
  protections: PROTECTIONS,
};

let cp: ControlPlane;
let operator: OperatorProcess | undefined;
let watch: ObjectWatch | undefined;
/** Each state of the policy that was stored, in order: what it says of each condition. */
const seen: Readonly<Record<string, string>>[] = [];

beforeAll(async () => {
  cp = await startControlPlane({ log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'tilted.yaml')), { log });
  await waitForMetrics(cp, { log });
  await cp.apply([policyObject('even', SPEC)]);
  watch = await watchObjects<RebalancePolicy>(cp, '/apis/evenkeel.dev/v1alpha1/rebalancepolicies', ({ object }) => {
    const conditions = object.status?.conditions ?? [];
    seen.push(
      Object.fromEntries(
        conditions.map(({ type, status, reason, message }) => [type, `${status} ${reason}: ${message}`]),
      ),
    );
  });
  await watch.begun;
  operator = await startOperator(cp);
}, 600_000);

afterAll(async () => {
  await operator?.end('SIGTERM');
  await watch?.stop();
  await cp?.stop();
});

/** Waits until a condition has been stored like that. */
async function untilSeen(type: string, pattern: RegExp): Promise<void> {
  await waitUntil(
    `${type} like ${pattern}`,
    async () => (seen.some((state) => pattern.test(state[type] ?? '')) ? undefined : (seen.at(-1)?.[type] ?? 'none')),
    patience,
  );
}

async function patch(spec: object): Promise<void> {
  await cp.kubectl(['patch', 'rbp', 'even', '--type=merge', '-p', JSON.stringify({ spec })]);
}

/** The values that a condition has had, each once in a row, without their messages. */
function changesOf(type: string): readonly string[] {
  const values = seen.flatMap((state) => state[type]?.split(':')[0] ?? []);
  return values.filter((value, place) => value !== values[place - 1]);
}

describe('the conditions of a policy', () => {
  it('say what protects the pods, and until when, above the trigger', { timeout: 300_000 }, async () => {
    const blocked =
      /^False Blocked: all \d+ pods in scope are protected by minPodAge; the earliest is free at (\S+ )?\d\d:\d\d UTC$/;
    await untilSeen('Converged', blocked);
    await untilSeen('PlanReady', blocked);
  });

  it('say for how many runs a plan waits, and then that it is carried out', { timeout: 300_000 }, async () => {
    await patch({ protections: { ...PROTECTIONS, minPodAge: '0s' } });
    await untilSeen(
      'PlanReady',
      /^False AwaitingConsecutive: \d+ moves?; .* in 1 of 3 consecutive runs; the next run is at \d\d:\d\d UTC$/,
    );
    await untilSeen('Executing', /^True Executing: /);
    await untilSeen('Converged', /^False MovesPending: \d+ moves? would narrow the spread from \S+ % to \S+ %$/);
  });

  it('say in the end that the cluster is balanced', { timeout: 600_000 }, async () => {
    const planned = seen.findIndex(({ Executing = '' }) => Executing.startsWith('True'));
    await waitUntil(
      'balance after the plan',
      async () => {
        const last = seen.at(-1)?.['Converged'] ?? 'none';
        return seen.length > planned && last.startsWith('True ') ? undefined : last;
      },
      { ...patience, timeoutMilliseconds: 500_000 },
    );
  });

  it('say so where the policy is suspended', async () => {
    await patch({ suspend: true });
    await untilSeen('Ready', /^False Suspended: spec.suspend is true/);
  });

  it('were Ready from the first run to the suspension', () => {
    expect(changesOf('Ready')).toEqual([
      ...changesOf('Ready').filter((value) => value === 'Unknown AwaitingFirstRun'),
      'True AsExpected',
      'False Suspended',
    ]);
  });
});

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { applyScenario, loadScenario, waitForMetrics } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, policyObject } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** What is killed leaves its lease behind, and the next one waits for its end. */
const SHORT_LEASE = { args: ['--lease-duration', '4s'] };

let cp: ControlPlane;
let operator: OperatorProcess;

beforeAll(async () => {
  cp = await startControlPlane({ log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'demo.yaml')), { log });
  await waitForMetrics(cp, { log });
  operator = await startOperator(cp, SHORT_LEASE);
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
});

it('finishes the plan after kill -9 in its middle, and evicts no pod twice', { timeout: 600_000 }, async () => {
  await cp.apply([
    policyObject('crashing', {
      mode: 'Automatic',
      interval: '10s',
      thresholds: { trigger: '0.05', consecutive: 1 },
      budgets: [{ maxMoves: 100, maxConcurrent: 3 }],
      protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
    }),
  ]);
  let kills = 0;
  await waitUntil(
    'the first plan ends',
    async () => {
      const [plan] = await getPlans(cp);
      if (plan?.status?.phase === 'Completed' || plan?.status?.phase === 'Aborted') {
        return undefined;
      }
      const inFlight = (plan?.status?.moves ?? []).filter(({ phase }) =>
        /Intent|Evicting|Awaiting|Verifying/.test(phase),
      );
      if (kills < 5 && inFlight.length > 0) {
        await operator.end('SIGKILL');
        kills += 1;
        await sleep(100 * kills);
        operator = await startOperator(cp, SHORT_LEASE);
        await operator.logged('leading');
        await sleep(1500);
      }
      return `plan ${plan?.status?.phase ?? 'missing'} after ${kills} kills`;
    },
    { timeoutMilliseconds: 500_000, log },
  );
  const [plan] = await getPlans(cp);
  const evicted = acceptedEvictions(await cp.audit()).map(({ uidPrecondition }) => uidPrecondition);
  expect(kills).toBeGreaterThan(0);
  expect(plan?.status?.phase).toBe('Completed');
  expect(
    plan?.status?.moves?.map(({ phase }) => phase).filter((phase) => !/Landed|Missed|Skipped/.test(phase)),
  ).toEqual([]);
  expect(new Set(evicted).size).toBe(evicted.length);
});

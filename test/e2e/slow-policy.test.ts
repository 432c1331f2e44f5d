import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPolicy, policyObject, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const QUICK = Array.from({ length: 9 }, (_, place) => `quick-${place}`);
const INTERVAL = 10;
/** Seconds that are looked at: the Prometheus of the tenth policy times out twice. */
const SPAN = 75;

let cp: ControlPlane;
let silent: Server;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'small.yaml')), { log });
}, 300_000);

afterAll(async () => {
  await operator?.end('SIGTERM');
  silent?.close();
  await cp?.stop();
});

/** Seconds between the runs of each policy, by the log. */
function gaps(text: string): ReadonlyMap<string, readonly number[]> {
  const runs = text
    .split('\n')
    .filter((line) => line.includes('"msg":"run finished"'))
    .map((line) => JSON.parse(line) as { readonly time: string; readonly policy: string });
  const byPolicy = Map.groupBy(runs, ({ policy }) => policy);
  return new Map(
    [...byPolicy].map(([policy, own]) => {
      const instants = own.map(({ time }) => Date.parse(time) / 1000);
      return [policy, instants.slice(1).map((instant, place) => instant - (instants[place] ?? 0))];
    }),
  );
}

describe('nine policies beside one whose Prometheus never answers', () => {
  it('run on time', { timeout: 300_000 }, async () => {
    const { port } = silent.address() as AddressInfo;
    operator = await startOperator(cp, {
      args: ['--no-leader-elect', '--prometheus', `main=http://127.0.0.1:${port}`],
    });
    const spec = { mode: 'DryRun', interval: `${INTERVAL}s` };
    await cp.apply([
      policyObject('a-slow', { ...spec, load: { source: 'Prometheus', prometheus: { server: 'main' } } }),
      ...QUICK.map((name) => policyObject(name, { ...spec, load: { source: 'Requests' } })),
    ]);
    await sleep(SPAN * 1000);
    const failed = async () => {
      const reason = reasonOf(await getPolicy(cp, 'a-slow'), 'MetricsFresh');
      return reason === 'MetricsUnavailable' ? undefined : `MetricsFresh says ${reason}`;
    };
    await waitUntil('the slow policy says so', failed, { timeoutMilliseconds: 60_000, log });
    const found = gaps(operator.log());
    for (const name of QUICK) {
      const own = found.get(name) ?? [];
      const late = own.map((gap) => gap - INTERVAL);
      log(`${name}: ${own.length + 1} runs, at most ${Math.max(...late).toFixed(1)} s late`);
      expect(own.length).toBeGreaterThanOrEqual(4);
      expect(Math.max(...late)).toBeLessThan(INTERVAL / 2);
    }
  });
});

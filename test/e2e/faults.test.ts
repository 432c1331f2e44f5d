import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyEagerPolicy, setStage } from '../campaigns/stage.ts';
import { acceptedEvictions, evictions } from '../control-plane/audit.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/proxy.ts';
import { type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPolicy, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 120_000 };

describe('behind a proxy', () => {
  let cp: ControlPlane;
  let proxy: FaultProxy;
  let operator: OperatorProcess;

  beforeAll(async () => {
    cp = await setStage(log);
    const upstream = await cp.kubeconfigFor({ namespace: 'evenkeel-system', name: 'evenkeel' });
    proxy = await startFaultProxy({ upstream, seed: 2 });
    operator = await startOperator(cp, { kubeconfig: proxy.kubeconfig, args: ['--lease-duration', '4s'] });
  });

  afterAll(async () => {
    await operator?.end('SIGKILL');
    await proxy?.stop();
    await cp?.stop();
  });

  it.each(['StaleMetrics', 'MissingMetrics', 'NotANumberMetrics', 'NegativeMetrics'] as const)(
    'moves nothing while it gets %s, and says why',
    async (kind) => {
      const name = kind.toLowerCase();
      proxy.spoil(1, [kind]);
      await applyEagerPolicy(cp, name);
      await waitUntil(
        'the policy has run',
        async () => ((await getPolicy(cp, name)).status?.lastRun === undefined ? 'not yet' : undefined),
        patience,
      );
      await sleep(15_000);
      expect(reasonOf(await getPolicy(cp, name), 'MetricsFresh')).toMatch(/^Metrics(Unavailable|Incomplete)$/);
      expect(evictions(await cp.audit())).toEqual([]);
      await cp.kubectl(['delete', 'rbp', name]);
    },
  );

  it('stops to lead when it is cut off, and changes nothing more', async () => {
    proxy.spoil(0);
    await applyEagerPolicy(cp, 'cut-off');
    await waitUntil(
      'the first eviction',
      async () => (acceptedEvictions(await cp.audit()).length === 0 ? 'none yet' : undefined),
      patience,
    );
    proxy.partition(true);
    const next = await startOperator(cp, { args: ['--lease-duration', '4s'] });
    try {
      await next.logged('leading');
      expect(await operator.exited).toBe(1);
      expect(operator.log()).toContain('"msg":"leadership lost"');
      proxy.partition(false);
      await waitUntil(
        'the next leader ends the plan',
        async () => {
          const { items } = JSON.parse(await cp.kubectl(['get', 'rbpl', '-o', 'json'])) as {
            readonly items: readonly { readonly status?: { readonly phase?: string } }[];
          };
          return items.some(({ status }) => status?.phase === 'Executing') ? 'it goes on' : undefined;
        },
        patience,
      );
      const uids = acceptedEvictions(await cp.audit()).map(({ uidPrecondition }) => uidPrecondition);
      expect(new Set(uids).size).toBe(uids.length);
    } finally {
      await next.end('SIGTERM');
    }
  });
});

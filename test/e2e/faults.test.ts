import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultReport, spoilRequests } from '../campaigns/faults.ts';
import { applyEagerPolicy, setStage } from '../campaigns/stage.ts';
import { acceptedEvictions, evictions } from '../control-plane/audit.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { WEBHOOK_KINDS } from '../support/faults/eviction-webhook.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/proxy.ts';
import { type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPolicy, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 120_000 };

let cp: ControlPlane;

beforeAll(async () => {
  cp = await setStage(log);
});

afterAll(() => cp?.stop());

describe('behind a proxy', () => {
  let proxy: FaultProxy;
  let operator: OperatorProcess;

  beforeAll(async () => {
    const upstream = await cp.kubeconfigFor({ namespace: 'evenkeel-system', name: 'evenkeel' });
    proxy = await startFaultProxy({ upstream, seed: 2 });
    operator = await startOperator(cp, { kubeconfig: proxy.kubeconfig });
  });

  afterAll(async () => {
    await operator?.end('SIGKILL');
    await proxy?.stop();
  });

  it.each(['StaleMetrics', 'MissingMetrics', 'NotANumberMetrics', 'NegativeMetrics'] as const)(
    'moves nothing in two runs that get %s, and says why',
    async (kind) => {
      const name = kind.toLowerCase();
      proxy.spoil(1, [kind]);
      await applyEagerPolicy(cp, name);
      const runs = new Set<string>();
      await waitUntil(
        'the policy has run twice',
        async () => {
          const { lastRun } = (await getPolicy(cp, name)).status ?? {};
          if (lastRun !== undefined) {
            runs.add(lastRun);
          }
          return runs.size < 2 ? `${runs.size} runs` : undefined;
        },
        patience,
      );
      expect(reasonOf(await getPolicy(cp, name), 'MetricsFresh')).toMatch(/^Metrics(Unavailable|Incomplete)$/);
      expect(evictions(await cp.audit())).toEqual([]);
      await cp.kubectl(['delete', 'rbp', name]);
    },
  );

  it('stops to lead when it is cut off, and changes nothing more', async () => {
    proxy.spoil(0);
    await operator.end('SIGTERM');
    operator = await startOperator(cp, { kubeconfig: proxy.kubeconfig, args: ['--lease-duration', '4s'] });
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
      await cp.kubectl(['delete', 'rbp', 'cut-off']);
    }
  });
});

describe('with three of ten requests failing for a minute and a quarter, in the short form of the campaign', () => {
  let report: FaultReport;

  beforeAll(async () => {
    await cp.kubectl(['delete', 'rbpl', '--all']);
    report = await spoilRequests(cp, { minutes: 1.25, seed: 1, rate: 0.3, elected: false, log });
    log(JSON.stringify(report));
  });

  it('meets every fault of requests that are frequent', () => {
    const metrics = ['StaleMetrics', 'MissingMetrics', 'NotANumberMetrics', 'NegativeMetrics'];
    const rare: readonly string[] = [...metrics, 'OldList', 'LateEviction', ...WEBHOOK_KINDS];
    expect(report.neverInjected.filter((kind) => !rare.includes(kind))).toEqual([]);
  });

  it('moves pods all the same, none of them twice, and none that no plan owns up to', () => {
    expect(report.evictionsAmidFaults).toBeGreaterThan(0);
    expect(report.evictedTwice).toEqual([]);
    expect(report.unexplained).toEqual([]);
    expect(report.disowned).toEqual([]);
  });

  it('never has more moves under way than the budget allows', () => {
    expect(report.overBudget).toEqual([]);
  });

  it('ends every plan, and converges within two rounds after the faults stop', () => {
    expect(report.unfinished).toEqual([]);
    expect(report.roundsToConverge).toBeLessThanOrEqual(2);
  });

  it('lives through it all in one process, within half of the memory that its Deployment grants', () => {
    expect(report.crashes).toEqual([]);
    expect(report.memory.end).toBeLessThan(256);
  });
});

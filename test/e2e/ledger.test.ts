import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QoSLedger } from '../../src/api/v1alpha1/qos-ledger.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPolicy, policyObject, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 120_000 };

const GOLD = {
  apiVersion: 'evenkeel.dev/v1alpha1',
  kind: 'ServiceClass',
  metadata: { name: 'gold' },
  spec: { slo: '0.9', importance: 1 },
};
const INSECURE = { args: ['--metrics-insecure'] };
const labels = { app: 'paid', 'evenkeel.dev/service-class': 'gold' };
const PAID = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'paid', namespace: 'shop' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'paid' } },
    template: {
      metadata: { labels, annotations: { 'evenkeel.dev/test-startup': '3s' } },
      spec: { containers: [{ name: 'paid', image: 'paid', resources: { requests: { cpu: '10m', memory: '16Mi' } } }] },
    },
  },
};

/** Names a class that nobody has made. */
const MISSPELT = {
  ...PAID,
  metadata: { name: 'misspelt', namespace: 'shop' },
  spec: {
    ...PAID.spec,
    replicas: 1,
    selector: { matchLabels: { app: 'misspelt' } },
    template: {
      ...PAID.spec.template,
      metadata: { labels: { app: 'misspelt', 'evenkeel.dev/service-class': 'glod' } },
    },
  },
};

interface RawPod {
  readonly metadata: { readonly name: string; readonly creationTimestamp: string; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
  };
}

/** A pod as the API server had it. */
interface Recorded {
  readonly created: number;
  readonly ready: number;
}

let cp: ControlPlane;
let operator: OperatorProcess;
const recorded = new Map<string, Recorded>();

beforeAll(async () => {
  cp = await startControlPlane({ log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'small.yaml')), { log });
  operator = await startOperator(cp, INSECURE);
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
});

/** Names of the Ready pods that nobody has asked to go; what the API server says of their beginnings is kept. */
async function readyPods(): Promise<readonly string[]> {
  const text = await cp.kubectl(['get', 'pods', '-n', 'shop', '-l', 'app=paid', '-o', 'json']);
  const { items } = JSON.parse(text) as { items: readonly RawPod[] };
  return items.flatMap(({ metadata, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready?.status !== 'True' || metadata.deletionTimestamp !== undefined) {
      return [];
    }
    const { name, creationTimestamp } = metadata;
    recorded.set(name, { created: secondsOf(creationTimestamp), ready: secondsOf(ready.lastTransitionTime) });
    return [name];
  });
}

async function readyAre(count: number): Promise<readonly string[]> {
  let names: readonly string[] = [];
  await waitUntil(
    `${count} pods are Ready`,
    async () => {
      names = await readyPods();
      return names.length === count ? undefined : `${names.length} are`;
    },
    patience,
  );
  return names;
}

/** The ledger once it has seen the pods that are known to be Ready. */
async function ledgerRuns(count: number): Promise<QoSLedger> {
  let ledger: QoSLedger | undefined;
  await waitUntil(
    `the ledger has ${count} running instances`,
    async () => {
      const { items } = JSON.parse(await cp.kubectl(['get', 'qosl', '-n', 'shop', '-o', 'json'])) as {
        items: QoSLedger[];
      };
      [ledger] = items;
      const { running, waiting, asOf = '' } = ledger?.status ?? {};
      const newest = Math.max(...[...recorded.values()].map(({ ready }) => ready));
      const isCurrent = secondsOf(asOf) >= newest;
      return isCurrent && running === count && waiting === 0
        ? undefined
        : `as of ${asOf} ${running} run, ${waiting} wait`;
    },
    patience,
  );
  if (ledger === undefined) {
    throw new Error('there is no ledger');
  }
  return ledger;
}

async function ledgerFreshBecomes(reason: string): Promise<void> {
  await waitUntil(
    `LedgerFresh says ${reason}`,
    async () => {
      const found = reasonOf(await getPolicy(cp, 'look'), 'LedgerFresh');
      return found === reason ? undefined : `it says ${found}`;
    },
    patience,
  );
}

async function kill(name: string | undefined): Promise<void> {
  await cp.kubectl(['delete', 'pod', '-n', 'shop', name ?? '', '--grace-period=0', '--force', '--wait=false']);
}

async function scale(replicas: number): Promise<void> {
  await cp.kubectl(['scale', '-n', 'shop', 'deployment/paid', `--replicas=${replicas}`]);
}

/** When each pod was first asked to go, by the audit log. */
async function departures(): Promise<ReadonlyMap<string, number>> {
  const asked = new Map<string, number>();
  for (const { verb, resource, subresource, name, at, code } of await cp.audit()) {
    const isDeletion = verb === 'delete' && resource === 'pods' && subresource === '' && code < 300;
    if (isDeletion && recorded.has(name) && !asked.has(name)) {
      asked.set(name, secondsOf(at));
    }
  }
  return asked;
}

describe('the ledger of a Deployment', () => {
  it('agrees with what the API server recorded, through scaling, forced deletions and a crash', async () => {
    await cp.apply([GOLD, PAID]);
    await readyAre(3);
    await ledgerRuns(3);
    await scale(4);
    const [first] = await readyAre(4);
    await kill(first);
    await waitUntil('it is gone', async () => ((await readyPods()).includes(first ?? '') ? 'no' : undefined), patience);
    await ledgerRuns(4);
    const [second] = await readyAre(4);
    await operator.end('SIGKILL');
    await kill(second);
    await waitUntil(
      'it is gone',
      async () => ((await readyPods()).includes(second ?? '') ? 'no' : undefined),
      patience,
    );
    await readyAre(4);
    operator = await startOperator(cp, INSECURE);
    await ledgerRuns(4);
    await scale(2);
    await readyAre(2);
    const { status, spec } = await ledgerRuns(2);
    const asked = await departures();
    const asOf = secondsOf(status?.asOf ?? '');
    const [useful, pending] = [...recorded].reduce(
      ([run, waited], [name, { created, ready }]) => [
        run + Math.max(0, (asked.get(name) ?? asOf) - ready),
        waited + ready - created,
      ],
      [0, 0],
    );
    log(`ledger: ${status?.useful} s useful, ${status?.pending} s pending; on record: ${useful}, ${pending}`);
    expect(spec).toMatchObject({ owner: { kind: 'Deployment', name: 'paid' }, className: 'gold' });
    expect([recorded.size, asked.size]).toEqual([6, 4]);
    expect(Math.abs((status?.useful ?? 0) - useful)).toBeLessThanOrEqual(recorded.size);
    expect(Math.abs((status?.pending ?? 0) - pending)).toBeLessThanOrEqual(recorded.size);
  });

  it('is told of by policies and metrics, and so is a class that does not exist', async () => {
    await cp.apply([policyObject('look', { interval: '10s' })]);
    await ledgerFreshBecomes('Fresh');
    const { status } = await getPolicy(cp, 'look');
    expect(status?.serviceClasses).toMatchObject([{ name: 'gold', slo: '0.9', workloads: 1, preemptions: 0 }]);
    const [gold] = status?.serviceClasses ?? [];
    expect(Number(gold?.availability)).toBeGreaterThan(0);
    expect(Number(gold?.availability)).toBeLessThan(1);
    expect(status?.sloMissed).toBe(gold?.fulfilment === '1' ? 0 : 1);
    const { metricsPort } = await operator.logged('operator started');
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(/^evenkeel_slo_fulfilment_ratio\{class="gold"\} [01]$/m);
    expect(metrics).toContain('evenkeel_preemption_overhead_ratio{class="gold"} 0');
    await cp.apply([MISSPELT]);
    await ledgerFreshBecomes('UnknownServiceClass');
  });
});

function secondsOf(text: string): number {
  return Date.parse(text) / 1000;
}

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { readLog } from '../support/log-file.ts';
import { install, OPERATOR_USER, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPolicy, policyObject } from '../support/resources.ts';

interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
}

interface Crd {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly names: { readonly plural: string }; readonly versions: readonly CrdVersion[] };
}

interface Stored {
  readonly apiVersion: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: { readonly phase?: string };
}

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 120_000, log };
const [ALPHA, BETA] = ['evenkeel.dev/v1alpha1', 'evenkeel.dev/v1beta1'];
const CRDS = join(import.meta.dirname, '..', '..', 'crds');
const SETTINGS = {
  mode: 'Automatic',
  interval: '10s',
  load: { source: 'Requests' },
  thresholds: { trigger: '0.05', consecutive: 1 },
  protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
};

let cp: ControlPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'small.yaml')), { log });
  await cp.apply([policyObject('old', { suspend: true })]);
});

afterAll(async () => {
  await operator?.end('SIGTERM');
  await cp?.stop();
});

/** Our CRDs with these versions of one schema. Conversion is None, the default. */
async function crdsWith(versions: readonly CrdVersion[]): Promise<readonly Crd[]> {
  const crds = parseAllDocuments(await cp.kubectl(['kustomize', CRDS])).map((document) => document.toJS() as Crd);
  return crds.map((crd) => ({
    ...crd,
    spec: { ...crd.spec, versions: versions.map((version) => ({ ...crd.spec.versions[0], ...version })) },
  }));
}

async function read(resource: string, version: 'v1alpha1' | 'v1beta1', name: string): Promise<Stored> {
  return JSON.parse(await cp.kubectl(['get', `${resource}.${version}.evenkeel.dev`, name, '-o', 'json'])) as Stored;
}

/** What the API server answers to a change that it refuses. */
async function refusal(change: Promise<unknown>): Promise<string> {
  return await change.then(
    () => 'accepted',
    (error: unknown) => String(error),
  );
}

async function untilServed(versions: readonly string[]): Promise<void> {
  const served = async () =>
    (await cp.kubectl(['api-versions'])).split('\n').filter((each) => each.startsWith('evenkeel.dev/'));
  const missing = async () => {
    const found = (await served()).toSorted().join();
    return found === versions.join() ? undefined : found;
  };
  await waitUntil(`waiting for ${versions.join()}`, missing, patience);
}

describe('v1beta1 with the schema of v1alpha1, and conversion None', () => {
  it('is served beside v1alpha1, and an object is the same in both', async () => {
    const before = await read('rebalancepolicies', 'v1alpha1', 'old');
    await cp.apply(
      await crdsWith([
        { name: 'v1alpha1', served: true, storage: true },
        { name: 'v1beta1', served: true, storage: false },
      ]),
    );
    await untilServed([ALPHA, BETA]);
    expect(await read('rebalancepolicies', 'v1beta1', 'old')).toEqual({ ...before, apiVersion: BETA });
  });

  it('has the same defaults and rules, with the same messages', async () => {
    await cp.apply([{ ...policyObject('new', SETTINGS), apiVersion: BETA }]);
    const { spec } = await read('rebalancepolicies', 'v1alpha1', 'new');
    expect(spec).toMatchObject({ ...SETTINGS, suspend: false });
    const wrong = (apiVersion: string) => ({
      ...policyObject('wrong', { interval: '5m', schedule: '0 3 * * *' }),
      apiVersion,
    });
    const [old, renewed] = [await refusal(cp.apply([wrong(ALPHA)])), await refusal(cp.apply([wrong(BETA)]))];
    expect(old).toContain('schedule');
    expect(renewed).toBe(old);
  });

  it('is what kubectl prefers from then on', async () => {
    expect(parse(await cp.kubectl(['get', 'rbp', 'old', '-o', 'yaml']))).toMatchObject({ apiVersion: BETA });
  });

  it('changes nothing for an operator of v1alpha1: it plans, evicts and steers', { timeout: 300_000 }, async () => {
    operator = await startOperator(cp);
    await waitUntil(
      'waiting for the plan of the policy that was written as v1beta1',
      async () => {
        const { items } = JSON.parse(await cp.kubectl(['get', 'rbpl', '-o', 'json'])) as { items: readonly Stored[] };
        const ended = items.filter(({ status }) => status?.phase === 'Completed');
        return ended.length > 0 ? undefined : `${items.length} plans, none completed`;
      },
      patience,
    );
    const evictions = acceptedEvictions(await cp.audit()).filter(({ user }) => user === OPERATOR_USER);
    expect(evictions.length).toBeGreaterThan(0);
    const { status } = await getPolicy(cp, 'new');
    expect([status?.steering?.mode, status?.hitRatio]).toEqual(['AdmissionPolicy', '1']);
    expect(readLog(operator.log()).filter(({ level }) => level !== 'info')).toEqual([]);
  });

  it('replaces v1alpha1 only when every object has been stored anew', { timeout: 120_000 }, async () => {
    await operator?.end('SIGTERM');
    await cp.apply(
      await crdsWith([
        { name: 'v1alpha1', served: true, storage: false },
        { name: 'v1beta1', served: true, storage: true },
      ]),
    );
    const alone = await crdsWith([{ name: 'v1beta1', served: true, storage: true }]);
    expect(await refusal(cp.apply(alone))).toMatch(/status\.storedVersions.*v1alpha1/s);
    for (const { spec, metadata } of alone) {
      const objects = await cp.kubectl(['get', spec.names.plural, '-A', '-o', 'json']);
      if ((JSON.parse(objects) as { items: readonly unknown[] }).items.length > 0) {
        await cp.kubectl(['replace', '-f', '-'], objects);
      }
      const stored = JSON.stringify({ status: { storedVersions: ['v1beta1'] } });
      await cp.kubectl(['patch', 'crd', metadata.name, '--subresource=status', '--type=merge', '-p', stored]);
    }
    await cp.apply(alone);
    await untilServed([BETA]);
    expect((await read('rebalancepolicies', 'v1beta1', 'new')).spec).toMatchObject(SETTINGS);
  });
});

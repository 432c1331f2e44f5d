import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { createAuthority } from '../control-plane/pki.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { CHART, type Helm, helmFor } from '../support/helm.ts';
import { buildImage, type Image } from '../support/image/build-image.ts';
import {
  type InstalledPod,
  runInstalled,
  type StoredDeployment,
  storedDeployment,
} from '../support/image/installed-pod.ts';
import { byHelm, byKustomize, type Installation } from '../support/installation.ts';
import { inventory } from '../support/inventory.ts';
import type { Overlay } from '../support/operator-process.ts';
import { getPlans, policyObject } from '../support/resources.ts';
import { rightsOf } from '../support/rules.ts';
import { scrape } from '../support/scrape.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 60_000 };

const NAMESPACE = 'evenkeel-system';
const CRDS = join(import.meta.dirname, '..', '..', 'crds');

/** Reports a plan at once for what the scenario asks for: nearly all pods are on one of three nodes. */
const REPORTING = {
  interval: '10s',
  load: { source: 'Requests' },
  thresholds: { trigger: '0.05', consecutive: 1 },
  protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
};

let cp: ControlPlane;
let helm: Helm;
let image: Image;
let before: readonly string[];
let running: InstalledPod | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  helm = await helmFor(cp.dir, cp.kubeconfig);
  image = await buildImage({});
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'small.yaml')), { log });
  before = await inventory(cp);
});

afterEach(async () => {
  await running?.stop();
  running = undefined;
});

afterAll(async () => {
  image?.remove();
  await cp?.stop();
});

/** Runs the operator of the Deployment that is on the cluster, and waits until its probes say that it is ready. */
async function startInstalled(): Promise<InstalledPod> {
  const pod = await runInstalled(cp, image, await storedDeployment(cp));
  running = pod;
  await waitUntil(
    'the operator is ready',
    async () => ((await pod.probes()).every((code) => code === 200) ? undefined : pod.log().slice(-2000)),
    patience,
  );
  return pod;
}

async function planOf(policy: string): Promise<void> {
  await waitUntil(
    `the operator plans for ${policy}`,
    async () => ((await getPlans(cp)).some(({ spec }) => spec.policy.name === policy) ? undefined : 'no plan yet'),
    patience,
  );
}

/** Creates the pod of the Deployment in a dry run of the server, as its ReplicaSet would; fails for a warning too. */
async function tryPod({ spec }: StoredDeployment): Promise<void> {
  const { metadata, spec: pod } = spec.template;
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: 'try', namespace: NAMESPACE },
    spec: pod,
  };
  await cp.kubectl(['create', '--dry-run=server', '--warnings-as-errors', '-f', '-'], JSON.stringify(object));
}

async function nothingIsLeft(): Promise<void> {
  await waitUntil(
    'nothing is left of the installation',
    async () => {
      const now = await inventory(cp);
      expect(before.filter((object) => !now.includes(object))).toEqual([]);
      return now.filter((object) => !before.includes(object)).join(', ') || undefined;
    },
    patience,
  );
}

const WAYS: readonly (readonly [string, Overlay, () => Installation])[] = [
  ['kustomize', 'dry-run', () => byKustomize(cp, 'dry-run')],
  ['kustomize', 'default', () => byKustomize(cp, 'default')],
  ['kustomize', 'gate', () => byKustomize(cp, 'gate')],
  ['helm', 'default', () => byHelm(cp, helm, 'default')],
  ['kustomize', 'webhook', () => byKustomize(cp, 'webhook')],
  ['helm', 'gate', () => byHelm(cp, helm, 'gate')],
  ['helm', 'webhook', () => byHelm(cp, helm, 'default', ['--set', 'webhook.enabled=true'])],
];

describe.each(WAYS)('installed by %s in mode %s', (_tool, mode, way) => {
  it('the operator runs as it says, plans, has the rights of its mode, and leaves nothing when uninstalled', async () => {
    const { install, uninstall } = way();
    await install();
    await cp.apply([policyObject('installed', REPORTING)]);
    await tryPod(await storedDeployment(cp));
    const pod = await startInstalled();
    await planOf('installed');
    const account = { namespace: NAMESPACE, name: 'evenkeel' };
    await expect(await rightsOf(cp, account)).toMatchFileSnapshot(`../golden/rbac-${mode}.txt`);
    expect(await pod.stop()).toBe(0);
    await uninstall();
    await nothingIsLeft();
  });
});

describe('a release of the chart', () => {
  const installation = (): Installation =>
    byHelm(cp, helm, 'default', [
      '--set-json',
      `policies.rebalancePolicies.main=${JSON.stringify(REPORTING)}`,
      '--set-json',
      'policies.serviceClasses.batch={"slo":"0.9","importance":2,"window":"1h"}',
    ]);
  const upgrade = (...settings: readonly string[]) =>
    helm(['upgrade', 'evenkeel', CHART, '-n', NAMESPACE, '--reuse-values', ...settings]);
  const args = async () => (await storedDeployment(cp)).spec.template.spec.containers[0].args;

  beforeAll(() => installation().install());

  afterAll(async () => {
    await installation().uninstall();
    await nothingIsLeft();
  });

  it('passes the strict validation of the API server without a warning', async () => {
    const manifest = await helm(['get', 'manifest', 'evenkeel', '-n', NAMESPACE]);
    const flags = [
      '--server-side',
      '--force-conflicts',
      '--dry-run=server',
      '--validate=strict',
      '--warnings-as-errors',
    ];
    await cp.kubectl(['apply', ...flags, '-f', '-'], manifest);
  });

  it('has the policies of its values, and serves metrics with the mounted certificate after an upgrade', async () => {
    const authority = createAuthority('scrapers');
    const pair = authority.serving('evenkeel-metrics');
    const data = { 'tls.crt': pair.certificate, 'tls.key': pair.key };
    const metadata = { name: 'own-certificate', namespace: NAMESPACE };
    await cp.apply([{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, stringData: data }]);
    await upgrade('--set', 'metrics.tls.secretName=own-certificate,logLevel=debug,replicas=1');
    expect((await storedDeployment(cp)).spec.replicas).toBe(1);
    await tryPod(await storedDeployment(cp));
    const pod = await startInstalled();
    await planOf('main');
    const served = (await scrape(pod.port('metrics'), '/metrics')).certificate;
    expect(served).toBe(new X509Certificate(pair.certificate).fingerprint256);
    expect(await cp.kubectl(['get', 'sclass', 'batch', '-o', 'jsonpath={.spec.slo}'])).toBe('0.9');
  });

  it('changes by an upgrade and back by a rollback', async () => {
    await upgrade('--set', 'logLevel=debug');
    expect(await args()).toContain('--log-level=debug');
    await upgrade('--set', 'mode=dry-run');
    const roles = ['get', 'clusterroles', '-l', 'app.kubernetes.io/name=evenkeel', '-o', 'name'];
    expect(await cp.kubectl(roles)).not.toContain('evenkeel-evict');
    await helm(['rollback', 'evenkeel', '1', '-n', NAMESPACE]);
    expect(await args()).not.toContain('--log-level=debug');
    expect(await cp.kubectl(roles)).toContain('evenkeel-evict');
  });

  it('is not upgraded beside CRDs of another version, and is once they are applied', async () => {
    await cp.apply(olderCrd());
    await expect(upgrade()).rejects.toThrow(/another version of the CRD rebalancepolicies.*First run: helm show crds/);
    const crds = await helm(['show', 'crds', CHART]);
    await cp.kubectl(['apply', '--server-side', '--force-conflicts', '--warnings-as-errors', '-f', '-'], crds);
    const path = '{..properties.spec.properties.suspend.type}';
    const crd = 'rebalancepolicies.evenkeel.dev';
    expect(await cp.kubectl(['get', 'crd', crd, '-o', `jsonpath=${path}`])).toBe('boolean');
    await upgrade();
  });

  it('keeps CRDs and what they hold when it is uninstalled', async () => {
    await cp.apply([policyObject('own', REPORTING)]);
    await helm(['uninstall', 'evenkeel', '-n', NAMESPACE, '--wait']);
    expect(await cp.kubectl(['get', 'rbp', '-o', 'name'])).toBe('rebalancepolicy.evenkeel.dev/own\n');
    await helm(['install', 'evenkeel', CHART, '-n', NAMESPACE]);
  });
});

describe('pods that wait at a gate when Evenkeel is removed', () => {
  it('are let go by the commands of the documentation', async () => {
    const installation = byKustomize(cp, 'gate');
    await installation.install();
    await cp.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'gated', labels: { 'evenkeel.dev/gate': 'enabled' } } },
    ]);
    const create = (name: string) =>
      cp.kubectl(['create', 'deployment', name, '--image=app:1', '--replicas=2', '--namespace=gated']);
    await waitUntil('the admission policy is in force', () => gatedOnce(create), patience);
    const [unlabel = '', open = ''] = documentedCommands('What waits at gates');
    await shell(unlabel);
    await create('after');
    await cp.kubectl(['rollout', 'status', 'deployment/after', '--namespace=gated', '--timeout=30s']);
    await installation.uninstall();
    expect(await gated()).toContain('true');
    await shell(open);
    await cp.kubectl([
      'wait',
      '--for=condition=Available',
      'deployment',
      '--all',
      '--namespace=gated',
      '--timeout=30s',
    ]);
    await cp.kubectl(['delete', 'namespace', 'gated', '--timeout=60s']);
    await nothingIsLeft();
  });
});

let attempts = 0;

/** Whether pods of a Deployment made now come to the gate: some time passes before the API server follows a new policy. */
async function gatedOnce(create: (name: string) => Promise<string>): Promise<string | undefined> {
  attempts += 1;
  await create(`before-${attempts}`);
  return (await gated()).includes('true') ? undefined : 'no pod is gated';
}

/** For each pod in the namespace, whether it waits at a gate. */
async function gated(): Promise<readonly string[]> {
  const list = await cp.kubectl(['get', 'pods', '--namespace=gated', '-o', 'json']);
  const { items } = JSON.parse(list) as {
    readonly items: readonly { readonly spec: { schedulingGates?: object[] } }[];
  };
  return items.map(({ spec }) => String((spec.schedulingGates ?? []).length > 0));
}

/** The command blocks of a section of docs/install.md. */
function documentedCommands(heading: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'install.md'), 'utf8');
  const [, section = ''] = text.split(`# ${heading}\n`);
  return [...(section.split('\n#')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, command = '']) => command);
}

/** Runs a command as a person would, with the cluster's kubectl. */
async function shell(command: string): Promise<void> {
  const env = {
    ...process.env,
    KUBECONFIG: cp.kubeconfig,
    PATH: `${dirname(cp.bin('kubectl'))}:${process.env['PATH']}`,
  };
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command], { env });
}

/** The CRD of policies before it had `suspend`. */
function olderCrd(): string {
  const crd = parse(readFileSync(join(CRDS, 'rebalancepolicies.evenkeel.dev.yaml'), 'utf8')) as Crd;
  const [version] = crd.spec.versions;
  const { suspend: _newer, ...properties } = version.schema.openAPIV3Schema.properties.spec.properties;
  version.schema.openAPIV3Schema.properties.spec.properties = properties;
  return stringify(crd);
}

interface Crd {
  readonly spec: {
    readonly versions: readonly [
      {
        readonly schema: {
          readonly openAPIV3Schema: { readonly properties: { readonly spec: { properties: Record<string, unknown> } } };
        };
      },
    ];
  };
}

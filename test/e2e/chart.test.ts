import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CHART, type Helm, helmFor } from '../support/helm.ts';
import { OVERLAYS } from '../support/operator-process.ts';
import { buildInstallTools, type Tools } from '../tools/build.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
}

const KUBERNETES = '--kube-version=1.36.3';

let folder: string;
let tools: Tools;
let helm: Helm;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-chart-'));
  tools = await buildInstallTools((line) => void process.stderr.write(`${line}\n`));
  helm = await helmFor(folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function documents(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** What the chart makes of these settings. */
async function rendered(...settings: readonly string[]): Promise<readonly Manifest[]> {
  const flags = settings.flatMap((setting) => ['--set-json', setting]);
  return documents(await helm(['template', 'evenkeel', CHART, '--namespace=evenkeel-system', KUBERNETES, ...flags]));
}

async function ofKind(kind: string, ...settings: readonly string[]): Promise<Manifest> {
  const found = (await rendered(...settings)).find((manifest) => manifest.kind === kind);
  if (found === undefined) {
    throw new Error(`the chart makes no ${kind} of ${settings.join(', ')}`);
  }
  return found;
}

async function kustomized(path: string): Promise<readonly Manifest[]> {
  const { stdout } = await promisify(execFile)(tools.bin('kustomize'), ['build', path], { maxBuffer: 16 * 2 ** 20 });
  return documents(stdout);
}

/** A folder that adds one component to an overlay. */
function withComponent(overlay: string, component: string): string {
  const own = join(folder, `${overlay}-${component}`);
  mkdirSync(own);
  const deploy = relative(own, join(OVERLAYS, '..'));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [`${deploy}/overlays/${overlay}`],
    components: [`${deploy}/components/${component}`],
  };
  writeFileSync(join(own, 'kustomization.yaml'), JSON.stringify(kustomization));
  return own;
}

const OF_HELM = [
  'app.kubernetes.io/instance',
  'app.kubernetes.io/version',
  'app.kubernetes.io/managed-by',
  'helm.sh/chart',
];

/**
 * Objects by kind and name, without what Helm has besides: its labels. And without what it leaves to its user, the namespace, and
 * what it takes from the folder crds/.
 */
function comparable(manifests: readonly Manifest[]): Readonly<Record<string, Manifest>> {
  const kept = manifests.filter(({ kind }) => kind !== 'Namespace' && kind !== 'CustomResourceDefinition');
  return Object.fromEntries(
    kept.map((manifest) => {
      const labels = Object.entries(manifest.metadata.labels ?? {}).filter(([key]) => !OF_HELM.includes(key));
      const plain = { ...manifest, metadata: { ...manifest.metadata, labels: Object.fromEntries(labels) } };
      return [`${manifest.kind} ${manifest.metadata.name}`, folded(plain)];
    }),
  );
}

/** Line breaks in an expression mean nothing, and both tools fold them their own way. */
function folded(manifest: Manifest): Manifest {
  const text = JSON.stringify(manifest, (key, value: unknown) =>
    key === 'expression' && typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : value,
  );
  return JSON.parse(text) as Manifest;
}

describe('the chart', () => {
  it.each(['dry-run', 'default', 'gate'])('makes of mode %s what the overlay of that name has', async (mode) => {
    const chart = comparable(await rendered(`mode="${mode}"`));
    expect(chart).toEqual(comparable(await kustomized(join(OVERLAYS, mode))));
    expect(Object.keys(chart)).toContain('Deployment evenkeel');
  });

  it('can evict nothing until another mode is set, as the overlay dry-run', async () => {
    const chart = comparable(await rendered());
    expect(chart).toEqual(comparable(await kustomized(join(OVERLAYS, 'dry-run'))));
    expect(JSON.stringify(chart)).not.toContain('pods/eviction');
  });

  it.each([
    ['webhook', 'mode="default"'],
    ['webhook-gate', 'mode="gate"'],
  ])('makes of the webhook what overlay %s has', async (overlay, mode) => {
    const chart = comparable(await rendered(mode, 'webhook.enabled=true'));
    expect(chart).toEqual(comparable(await kustomized(join(OVERLAYS, overlay))));
    expect(Object.keys(chart)).toContain('MutatingWebhookConfiguration evenkeel');
    expect(Object.keys(chart)).not.toContain('MutatingAdmissionPolicy evenkeel-placement');
  });

  it.each([
    ['default', 'webhook', 'webhook-certificate', 'webhook={"enabled":true,"tls":{"certManager":{"enabled":true}}}'],
    ['gate', 'gate', 'admission-policy-v1beta1', 'admissionPolicyVersion="v1beta1"'],
    ['default', 'default', 'shard-policies', 'shardPolicies=true'],
  ])('makes with mode %s what overlay %s and component %s have', async (mode, overlay, component, setting) => {
    const chart = comparable(await rendered(`mode="${mode}"`, setting));
    expect(chart).toEqual(comparable(await kustomized(withComponent(overlay, component))));
  });

  it('monitors as the component does', async () => {
    const monitor = await ofKind('ServiceMonitor', 'metrics.serviceMonitor.enabled=true');
    const [component] = await kustomized(join(OVERLAYS, '..', 'components', 'service-monitor'));
    expect(monitor.spec).toEqual(component?.spec);
  });

  it('and the overlays are completed by components as the documentation shows', async () => {
    const text = readFileSync(join(OVERLAYS, '..', '..', 'docs', 'install.md'), 'utf8');
    const [, example = ''] = /```yaml\n(apiVersion: kustomize[\s\S]*?)```/.exec(text) ?? [];
    const own = join(folder, 'own');
    mkdirSync(own);
    const deploy = relative(own, join(OVERLAYS, '..'));
    writeFileSync(join(own, 'kustomization.yaml'), example.replaceAll('../deploy', deploy));
    const made = comparable(await kustomized(own));
    expect(Object.keys(made)).toContain('ServiceMonitor evenkeel');
    const container = expect.objectContaining({ image: 'registry.example/evenkeel:0.1.0' });
    expect(made['Deployment evenkeel']?.spec).toMatchObject({ template: { spec: { containers: [container] } } });
  });

  it('passes helm lint without a warning', async () => {
    const report = await helm(['lint', '--strict', CHART]);
    expect(report).toContain('1 chart(s) linted, 0 chart(s) failed');
    expect(report).not.toMatch(/WARN|ERROR/);
  });

  it('has the CRDs of crds/', async () => {
    const own = documents(await helm(['show', 'crds', CHART]));
    const all = await kustomized(join(CHART, '..', '..', '..', 'crds'));
    const byName = (a: Manifest, b: Manifest) => a.metadata.name.localeCompare(b.metadata.name);
    expect([...own].sort(byName)).toEqual([...all].sort(byName));
  });
});

describe('values', () => {
  const spec = async (...settings: readonly string[]) => {
    const { spec: deployment } = await ofKind('Deployment', ...settings);
    return (deployment as { template: { spec: PodSpec } }).template.spec;
  };

  interface PodSpec {
    readonly containers: readonly [
      { readonly image: string; readonly args: readonly string[]; readonly ports: object[] },
    ];
    readonly imagePullSecrets: object[];
    readonly tolerations: object[];
    readonly affinity: object;
  }

  it('name the image by digest before tag before version', async () => {
    const image = async (...settings: readonly string[]) => (await spec(...settings)).containers[0].image;
    const digest = `sha256:${'a'.repeat(64)}`;
    expect(await image('image.repository="reg.example/evenkeel"', 'image.tag="1"')).toBe('reg.example/evenkeel:1');
    expect(await image('image.tag="1"', `image.digest="${digest}"`)).toBe(`evenkeel@${digest}`);
  });

  it('become flags of the operator', async () => {
    const settings = ['logLevel="debug"', 'leaseDuration="30s"', 'metrics.insecure=true', 'bindAddress="[::]"'];
    const more = ['metrics.port=9443', 'shardPolicies=true', 'extraArgs=["--context=x"]'];
    const [{ args, ports }] = (await spec(...settings, ...more)).containers;
    expect(args).toEqual([
      'operator',
      '--health-address=[::]:8080',
      '--metrics-address=[::]:9443',
      '--shard-policies',
      '--lease-duration=30s',
      '--log-level=debug',
      '--metrics-insecure=anywhere',
      '--context=x',
    ]);
    expect(ports).toEqual([
      { name: 'health', containerPort: 8080 },
      { name: 'metrics', containerPort: 9443 },
    ]);
  });

  it('say where pods may run', async () => {
    const affinity = { nodeAffinity: {} };
    const pod = await spec(
      'image.pullSecrets=["registry"]',
      'tolerations=[{"operator":"Exists"}]',
      `affinity=${JSON.stringify(affinity)}`,
    );
    expect(pod).toMatchObject({
      affinity,
      imagePullSecrets: [{ name: 'registry' }],
      tolerations: [{ operator: 'Exists' }],
    });
    expect(pod.affinity).toEqual(affinity);
  });

  it('have cert-manager write the certificate that is mounted', async () => {
    const settings = ['metrics.tls.certManager={"enabled":true,"issuerRef":{"kind":"ClusterIssuer","name":"ca"}}'];
    const { spec: certificate } = await ofKind('Certificate', ...settings);
    expect(certificate).toMatchObject({ secretName: 'evenkeel-metrics-tls', issuerRef: { name: 'ca' } });
    expect(await spec(...settings)).toMatchObject({ volumes: [{ secret: { secretName: 'evenkeel-metrics-tls' } }] });
  });

  it('let a cluster that assigns users do so, and its group read the certificate', async () => {
    const tls = 'metrics.tls.secretName="tls"';
    const context = async (...settings: readonly string[]) =>
      ((await spec(tls, ...settings)) as unknown as { securityContext: object }).securityContext;
    expect(await context()).toMatchObject({ runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 });
    const assigned = await context('podSecurityContext={"runAsUser":null,"runAsGroup":null}');
    expect(assigned).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  });

  it('bind scrapers, and create policies', async () => {
    const bound = await rendered('metrics.readers=[{"namespace":"monitoring","name":"prometheus"}]');
    expect(comparable(bound)['ClusterRoleBinding evenkeel-metrics-reader']).toMatchObject({
      subjects: [{ kind: 'ServiceAccount', name: 'prometheus', namespace: 'monitoring' }],
    });
    const { spec: policy } = await ofKind('RebalancePolicy', 'policies.rebalancePolicies.main={"interval":"5m"}');
    expect(policy).toEqual({ interval: '5m' });
  });

  it('leave out the admission policies where Kubernetes has none', async () => {
    const text = await helm([
      'template',
      CHART,
      '--kube-version=1.34.0',
      '--set',
      'mode=default,admissionPolicies=false',
    ]);
    expect(documents(text).map(({ kind }) => kind)).not.toContain('MutatingAdmissionPolicy');
  });

  it('take MutatingAdmissionPolicy v1beta1 where nothing else is served', async () => {
    const serves = (version: string) =>
      `--api-versions=admissionregistration.k8s.io/${version}/MutatingAdmissionPolicy`;
    const versions = async (...flags: readonly string[]) => {
      const text = await helm(['template', CHART, '--set=mode=default', ...flags]);
      const policies = documents(text).filter(({ kind }) => kind.startsWith('MutatingAdmissionPolicy'));
      return new Set(policies.map((policy) => (policy as Manifest & { readonly apiVersion: string }).apiVersion));
    };
    const group = 'admissionregistration.k8s.io';
    expect(await versions('--kube-version=1.34.0', serves('v1beta1'))).toEqual(new Set([`${group}/v1beta1`]));
    expect(await versions(KUBERNETES, serves('v1beta1'), serves('v1'))).toEqual(new Set([`${group}/v1`]));
  });

  it.each([
    ['mode=everything', /mode.*dry-run.*default.*gate/s],
    ['replica=3', /replica/],
    ['replicas=-1', /replicas/],
    ['shardPolicies=often', /shardPolicies/],
    ['image.tag=latest', /tag/],
    ['image.digest=sha1:1', /digest/],
    ['logLevel=loud', /logLevel/],
    ['metrics.port=80', /port/],
    ['extraArgs[0]=operator', /extraArgs/],
    ['metrics.tls.certManager.enabled=true', /issuerRef/],
    ['metrics.readers[0].name=prometheus', /namespace/],
    ['metrics.insecure=true,metrics.tls.secretName=tls', /metrics.insecure means plain HTTP: remove it/],
    ['webhook.enabled=true,mode=dry-run', /remove webhook.enabled/],
    ['mode=default,webhook.enabled=true,webhook.tls.secretName=tls', /needs webhook.tls.caBundle/],
    ['admissionPolicyVersion=v2', /admissionPolicyVersion/],
    ['serviceAccount.create=false,serviceAccount.name=default', /write another one/],
  ])('are refused: %s', async (setting, message) => {
    await expect(helm(['template', CHART, KUBERNETES, '--set', setting])).rejects.toThrow(message);
  });

  it('of a mode that this Kubernetes cannot have are refused with what to write', async () => {
    const old = helm(['template', CHART, '--kube-version=1.35.0', '--set=mode=default']);
    await expect(old).rejects.toThrow(/write webhook.enabled: true .*, or admissionPolicies: false/);
  });
});

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import {
  install,
  installShared,
  type OperatorProcess,
  OVERLAYS,
  startOperator,
  withComponent,
} from '../support/operator-process.ts';
import { mayDo, rightsOf } from '../support/rules.ts';
import { scrape } from '../support/scrape.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

const OPERATOR = { namespace: 'evenkeel-system', name: 'evenkeel' };

interface Container {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: { readonly httpGet: { readonly port: string } };
  readonly readinessProbe: { readonly httpGet: { readonly port: string } };
  readonly securityContext: object;
}

interface PodSpec {
  readonly containers: readonly [Container];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: object };
  readonly spec: {
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
    readonly ingress: readonly { readonly ports: readonly { readonly port: string | number }[] }[];
    readonly egress: readonly { readonly ports: readonly { readonly port: string | number }[] }[];
    readonly policyTypes: readonly string[];
  };
}

let cp: ControlPlane;
const operators: OperatorProcess[] = [];

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'dry-run');
});

afterAll(async () => {
  await Promise.all(operators.map((operator) => operator.end('SIGKILL')));
  await cp?.stop();
});

async function manifests(folder: string): Promise<readonly Manifest[]> {
  return parseAllDocuments(await cp.kubectl(['kustomize', folder])).map((document) => document.toJS() as Manifest);
}

function find(all: readonly Manifest[], kind: string): Manifest {
  const found = all.find((each) => each.kind === kind);
  if (found === undefined) {
    throw new Error(`there is no ${kind}`);
  }
  return found;
}

const FORBIDDEN = [
  { verb: 'delete', resource: 'pods' },
  { verb: 'deletecollection', resource: 'pods' },
  { verb: 'create', resource: 'pods' },
  { verb: 'create', resource: 'pods', subresource: 'exec' },
  { verb: 'create', resource: 'pods', subresource: 'binding' },
  { verb: 'get', resource: 'secrets' },
  { verb: 'list', resource: 'secrets' },
  { verb: 'get', resource: 'configmaps' },
  { verb: 'patch', resource: 'nodes' },
  { verb: 'update', resource: 'nodes' },
  { verb: 'delete', resource: 'nodes' },
  { verb: 'patch', resource: 'deployments', group: 'apps' },
  { verb: 'patch', resource: 'deployments', group: 'apps', subresource: 'scale' },
  { verb: 'patch', resource: 'rebalancepolicies', group: 'evenkeel.dev' },
  { verb: 'create', resource: 'serviceaccounts', subresource: 'token' },
  { verb: 'impersonate', resource: 'users' },
  { verb: 'escalate', resource: 'clusterroles', group: 'rbac.authorization.k8s.io' },
  { verb: 'bind', resource: 'clusterroles', group: 'rbac.authorization.k8s.io' },
  { verb: '*', resource: '*', group: '*' },
];

async function allowedOf(list: readonly Readonly<Record<string, string>>[]): Promise<readonly object[]> {
  const allowed: object[] = [];
  for (const one of list) {
    if (await mayDo(cp, OPERATOR, { namespace: 'default', ...one })) {
      allowed.push(one);
    }
  }
  return allowed;
}

describe('the account of the dry-run overlay', () => {
  it('may do what its golden file says and nothing else', async () => {
    await expect(await rightsOf(cp, OPERATOR)).toMatchFileSnapshot('../golden/rbac-dry-run.txt');
  });

  it('may not evict', async () => {
    expect(await allowedOf([...FORBIDDEN, { verb: 'create', resource: 'pods', subresource: 'eviction' }])).toEqual([]);
  });
});

describe('the account of the default overlay', () => {
  beforeAll(() => install(cp, 'default'));

  it('may do what its golden file says and nothing else', async () => {
    const text = await rightsOf(cp, OPERATOR);
    await expect(text).toMatchFileSnapshot('../golden/rbac-default.txt');
    // The two wildcards are those that every authenticated user has on URLs of the API's discovery.
    const wild = text.split('\n').filter((line) => line.includes('*'));
    expect(wild.filter((line) => !/^ {2}\/(api|apis|openapi)\/\*: get$/.test(line))).toEqual([]);
  });

  it('may evict, and neither delete pods, read secrets, change nodes, nor raise its own rights', async () => {
    expect(await allowedOf(FORBIDDEN)).toEqual([]);
    const eviction = { verb: 'create', resource: 'pods', subresource: 'eviction' };
    expect(await allowedOf([eviction])).toEqual([eviction]);
  });
});

describe('the account of the default overlay with policies spread over replicas', () => {
  beforeAll(async () => {
    await installShared(cp, 'default');
  });

  it('may do what its golden file says and nothing else', async () => {
    await expect(await rightsOf(cp, OPERATOR)).toMatchFileSnapshot('../golden/rbac-shard-policies.txt');
  });

  it('may write Leases of its own namespace, and not those by which nodes and the control plane are led', async () => {
    const leases = ['list', 'watch', 'update', 'delete'].map((verb) => ({
      verb,
      resource: 'leases',
      group: 'coordination.k8s.io',
    }));
    const inNamespace = (namespace: string) => leases.map((lease) => ({ ...lease, namespace }));
    expect(await allowedOf(inNamespace('evenkeel-system'))).toEqual(inNamespace('evenkeel-system'));
    expect(await allowedOf([...inNamespace('kube-system'), ...inNamespace('kube-node-lease')])).toEqual([]);
  });
});

describe('the account of the gate overlay', () => {
  beforeAll(() => install(cp, 'gate'));

  it('may do what its golden file says and nothing else', async () => {
    await expect(await rightsOf(cp, OPERATOR)).toMatchFileSnapshot('../golden/rbac-gate.txt');
  });

  it('may not do what no overlay may', async () => {
    expect(await allowedOf(FORBIDDEN)).toEqual([]);
  });
});

describe('the pod of deploy/', () => {
  /** Creates it in a dry run of the server, as its ReplicaSet would; kubectl fails for a warning too. */
  async function tryPod(folder: string, change: (spec: PodSpec) => object = (spec) => spec): Promise<void> {
    const { template } = find(await manifests(folder), 'Deployment').spec;
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'try', namespace: 'evenkeel-system', labels: template.metadata.labels },
      spec: change(template.spec),
    };
    await cp.kubectl(['create', '--dry-run=server', '--warnings-as-errors', '-f', '-'], JSON.stringify(pod));
  }

  it.each(['default', 'dry-run', 'gate'])(
    'of the overlay %s passes Pod Security restricted without a warning',
    (overlay) => tryPod(join(OVERLAYS, overlay)),
  );

  it('with a certificate of its own passes it too', () => tryPod(withComponent(cp, 'default', 'metrics-certificate')));

  it('would be refused with one right more', async () => {
    const escalating = ({ containers: [container], ...rest }: PodSpec): object => ({
      ...rest,
      containers: [{ ...container, securityContext: { ...container.securityContext, allowPrivilegeEscalation: true } }],
    });
    await expect(tryPod(join(OVERLAYS, 'default'), escalating)).rejects.toThrow(/violates PodSecurity "restricted/);
  });

  it('is reached at the ports that it names, and reaches the API server and the DNS', async () => {
    const all = await manifests(join(OVERLAYS, 'default'));
    const [{ ports, livenessProbe, readinessProbe }] = find(all, 'Deployment').spec.template.spec.containers;
    const { ingress, egress, policyTypes } = find(all, 'NetworkPolicy').spec;
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(ingress.flatMap((rule) => rule.ports.map(({ port }) => port))).toEqual(ports.map(({ name }) => name));
    expect(egress.flatMap((rule) => rule.ports.map(({ port }) => port))).toEqual([53, 53, 443, 6443]);
    expect([livenessProbe.httpGet.port, readinessProbe.httpGet.port]).toEqual(['health', 'health']);
  });
});

describe('metrics', () => {
  const readers = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' };
  let metricsPort = 0;
  let healthPort = 0;

  beforeAll(async () => {
    const account = (name: string) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace: 'default' },
    });
    await cp.apply([
      account('prometheus'),
      account('stranger'),
      {
        ...readers,
        metadata: { name: 'prometheus-reads-evenkeel' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'evenkeel-metrics-reader' },
        subjects: [{ kind: 'ServiceAccount', name: 'prometheus', namespace: 'default' }],
      },
    ]);
    const leader = await startOperator(cp);
    operators.push(leader);
    await leader.logged('leading');
    const follower = await startOperator(cp);
    operators.push(follower);
    await follower.logged('another replica leads');
    const fields = await follower.logged('operator started');
    metricsPort = Number(fields['metricsPort']);
    healthPort = Number(fields['healthPort']);
  });

  async function bearing(account: string): Promise<Readonly<Record<string, string>>> {
    const token = await cp.kubectl(['create', 'token', account, '--namespace=default', '--duration=10m']);
    return { authorization: `Bearer ${token.trim()}` };
  }

  it('are for who may get them by RBAC, of a replica that does not lead too', async () => {
    const { code, body } = await scrape(metricsPort, '/metrics', await bearing('prometheus'));
    expect(code).toBe(200);
    expect(body).toContain('evenkeel_leader 0');
  });

  it('are not for a user without that right, nor for nobody', async () => {
    expect((await scrape(metricsPort, '/metrics', await bearing('stranger'))).code).toBe(403);
    expect((await scrape(metricsPort, '/metrics')).code).toBe(401);
    expect((await scrape(metricsPort, '/metrics', { authorization: 'Bearer made-up' })).code).toBe(401);
  });

  it('are encrypted with the certificate whose fingerprint is logged', async () => {
    const { certificate } = await scrape(metricsPort, '/metrics');
    expect(certificate).toBe((await operators[1]?.logged('operator started'))?.['certificate']);
    await expect(fetch(`http://127.0.0.1:${metricsPort}/metrics`)).rejects.toThrow();
  });

  it('are not at the health port, and health is not at theirs', async () => {
    expect((await fetch(`http://127.0.0.1:${healthPort}/healthz`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${healthPort}/metrics`)).status).toBe(404);
    expect((await scrape(metricsPort, '/healthz', await bearing('prometheus'))).code).toBe(404);
  });

  it('are no longer for an account whose binding is gone, seconds later', async () => {
    const headers = await bearing('prometheus');
    expect((await scrape(metricsPort, '/metrics', headers)).code).toBe(200);
    await cp.kubectl(['delete', 'clusterrolebinding', 'prometheus-reads-evenkeel']);
    await waitUntil(
      'the verdict is too old',
      async () => {
        const { code } = await scrape(metricsPort, '/metrics', headers);
        return code === 403 ? undefined : `${code}`;
      },
      { timeoutMilliseconds: 20_000 },
    );
  });

  it('are for nobody when the operator may not ask', async () => {
    await cp.kubectl(['delete', 'clusterrolebinding', 'evenkeel-metrics-auth']);
    await waitUntil(
      'the operator may not ask',
      async () => {
        const { code } = await scrape(metricsPort, '/metrics', await bearing('prometheus'));
        return code === 503 ? undefined : `${code}`;
      },
      { timeoutMilliseconds: 20_000 },
    );
    await waitUntil(
      'the operator says why',
      async () => (operators[1]?.log().includes('may not create tokenreviews') === true ? undefined : 'not yet'),
      { timeoutMilliseconds: 20_000 },
    );
  });
});

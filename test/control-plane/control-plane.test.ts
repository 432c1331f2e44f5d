import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedEvictions, evictions, writes } from './audit.ts';
import { listNodeMetrics, listNodes, listPods, type PodState, usedMilliCpu } from './cluster-state.ts';
import { nodeLoads } from './node-loads.ts';
import { applyScenario, waitForMetrics } from './scenario.ts';
import { parseScenario } from './scenario-parse.ts';
import { type ControlPlane, startControlPlane } from './start.ts';

const run = promisify(execFile);

const scenario = parseScenario(
  `
nodes:
- {prefix: node-, count: 2, cpu: '4', memory: 16Gi, zones: [zone-a, zone-b]}
- {name: idle, cpu: '4', memory: 16Gi, startEmpty: true}
workloads:
- name: web
  namespace: shop
  replicas: 3
  requests: {cpu: 100m, memory: 64Mi}
  usage: {cpu: 300m, memory: 200Mi}
  startup: 3s
  termination: 2s
  pdb: {maxUnavailable: 1}
  startOn: [node-1]
- {name: queue, kind: StatefulSet, namespace: shop, replicas: 1, usage: {cpu: 100m}, startOn: [node-2]}
- {name: slow, namespace: slow, replicas: 2, usage: {cpu: 50m}, startup: 4s}
`,
  'test',
);

let cp: ControlPlane;

beforeAll(async () => {
  cp = await startControlPlane();
  await applyScenario(cp, scenario);
});

afterAll(() => cp?.stop());

describe('a scenario', () => {
  it('has its nodes Ready, sized and labelled', async () => {
    const nodes = await listNodes(cp);
    expect(nodes.map((node) => node.metadata.name)).toEqual(['idle', 'node-1', 'node-2']);
    expect(nodes.every((node) => node.status.allocatable.cpu === '4')).toBe(true);
    expect(nodes.map((node) => node.metadata.labels?.['topology.kubernetes.io/zone'])).toEqual([
      undefined,
      'zone-a',
      'zone-b',
    ]);
    expect(await cp.kubectl(['wait', 'nodes', '--all', '--for=condition=Ready', '--timeout=0'])).toContain('idle');
  });

  it('starts with its pods where it says and leaves no constraint behind', async () => {
    const pods = await podsOf('shop', 'web');
    expect(pods.map((pod) => pod.spec.nodeName)).toEqual(['node-1', 'node-1', 'node-1']);
    expect(pods[0]?.spec).not.toHaveProperty('affinity');
    expect(pods[0]?.spec).not.toHaveProperty('nodeSelector');
    const nodes = await listNodes(cp);
    expect(nodes.filter((node) => node.spec.unschedulable || (node.spec.taints ?? []).length > 0)).toEqual([]);
  });

  it('makes a pod Ready after its start-up delay', async () => {
    await cp.kubectl(['scale', 'deployment/slow', '--namespace=slow', '--replicas=3']);
    await cp.kubectl(['rollout', 'status', 'deployment/slow', '--namespace=slow', '--timeout=60s']);
    const delays = (await podsOf('slow', 'slow')).map(secondsUntilReady);
    expect(delays).toHaveLength(3);
    // Of 4 s, between instants in whole seconds.
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(3);
  });
});

describe('the metrics API', () => {
  beforeAll(async () => {
    await cp.kubectl(['scale', 'deployment/slow', '--namespace=slow', '--replicas=0']);
    await cp.kubectl(['wait', 'pods', '--all', '--namespace=slow', '--for=delete', '--timeout=30s']);
    await waitForMetrics(cp);
  });

  it('answers with the usage that the pods are annotated with', async () => {
    const used = new Map((await listNodeMetrics(cp)).map((entry) => [entry.metadata.name, usedMilliCpu(entry)]));
    expect(used.get('node-1')).toBeGreaterThan(850);
    expect(used.get('node-1')).toBeLessThan(950);
    expect(used.get('node-2')).toBeGreaterThan(90);
    expect(used.get('node-2')).toBeLessThan(110);
  });

  it('has nothing on a node without pods, which counts as a load of 0', async () => {
    expect((await listNodeMetrics(cp)).map((entry) => entry.metadata.name).sort()).toEqual(['node-1', 'node-2']);
    expect((await nodeLoads(cp)).get('idle')).toBe(0);
  });

  it('serves kubectl top', async () => {
    expect(await cp.kubectl(['top', 'nodes', '--no-headers'])).toMatch(/^node-1 +\d+m +22%/m);
    expect(await cp.kubectl(['top', 'pods', '--namespace=shop', '--no-headers'])).toMatch(/^queue-0 +\d+m +1Mi/m);
  });
});

describe('an eviction', () => {
  it('on trial changes nothing and is recognised in the audit log', async () => {
    const [pod] = await podsOf('shop', 'web');
    await evict(pod, '?dryRun=All');
    const [event] = await evictionsOf(pod);
    expect(event).toMatchObject({ dryRun: true, code: 201, user: 'admin', namespace: 'shop' });
    expect(acceptedEvictions(await evictionsOf(pod))).toEqual([]);
    expect((await podsOf('shop', 'web')).every((each) => each.metadata.deletionTimestamp === undefined)).toBe(true);
  });

  it('on trial by its body is recognised too', async () => {
    const [pod] = await podsOf('shop', 'web');
    await evict(pod, '', { dryRun: ['All'] });
    expect((await evictionsOf(pod)).every((event) => event.dryRun)).toBe(true);
  });

  it('spends the disruption budget: the next one gets 429', async () => {
    const [first, second] = await podsOf('shop', 'web');
    const started = performance.now();
    await evict(first, '', { preconditions: { uid: first?.metadata.uid } });
    await expect(evict(second)).rejects.toThrow(/disruption budget/);

    const accepted = acceptedEvictions(await evictionsOf(first));
    expect(accepted).toHaveLength(1);
    expect(accepted[0]).toMatchObject({
      verb: 'create',
      uidPrecondition: first?.metadata.uid,
      stage: 'ResponseComplete',
    });
    expect((await evictionsOf(second)).map((event) => event.code)).toEqual([429]);
    expect(acceptedEvictions(await evictionsOf(second))).toEqual([]);

    await cp.kubectl(['wait', `pod/${first?.metadata.name}`, '--namespace=shop', '--for=delete', '--timeout=30s']);
    expect(performance.now() - started).toBeGreaterThan(1_800);
    await cp.kubectl(['rollout', 'status', 'deployment/web', '--namespace=shop', '--timeout=30s']);
  });
});

describe('the kubeconfig of a ServiceAccount', () => {
  const rbac = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: shop}
rules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: shop}]
`;

  it('authenticates as that account and may do what its roles allow, no more', async () => {
    await cp.apply(rbac);
    const kubeconfig = await cp.kubeconfigFor({ namespace: 'shop', name: 'reader' });
    const asReader = (...args: readonly string[]) => run(cp.bin('kubectl'), [`--kubeconfig=${kubeconfig}`, ...args]);
    const user = 'system:serviceaccount:shop:reader';
    expect((await asReader('auth', 'whoami')).stdout).toContain(user);
    expect((await asReader('get', 'pods', '--namespace=shop')).stdout).toContain('web-');
    await expect(asReader('get', 'nodes')).rejects.toThrow(/forbidden/);
    await expect(asReader('delete', 'pods', '--all', '--namespace=shop')).rejects.toThrow(/forbidden/);

    const attempts = writes(await cp.audit(), user);
    expect(attempts.length).toBeGreaterThan(0);
    expect(attempts.every((event) => event.verb === 'delete' && event.code === 403)).toBe(true);
  });

  it('is refused for an account that does not exist', async () => {
    await expect(cp.kubeconfigFor({ namespace: 'shop', name: 'nobody' })).rejects.toThrow(/"nobody" not found/);
  });
});

describe('the control plane', () => {
  it('serves MutatingAdmissionPolicy v1', async () => {
    const resources = await cp.kubectl(['api-resources', '--api-group=admissionregistration.k8s.io', '--no-headers']);
    expect(resources).toMatch(/^mutatingadmissionpolicies +admissionregistration\.k8s\.io\/v1 /m);
  });

  it('keeps its data and goes on when the API server and etcd are killed', async () => {
    const before = (await listPods(cp)).map((pod) => pod.metadata.uid).sort();
    await cp.restart('etcd');
    await cp.restart('kube-apiserver');
    expect((await listPods(cp)).map((pod) => pod.metadata.uid).sort()).toEqual(before);
    await cp.kubectl(['scale', 'deployment/web', '--namespace=shop', '--replicas=4']);
    await cp.kubectl(['rollout', 'status', 'deployment/web', '--namespace=shop', '--timeout=60s']);
  });

  it('shows the end of the log of a program that does not start', async () => {
    const failing = startControlPlane({ metricResolution: '1s', log: () => undefined });
    await expect(failing).rejects.toThrow(/metrics-server ended with 2 while starting[\s\S]*at least 10s/);
  });

  it('leaves no process and no folder when it is stopped', async () => {
    expect(await processesOf(cp.dir)).toHaveLength(7); // six servers and the watchdog
    await cp.stop();
    await cp.stop();
    expect(await processesOf(cp.dir)).toEqual([]);
    expect(existsSync(cp.dir)).toBe(false);
  });
});

async function podsOf(namespace: string, app: string): Promise<readonly PodState[]> {
  const pods = await listPods(cp);
  return pods.filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.['app'] === app);
}

/** From its creation until it was Ready, as the API server recorded it. */
function secondsUntilReady({ metadata, status }: PodState): number {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return (Date.parse(ready?.lastTransitionTime ?? '') - Date.parse(metadata.creationTimestamp)) / 1000;
}

async function evict(pod: PodState | undefined, query = '', deleteOptions: object = {}): Promise<void> {
  const { name, namespace } = pod?.metadata ?? { name: 'no such pod' };
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction${query}`;
  await cp.kubectl(['create', `--raw=${path}`, '--filename=-'], JSON.stringify(eviction));
}

async function evictionsOf(pod: PodState | undefined) {
  return evictions(await cp.audit()).filter((event) => event.name === pod?.metadata.name);
}

async function processesOf(folder: string): Promise<readonly string[]> {
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'pid,args']);
  return stdout.split('\n').filter((line) => line.includes(folder));
}

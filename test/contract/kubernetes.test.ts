import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyResource } from '../../src/adapters/kubernetes/apply.ts';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { createClusterReader } from '../../src/adapters/kubernetes/cluster-reader.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { createEventSink } from '../../src/adapters/kubernetes/events.ts';
import { createEvictor } from '../../src/adapters/kubernetes/evictor.ts';
import { createPlanStore } from '../../src/adapters/kubernetes/plan-store.ts';
import { createPolicyStore, suspendPolicy } from '../../src/adapters/kubernetes/policy-store.ts';
import { listRawSnapshot } from '../../src/adapters/kubernetes/raw-snapshot.ts';
import { createSteering } from '../../src/adapters/kubernetes/steering.ts';
import { parseObjects } from '../../src/adapters/snapshot-file/read-files.ts';
import { trimObject } from '../../src/adapters/snapshot-file/trim.ts';
import { writeSnapshot } from '../../src/adapters/snapshot-file/write-snapshot.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import type { PodInfo } from '../../src/model/pod.ts';
import { buildSnapshot } from '../../src/observe/snapshot-builder.ts';
import { ConflictError } from '../../src/ports.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { NEVER } from './fake-api-server.ts';
import {
  accountWith,
  aDeployment,
  aDisruptionBudget,
  admissionPolicy,
  aKwokNode,
  NAMESPACE,
  NEEDED_RULES,
  resourceDefinitions,
  storageObjects,
} from './kubernetes-objects.ts';

let plane: ControlPlane;
let operator: ApiClient;
let admin: ApiClient;
let stranger: ApiClient;

async function clientFrom(kubeconfig: string): Promise<ApiClient> {
  const connection = await connect({ kubeconfig, env: {} });
  return new ApiClient(connection, {
    clock: systemClock,
    random: Math.random,
    userAgent: 'evenkeel/test',
    attempts: 5,
  });
}

beforeAll(async () => {
  plane = await startControlPlane({ log: () => undefined });
  await plane.apply(resourceDefinitions());
  await plane.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: { team: 'a' } } }]);
  await plane.apply([...accountWith('operator', NEEDED_RULES), ...accountWith('stranger', [])]);
  await plane.apply([
    ...['a', 'b', 'c'].map(aKwokNode),
    aDeployment('web', 3),
    aDeployment('tight', 2),
    aDeployment('twice', 2),
  ]);
  await plane.apply([
    aDisruptionBudget('web', 'web', 1),
    aDisruptionBudget('tight', 'tight', 0),
    aDisruptionBudget('twice-1', 'twice', 1),
    aDisruptionBudget('twice-2', 'twice', 1),
  ]);
  admin = await clientFrom(plane.kubeconfig);
  operator = await clientFrom(await plane.kubeconfigFor({ namespace: NAMESPACE, name: 'operator' }));
  stranger = await clientFrom(await plane.kubeconfigFor({ namespace: NAMESPACE, name: 'stranger' }));
  await waitUntil('pods', podsMissing, { timeoutMilliseconds: 120_000 });
});

afterAll(async () => {
  await Promise.all([operator, admin, stranger].map((client) => client?.close()));
  await plane?.stop();
});

async function podsMissing(): Promise<string | undefined> {
  const { pods, usage } = await createClusterReader(admin).snapshot(NEVER);
  const ready = pods.filter((pod) => pod.ready && pod.namespace === NAMESPACE);
  const sampled = ready.filter((pod) => usage?.pods.has(`${pod.namespace}/${pod.name}`));
  return ready.length === 7 && sampled.length === 7 ? undefined : `${ready.length} ready, ${sampled.length} sampled`;
}

async function podsOf(app: string): Promise<readonly PodInfo[]> {
  const { pods } = await createClusterReader(operator).snapshot(NEVER);
  return pods.filter((pod) => pod.labels.get('app') === app && !pod.terminating);
}

async function firstPodOf(app: string): Promise<PodInfo> {
  const [pod] = await podsOf(app);
  if (pod === undefined) {
    throw new Error(`no pod of ${app}`);
  }
  return pod;
}

/** The second that a Date header would name now: the API server runs on this machine. */
function currentSecond(): number {
  return Math.floor(Date.now() / 1000);
}

/** Stores that are not watched here have nothing to tell. */
function unheard(error: unknown): never {
  throw error;
}

describe('the reader', () => {
  it('reads under the operator role what kubectl prints, from YAML and from JSON', async () => {
    const began = currentSecond();
    const live = await createClusterReader(operator).snapshot(NEVER);
    expect(live.takenAt).toBeGreaterThanOrEqual(began);
    expect(live.takenAt).toBeLessThanOrEqual(currentSecond());
    const kinds = 'nodes,pods,namespaces,rs,deploy,sts,ds,jobs,rc,pdb,pv,pvc,storageclasses,csinodes,csidrivers';
    for (const format of ['yaml', 'json']) {
      const text = await plane.kubectl(['get', kinds, '-A', '-o', format]);
      const file = buildSnapshot(parseObjects(text, `cluster.${format}`));
      expect({ ...file, takenAt: 0, usage: undefined }).toEqual({ ...live, takenAt: 0, usage: undefined });
    }
    expect(live.problems).toEqual([]);
    expect(live.nodes.map(({ name, ready }) => [name, ready])).toEqual([
      ['a', true],
      ['b', true],
      ['c', true],
    ]);
    expect(
      live.pods.filter(({ namespace }) => namespace === NAMESPACE).map(({ constraints }) => constraints.requests.cpu),
    ).toEqual(Array(7).fill(125));
  });

  it('reads volumes, and what a pod asks of them and of other pods, from the cluster and from files', async () => {
    await plane.apply(storageObjects());
    const reader = createClusterReader(operator);
    await waitUntil(
      'the claim',
      async () => {
        const { storage } = await reader.snapshot(NEVER);
        return storage.claims.get(`${NAMESPACE}/data`)?.bound ? undefined : 'not bound';
      },
      { timeoutMilliseconds: 60_000 },
    );
    const live = await reader.snapshot(NEVER);
    const kinds = 'pods,pv,pvc,storageclasses,csinodes,csidrivers';
    const printed = buildSnapshot(
      parseObjects(await plane.kubectl(['get', kinds, '-A', '-o', 'yaml']), 'volumes.yaml'),
    );
    const raw = await listRawSnapshot(operator, trimObject, NEVER);
    const file = buildSnapshot(parseObjects(writeSnapshot(raw.objects, raw.takenAt), 'snapshot.yaml'));
    expect([printed.storage, file.storage]).toEqual([live.storage, live.storage]);
    expect([printed.pods, file.pods]).toEqual([live.pods, live.pods]);
    expect(live.problems).toEqual([]);
    const { claims, volumes, classes, attachLimits } = live.storage;
    expect(claims.get(`${NAMESPACE}/data`)).toMatchObject({
      volumeName: 'disk',
      bound: true,
      lost: false,
      size: 2 ** 30,
    });
    expect(volumes.get('disk')).toMatchObject({
      claim: { namespace: NAMESPACE, name: 'data', uid: claims.get(`${NAMESPACE}/data`)?.uid },
      available: false,
      csi: { driver: 'disks.example.com', handle: 'disk-1' },
    });
    expect(volumes.get('disk')?.nodeAffinity?.[0]?.expressions[0]?.key).toBe('kubernetes.io/hostname');
    expect(classes.get('usual')).toMatchObject({ waitForFirstConsumer: true, tracksCapacity: true });
    expect(attachLimits).toEqual(new Map([['a', new Map([['disks.example.com', 3]])]]));
    const rich = live.pods.find(({ name }) => name === 'rich');
    expect(rich?.claims).toMatchObject([
      { name: 'data', template: undefined },
      { name: 'rich-scratch', template: { storageClass: 'usual', size: 2 ** 20, volumeMode: 'Filesystem' } },
    ]);
    const own = { key: 'release', operator: 'In', values: ['7'] };
    expect(rich?.constraints.podAntiAffinity[0]?.selector?.requirements).toEqual([own]);
    expect(rich?.constraints.spread).toMatchObject([{ minDomains: 1, selector: { requirements: [own] } }]);
  });

  it('reads the same from its own snapshot file, usage included, without secrets', async () => {
    const raw = await listRawSnapshot(operator, trimObject, NEVER);
    const live = await createClusterReader(operator).snapshot(NEVER);
    const text = writeSnapshot(raw.objects, raw.takenAt);
    expect(text).not.toContain('hunter2');
    const file = buildSnapshot(parseObjects(text, 'snapshot.yaml'));
    expect({ ...file, takenAt: 0, usage: undefined }).toEqual({ ...live, takenAt: 0, usage: undefined });
    expect([...(file.usage?.pods.keys() ?? [])]).toEqual([...(live.usage?.pods.keys() ?? [])]);
    expect(file.takenAt).toBe(raw.takenAt);
    const pod = await firstPodOf('web');
    expect(live.usage?.pods.get(`${NAMESPACE}/${pod.name}`)?.cpu).toBeGreaterThan(40);
  });

  it('reads single objects, and that they are gone', async () => {
    const reader = createClusterReader(operator);
    const pod = await firstPodOf('web');
    const began = currentSecond();
    const live = await reader.pod(pod, NEVER);
    expect(live.pod).toEqual(pod);
    expect(live.serverTime).toBeGreaterThanOrEqual(began);
    expect(live.serverTime).toBeLessThanOrEqual(currentSecond());
    expect(await reader.pod({ namespace: NAMESPACE, name: 'nobody' }, NEVER)).toMatchObject({ pod: undefined });
    expect((await reader.node('a', NEVER))?.name).toBe('a');
    expect(await reader.node('z', NEVER)).toBeUndefined();
    expect((await reader.nodes(NEVER)).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect((await reader.podsOnNode(pod.nodeName ?? '', NEVER)).map(({ name }) => name)).toContain(pod.name);
  });

  it('reads the pods of an owner and the owner', async () => {
    const reader = createClusterReader(operator);
    const { owner } = await firstPodOf('web');
    if (owner === undefined) {
      throw new Error('no owner');
    }
    for (let again = 0; again < 2; again += 1) {
      expect((await reader.podsOfOwner(NAMESPACE, owner, NEVER)).map(({ labels }) => labels.get('app'))).toEqual([
        'web',
        'web',
        'web',
      ]);
    }
    expect(await reader.workload(NAMESPACE, owner, NEVER)).toMatchObject({
      kind: 'ReplicaSet',
      replicas: 3,
      owner: { kind: 'Deployment', name: 'web' },
    });
    expect(await reader.workload(NAMESPACE, { ...owner, uid: 'other' }, NEVER)).toBeUndefined();
    expect(await reader.workload(NAMESPACE, { kind: 'CloneSet', name: 'x', uid: 'x' }, NEVER)).toBeUndefined();
    expect(await reader.podsOfOwner(NAMESPACE, { ...owner, name: 'gone', uid: 'gone' }, NEVER)).toEqual([]);
  });

  it('says which right is missing', async () => {
    await expect(createClusterReader(stranger).snapshot(NEVER)).rejects.toMatchObject({
      kind: 'Forbidden',
      message: expect.stringMatching(/^may not list .*cannot list resource .*grant the verb list on /),
    });
  });
});

describe('the evictor', () => {
  it('refuses what a budget refuses, in a dry run too', async () => {
    const evictor = createEvictor(operator);
    const pod = await firstPodOf('tight');
    for (const dryRun of [true, false]) {
      expect(await evictor.evict(pod, { dryRun }, NEVER)).toEqual({
        kind: 'RefusedByBudget',
        message: 'The disruption budget tight needs 2 healthy pods and has 2 currently',
      });
    }
  });

  it('refuses a pod with two budgets for good', async () => {
    const answer = await createEvictor(operator).evict(await firstPodOf('twice'), { dryRun: true }, NEVER);
    expect(answer).toMatchObject({
      kind: 'Refused',
      message: expect.stringContaining('more than one PodDisruptionBudget'),
    });
  });

  it('refuses without the right', async () => {
    const answer = await createEvictor(stranger).evict(await firstPodOf('web'), { dryRun: true }, NEVER);
    expect(answer).toMatchObject({
      kind: 'Forbidden',
      message: expect.stringContaining('grant the verb create on pods/eviction'),
    });
  });

  it('knows that another incarnation of the name is not meant, and that nobody is there', async () => {
    const evictor = createEvictor(operator);
    const pod = await firstPodOf('web');
    expect(
      await evictor.evict({ ...pod, uid: '00000000-0000-0000-0000-000000000000' }, { dryRun: true }, NEVER),
    ).toEqual({ kind: 'Gone' });
    expect(await evictor.evict({ ...pod, name: 'nobody' }, { dryRun: false }, NEVER)).toEqual({ kind: 'Gone' });
  });

  it('evicts once, and changes nothing in a dry run', async () => {
    const evictor = createEvictor(operator);
    const pod = await firstPodOf('web');
    expect(await evictor.evict(pod, { dryRun: true }, NEVER)).toEqual({ kind: 'Accepted' });
    expect((await createClusterReader(operator).pod(pod, NEVER)).pod).toEqual(pod);
    expect(await evictor.evict(pod, { dryRun: false }, NEVER)).toEqual({ kind: 'Accepted' });
    await waitUntil(
      'replacement',
      async () => ((await podsOf('web')).some(({ uid }) => uid === pod.uid) ? pod.name : undefined),
      { timeoutMilliseconds: 60_000 },
    );
    expect(await evictor.evict(pod, { dryRun: false }, NEVER)).toEqual({ kind: 'Gone' });
  });
});

const policy = (name: string, spec: object) => ({
  apiVersion: 'evenkeel.dev/v1alpha1',
  kind: 'RebalancePolicy',
  metadata: { name },
  spec,
});

const options = { fieldManager: 'evenkeel', force: false, dryRun: 'none' } as const;

describe('policies', () => {
  it('are applied, and it is said what that changed', async () => {
    expect(await applyResource(admin, policy('p', {}), { ...options, dryRun: 'server' }, NEVER)).toBe('created');
    expect(await applyResource(admin, policy('p', {}), { ...options, dryRun: 'client' }, NEVER)).toBe('created');
    expect(await applyResource(admin, policy('p', {}), options, NEVER)).toBe('created');
    expect(await applyResource(admin, policy('p', {}), options, NEVER)).toBe('unchanged');
    expect(await applyResource(admin, policy('p', { suspend: true }), options, NEVER)).toBe('configured');
    await expect(applyResource(admin, policy('p', { mode: 'Never' }), options, NEVER)).rejects.toMatchObject({
      kind: 'Invalid',
      message: expect.stringContaining('mode'),
    });
    await plane.kubectl([
      'patch',
      'rbp',
      'p',
      '--type=merge',
      '-p',
      '{"spec":{"suspend":false}}',
      '--field-manager=somebody',
    ]);
    await expect(applyResource(admin, policy('p', { suspend: true }), options, NEVER)).rejects.toMatchObject({
      kind: 'Conflict',
      message: expect.stringContaining('somebody'),
    });
    expect(await applyResource(admin, policy('p', { suspend: true }), { ...options, force: true }, NEVER)).toBe(
      'configured',
    );
  });

  it('are listed with defaults, status replaced at every level', async () => {
    const store = createPolicyStore(operator, () => undefined);
    const find = async () => (await store.list(NEVER)).find(({ policy: { metadata } }) => metadata.name === 'p');
    const stored = await find();
    expect(stored).toMatchObject({
      invalid: [],
      policy: { kind: 'RebalancePolicy', spec: { strategy: { type: 'RefineLB' }, mode: 'DryRun' } },
    });
    if (stored === undefined) {
      throw new Error('no policy');
    }
    const plan = {
      name: 'x',
      hash: '',
      phase: 'Proposed',
      moves: { total: 0, done: 0, failed: 0, skipped: 0 },
      imbalance: {},
      topMoves: [],
      skipped: { NotHeavy: 3, InBalance: 1 },
    };
    await store.writeStatus(stored.policy, { observedGeneration: 1, hitRatio: '1', plan }, NEVER);
    const second = await find();
    await store.writeStatus(
      second?.policy ?? stored.policy,
      { observedGeneration: 2, plan: { ...plan, skipped: { InBalance: 2 } } },
      NEVER,
    );
    expect((await find())?.policy.status).toEqual({
      observedGeneration: 2,
      plan: { ...plan, skipped: { InBalance: 2 } },
    });
    const other = {
      ...stored.policy,
      metadata: { ...stored.policy.metadata, uid: '00000000-0000-0000-0000-000000000000' },
    };
    await expect(store.writeStatus(other, {}, NEVER)).rejects.toBeInstanceOf(ConflictError);
    await expect(store.writeStatus({ ...stored.policy, metadata: { name: 'gone' } }, {}, NEVER)).rejects.toBeInstanceOf(
      ConflictError,
    );
  });

  it('are suspended', async () => {
    await plane.kubectl(['patch', 'rbp', 'p', '--type=merge', '-p', '{"spec":{"suspend":false}}']);
    await suspendPolicy(admin, 'p', NEVER);
    expect(await plane.kubectl(['get', 'rbp', 'p', '-o', 'jsonpath={.spec.suspend}'])).toBe('true');
    await expect(suspendPolicy(admin, 'nobody', NEVER)).rejects.toMatchObject({ kind: 'NotFound' });
    await expect(suspendPolicy(operator, 'p', NEVER)).rejects.toMatchObject({ kind: 'Forbidden' });
  });
});

function anEmptyPlan(name: string): RebalancePlan {
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'RebalancePlan',
    metadata: { name, labels: { 'evenkeel.dev/policy': 'p' } },
    spec: {
      policy: { name: 'p', uid: 'u', generation: 1 },
      strategy: 'RefineLB',
      takenAt: '2026-01-01T00:00:00Z',
      outcome: 'Moves',
      message: 'one move',
      hash: 'abc',
      approved: false,
      moves: [],
      rejections: [],
      rejectionCounts: {},
    },
    status: { phase: 'AwaitingApproval', message: 'waiting' },
  };
}

describe('plans', () => {
  it('are created with their status, once', async () => {
    const store = createPlanStore(operator, unheard);
    const created = await store.create(anEmptyPlan('first'), NEVER);
    expect(created).toMatchObject({ kind: 'RebalancePlan', status: { phase: 'AwaitingApproval' } });
    expect(await store.get('first', NEVER)).toEqual(created);
    expect(await store.list(NEVER)).toEqual([created]);
    await expect(store.create(anEmptyPlan('first'), NEVER)).rejects.toBeInstanceOf(ConflictError);
  });

  it('have a status that is written only over the one that was read', async () => {
    const store = createPlanStore(operator, unheard);
    const read = await store.create(anEmptyPlan('second'), NEVER);
    const written = await store.writeStatus(read, { phase: 'Executing' }, NEVER);
    expect(written.status).toEqual({ phase: 'Executing' });
    await expect(store.writeStatus(read, { phase: 'Aborted' }, NEVER)).rejects.toBeInstanceOf(ConflictError);
    await store.remove('second', NEVER);
    await expect(store.writeStatus(written, { phase: 'Completed' }, NEVER)).rejects.toBeInstanceOf(ConflictError);
  });

  it('are approved by those who may, and removed', async () => {
    const store = createPlanStore(admin, unheard);
    expect((await store.approve('first', NEVER)).spec.approved).toBe(true);
    await expect(store.approve('nobody', NEVER)).rejects.toMatchObject({ kind: 'NotFound' });
    await store.remove('first', NEVER);
    await store.remove('first', NEVER);
    expect(await store.get('first', NEVER)).toBeUndefined();
  });
});

describe('the watch', () => {
  it('hears of policies and plans, through a crash of the API server', async () => {
    const controller = new AbortController();
    const errors: unknown[] = [];
    let changes = 0;
    const heard = async (what: string, work: () => Promise<unknown>) => {
      const before = changes;
      await work();
      await waitUntil(what, async () => (changes > before ? undefined : 'no change'), { timeoutMilliseconds: 60_000 });
    };
    const failed = (error: unknown): void => void errors.push(error);
    const changed = (): void => {
      changes += 1;
    };
    const watching = Promise.all([
      createPolicyStore(operator, failed).watch(changed, controller.signal),
      createPlanStore(operator, failed).watch(changed, controller.signal),
    ]);
    await heard('the first list', async () => undefined);
    await waitUntil('both lists', async () => (changes >= 2 ? undefined : 'one'), { timeoutMilliseconds: 10_000 });
    await heard('a policy', () => applyResource(admin, policy('q', {}), options, NEVER));
    await heard('a plan', () => createPlanStore(operator, unheard).create(anEmptyPlan('third'), NEVER));
    await heard('a deletion', () => createPlanStore(operator, unheard).remove('third', NEVER));
    await plane.restart('kube-apiserver');
    await heard('a policy after a restart', () => plane.kubectl(['delete', 'rbp', 'q']));
    expect(errors.length).toBeGreaterThan(0);
    controller.abort();
    await watching;
  });
});

describe('steering', () => {
  it('by the admission policy is offered when policy and binding are there, and not without the right to see them', async () => {
    const offer = async (client: ApiClient) => (await createSteering(client).offers(NEVER)).AdmissionPolicy;
    const missing = 'MutatingAdmissionPolicy v1 is served, but evenkeel-placement';
    expect(await offer(operator)).toEqual({ available: false, why: `${missing} is not installed` });
    expect(await offer(stranger)).toEqual({
      available: false,
      why: expect.stringContaining(
        'may not get mutatingadmissionpolicies.admissionregistration.k8s.io "evenkeel-placement"',
      ),
    });
    const [admission, binding] = admissionPolicy();
    await plane.apply([admission ?? {}]);
    expect(await offer(operator)).toEqual({ available: false, why: `${missing} has no binding` });
    await plane.apply([binding ?? {}]);
    expect(await offer(operator)).toEqual({
      available: true,
      why: 'MutatingAdmissionPolicy v1 is served and evenkeel-placement is installed',
    });
  });

  it('by the webhook is offered when this process serves it and the API server can verify it', async () => {
    const offer = async (client: ApiClient, problem?: string) =>
      (await createSteering(client, () => ({ problem: () => problem })).offers(NEVER)).Webhook;
    expect((await createSteering(admin).offers(NEVER)).Webhook.why).toBe('the operator serves no webhook');
    expect((await offer(admin)).why).toContain('there is no MutatingWebhookConfiguration evenkeel');
    const webhooks = [
      {
        name: 'placement.evenkeel.dev',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url: 'https://127.0.0.1:1/placement' },
      },
    ];
    const configuration = { metadata: { name: 'evenkeel' }, webhooks };
    const apiVersion = 'admissionregistration.k8s.io/v1';
    await plane.apply([{ apiVersion, kind: 'MutatingWebhookConfiguration', ...configuration }]);
    expect(await offer(admin)).toMatchObject({ available: true });
    expect(await offer(admin, 'it is expired')).toEqual({ available: false, why: 'it is expired' });
    expect(await offer(stranger)).toMatchObject({ available: false, why: expect.stringContaining('may not get') });
    await plane.kubectl(['delete', 'mutatingwebhookconfiguration', 'evenkeel']);
  });

  it('places one hint for a pod, owned by the plan, and removes it', async () => {
    const steering = createSteering(operator);
    const plan = await createPlanStore(operator, unheard).create(anEmptyPlan(`long-${'x'.repeat(100)}`), NEVER);
    const hint = {
      ownerUID: 'owner',
      nodeName: 'a',
      plan: plan.metadata.name,
      podUID: '11111111-2222-3333-4444-555555555555',
    };
    await steering.place(NAMESPACE, hint, plan, NEVER);
    await steering.place(NAMESPACE, { ...hint, nodeName: 'b' }, plan, NEVER);
    const hints = await steering.list(NEVER);
    expect(hints).toMatchObject([
      {
        kind: 'PlacementHint',
        metadata: { namespace: NAMESPACE, ownerReferences: [{ kind: 'RebalancePlan', uid: plan.metadata.uid }] },
        spec: hint,
      },
    ]);
    await steering.remove(NAMESPACE, hint.podUID, NEVER);
    await steering.remove(NAMESPACE, hint.podUID, NEVER);
    expect(await steering.list(NEVER)).toEqual([]);
    await createPlanStore(operator, unheard).remove(plan.metadata.name, NEVER);
  });
});

describe('events', () => {
  it('are stored beside the pod, and in default for a policy', async () => {
    const lost: string[] = [];
    const sink = createEventSink(operator, { instance: 'test', report: (message) => lost.push(message) });
    const pod = await firstPodOf('web');
    await sink.send(
      {
        type: 'Normal',
        reason: 'MoveStarted',
        note: 'x'.repeat(3000),
        regarding: { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid },
      },
      NEVER,
    );
    await sink.send(
      {
        type: 'Warning',
        reason: 'PlanAborted',
        note: 'why',
        regarding: { kind: 'RebalancePolicy', name: 'p', uid: 'u' },
      },
      NEVER,
    );
    expect(lost).toEqual([]);
    const described = await plane.kubectl(['describe', 'pod', pod.name, '-n', NAMESPACE]);
    expect(described).toContain('MoveStarted');
    const column =
      'jsonpath={range .items[?(@.reportingController=="evenkeel.dev/operator")]}{.metadata.namespace}/{.reason} {end}';
    expect((await plane.kubectl(['get', 'events.events.k8s.io', '-A', '-o', column])).trim().split(' ').sort()).toEqual(
      ['default/PlanAborted', `${NAMESPACE}/MoveStarted`],
    );
  });

  it('that are lost are reported and nothing else', async () => {
    const lost: string[] = [];
    const sink = createEventSink(stranger, { instance: 'test', report: (message) => lost.push(message) });
    await sink.send(
      { type: 'Normal', reason: 'PlanComputed', note: '', regarding: { kind: 'RebalancePolicy', name: 'p', uid: 'u' } },
      NEVER,
    );
    expect(lost).toEqual([expect.stringContaining('grant the verb create on events')]);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NO_CONTAINER_STATES } from '../../../src/model/pod.ts';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aRawPod, type Raw } from '../../support/builders/raw.ts';

function podOf(raw: Raw) {
  return projectPod(raw, createInterner()).pod;
}

/** cpu and memory of a pod with this spec and status, the units in which tests are easy to read. */
function requestsOf(spec: Raw, status: Raw = {}) {
  const { cpu, memory, extended } = podOf(aRawPod('p', { spec, status })).constraints.requests;
  return { cpu, memory, extended: Object.fromEntries(extended) };
}

function container(requests: Raw, more: Raw = {}): Raw {
  return { name: 'c', resources: { requests }, ...more };
}

describe('requests of a pod', () => {
  it('are zero without any', () => {
    expect(requestsOf({ containers: [{ name: 'c' }] })).toEqual({ cpu: 0, memory: 0, extended: {} });
  });

  it('sum the containers before rounding up', () => {
    const containers = [container({ cpu: '0.1m', memory: '1.5' }), container({ cpu: '0.1m', memory: '1.5' })];
    expect(requestsOf({ containers })).toEqual({ cpu: 1, memory: 3, extended: {} });
  });

  it('take the limit where a request is absent, as the API server does', () => {
    const limited = { name: 'c', resources: { requests: { cpu: '1' }, limits: { cpu: '2', memory: '3' } } };
    expect(requestsOf({ containers: [limited] })).toEqual({ cpu: 1000, memory: 3, extended: {} });
  });

  it('cover the largest init container with the sidecars that started before it', () => {
    const initContainers = [
      container({ cpu: '100m' }, { name: 'sidecar', restartPolicy: 'Always' }),
      container({ cpu: '1' }, { name: 'migrate' }),
      container({ cpu: '50m' }, { name: 'late-sidecar', restartPolicy: 'Always' }),
    ];
    expect(requestsOf({ containers: [container({ cpu: '200m' })], initContainers }).cpu).toBe(1100);
    expect(requestsOf({ containers: [container({ cpu: '2' })], initContainers }).cpu).toBe(2150);
  });

  it('add the overhead of the runtime class', () => {
    expect(requestsOf({ containers: [container({ cpu: '1' })], overhead: { cpu: '250m', memory: '10' } })).toEqual({
      cpu: 1250,
      memory: 10,
      extended: {},
    });
  });

  it('prefer pod-level requests for cpu, memory and huge pages only', () => {
    const resources = { requests: { cpu: '3', 'example.com/gpu': '9' }, limits: { memory: '77' } };
    expect(requestsOf({ containers: [container({ cpu: '1', 'example.com/gpu': '1' })], resources })).toEqual({
      cpu: 3000,
      memory: 77,
      extended: { 'example.com/gpu': 1 },
    });
  });

  it('count extended resources and huge pages, and ignore unprefixed words', () => {
    const amounts = { 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi', bogus: '1', 'example.com/none': '0' };
    expect(requestsOf({ containers: [container(amounts)] }).extended).toEqual({
      'example.com/gpu': 2,
      'hugepages-2Mi': 4 * 1024 * 1024,
    });
  });

  it.each([
    ['example.com/gpu', true],
    ['kubernetes.io/batch', true],
    ['example.com/requests', true],
    ['requests.example.com/gpu', false],
    ['requests.kubernetes.io/batch', true],
    ['hugepages-1Gi', true],
    ['my-hugepages-1Gi', false],
    ['attachable-volumes-csi', true],
    ['some-attachable-volumes-csi', false],
    ['pods', false],
    ['cpu', false],
    ['memory', false],
    ['ephemeral-storage', false],
  ])('count %s among what the scheduler calls scalar: %s', (name, isScalar) => {
    expect(requestsOf({ containers: [container({ [name]: '3' })] }).extended).toEqual(isScalar ? { [name]: 3 } : {});
  });

  it('are rounded up, each in its unit', () => {
    const amounts = { cpu: '1.0001', memory: '1.5', 'ephemeral-storage': '2.5', 'example.com/gpu': '500m' };
    expect(podOf(aRawPod('p', { spec: { containers: [container(amounts)] } })).constraints.requests).toEqual({
      cpu: 1001,
      memory: 2,
      ephemeralStorage: 3,
      extended: new Map([['example.com/gpu', 1]]),
    });
  });

  it('are text, with blanks around it or without, or numbers, or nothing, which is zero', () => {
    const amounts = { cpu: 1.5, memory: ' 3 ', 'example.com/gpu': null };
    expect(requestsOf({ containers: [container(amounts)] })).toEqual({ cpu: 1500, memory: 3, extended: {} });
  });

  it.each([
    [true, 'true is not a quantity: write 250m, 1.5 or 512Mi'],
    [['1'], 'is not a quantity: write 250m, 1.5 or 512Mi'],
    ['1x', '"1x" is not a quantity'],
    ['-1n', '"-1n" is negative'],
    [-1, '-1 is negative'],
  ])('are not %j, and it is said in which field', (cpu, problem) => {
    const { pods, problems } = buildSnapshot([aRawPod('p', { spec: { containers: [container({ cpu })] } })]);
    expect(pods).toEqual([]);
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems[0]).toContain('Pod shop/p: spec.containers[0].resources.requests.cpu: ');
  });
});

describe('requests of arbitrary pods', () => {
  /** Made once with SetObjectDefaults_Pod and PodInfo.CalculateResource of Kubernetes 1.36.3. */
  const vectors = readFileSync(new URL('./pod-requests.vectors.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n');

  it.each(vectors.map((line, index) => [index, JSON.parse(line)]))(
    'are those of the scheduler, %d',
    (_, { pod, requests }) => {
      const { extended, ...rest } = podOf({ metadata: { name: 'p' }, ...pod }).constraints.requests;
      expect({ ...rest, extended: Object.fromEntries(extended) }).toEqual(requests);
    },
  );
});

describe('requests of a pod that is resized in place', () => {
  const spec = { containers: [container({ cpu: '1' })] };
  const containerStatuses = [
    { name: 'c', allocatedResources: { cpu: '2' }, resources: { requests: { cpu: '1500m' } } },
  ];

  it('are the largest of spec, allocated and actuated', () => {
    expect(requestsOf(spec, { containerStatuses }).cpu).toBe(2000);
    expect(requestsOf({ containers: [container({ cpu: '3' })] }, { containerStatuses }).cpu).toBe(3000);
  });

  it('leave out a spec that the node cannot satisfy', () => {
    const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }];
    expect(requestsOf({ containers: [container({ cpu: '9' })] }, { containerStatuses, conditions }).cpu).toBe(2000);
  });

  it('are told apart for pods of one template of which one cannot be resized', () => {
    const interner = createInterner();
    const requestsWith = (...conditions: readonly Raw[]) => {
      const raw = aRawPod('p', {
        spec: { containers: [container({ cpu: '9' })] },
        status: { containerStatuses, conditions },
      });
      return projectPod(raw, interner).pod.constraints.requests.cpu;
    };
    expect(requestsWith()).toBe(9000);
    expect(requestsWith({ type: 'PodResizePending', status: 'True', reason: 'Infeasible' })).toBe(2000);
    expect(requestsWith({ type: 'PodResizePending', status: 'True', reason: 'Deferred' })).toBe(9000);
  });

  it('ignore a status that reports no resources', () => {
    expect(requestsOf(spec, { containerStatuses: [{ name: 'c', allocatedResources: { cpu: '2' } }] }).cpu).toBe(1000);
  });

  it('stay those of the containers for what a pod without limits of its own does not request', () => {
    const containers = [{ name: 'c', resources: { limits: { memory: '5' } } }];
    const resized = [{ name: 'c', allocatedResources: { memory: '9' }, resources: { requests: { memory: '9' } } }];
    const requested = (resources: Raw) => requestsOf({ containers, resources }, { containerStatuses: resized });
    expect(requested({ requests: { cpu: '1' } })).toMatchObject({ cpu: 1000, memory: 9 });
    expect(requested({ requests: { cpu: '1' }, limits: { cpu: '2' } })).toMatchObject({ cpu: 1000, memory: 5 });
  });

  it('follow the pod-level status too', () => {
    const resources = { requests: { cpu: '1', memory: '5' } };
    const status = { resources: { requests: { cpu: '4' } }, allocatedResources: { cpu: '2' } };
    expect(requestsOf({ ...spec, resources }, status)).toMatchObject({ cpu: 4000, memory: 5 });
  });
});

describe('projectPod', () => {
  it('keeps what the planner reads', () => {
    expect(
      podOf(aRawPod('web-1', { metadata: { annotations: { 'evenkeel.dev/do-not-evict': 'true', other: 'x' } } })),
    ).toMatchObject({
      namespace: 'shop',
      name: 'web-1',
      uid: 'pod-web-1',
      owner: { kind: 'ReplicaSet', name: 'web', uid: 'rs-web' },
      nodeName: 'a',
      phase: 'Running',
      ready: true,
      readySince: Date.parse('2026-01-01T00:00:05Z') / 1000,
      createdAt: Date.parse('2026-01-01T00:00:00Z') / 1000,
      terminating: false,
      mirror: false,
      localStorage: false,
      annotations: new Map([['evenkeel.dev/do-not-evict', 'true']]),
    });
  });

  it('takes labels such as __proto__ and constructor as any other', () => {
    const raw: unknown = JSON.parse(
      '{"metadata":{"name":"p","labels":{"__proto__":"a","constructor":"b","toString":"c"}}}',
    );
    const { labels } = podOf(raw as Raw);
    expect([...labels]).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ]);
  });

  it('knows static pods by annotation, source and owner', () => {
    const annotated = (annotations: Raw) => podOf(aRawPod('p', { metadata: { annotations } })).mirror;
    expect(annotated({ 'kubernetes.io/config.mirror': 'hash' })).toBe(true);
    expect(annotated({ 'kubernetes.io/config.source': 'file' })).toBe(true);
    expect(annotated({ 'kubernetes.io/config.source': 'api' })).toBe(false);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'n', controller: true }];
    expect(podOf(aRawPod('p', { metadata: { ownerReferences } })).mirror).toBe(true);
  });

  it('has the priority that it says, else 0 until its class is known', () => {
    const read = (priority: number | undefined) =>
      projectPod(aRawPod('p', { spec: { priority, priorityClassName: 'high' } }), createInterner());
    expect(read(7)).toMatchObject({ pod: { priority: 7, priorityClassName: 'high' }, priorityUnknown: false });
    expect(read(0)).toMatchObject({ pod: { priority: 0 }, priorityUnknown: false });
    expect(read(undefined)).toMatchObject({ pod: { priority: 0 }, priorityUnknown: true });
  });

  it.each(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'])('knows the phase %s', (phase) => {
    expect(podOf(aRawPod('p', { status: { phase } })).phase).toBe(phase);
  });

  it('does not take another word for a phase', () => {
    expect(() => podOf(aRawPod('p', { status: { phase: 'Sleeping' } }))).toThrow(
      '"Sleeping" is not a phase: write Pending, Running, Succeeded, Failed, Unknown',
    );
  });

  it('is not Ready without a condition that says so, unless it was written by hand, runs and has no conditions', () => {
    const readyOf = (metadata: Raw, status: Raw) => podOf({ metadata: { name: 'p', ...metadata }, status }).ready;
    expect(readyOf({}, { phase: 'Running' })).toBe(true);
    expect(readyOf({ uid: 'u' }, { phase: 'Running' })).toBe(false);
    expect(readyOf({}, { phase: 'Pending' })).toBe(false);
    expect(readyOf({}, { phase: 'Running', conditions: [] })).toBe(false);
    expect(readyOf({}, { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] })).toBe(false);
    expect(readyOf({ uid: 'u' }, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })).toBe(true);
  });

  it('is no static pod without an annotation or an owner that says so', () => {
    expect(podOf(aRawPod('p')).mirror).toBe(false);
    expect(podOf(aRawPod('p', { metadata: { ownerReferences: [] } })).mirror).toBe(false);
    const annotations = { 'kubernetes.io/config.source': 'api', 'kubernetes.io/config.mirror': '' };
    expect(podOf(aRawPod('p', { metadata: { annotations } })).mirror).toBe(true);
  });

  it('takes an empty text of its status for none', () => {
    const { phase, reason, priorityClassName } = podOf(
      aRawPod('p', { spec: { priorityClassName: '' }, status: { phase: '', reason: '' } }),
    );
    expect([phase, reason, priorityClassName]).toEqual(['Pending', undefined, undefined]);
    expect(podOf(aRawPod('p', { spec: { nodeName: '' } })).nodeName).toBeUndefined();
  });

  it('is not counted by its Job while one of its finalizers is that of the Job', () => {
    const uncounted = (...finalizers: readonly string[]) => podOf(aRawPod('p', { metadata: { finalizers } })).uncounted;
    expect(uncounted('example.com/other', 'batch.kubernetes.io/job-tracking')).toBe(true);
    expect(uncounted('example.com/other')).toBe(false);
  });

  it('ignores owners that do not control it', () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }];
    expect(podOf(aRawPod('p', { metadata: { ownerReferences } })).owner).toBeUndefined();
  });

  it('takes a pod written by hand and bound as Running and Ready, one from a server as it is', () => {
    const spec = { nodeName: 'a', containers: [] };
    expect(podOf({ metadata: { name: 'p' }, spec })).toMatchObject({ uid: 'default/p', phase: 'Running', ready: true });
    expect(podOf({ metadata: { name: 'p' }, spec: { containers: [] } })).toMatchObject({
      phase: 'Pending',
      ready: false,
    });
    expect(podOf({ metadata: { name: 'p', uid: 'u' }, spec })).toMatchObject({ phase: 'Pending', ready: false });
  });

  it('knows the node that is kept for a pod without one', () => {
    const nominated = (nodeName: string | undefined, nominatedNodeName?: string) =>
      podOf(aRawPod('p', { spec: { nodeName }, status: { nominatedNodeName } })).nominatedNode;
    expect(nominated(undefined, 'b')).toBe('b');
    expect(nominated(undefined, '')).toBeUndefined();
    expect(nominated(undefined)).toBeUndefined();
    expect(nominated('a', 'b')).toBeUndefined();
  });

  it('gives pods of one template one constraints object, whatever the order of keys', () => {
    const interner = createInterner();
    const spec = (requests: Raw) => ({ nodeSelector: { disk: 'ssd', arch: 'x' }, containers: [container(requests)] });
    const first = projectPod(aRawPod('p', { spec: spec({ cpu: '1', memory: '1Gi' }) }), interner).pod;
    const other = {
      nodeSelector: { arch: 'x', disk: 'ssd' },
      containers: [container({ memory: '1024Mi', cpu: '1000m' })],
    };
    const second = projectPod(aRawPod('q', { spec: other }), interner).pod;
    expect(second.constraints).toBe(first.constraints);
    expect(second.labels).toBe(first.labels);
    expect(projectPod(aRawPod('r', { spec: spec({ cpu: '2' }) }), interner).pod.constraints).not.toBe(
      first.constraints,
    );
  });
});

describe('what a pod is worth, and how it fares', () => {
  const read = (object: Raw) => {
    const { qosClass, deletionCost, restarts, initRestarts } = projectPod(object, createInterner()).pod;
    return { qosClass, deletionCost, restarts, initRestarts };
  };

  it('is read from its status and the annotation of ReplicaSets', () => {
    const status = {
      qosClass: 'Guaranteed',
      containerStatuses: [
        { name: 'a', restartCount: 3 },
        { name: 'b', restartCount: 4 },
      ],
      initContainerStatuses: [{ name: 'c', restartCount: 2 }, { name: 'd' }],
    };
    const metadata = { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-7' } };
    expect(read(aRawPod('p', { status, metadata }))).toEqual({
      qosClass: 'Guaranteed',
      deletionCost: -7,
      restarts: 7,
      initRestarts: 2,
    });
  });

  it('names the status whose restarts are no number', () => {
    const statuses = [{ name: 'a' }, { name: 'b', restartCount: 'many' }];
    expect(() => read(aRawPod('p', { status: { containerStatuses: statuses } }))).toThrow(
      'status.containerStatuses[1].restartCount: "many" is not a whole number',
    );
    expect(() => read(aRawPod('p', { status: { initContainerStatuses: statuses } }))).toThrow(
      'status.initContainerStatuses[1].restartCount',
    );
  });

  it('says why it or its containers wait or ended, and whether its Job has counted it', () => {
    const status = {
      phase: 'Failed',
      reason: 'Evicted',
      containerStatuses: [
        { name: 'a', state: { waiting: { reason: 'CrashLoopBackOff' } } },
        { name: 'b', state: { terminated: { reason: 'OOMKilled', exitCode: 137 } } },
        { name: 'c', state: { running: {} }, lastState: { terminated: { reason: 'Error', exitCode: 1 } } },
      ],
      initContainerStatuses: [{ name: 'd', state: { terminated: { exitCode: 2 } } }],
    };
    const metadata = { finalizers: ['batch.kubernetes.io/job-tracking'] };
    const { pod } = projectPod(aRawPod('p', { status, metadata }), createInterner());
    expect([pod.reason, pod.states, pod.initStates, pod.uncounted]).toEqual([
      'Evicted',
      { reasons: ['CrashLoopBackOff', 'OOMKilled'], exitCodes: [137] },
      { reasons: [], exitCodes: [2] },
      true,
    ]);
    const plain = projectPod(aRawPod('p'), createInterner()).pod;
    expect([plain.reason, plain.states, plain.initStates, plain.uncounted]).toEqual([
      undefined,
      NO_CONTAINER_STATES,
      NO_CONTAINER_STATES,
      false,
    ]);
  });

  it.each([
    ['0', 0],
    ['7', 7],
    ['-7', -7],
    ['2147483647', 2_147_483_647],
    ['-2147483648', -2_147_483_648],
    ['2147483648', 0],
    ['-2147483649', 0],
    ['+7', 0],
    ['007', 0],
    ['-007', -7],
    ['-0', 0],
    ['-', 0],
    ['7 ', 0],
    ['7.5', 0],
    ['', 0],
  ])('costs to delete what a ReplicaSet takes %j for: %i', (text, cost) => {
    const metadata = { annotations: { 'controller.kubernetes.io/pod-deletion-cost': text } };
    expect(read(aRawPod('p', { metadata })).deletionCost).toBe(cost);
  });

  it.each(['Guaranteed', 'Burstable', 'BestEffort'])('is %s where its status says so', (qosClass) => {
    expect(read(aRawPod('p', { status: { qosClass } })).qosClass).toBe(qosClass);
  });

  it('says nothing of containers that run, wait for no reason or say none, and takes an exit without a code for 0', () => {
    const statesOf = (...states: readonly Raw[]) =>
      podOf(aRawPod('p', { status: { containerStatuses: states.map((state) => ({ name: 'c', state })) } })).states;
    expect(statesOf({ running: {} }, { waiting: {} }, { waiting: { reason: '' } })).toBe(NO_CONTAINER_STATES);
    expect(statesOf({ terminated: {} })).toEqual({ reasons: [], exitCodes: [0] });
    expect(statesOf({ waiting: { reason: 'ErrImagePull' } })).toEqual({ reasons: ['ErrImagePull'], exitCodes: [] });
    expect(statesOf({ terminated: { reason: 'Error', exitCode: 3 } }, { terminated: { exitCode: 4 } })).toEqual({
      reasons: ['Error'],
      exitCodes: [3, 4],
    });
  });

  it('is Burstable, of no cost and without restarts where nothing says so', () => {
    const metadata = { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '1e3' } };
    expect(read(aRawPod('p', { metadata }))).toEqual({
      qosClass: 'Burstable',
      deletionCost: 0,
      restarts: 0,
      initRestarts: 0,
    });
  });
});

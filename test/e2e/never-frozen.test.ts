import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCHEDULING_GATE } from '../../src/model/gate.ts';
import { CLASS_LABEL } from '../../src/qos/class-of.ts';
import { stopKubelet } from '../campaigns/disturb.ts';
import { serviceClassObject } from '../campaigns/requests.ts';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { hasCondition, listNodes, listPods, type PodState } from '../control-plane/cluster-state.ts';
import { nodeObject } from '../control-plane/scenario-objects.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { type ObjectWatch, watchPods } from '../support/object-watch.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, policyObject } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const NAMESPACE = 'frozen';
const NODES = 20;
const FAILING = 3;
const FULL = 10;
/** Milliseconds in which the operator has planned after what came last. */
const SETTLE = 5000;

/** A Deployment whose pods wait at the gate; those of class prod may wait for nobody, those of class crew run together. */
interface Request {
  readonly app: string;
  readonly namespace?: string;
  readonly className: 'prod' | 'free' | 'crew';
  readonly group: string;
  readonly cpu?: string;
  readonly replicas?: number;
  readonly node?: string;
  readonly grace?: string;
}

function requestObject({ app, namespace = NAMESPACE, className, group, ...rest }: Request): object {
  const { cpu = '1', replicas = 1, node, grace = '200ms' } = rest;
  const host = node === undefined ? {} : { 'kubernetes.io/hostname': node };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app, namespace },
    spec: {
      replicas,
      selector: { matchLabels: { app } },
      template: {
        metadata: {
          labels: { app, [CLASS_LABEL]: className },
          annotations: { 'evenkeel.dev/test-startup': '500ms', 'evenkeel.dev/test-termination': grace },
        },
        spec: {
          containers: [{ name: 'main', image: 'simulated', resources: { requests: { cpu } } }],
          nodeSelector: { group, ...host },
          schedulingGates: [{ name: SCHEDULING_GATE }],
        },
      },
    },
  };
}

/** A policy for one namespace, which runs by its interval alone once in the time of this test. */
function policyFor(namespace: string, refinements: 'Standard' | 'None'): object {
  return policyObject(namespace, {
    mode: 'Automatic',
    interval: '5m',
    scope: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
    strategy: { type: 'QoSDriven', qosDriven: { refinements } },
    steering: { mode: 'Gate' },
    protections: { minReplicas: 1 },
  });
}

function nodeOfGroup(name: string, group: string, cpu: string): object {
  return nodeObject({ name, cpu, memory: '64Gi', pods: 110, labels: { group }, taints: [], startEmpty: false });
}

let cp: ControlPlane;
let operator: OperatorProcess;
let watch: ObjectWatch;
/** Milliseconds of this process: when a pod was first seen, and when it was first seen on a node. */
const seen = new Map<string, { readonly app: string; readonly came: number; bound?: number; node?: string }>();

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'gate');
  await cp.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    nodeOfGroup('one', 'one', '3'),
    nodeOfGroup('slow', 'two', '1'),
    nodeOfGroup('spare', 'two', '1'),
    nodeOfGroup('small', 'three', '2'),
    ...Array.from({ length: NODES }, (_, index) => nodeOfGroup(`n${index}`, 'many', '1')),
    serviceClassObject('prod', { slo: '1', importance: 1, window: '10m', expectedStartup: '1s' }),
    serviceClassObject('free', { slo: '0.5', importance: 3, window: '10m', expectedStartup: '1s' }),
    serviceClassObject('crew', { slo: '0.9', importance: 2, window: '10m', expectedStartup: '1s', mode: 'Concurrent' }),
    // The default budgets.
    policyFor(NAMESPACE, 'None'),
  ]);
  const unready = async () => {
    const nodes = (await listNodes(cp)).filter((node) => !hasCondition(node, 'Ready'));
    return nodes.length === 0 ? undefined : `${nodes.length} nodes are not Ready`;
  };
  await waitUntil('waiting for nodes', unready, { timeoutMilliseconds: 120_000, log });
  watch = await watchPods(cp, ({ object: { metadata, spec } }) => {
    const { uid = '', labels } = metadata;
    const pod = seen.get(uid) ?? { app: labels?.['app'] ?? '', came: performance.now() };
    seen.set(uid, pod);
    if (spec.nodeName !== undefined && pod.bound === undefined) {
      pod.bound = performance.now();
      pod.node = spec.nodeName;
    }
  });
  operator = await startOperator(cp, { args: ['--no-leader-elect', '--metrics-insecure'] });
  const victims = ['free-0', 'free-1', 'free-2'].map((app) => requestObject({ app, className: 'free', group: 'one' }));
  const slow = requestObject({ app: 'free-slow', className: 'free', group: 'two', node: 'slow', grace: '300s' });
  const crowd = requestObject({ app: 'crowd', className: 'free', group: 'many', replicas: FULL });
  await cp.apply([...victims, slow, crowd]);
  await waitUntil('waiting for pods', async () => notReady(4 + FULL), { timeoutMilliseconds: 180_000, log });
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await watch?.stop();
  await cp?.stop();
});

async function podsOf(app?: string): Promise<readonly PodState[]> {
  return (await listPods(cp)).filter(
    ({ metadata }) => metadata.namespace === NAMESPACE && (app === undefined || metadata.labels?.['app'] === app),
  );
}

async function notReady(wanted: number): Promise<string | undefined> {
  const ready = (await podsOf()).filter((pod) => hasCondition(pod, 'Ready')).length;
  return ready === wanted ? undefined : `${ready} of ${wanted} pods are Ready`;
}

async function evicted(namespace = NAMESPACE): Promise<number> {
  return acceptedEvictions(await cp.audit()).filter((event) => event.namespace === namespace).length;
}

/** Resolves to how long the only pod of the workload waited, in seconds, and for which node. */
async function waited(app: string, patience: number): Promise<readonly [seconds: number, node: string | undefined]> {
  const find = () => [...seen.values()].find((pod) => pod.app === app);
  const waiting = async () => (find()?.bound === undefined ? 'it waits' : undefined);
  await waitUntil(`waiting for ${app}`, waiting, { timeoutMilliseconds: patience, log });
  const { came = 0, bound = Number.NaN, node } = find() ?? {};
  return [(bound - came) / 1000, node];
}

describe('QoSDriven with its refinements', () => {
  it('evicts for one that waits as soon as a PodDisruptionBudget lets the victim go', async () => {
    const namespace = 'kept';
    const budget = (maxUnavailable: number): object => ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'free', namespace },
      spec: { maxUnavailable, selector: { matchLabels: { app: 'free-kept' } } },
    });
    await cp.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      nodeOfGroup('kept', 'four', '1'),
      budget(0),
      policyFor(namespace, 'Standard'),
      requestObject({ app: 'free-kept', namespace, className: 'free', group: 'four' }),
    ]);
    expect((await waited('free-kept', 120_000))[1]).toBe('kept');
    await cp.apply([requestObject({ app: 'urgent', namespace, className: 'prod', group: 'four' })]);
    await sleep(2 * SETTLE);
    expect([...seen.values()].flatMap(({ app, bound }) => (app === 'urgent' ? [bound] : []))).toEqual([undefined]);
    await cp.apply([budget(1)]);
    expect((await waited('urgent', 60_000))[1]).toBe('kept');
    expect(await evicted(namespace)).toBe(1);
  });
});

describe('QoSDriven with the default budgets', () => {
  it('evicts three pods of one node for one that needs the room of all of them', async () => {
    await cp.apply([requestObject({ app: 'large', className: 'prod', group: 'one', cpu: '3' })]);
    const [seconds, node] = await waited('large', 60_000);
    log(`large waited ${seconds.toFixed(1)} s`);
    expect(node).toBe('one');
    expect(await evicted()).toBe(3);
  });

  it('lets a pod in at once where there is room, while the victim of another takes 300 s to end', async () => {
    await cp.apply([requestObject({ app: 'first', className: 'prod', group: 'two', node: 'slow' })]);
    const leaving = async () =>
      (await podsOf('free-slow')).some(({ metadata }) => metadata.deletionTimestamp !== undefined)
        ? undefined
        : 'nobody is evicted';
    await waitUntil('waiting for an eviction', leaving, { timeoutMilliseconds: 60_000, log });
    await cp.apply([requestObject({ app: 'second', className: 'prod', group: 'two' })]);
    const [seconds, node] = await waited('second', 60_000);
    log(`second waited ${seconds.toFixed(1)} s`);
    expect(node).toBe('spare');
    expect(seconds).toBeLessThanOrEqual(3);
    expect(await evicted()).toBe(4);
    expect((await podsOf('first')).map(({ spec }) => spec.nodeName)).toEqual([undefined]);
  });

  it('lets replicas that only count together in when there is room for all, and leaves the room to others till then', async () => {
    await cp.apply([requestObject({ app: 'crew', className: 'crew', group: 'three', replicas: 3 })]);
    const gated = async () => ((await podsOf('crew')).length === 3 ? undefined : 'they are made');
    await waitUntil('waiting for the crew', gated, { timeoutMilliseconds: 60_000, log });
    await cp.apply([requestObject({ app: 'solo', className: 'free', group: 'three' })]);
    expect((await waited('solo', 60_000))[1]).toBe('small');
    expect((await podsOf('crew')).flatMap(({ spec }) => spec.nodeName ?? [])).toEqual([]);
    // A node comes long before it takes pods: its coming alone tells of no room.
    await cp.apply([{ ...nodeOfGroup('wide', 'three', '2'), spec: { unschedulable: true } }]);
    await sleep(SETTLE);
    expect((await podsOf('crew')).flatMap(({ spec }) => spec.nodeName ?? [])).toEqual([]);
    await cp.kubectl(['uncordon', 'wide']);
    const bound = async () => {
      const nodes = (await podsOf('crew')).flatMap(({ spec }) => spec.nodeName ?? []);
      return nodes.length === 3 ? undefined : `${nodes.length} of 3 have a node`;
    };
    await waitUntil('waiting for the crew to be let in', bound, { timeoutMilliseconds: 60_000, log });
    const instants = [...seen.values()].flatMap(({ app, bound: at }) =>
      app === 'crew' && at !== undefined ? [at] : [],
    );
    expect(instants).toHaveLength(3);
    log(`the crew was bound within ${((Math.max(...instants) - Math.min(...instants)) / 1000).toFixed(1)} s`);
    expect(await evicted()).toBe(4);
  });

  it('lets in whoever fits, and evicts nobody, while 3 of 20 nodes fail', async () => {
    const full = new Set((await podsOf('crowd')).map(({ spec }) => spec.nodeName));
    const empty = (await listNodes(cp))
      .map(({ metadata }) => metadata.name)
      .filter((name) => /^n\d/.test(name) && !full.has(name));
    expect(empty).toHaveLength(NODES - FULL);
    for (const name of empty.slice(0, FAILING)) {
      await stopKubelet(cp, name);
    }
    const failing = async () =>
      (await listNodes(cp)).filter((node) => !hasCondition(node, 'Ready')).length === FAILING ? undefined : 'not yet';
    await waitUntil('waiting for failing nodes', failing, { timeoutMilliseconds: 60_000, log });
    const room = NODES - FULL - FAILING;
    await cp.apply([requestObject({ app: 'many', className: 'prod', group: 'many', replicas: room + 2 })]);
    const bound = async () => {
      const nodes = (await podsOf('many')).flatMap(({ spec }) => spec.nodeName ?? []);
      return nodes.length === room ? undefined : `${nodes.length} of ${room} have a node`;
    };
    await waitUntil('waiting for pods to be let in', bound, { timeoutMilliseconds: 60_000, log });
    const waits = [...seen.values()]
      .filter(({ app }) => app === 'many')
      .map(({ came, bound: at }) => ((at ?? Number.NaN) - came) / 1000);
    log(`many waited ${waits.map((each) => each.toFixed(1)).join(', ')} s`);
    expect(await evicted()).toBe(4);
    const phases = (await getPlans(cp)).map(({ status }) => status?.phase);
    expect(phases).toContain('Executing');
  });

  it('tells how many pods of each class wait at the gate, and how long those waited that were let in', async () => {
    const { metricsPort } = await operator.logged('operator started');
    const series = async (name: string): Promise<ReadonlyMap<string, number>> => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const lines = text.matchAll(new RegExp(`^${name}{class="([a-z]+)"} (\\d+)$`, 'gm'));
      return new Map([...lines].map(([, className = '', value]) => [className, Number(value)]));
    };
    const classOf = ({ metadata }: PodState): string => metadata.labels?.[CLASS_LABEL] ?? '';
    const pods = (await listPods(cp)).filter((pod) => classOf(pod) !== '');
    const gated = pods.filter(({ spec }) => spec.schedulingGates?.some(({ name }) => name === SCHEDULING_GATE));
    const byClass = [...Map.groupBy(gated, classOf)].map(([name, own]) => [name, own.length] as const);
    expect(byClass.length).toBeGreaterThan(0);
    const told = async () => {
      const waiting = await series('evenkeel_gate_waiting_pods');
      return byClass.every(([name, count]) => waiting.get(name) === count) ? undefined : JSON.stringify([...waiting]);
    };
    await waitUntil('waiting for the gauge', told, { timeoutMilliseconds: 30_000, log });
    const letIn = pods.filter((pod) => classOf(pod) === 'prod' && pod.spec.nodeName !== undefined).length;
    expect(letIn).toBeGreaterThan(5);
    // Pods that come and are let in between two looks at the gates are not among them.
    const counted = (await series('evenkeel_gate_wait_seconds_count')).get('prod');
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThanOrEqual(letIn);
  });
});

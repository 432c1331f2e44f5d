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
const NAMESPACE = 'failing';
const NODES = ['n0', 'n1', 'n2', 'n3'];
/** The node controller deletes the pods of a node that has failed after their tolerationSeconds, which are 300. */
const AT_ONCE = 15;

/** A workload of one pod that takes a node, is promised everything, and never ends by itself. */
function requestObject(app: string): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app, namespace: NAMESPACE },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app } },
      template: {
        metadata: {
          labels: { app, [CLASS_LABEL]: 'prod' },
          annotations: { 'evenkeel.dev/test-startup': '500ms', 'evenkeel.dev/test-termination': '3600s' },
        },
        spec: {
          containers: [{ name: 'main', image: 'simulated', resources: { requests: { cpu: '1' } } }],
          schedulingGates: [{ name: SCHEDULING_GATE }],
        },
      },
    },
  };
}

let cp: ControlPlane;
let operator: OperatorProcess;
let watch: ObjectWatch;
/** Milliseconds of this process at which each pod was first seen on a node, by UID. */
const boundAt = new Map<string, number>();

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'gate');
  await cp.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    ...NODES.map((name) =>
      nodeObject({ name, cpu: '1', memory: '64Gi', pods: 110, labels: {}, taints: [], startEmpty: false }),
    ),
    serviceClassObject('prod', { slo: '1', importance: 1, window: '10m', expectedStartup: '1s' }),
    // Nothing but news makes it run, and the default budgets hold.
    policyObject('qos', {
      mode: 'Automatic',
      interval: '1h',
      strategy: { type: 'QoSDriven' },
      steering: { mode: 'Gate' },
      protections: { minReplicas: 1 },
    }),
  ]);
  await waitUntil('waiting for nodes', async () => missing('nodes', NODES.length, await readyNodes()), {
    timeoutMilliseconds: 120_000,
    log,
  });
  watch = await watchPods(cp, ({ object: { metadata, spec } }) => {
    const { uid = '' } = metadata;
    if (spec.nodeName !== undefined && !boundAt.has(uid)) {
      boundAt.set(uid, performance.now());
    }
  });
  operator = await startOperator(cp, { args: ['--no-leader-elect'] });
  await cp.apply(['a', 'b', 'c'].map(requestObject));
  const serving = async () => (await pods()).filter((pod) => hasCondition(pod, 'Ready')).length;
  await waitUntil('waiting for pods', async () => missing('pods', 3, await serving()), {
    timeoutMilliseconds: 180_000,
    log,
  });
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await watch?.stop();
  await cp?.stop();
});

function missing(what: string, wanted: number, ready: number): string | undefined {
  return ready === wanted ? undefined : `${ready} of ${wanted} ${what} are Ready`;
}

async function readyNodes(): Promise<number> {
  return (await listNodes(cp)).filter((node) => hasCondition(node, 'Ready')).length;
}

async function pods(app?: string): Promise<readonly PodState[]> {
  return (await listPods(cp)).filter(
    ({ metadata }) => metadata.namespace === NAMESPACE && (app === undefined || metadata.labels?.['app'] === app),
  );
}

/** As the node controller does with the pods of a node whose kubelet has been silent for its grace period, which is 200 s here. */
async function markNotReady(name: string): Promise<void> {
  const status = { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: new Date().toISOString() }] };
  const patch = ['--subresource=status', '--type=strategic', '-p', JSON.stringify({ status })];
  await cp.kubectl(['patch', 'pod', name, '-n', NAMESPACE, ...patch]);
}

async function evicted(): Promise<readonly (string | undefined)[]> {
  return acceptedEvictions(await cp.audit()).map(({ name }) => name);
}

describe('QoSDriven when a node fails', () => {
  it('binds the replacement to another node at once, although the old pod never ends', async () => {
    const [old] = await pods('a');
    const failing = old?.spec.nodeName ?? '';
    await stopKubelet(cp, failing);
    const before = performance.now();
    await markNotReady(old?.metadata.name ?? '');
    const replacement = async () => (await pods('a')).find(({ metadata }) => metadata.uid !== old?.metadata.uid);
    const waiting = async () => ((await replacement())?.spec.nodeName === undefined ? 'it has no node' : undefined);
    await waitUntil('waiting for the replacement', waiting, { timeoutMilliseconds: 120_000, log });
    const found = await replacement();
    const seconds = ((boundAt.get(found?.metadata.uid ?? '') ?? Number.NaN) - before) / 1000;
    log(`the replacement was bound after ${seconds.toFixed(1)} s`);
    expect(seconds).toBeLessThan(AT_ONCE);
    expect(found?.spec.nodeName).not.toBe(failing);
    const still = (await pods('a')).find(({ metadata }) => metadata.uid === old?.metadata.uid);
    expect(still?.metadata.deletionTimestamp).toBeDefined();
    expect(await evicted()).toEqual([old?.metadata.name]);
    const ended = async () =>
      (await getPlans(cp)).every(({ status }) => status?.phase === 'Completed') ? undefined : 'a plan goes on';
    await waitUntil('waiting for the plan to end', ended, { timeoutMilliseconds: 60_000, log });
    const moves = (await getPlans(cp)).flatMap(({ spec }) => spec.moves.filter(({ failover }) => failover === true));
    expect(moves).toMatchObject([{ from: failing, to: found?.spec.nodeName, cost: '0' }]);
  });
});

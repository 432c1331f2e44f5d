import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seconds } from '../../src/model/units.ts';
import { listPods } from '../control-plane/cluster-state.ts';
import { applyScenario } from '../control-plane/scenario.ts';
import { parseScenario } from '../control-plane/scenario-parse.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { aScenario, aSimulatedNode, aSimulatedWorkload } from '../support/scenarios.ts';
import { schedule } from '../support/scheduled.ts';

/** Seconds that a victim takes to leave. */
const LEAVES_AFTER = 15;
/** Seconds of patience for what the scheduler does at once, and for what the machine takes for it. */
const AT_ONCE = 10;
const IMPORTANT = 8;

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** Nodes that hold one pod each, and as many unimportant pods, in a namespace of their own. */
function fullCluster(name: string, nodes: number) {
  const requests = { cpu: '900m', memory: '64Mi' };
  const nodeSelector = { group: name };
  const priority = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' };
  return {
    nodes: [{ prefix: `${name}-`, count: nodes, cpu: '1', memory: '4Gi', pods: 10, labels: { group: name } }],
    manifests: [
      { ...priority, metadata: { name: 'low' }, value: 1 },
      { ...priority, metadata: { name: 'high' }, value: 9 },
    ],
    workloads: [
      {
        name: 'low',
        namespace: name,
        replicas: nodes,
        requests,
        termination: `${LEAVES_AFTER}s`,
        priorityClassName: 'low',
        podSpec: { nodeSelector },
      },
    ],
  };
}

function important(name: string): object {
  const labels = { app: 'high' };
  const resources = { requests: { cpu: '900m', memory: '64Mi' } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'high', namespace: name },
    spec: {
      replicas: IMPORTANT,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: 'high',
          nodeSelector: { group: name },
          containers: [{ name: 'main', image: 'simulated', resources }],
        },
      },
    },
  };
}

interface Outcome {
  /** Pods that left for another. */
  readonly victims: number;
  /** Important pods that run in the end. */
  readonly served: number;
  /** Whether each of them had its room made at once. */
  readonly atOnce: boolean;
}

/** What the modelled scheduler does. */
function modelled(nodes: number): Outcome {
  const workloads = [
    ...Array.from({ length: nodes }, (_, at) => aSimulatedWorkload(`low-${at}`, { pod: { priority: 1 } })),
    ...Array.from({ length: IMPORTANT }, (_, at) =>
      aSimulatedWorkload(`high-${at}`, { arrivesAt: 50, pod: { priority: 9 } }),
    ),
  ];
  const { timing } = aScenario();
  const cluster = schedule(
    {
      nodes: Array.from({ length: nodes }, (_, at) => aSimulatedNode(`n${at}`, { pods: '1' })),
      workloads,
      timing: { ...timing, termination: { kind: 'Fixed', value: seconds(LEAVES_AFTER) } },
    },
    50 + AT_ONCE,
    true,
  );
  const soon = cluster.preempted.length;
  cluster.world.queue.run(300);
  const served = cluster.world.pods.filter(
    ({ workload, info }) => workload.info.name.startsWith('high') && info.nodeName !== undefined,
  );
  return { victims: cluster.preempted.length, served: served.length, atOnce: soon === cluster.preempted.length };
}

/** What kube-scheduler does. */
async function real(cp: ControlPlane, name: string, nodes: number): Promise<Outcome> {
  await applyScenario(cp, parseScenario(JSON.stringify(fullCluster(name, nodes)), name), { log });
  const began = new Date().toISOString();
  await cp.apply([important(name)]);
  const wanted = Math.min(nodes, IMPORTANT);
  const missing = async (): Promise<string | undefined> => {
    const count = await servedIn(cp, name);
    return count >= wanted ? undefined : `${count} of ${wanted} have a node`;
  };
  await waitUntil('important pods', missing, { timeoutMilliseconds: 120_000, log });
  const deletions = (await cp.audit()).filter(
    ({ user, verb, resource, namespace, at }) =>
      user === 'system:kube-scheduler' && verb === 'delete' && resource === 'pods' && namespace === name && at >= began,
  );
  const served = await servedIn(cp, name);
  await cp.kubectl(['delete', 'deployments', '--all', '-n', name]);
  const times = deletions.map(({ at }) => Date.parse(at) - Date.parse(began));
  return {
    victims: new Set(deletions.map((deletion) => deletion.name)).size,
    served,
    atOnce: Math.max(...times) < AT_ONCE * 1000,
  };
}

async function servedIn(cp: ControlPlane, namespace: string): Promise<number> {
  const pods = (await listPods(cp)).filter(
    ({ metadata, spec }) => metadata.namespace === namespace && spec.nodeName !== undefined,
  );
  return pods.filter(({ metadata }) => metadata.name.startsWith('high-')).length;
}

let cp: ControlPlane;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
});

afterAll(async () => {
  await cp?.stop();
});

describe('preemption for eight important pods at once, in the model and by kube-scheduler', () => {
  it('makes room for each at once, on nodes of their own', async () => {
    const wanted = { victims: 8, served: 8, atOnce: true };
    expect(modelled(8)).toEqual(wanted);
    expect(await real(cp, 'enough', 8)).toEqual(wanted);
  });

  it('evicts no more than there is to gain, where only some fit', async () => {
    const wanted = { victims: 3, served: 3, atOnce: true };
    expect(modelled(3)).toEqual(wanted);
    expect(await real(cp, 'scarce', 3)).toEqual(wanted);
  });
});

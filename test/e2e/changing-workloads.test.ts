import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { strayMoves } from '../campaigns/evidence.ts';
import { hasEnded } from '../campaigns/plan-log.ts';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { listPods } from '../control-plane/cluster-state.ts';
import { applyScenario, waitForMetrics } from '../control-plane/scenario.ts';
import { parseScenario } from '../control-plane/scenario-parse.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { tiltedPolicy } from '../support/audited-replicas.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 180_000, log };
/** Pods that the HorizontalPodAutoscaler makes of two: they use twice what it wants. */
const SCALED_TO = 4;

const scenario = {
  nodes: [{ prefix: 'node-', count: 6, cpu: '8', memory: '16Gi', pods: 60 }],
  workloads: [
    {
      name: 'app',
      count: 24,
      namespace: 'shop',
      replicas: 2,
      requests: { cpu: '200m', memory: '100Mi' },
      usage: { cpu: '100m', memory: '100Mi' },
      startup: '2s',
      termination: '1s',
      startOn: ['node-1', 'node-2'],
    },
  ],
};

let cp: ControlPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ log });
  await install(cp, 'default');
  await applyScenario(cp, parseScenario(JSON.stringify(scenario), 'tilted-and-measured'), { log });
  await waitForMetrics(cp, { log });
  operator = await startOperator(cp);
  await cp.apply([tiltedPolicy(3)]);
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
});

/** Deployments of whose pods none has been evicted, or is planned to be before the others; the last ones first. */
async function lastOfThePlan(): Promise<readonly string[]> {
  let apps: readonly string[] = [];
  const missing = async (): Promise<string | undefined> => {
    const [plan] = await getPlans(cp);
    const moves = plan?.spec.moves ?? [];
    const begun = (plan?.status?.moves ?? []).filter(({ phase }) => phase !== 'Planned').length;
    apps = [...new Set(moves.map(({ pod: { name } }) => name.split('-').slice(0, 2).join('-')))].reverse();
    return begun > 0 && apps.length > 4 ? undefined : `${begun} of ${moves.length} moves have begun`;
  };
  await waitUntil('a plan under way', missing, patience);
  return apps;
}

async function evictedSince(app: string, instant: string): Promise<readonly string[]> {
  return acceptedEvictions(await cp.audit())
    .filter(({ at, name }) => at >= instant && name.startsWith(`${app}-`))
    .map(({ name }) => name);
}

async function scale(app: string): Promise<{ readonly ready: number; readonly wanted: number }> {
  const { spec, status } = JSON.parse(await cp.kubectl(['get', 'deployment', app, '-n', 'shop', '-o', 'json'])) as {
    readonly spec: { readonly replicas: number };
    readonly status: { readonly readyReplicas?: number };
  };
  return { ready: status.readyReplicas ?? 0, wanted: spec.replicas };
}

describe('while a plan is carried out', () => {
  it('a Deployment that rolls out is left alone, and one that is scaled by load gets its pods', async () => {
    const [rolled = '', scaled = ''] = await lastOfThePlan();
    log(`${rolled} rolls out, ${scaled} is scaled`);
    await cp.kubectl(['rollout', 'restart', '-n', 'shop', `deployment/${rolled}`]);
    const since = new Date().toISOString();
    await cp.apply([
      {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: scaled, namespace: 'shop' },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: scaled },
          minReplicas: 2,
          maxReplicas: SCALED_TO,
          metrics: [
            { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 50 } } },
          ],
        },
      },
    ]);
    await cp.kubectl(['rollout', 'status', '-n', 'shop', `deployment/${rolled}`, '--timeout=60s']);
    expect(await evictedSince(rolled, since)).toEqual([]);
    const missing = async (): Promise<string | undefined> => {
      const { ready, wanted } = await scale(scaled);
      return ready === SCALED_TO && wanted === SCALED_TO ? undefined : `${ready} of ${wanted} pods are ready`;
    };
    await waitUntil(`${scaled} is scaled`, missing, patience);
  });

  it('and the plan ends: no pod evicted twice, each replacement another pod, where its move says', async () => {
    const missing = async (): Promise<string | undefined> => {
      const plans = await getPlans(cp);
      const open = plans.filter((plan) => !hasEnded(plan));
      return plans.length > 0 && open.length === 0 ? undefined : `${open.length} of ${plans.length} plans`;
    };
    await waitUntil('the end of all plans', missing, patience);
    const plans = await getPlans(cp);
    const moves = plans.flatMap(({ status }) => status?.moves ?? []);
    log(JSON.stringify(moves.map(({ phase, outcome }) => `${phase}: ${outcome}`)));
    const evicted = acceptedEvictions(await cp.audit()).map(({ uidPrecondition }) => uidPrecondition);
    expect(new Set(evicted).size).toBe(evicted.length);
    expect(moves.filter(({ phase }) => phase === 'Landed').length).toBeGreaterThan(10);
    expect(moves.filter(({ phase }) => phase === 'Failed')).toEqual([]);
    const replacements = moves.flatMap(({ replacement }) => replacement?.uid ?? []);
    expect(new Set(replacements).size).toBe(replacements.length);
    expect(plans.flatMap(strayMoves)).toEqual([]);
    const nodes = new Map((await listPods(cp)).map(({ metadata, spec }) => [metadata.uid, spec.nodeName]));
    const landed = moves.filter(({ phase, replacement }) => phase === 'Landed' && nodes.has(replacement?.uid ?? ''));
    expect(landed.filter(({ replacement }) => nodes.get(replacement?.uid ?? '') !== replacement?.node)).toEqual([]);
  });
});

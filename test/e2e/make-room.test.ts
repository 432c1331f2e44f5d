import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { listPods, type PodState } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, OPERATOR_USER, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject, reasonOf } from '../support/resources.ts';
import { runCli } from '../support/run-cli.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 240_000, log };
const ROAMING = 6;

let cp: ControlPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'full-pool.yaml')), { log });
});

afterAll(async () => {
  await operator?.end('SIGTERM');
  await cp?.stop();
});

/** Pods of a workload that are not being deleted. */
async function podsOf(app: string): Promise<readonly PodState[]> {
  return (await listPods(cp)).filter(
    ({ metadata }) => metadata.labels?.['app'] === app && metadata.deletionTimestamp === undefined,
  );
}

function isReady({ status }: PodState): boolean {
  return status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

function isUnschedulable({ status }: PodState): boolean {
  return status.conditions?.some(({ type, status: value }) => type === 'PodScheduled' && value === 'False') === true;
}

async function untilCount(what: string, app: string, test: (pod: PodState) => boolean, wanted: number): Promise<void> {
  await waitUntil(
    what,
    async () => {
      const found = (await podsOf(app)).filter(test).length;
      return found === wanted ? undefined : `${found} of ${wanted}`;
    },
    patience,
  );
}

/** A workload that can run on small nodes alone. */
function pinned(replicas: number): object {
  const labels = { app: 'pinned' };
  const container = { name: 'main', image: 'registry.k8s.io/pause:3.10', resources: { requests: { cpu: '1' } } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'pinned', namespace: 'shop' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { nodeSelector: { pool: 'small' }, containers: [container] } },
    },
  };
}

const POLICY = policyObject('room', {
  mode: 'Automatic',
  interval: '10s',
  strategy: { type: 'None' },
  makeRoom: 'Pinned',
  budgets: [{ maxMoves: 20, maxConcurrent: 4 }],
  protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
});

/** UIDs of the pods that the operator has evicted. */
async function evicted(): Promise<readonly (string | undefined)[]> {
  return acceptedEvictions(await cp.audit())
    .filter(({ user }) => user === OPERATOR_USER)
    .map(({ uidPrecondition }) => uidPrecondition);
}

/** Waits until `wanted` pinned pods run and a later run has this reason for having no plan. */
async function untilServed(wanted: number, reason: string): Promise<void> {
  await untilCount('waiting until pinned pods run', 'pinned', isReady, wanted);
  await untilCount('waiting until the others run elsewhere', 'roaming', isReady, ROAMING);
  await waitUntil(
    'waiting until a run moves nothing',
    async () => {
      const now = reasonOf(await getPolicy(cp, 'room'), 'PlanReady');
      return now === reason ? undefined : now;
    },
    patience,
  );
}

describe('room for pinned pods on a real control plane', () => {
  it('is made by evicting each pod that leaves once, as planned', { timeout: 500_000 }, async () => {
    await cp.apply([pinned(4)]);
    await untilCount('waiting until the scheduler finds no node', 'pinned', isUnschedulable, 4);
    operator = await startOperator(cp);
    await cp.apply([POLICY]);
    await untilServed(4, 'NothingToRepair');
    const moves = (await getPlans(cp)).flatMap(({ spec }) => spec.moves);
    const uids = await evicted();
    expect(uids).toHaveLength(4);
    expect(uids.toSorted()).toEqual(moves.map(({ pod }) => pod.uid).toSorted());
    const names = (await podsOf('pinned')).map(({ metadata }) => `shop/${metadata.name}`);
    expect(moves.map(({ makesRoomFor }) => makesRoomFor).toSorted()).toEqual(names.toSorted());
    expect(moves.every(({ reason, makesRoomFor }) => reason.startsWith(`makes room for ${makesRoomFor}; `))).toBe(true);
    const roaming = await podsOf('roaming');
    expect(roaming.filter(({ spec }) => spec.nodeName?.startsWith('large-'))).toHaveLength(4);
  });

  it('is made for as many as there can be, and the others are told what is missing', { timeout: 500_000 }, async () => {
    await cp.apply([pinned(8)]);
    await untilServed(6, 'NoBeneficialMove');
    const uids = await evicted();
    expect(new Set(uids).size).toBe(uids.length);
    expect(uids).toHaveLength(ROAMING);
    const { status } = await getPolicy(cp, 'room');
    const message = status?.conditions?.find(({ type }) => type === 'PlanReady')?.message;
    expect(message).toContain('2 pinned pods without a node cannot be served; the first: shop/pinned-');
    const [waiting] = (await podsOf('pinned')).filter((pod) => !isReady(pod));
    const args = ['explain', `pod/${waiting?.metadata.name}`, '-n', 'shop', '--kubeconfig', cp.kubeconfig];
    expect((await runCli(args)).stdout).toMatch(/no room can be made for it on any of 3 nodes that it may run on/);
  });
});

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { listNodes, listPods } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, OPERATOR_USER, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 300_000, log };
const ZONE = 'topology.kubernetes.io/zone';
const MEMBERS = ['web', 'cart', 'db'];

const GRAPH = {
  apiVersion: 'evenkeel.dev/v1alpha1',
  kind: 'AppGraph',
  metadata: { name: 'checkout', namespace: 'shop' },
  spec: {
    members: MEMBERS.map((name) => ({ name, workload: { kind: 'Deployment', name } })),
    edges: [
      { from: 'web', to: 'cart', bandwidth: '180M' },
      { from: 'cart', to: 'db', bandwidth: '90M' },
    ],
  },
};

const BUDGET = { maxMoves: 20, maxConcurrent: 1, perOwner: '100%' };
const POLICY = {
  mode: 'Automatic',
  interval: '10s',
  strategy: { type: 'TrafficAware' },
  load: { source: 'Requests' },
  thresholds: { trigger: '0.5' },
  budgets: [BUDGET],
  protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
};

let cp: ControlPlane;
let before: readonly string[];
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'applications.yaml')), { log });
});

afterAll(async () => {
  await operator?.end('SIGTERM');
  await cp?.stop();
});

/** Zones of the running pods of each Deployment, one for each pod. */
async function zonesOf(names: readonly string[]): Promise<readonly (readonly string[])[]> {
  const zones = new Map((await listNodes(cp)).map(({ metadata }) => [metadata.name, metadata.labels?.[ZONE] ?? '']));
  const pods = (await listPods(cp)).filter(({ metadata }) => metadata.namespace === 'shop');
  const live = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return names.map((name) =>
    live
      .filter(({ metadata }) => metadata.name.startsWith(`${name}-`))
      .map(({ spec }) => zones.get(spec.nodeName ?? '') ?? 'no node'),
  );
}

describe('TrafficAware on a real control plane', () => {
  it('refuses graphs that make no sense, and says what to write', async () => {
    const refusalOf = async (spec: object): Promise<string> =>
      cp.apply([{ ...GRAPH, metadata: { name: 'wrong', namespace: 'shop' }, spec }]).then(
        () => 'accepted',
        (error: unknown) => String(error),
      );
    const members = GRAPH.spec.members;
    const edge = { from: 'web', to: 'cart', bandwidth: '20M' };
    expect(await refusalOf({ members, edges: [{ ...edge, to: 'web' }] })).toContain(
      'traffic within a member is not considered: remove the edge, or name another member in to',
    );
    expect(await refusalOf({ members, edges: [{ ...edge, to: 'cash' }] })).toContain(
      'an edge names a member that does not exist',
    );
    expect(await refusalOf({ members, edges: [{ ...edge, bandwidth: '20' }] })).toContain('spec.edges[0].bandwidth');
    expect(await refusalOf({ members: [{ name: 'web' }] })).toContain('write either workload or selector');
  });

  it('says that an application is moved in part where its policy is suspended halfway', {
    timeout: 300_000,
  }, async () => {
    before = (await zonesOf(MEMBERS)).flat();
    expect(new Set(before).size).toBe(3);
    await cp.apply([GRAPH]);
    operator = await startOperator(cp);
    await cp.apply([policyObject('traffic', POLICY)]);
    await waitUntil(
      'waiting until a move has landed',
      async () => {
        const phases = (await getPlans(cp)).flatMap(({ status }) => (status?.moves ?? []).map(({ phase }) => phase));
        return phases.includes('Landed') && phases.includes('Planned') ? undefined : phases.join(', ');
      },
      patience,
    );
    await cp.apply([policyObject('traffic', { ...POLICY, suspend: true })]);
    const [first] = await getPlans(cp);
    const moves = first?.spec.moves.length ?? 0;
    expect(first?.spec.moves.map(({ application }) => application)).toEqual(Array(moves).fill('shop/checkout'));
    const ended = async () => (await getPlans(cp)).find(({ status }) => status?.finishedAt !== undefined)?.status;
    await waitUntil(
      'waiting until the plan has ended',
      async () => ((await ended()) ? undefined : 'not yet'),
      patience,
    );
    const { phase, message = '', applications = [] } = (await ended()) ?? {};
    expect(phase).toBe('Aborted');
    expect(applications).toEqual([
      { namespace: 'shop', name: 'checkout', phase: 'Partial', landed: expect.any(Number) as number, moves },
    ]);
    const landed = applications[0]?.landed ?? 0;
    expect(landed).toBeGreaterThan(0);
    expect(landed).toBeLessThan(moves);
    expect(message).toBe(
      `policy traffic is suspended; moved in part: shop/checkout (${landed} of ${moves} moves landed)`,
    );
  });

  it('goes on from there, with one eviction for each pod that was elsewhere, until all run in one zone', {
    timeout: 500_000,
  }, async () => {
    await cp.apply([policyObject('traffic', { ...POLICY, budgets: [{ ...BUDGET, maxConcurrent: 4 }] })]);
    await waitUntil(
      'waiting until no traffic passes between zones',
      async () => {
        const { status } = await getPolicy(cp, 'traffic');
        const ready = status?.conditions?.find(({ type }) => type === 'PlanReady');
        const ended = (await getPlans(cp)).every((each) => each.status?.phase !== 'Executing');
        return ended && ready?.reason === 'NothingToReroute' ? undefined : `${ready?.reason}: ${ready?.message}`;
      },
      patience,
    );
    const after = (await zonesOf(MEMBERS)).flat();
    const [zone = ''] = after;
    expect(after).toEqual(before.map(() => zone));
    const evictions = acceptedEvictions(await cp.audit()).filter(({ user }) => user === OPERATOR_USER);
    expect(evictions).toHaveLength(before.filter((each) => each !== zone).length);
    expect(new Set(evictions.map(({ uidPrecondition }) => uidPrecondition)).size).toBe(evictions.length);
    const plans = (await getPlans(cp)).toSorted((left, right) => left.spec.takenAt.localeCompare(right.spec.takenAt));
    expect(Number(plans[0]?.spec.traffic?.before.bandwidth)).toBeGreaterThan(100e6);
    expect(plans.at(-1)?.spec.traffic?.planned.bandwidth).toBe('0');
  });
});

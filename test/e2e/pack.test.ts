import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { listPods } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, OPERATOR_USER, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 240_000, log };
const NODES = ['worker-1', 'worker-2', 'worker-3'];

let cp: ControlPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'pack.yaml')), { log });
});

afterAll(async () => {
  await operator?.end('SIGTERM');
  await cp?.stop();
});

/** How many pods are bound to each node; to none under the empty name. */
async function podsByNode(): Promise<ReadonlyMap<string, number>> {
  const pods = (await listPods(cp)).filter(
    ({ metadata }) => metadata.namespace === 'shop' && metadata.deletionTimestamp === undefined,
  );
  const byNode = Map.groupBy(pods, ({ spec }) => spec.nodeName ?? '');
  return new Map([...byNode].map(([node, there]) => [node, there.length]));
}

describe('Pack on a real control plane', () => {
  it('empties a node that can be emptied, with one eviction for each of its pods', { timeout: 400_000 }, async () => {
    const before = await podsByNode();
    operator = await startOperator(cp);
    const spec = {
      mode: 'Automatic',
      interval: '10s',
      strategy: { type: 'Pack', pack: { minNodeAge: '0s' } },
      budgets: [{ maxMoves: 20, maxConcurrent: 4 }],
      protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
    };
    await cp.apply([policyObject('pack', spec)]);
    await waitUntil(
      'waiting until there is nothing to pack',
      async () => {
        const reason = reasonOf(await getPolicy(cp, 'pack'), 'PlanReady');
        const ended = (await getPlans(cp)).every(({ status }) => status?.phase !== 'Executing');
        return ended && reason === 'NothingToPack' ? undefined : String(reason);
      },
      patience,
    );
    const after = await podsByNode();
    const [kept] = [...after.keys()];
    expect([...after]).toEqual([[kept, 8]]);
    const evictions = acceptedEvictions(await cp.audit()).filter(({ user }) => user === OPERATOR_USER);
    expect(evictions).toHaveLength(8 - (before.get(kept ?? '') ?? 0));
    expect(new Set(evictions.map(({ uidPrecondition }) => uidPrecondition)).size).toBe(evictions.length);
    const emptied = NODES.filter((name) => name !== kept);
    const { status } = await getPolicy(cp, 'pack');
    expect(status?.plan?.packing).toEqual({ emptied: 2, removable: 2, nodes: emptied });
  });

  it('leaves the emptied nodes to others: the scheduler has room there for a pod as large as the node', {
    timeout: 200_000,
  }, async () => {
    const large = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'shop' },
      spec: { containers: [{ name: 'main', image: 'simulated', resources: { requests: { cpu: '7900m' } } }] },
    });
    const full = [...(await podsByNode()).keys()];
    await cp.apply([large('large-1'), large('large-2')]);
    await waitUntil(
      'waiting for the large pods',
      async () => ((await podsByNode()).has('') ? 'one has no node' : undefined),
      patience,
    );
    const byNode = await podsByNode();
    expect(NODES.filter((name) => !full.includes(name)).map((name) => byNode.get(name))).toEqual([1, 1]);
  });
});

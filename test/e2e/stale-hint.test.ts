import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlacementHint } from '../../src/api/v1alpha1/placement-hint.ts';
import { listPods, type PodState } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 90_000 };

let cp: ControlPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'small.yaml')), { log });
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
});

async function podsOf(app: string): Promise<readonly PodState[]> {
  const pods = (await listPods(cp)).filter(({ metadata }) => metadata.name.startsWith(`${app}-`));
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Scales a Deployment, waits until it has so many pods, and resolves to those that it had not before. */
async function scaledUp(app: string, replicas: number): Promise<readonly PodState[]> {
  const before = new Set((await podsOf(app)).map(({ metadata }) => metadata.uid));
  await cp.kubectl(['scale', '-n', 'shop', `deployment/${app}`, `--replicas=${replicas}`]);
  await waitUntil(
    `${app} has ${replicas} pods`,
    async () => {
      const pods = await podsOf(app);
      const undecided = pods.filter(
        ({ spec, status }) => spec.nodeName === undefined && status.conditions === undefined,
      );
      return pods.length === replicas && undecided.length === 0 ? undefined : `${pods.length}`;
    },
    patience,
  );
  return (await podsOf(app)).filter(({ metadata }) => !before.has(metadata.uid));
}

async function uidOfReplicaSet(app: string): Promise<string> {
  const found = await cp.kubectl(['get', 'rs', '-n', 'shop', '-l', `app=${app}`, '-o', 'json']);
  const { items } = JSON.parse(found) as { items: readonly { metadata: { uid: string } }[] };
  return items[0]?.metadata.uid ?? '';
}

describe('a hint that every operator left behind', () => {
  it('keeps the next pods of its controller, and of no other, to the nodes that it names', async () => {
    const hint: PlacementHint = {
      apiVersion: 'evenkeel.dev/v1alpha1',
      kind: 'PlacementHint',
      metadata: { name: 'move-gone', namespace: 'shop' },
      spec: {
        ownerUID: await uidOfReplicaSet('web'),
        nodeName: 'node-3',
        alternatives: ['node-3'],
        plan: 'gone',
        podUID: 'gone',
      },
    };
    await cp.apply([hint]);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const web = await scaledUp('web', 6);
    await waitUntil(
      'both run',
      async () => ((await podsOf('web')).every(({ spec }) => spec.nodeName !== undefined) ? undefined : 'not yet'),
      patience,
    );
    expect(
      (await podsOf('web'))
        .filter((pod) => web.some((each) => each.metadata.uid === pod.metadata.uid))
        .map(({ spec }) => spec.nodeName),
    ).toEqual(['node-3', 'node-3']);
    const api = await scaledUp('api', 4);
    expect(api.map(({ metadata }) => metadata.annotations?.['evenkeel.dev/steered-to'])).toEqual([undefined]);
  });

  it('keeps them waiting where those nodes take no more', async () => {
    await cp.kubectl(['cordon', 'node-3']);
    const [late] = await scaledUp('web', 7);
    expect(late?.spec.nodeName).toBeUndefined();
    expect(late?.metadata.annotations?.['evenkeel.dev/steered-to']).toBe('node-3');
  });

  it('is removed by the next leader within its lease, and what waits is made anew', async () => {
    operator = await startOperator(cp);
    await operator.logged('leading');
    const leading = performance.now();
    await waitUntil(
      'the hint is gone',
      async () => ((await cp.kubectl(['get', 'phint', '-A', '-o', 'name'])) === '' ? undefined : 'it is there'),
      patience,
    );
    const swept = (performance.now() - leading) / 1000;
    log(`a stale hint was removed ${swept.toFixed(1)} s after a replica led`);
    await waitUntil(
      'all pods run',
      async () => {
        const waiting = (await podsOf('web')).filter(({ spec }) => spec.nodeName === undefined);
        return waiting.length === 0 ? undefined : `${waiting.length} wait`;
      },
      patience,
    );
    const events = await cp.kubectl(['get', 'pods', '-n', 'shop', '-o', 'name']);
    expect(events.split('\n').filter((name) => name.includes('/web-'))).toHaveLength(7);
  });
});

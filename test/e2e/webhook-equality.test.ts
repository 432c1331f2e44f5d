import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { RESOURCES } from '../../src/adapters/kubernetes/resource.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { NEVER } from '../contract/fake-api-server.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, type OperatorProcess, OVERLAYS } from '../support/operator-process.ts';
import { type HintedPod, randomPods } from '../support/random-pods.ts';
import { KEPT, startWithWebhook } from '../support/webhook.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
/** `npm run campaign:webhook` sends more. */
const COUNT = Number(process.env['EVENKEEL_WEBHOOK_PODS'] ?? 200);
const SEED = Number(process.env['EVENKEEL_WEBHOOK_SEED'] ?? 1);
/** Hints count for the pods of their own namespace alone, so that no pod is compared with a thousand of them. */
const NAMESPACES = Array.from({ length: Math.ceil(COUNT / 50) + 1 }, (_, index) => `random-${index}`);
/** A time in the status of gated pods. */
const NEW = 'lastTransitionTime';
/** Requests under way at a time. */
const WIDTH = 8;

const pods = randomPods(COUNT, NAMESPACES, SEED);

let cp: ControlPlane;
let operator: OperatorProcess;
let admin: ApiClient;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await cp.apply(await cp.kubectl(['kustomize', join(OVERLAYS, '..', '..', 'crds')]));
  await cp.kubectl(['wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all']);
  await cp.apply(
    NAMESPACES.map((name, index) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: index % 2 === 0 ? { 'evenkeel.dev/gate': 'enabled' } : {} },
    })),
  );
  admin = new ApiClient(await connect({ kubeconfig: cp.kubeconfig, context: undefined, env: {} }), {
    userAgent: 'equality',
    attempts: 1,
    clock: systemClock,
    random: Math.random,
  });
  await inParallel(pods, placeHint);
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await admin?.close();
  await cp?.stop();
});

async function inParallel<Item, Value>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Value>,
): Promise<readonly Value[]> {
  const results: Value[] = [];
  const queue = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of queue) {
      results[index] = await work(item, index);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
  return results;
}

async function placeHint({ namespace, hint }: HintedPod, index: number): Promise<void> {
  if (hint !== undefined) {
    const metadata = { name: `hint-${index}`, namespace, finalizers: KEPT };
    const body = { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'PlacementHint', metadata, spec: hint };
    await admin.send({ verb: 'create', target: { ...RESOURCES.PlacementHint, namespace }, body }, NEVER);
  }
}

/** The pod as the API server admits it, in a dry run, without what is new in each request. */
async function admitted({ namespace, pod }: HintedPod): Promise<unknown> {
  const target = { ...RESOURCES.Pod, namespace };
  const { body } = await admin.send({ verb: 'create', target, body: pod, query: { dryRun: 'All' } }, NEVER);
  const { metadata, ...rest } = body as JsonObject & { readonly metadata: JsonObject };
  const { uid: _uid, creationTimestamp: _created, managedFields: _managed, ...kept } = metadata;
  return JSON.parse(
    JSON.stringify({ ...rest, metadata: kept }, (key, value: unknown) => (key === NEW ? undefined : value)),
  );
}

/** Waits until the last pods with a hint are changed. */
async function untilTouched(untouched: readonly unknown[]): Promise<void> {
  const hinted = [...pods.entries()].filter(([, { hint }]) => hint !== undefined).slice(-2 * NAMESPACES.length);
  await waitUntil(
    'all hints are followed',
    async () => {
      const touched = await inParallel(hinted, async ([index, each]) => {
        return JSON.stringify(await admitted(each)) !== JSON.stringify(untouched[index]);
      });
      return touched.every(Boolean) ? undefined : `${touched.filter(Boolean).length} of ${touched.length}`;
    },
    { timeoutMilliseconds: 60_000 },
  );
}

const POLICIES = ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'];

async function removePolicies(): Promise<void> {
  for (const kind of POLICIES) {
    await cp.kubectl(['delete', kind, 'evenkeel-placement', 'evenkeel-gate']);
  }
}

describe(`${COUNT} random pods`, () => {
  let untouched: readonly unknown[];
  let byPolicy: readonly unknown[];

  it('are steered and gated by the admission policies', { timeout: 600_000 }, async () => {
    untouched = await inParallel(pods, admitted);
    await install(cp, 'gate');
    await untilTouched(untouched);
    byPolicy = await inParallel(pods, admitted);
    const touched = byPolicy.filter((pod, index) => JSON.stringify(pod) !== JSON.stringify(untouched[index]));
    log(`${touched.length} of ${COUNT} pods are changed by the admission policies`);
    expect(touched.length).toBeGreaterThan(COUNT / 2);
  });

  it('become no other by the webhook beside them', { timeout: 600_000 }, async () => {
    await cp.apply(await cp.kubectl(['kustomize', join(OVERLAYS, 'webhook-gate')]));
    await cp.kubectl(['scale', '-n', 'evenkeel-system', 'deployment/evenkeel', '--replicas=0']);
    operator = await startWithWebhook(cp);
    expect(differences(await inParallel(pods, admitted), byPolicy)).toEqual([]);
  });

  it('become the same by the webhook alone', { timeout: 600_000 }, async () => {
    await removePolicies();
    await waitUntil(
      'nothing but the webhook touches pods',
      async () => {
        operator.signal('SIGSTOP');
        try {
          const index = pods.findIndex(({ hint }) => hint !== undefined);
          const now = await admitted(pods[index] as HintedPod);
          return isDeepStrictEqual(now, untouched[index]) ? undefined : 'the policies are still in force';
        } finally {
          operator.signal('SIGCONT');
        }
      },
      { timeoutMilliseconds: 60_000 },
    );
    await untilTouched(untouched);
    const byWebhook = await inParallel(pods, admitted);
    const touched = byWebhook.filter((pod, index) => JSON.stringify(pod) !== JSON.stringify(untouched[index]));
    log(`${touched.length} of ${COUNT} pods are changed by the webhook`);
    expect(differences(byWebhook, byPolicy)).toEqual([]);
  });
});

/** Pairs that are not deeply equal, the first few. */
function differences(found: readonly unknown[], expected: readonly unknown[]): readonly object[] {
  const unlike = found.flatMap((pod, index) =>
    isDeepStrictEqual(pod, expected[index]) ? [] : [{ pod, expected: expected[index] }],
  );
  return unlike.slice(0, 3);
}

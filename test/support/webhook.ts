import type { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { RESOURCES } from '../../src/adapters/kubernetes/resource.ts';
import { seconds } from '../../src/model/units.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { type OperatorOptions, type OperatorProcess, startOperator } from './operator-process.ts';

const KIND = 'mutatingwebhookconfigurations';
const NAME = 'evenkeel';

interface Configuration {
  readonly webhooks: readonly {
    readonly name: string;
    readonly clientConfig: {
      readonly url?: string;
      readonly caBundle?: string;
      readonly service?: { readonly path?: string };
    };
  }[];
}

/**
 * Starts an operator that serves the webhook, and has the API server call it by its address: there are no proxies here that
 * Services would need. Resolves when the API server was told to trust it.
 */
export async function startWithWebhook(cp: ControlPlane, options: OperatorOptions = {}): Promise<OperatorProcess> {
  const args = ['--webhook-address', '127.0.0.1:0', ...(options.args ?? [])];
  const operator = await startOperator(cp, { ...options, args });
  const { webhookPort } = await operator.logged('operator started');
  await callWebhookAt(cp, Number(webhookPort));
  await operator.logged('certificate of the webhook renewed');
  await waitUntil(
    'the API server is told to trust the webhook',
    async () => ((await bundles(cp)).every((bundle) => bundle !== '') ? undefined : operator.log().slice(-2000)),
    { timeoutMilliseconds: 30_000 },
  );
  return operator;
}

/** Has the API server call the webhooks at this port of the loopback. */
export async function callWebhookAt(cp: ControlPlane, port: number): Promise<void> {
  const { webhooks } = await configuration(cp);
  const patch = webhooks.flatMap(({ clientConfig: { service, url } }, index) => {
    const path = service?.path ?? new URL(url ?? '').pathname;
    const at = `/webhooks/${index}/clientConfig`;
    const add = { op: 'add', path: `${at}/url`, value: `https://127.0.0.1:${port}${path}` };
    return service === undefined ? [add] : [{ op: 'remove', path: `${at}/service` }, add];
  });
  await cp.kubectl(['patch', KIND, NAME, '--type=json', '-p', JSON.stringify(patch)]);
}

/** A controller of pods. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** A controller that is nowhere: the garbage collector removes its pods. */
const NOBODY: Owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'o', uid: 'owner' };

/** Keeps a hint that belongs to no plan: the operator that leads removes those. */
export const KEPT = ['evenkeel.dev/kept-by-a-test'];

const NEVER = new AbortController().signal;

/** A hint for the pods that `createPod` creates for this controller in a namespace. */
export function hintFor(namespace: string, alternatives?: readonly string[], { uid }: Owner = NOBODY): object {
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'PlacementHint',
    metadata: { name: 'hint', namespace, finalizers: KEPT },
    spec: { ownerUID: uid, nodeName: 'node-1', alternatives, plan: 'plan', podUID: 'pod' },
  };
}

export interface Creation {
  readonly dryRun: boolean;
  /** Whoever is to bind the pod; the scheduler of the control plane when left out. */
  readonly schedulerName?: string;
  readonly owner?: Owner;
}

/** Creates a pod of one controller. Resolves to whether it is steered. */
export async function createPod(
  client: ApiClient,
  namespace: string,
  { dryRun, schedulerName, owner = NOBODY }: Creation,
): Promise<boolean> {
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'pod-',
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: { schedulerName, containers: [{ name: 'main', image: 'simulated' }] },
  };
  const target = { ...RESOURCES.Pod, namespace };
  const query = dryRun ? { dryRun: 'All' } : {};
  const answer = await client.send({ verb: 'create', target, body, query, deadline: seconds(60) }, NEVER);
  return (answer.body as { readonly spec: { readonly affinity?: object } }).spec.affinity !== undefined;
}

/** The certificates in PEM by which the API server verifies each webhook. */
export async function bundles(cp: ControlPlane): Promise<readonly string[]> {
  const { webhooks } = await configuration(cp);
  return webhooks.map(({ clientConfig: { caBundle = '' } }) => Buffer.from(caBundle, 'base64').toString());
}

async function configuration(cp: ControlPlane): Promise<Configuration> {
  return JSON.parse(await cp.kubectl(['get', KIND, NAME, '-o', 'json'])) as Configuration;
}

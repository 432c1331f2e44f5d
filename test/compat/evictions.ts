import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { createEvictor } from '../../src/adapters/kubernetes/evictor.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import type { PodRef } from '../../src/model/pod.ts';
import type { EvictionAnswer, Evictor } from '../../src/ports.ts';
import { aDeployment, aDisruptionBudget, aKwokNode, NAMESPACE } from '../contract/kubernetes-objects.ts';
import { listPods } from '../control-plane/cluster-state.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install } from '../support/operator-process.ts';
import type { CheckGroup } from './check.ts';
import { adaptedTo, onControlPlane } from './cluster.ts';
import { yesUnless } from './verdict.ts';

const ANSWERS = 'answers to evictions';
const NEVER = new AbortController().signal;

/** What the adapter makes of each answer of the eviction API, asked with the rights of the operator. */
export const EVICTIONS: CheckGroup = {
  name: 'evictions',
  checks: [ANSWERS],
  run: ({ decide, ...context }) =>
    onControlPlane({ decide, ...context }, { metricsServer: false }, async (cp) => {
      await install(cp, 'default', adaptedTo(context.kubernetes));
      await setUpBudgets(cp);
      const client = await operatorsClient(cp);
      try {
        decide(ANSWERS, yesUnless(await wrongAnswers(cp, createEvictor(client))));
      } finally {
        await client.close();
      }
    }),
};

async function setUpBudgets(cp: ControlPlane): Promise<void> {
  await cp.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    aKwokNode('a'),
    aKwokNode('b'),
  ]);
  await cp.apply(['free', 'tight', 'twice'].map((name) => aDeployment(name, 2)));
  const deployments = ['free', 'tight', 'twice'].map((name) => `deployment/${name}`);
  await cp.kubectl(['wait', '-n', NAMESPACE, '--for=condition=Available', '--timeout=90s', ...deployments]);
  // When a pod changes, its controller counts only one of several budgets anew: all pods must be there before.
  await cp.apply([
    aDisruptionBudget('tight', 'tight', 0),
    aDisruptionBudget('twice-1', 'twice', 1),
    aDisruptionBudget('twice-2', 'twice', 1),
  ]);
  await waitUntil('budgets are counted', () => uncounted(cp), { timeoutMilliseconds: 60_000 });
}

async function uncounted(cp: ControlPlane): Promise<string | undefined> {
  const generations = await cp.kubectl([
    ...['get', 'pdb', '-n', NAMESPACE, '-o'],
    'jsonpath={range .items[*]}{.metadata.generation}={.status.observedGeneration}={.status.currentHealthy} {end}',
  ]);
  return generations
    .trim()
    .split(' ')
    .every((each) => each === '1=1=2')
    ? undefined
    : generations;
}

async function operatorsClient(cp: ControlPlane): Promise<ApiClient> {
  const kubeconfig = await cp.kubeconfigFor({ namespace: 'evenkeel-system', name: 'evenkeel' });
  const connection = await connect({ kubeconfig, env: {} });
  return new ApiClient(connection, {
    clock: systemClock,
    random: Math.random,
    userAgent: 'evenkeel/compat',
    attempts: 5,
  });
}

async function podOf(cp: ControlPlane, app: string): Promise<PodRef> {
  const pods = await listPods(cp);
  const found = pods.find(({ metadata }) => metadata.labels?.['app'] === app && !metadata.deletionTimestamp);
  if (found === undefined) {
    throw new Error(`there is no pod of ${app}`);
  }
  const { namespace = NAMESPACE, name, uid } = found.metadata;
  return { namespace, name, uid };
}

/** What was answered otherwise than it should be. */
async function wrongAnswers(cp: ControlPlane, evictor: Evictor): Promise<readonly string[]> {
  const [free, tight, twice] = [await podOf(cp, 'free'), await podOf(cp, 'tight'), await podOf(cp, 'twice')];
  const cases: readonly (readonly [string, PodRef, EvictionAnswer['kind'], RegExp?])[] = [
    ['a budget (429)', tight, 'RefusedByBudget', /disruption budget tight/],
    ['two budgets (500)', twice, 'Refused', /more than one PodDisruptionBudget/],
    ['another pod of that name (409)', { ...free, uid: '00000000-0000-0000-0000-000000000000' }, 'Gone'],
    ['no such pod (404)', { ...free, name: 'nobody' }, 'Gone'],
    ['nothing against it (201)', free, 'Accepted'],
  ];
  const wrong: string[] = [];
  for (const [title, pod, kind, message = /^/] of cases) {
    const answer = await evictor.evict(pod, { dryRun: false }, NEVER);
    if (answer.kind !== kind || !message.test('message' in answer ? answer.message : '')) {
      wrong.push(`${title}: ${JSON.stringify(answer)}`);
    }
  }
  return wrong;
}

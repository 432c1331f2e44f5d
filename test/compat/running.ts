import { setTimeout as sleep } from 'node:timers/promises';
import { changeScale, changeUsage } from '../campaigns/disturb.ts';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { admissionPolicyApi } from '../control-plane/kubernetes-versions.ts';
import { nodeLoads } from '../control-plane/node-loads.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { collect, demoPolicy, untilQuiet } from '../demo/rebalance.ts';
import { install, startOperator } from '../support/operator-process.ts';
import { createRandom } from '../support/random.ts';
import { policyObject } from '../support/resources.ts';
import { startWithWebhook } from '../support/webhook.ts';
import type { CheckContext, CheckGroup } from './check.ts';
import { adaptedTo, onControlPlane, setUp } from './cluster.ts';
import { yesUnless } from './verdict.ts';
import { startWatchedOperator, type WatchedOperator } from './watched-operator.ts';

const REST = 'at rest without a warning';
const DEMO = 'demo';
const ACTION = 'in action without a warning';
const RIGHTS = 'no request forbidden';

/** One cluster, that of the demo: the operator at rest, then rebalancing it, then keeping up with loads that change. */
export const RUNNING: CheckGroup = {
  name: 'running',
  checks: [REST, DEMO, ACTION, RIGHTS],
  run: (context) =>
    onControlPlane(context, { metricsServer: true }, async (cp) => {
      const hasPolicies = admissionPolicyApi(context.kubernetes) !== undefined;
      await install(cp, hasPolicies ? 'default' : 'webhook', adaptedTo(context.kubernetes));
      await setUp(cp, context, 'demo', true);
      const operator = await startWatchedOperator(cp, hasPolicies ? startOperator : startWithWebhook);
      try {
        await rest(cp, operator, context);
        await demo(cp, context);
        await action(cp, operator, context);
        context.decide(RIGHTS, yesUnless([...operator.forbidden(), ...forbiddenIn(operator.log())]));
      } finally {
        await operator.stop();
      }
    }),
};

/** A policy that only reports. */
async function rest(cp: ControlPlane, operator: WatchedOperator, { minutes, decide }: CheckContext): Promise<void> {
  await cp.apply([policyObject('rest', { interval: '15s', thresholds: { trigger: '0.05', consecutive: 1 } })]);
  await operator.logged('leading');
  await sleep(minutes * 60_000);
  const evicted = acceptedEvictions(await cp.audit()).length;
  decide(REST, yesUnless([...operator.newWarnings(), ...(evicted > 0 ? [`${evicted} pods were evicted`] : [])]));
  await cp.kubectl(['delete', 'rbp', 'rest']);
}

const DEMO_PATIENCE_MILLISECONDS = 5 * 60_000;

/** Moves land, the deviation of load falls to a quarter, and the cluster comes to rest. */
async function demo(cp: ControlPlane, { log, decide }: CheckContext): Promise<void> {
  const before = await nodeLoads(cp);
  await cp.apply([demoPolicy('RefineLB')]);
  const unrest = await untilQuiet(cp, log, DEMO_PATIENCE_MILLISECONDS).then(
    () => '',
    (error: unknown) => `; ${error instanceof Error ? error.message : String(error)}`,
  );
  const { stddevBefore, stddevAfter, planned, landed, evictions } = await collect(cp, before);
  const summary = `deviation ${stddevBefore.toFixed(3)} -> ${stddevAfter.toFixed(3)}, ${evictions.length} evictions, ${landed} of ${planned} as planned${unrest}`;
  const isGood = unrest === '' && landed >= 0.95 * planned && stddevAfter <= stddevBefore / 4;
  decide(DEMO, yesUnless(isGood ? [] : [summary], summary));
}

/** Pauses between two changes of the load. */
const PAUSE_MILLISECONDS = 15_000;

async function action(cp: ControlPlane, operator: WatchedOperator, { minutes, decide }: CheckContext): Promise<void> {
  const random = createRandom(1);
  const evictedBefore = acceptedEvictions(await cp.audit()).length;
  const deadline = performance.now() + minutes * 60_000;
  for (let change = 0; performance.now() < deadline; change += 1) {
    await (change % 4 === 3 ? changeScale(cp, random) : changeUsage(cp, random));
    await sleep(Math.min(PAUSE_MILLISECONDS, Math.max(0, deadline - performance.now())));
  }
  const evicted = acceptedEvictions(await cp.audit()).length - evictedBefore;
  decide(ACTION, yesUnless(operator.newWarnings(), `${evicted} evictions`));
}

function forbiddenIn(log: string): readonly string[] {
  return log.split('\n').filter((line) => /forbidden|may not /i.test(line));
}

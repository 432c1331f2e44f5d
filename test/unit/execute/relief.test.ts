import { describe, expect, it } from 'vitest';
import type { MoveStatus, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { step } from '../../../src/execute/executor.ts';
import type { ExecutionPolicy } from '../../../src/execute/executor-ports.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { planningOptions } from '../../../src/plan/options.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, aRollout, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive, NOON } from '../../support/test-clock.ts';

const forever = new AbortController().signal;
const policy = aPolicy('qos', { strategy: { type: 'QoSDriven' } });
const web = aWorkload('web', { replicas: 2, rollout: aRollout(2) });
const unready = { ready: false, readySince: epochSeconds(NOON - 300) };
const WEB_1: PodInfo = { ...aPodOf(web, 'web-1', 'a'), ...unready };
const WEB_2 = aPodOf(web, 'web-2', 'c');
const PLAN = 'qos-0123456789';

function execution(): ExecutionPolicy {
  const options = planningOptions(resolveOptions(policy.spec));
  return {
    current: async () => ({ policy, invalid: [] }),
    options,
    maxConcurrent: 1,
    maxInFlight: 100,
    stop: undefined,
  };
}

/** A plan of a minute ago in which web-1 leaves a for b; the scheduler by itself would put everything on c. */
function aWorld(pods: readonly PodInfo[] = [WEB_1, WEB_2], strategy: 'QoSDriven' | 'RefineLB' = 'QoSDriven'): World {
  const w = world(
    [aNode('a', TEN_CORES), aNode('b', TEN_CORES), aNode('c', TEN_CORES)],
    [web],
    pods.map((pod) => ({ ...pod, ready: true })),
  );
  pods.forEach(w.cluster.putPod); // probes of those that are not Ready fail, and go on failing
  w.cluster.gated.add(web.uid);
  w.cluster.bindTo = () => 'c';
  const plan = aPlan(policy, [aMove(WEB_1, 'b')], { steering: 'None' });
  w.plans.put({ ...plan, spec: { ...plan.spec, strategy } });
  return w;
}

const LANDED = { phase: 'Landed', replacement: { node: 'b' } };
const MISSED = { phase: 'Missed', replacement: { node: 'c' } };

/** A step a second until the plan has ended; resolves to what became of its move. */
async function run(w: World, how = execution()): Promise<MoveStatus | undefined> {
  for (let count = 0; count < 2_000; count += 1) {
    const { status }: RebalancePlan = await drive(w.clock, step(w.plans.of(PLAN), how, w.ports, forever));
    if (status?.phase !== 'Executing') {
      return status?.moves?.[0];
    }
    await w.clock.advance(1);
  }
  throw new Error('the plan did not end');
}

describe('a move of QoSDriven from node to node', () => {
  it('takes a pod that is not Ready, and lets its replacement through the gate to the planned node, however others are steered', async () => {
    const w = aWorld();
    expect(await run(w)).toMatchObject(LANDED);
    expect(w.gateActions).toEqual(['OpenedToTarget']);
  });

  it('lets the replacement go anywhere when that node has become unfit, and not wait at the gate', async () => {
    const w = aWorld();
    w.tap = (when, call, args) => {
      const isSent = when === 'after' && call === 'evictor.evict' && !(args[1] as { dryRun: boolean }).dryRun;
      if (isSent) {
        w.cluster.putNode(aNode('b', { ...TEN_CORES, unschedulable: true }));
      }
    };
    expect(await run(w)).toMatchObject(MISSED);
  });

  it('need not wait for other pods of its owner that are not Ready either: no more are missed without it', async () => {
    expect(await run(aWorld([WEB_1, { ...WEB_2, ...unready }]))).toMatchObject(LANDED);
  });

  it('leaves a pod that has become Ready since the plan was made', async () => {
    const back = { ...WEB_1, ready: true, readySince: epochSeconds(NOON - 30) };
    expect(await run(aWorld([back, WEB_2]))).toMatchObject({
      phase: 'Skipped',
      outcome: 'the pod has become Ready since the plan was made',
    });
  });

  it('takes a pod that was Ready all the time, once all of its owner are', async () => {
    const ready = { ...WEB_1, ready: true };
    expect(await run(aWorld([ready, WEB_2]))).toMatchObject(LANDED);
    expect(await run(aWorld([ready, { ...WEB_2, ...unready }]))).toMatchObject({
      phase: 'Skipped',
      outcome: expect.stringMatching(/^.* 1 of 2 pods available/),
    });
  });

  it('respects what else protects the pod', async () => {
    const annotations = new Map([['evenkeel.dev/do-not-evict', 'true']]);
    expect(await run(aWorld([{ ...WEB_1, annotations }, WEB_2]))).toMatchObject({
      phase: 'Skipped',
      outcome: expect.stringMatching(/^annotation /),
    });
    expect(await run(aWorld([{ ...WEB_1, phase: 'Unknown' }, WEB_2]))).toMatchObject({
      phase: 'Skipped',
      outcome: expect.stringMatching(/^phase is Unknown/),
    });
  });

  it('is the only one that does: who balances leaves a pod that is not Ready', async () => {
    const balancing = aPolicy('qos', {});
    const how = { ...execution(), options: resolveOptions(balancing.spec) };
    expect(await run(aWorld([WEB_1, WEB_2], 'RefineLB'), how)).toMatchObject({
      phase: 'Skipped',
      outcome: 'condition Ready is not True',
    });
  });
});

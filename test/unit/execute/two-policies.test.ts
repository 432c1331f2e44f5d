import { describe, expect, it } from 'vitest';
import { type ExecutionPolicy, step } from '../../../src/execute/executor.ts';
import { seconds } from '../../../src/model/units.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { API_1, aWorld, execution, forever, put, stepOnce, WEB_1 } from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';
import { drive } from '../../support/test-clock.ts';

const PODS = [WEB_1, API_1];

/** Policy `place` wants to move the pod of that place to the target of that place; both take a step at the same time. */
async function stepTogether(
  w: World,
  targets: readonly string[],
  how: ExecutionPolicy,
  latency: number,
): Promise<readonly string[]> {
  const reader: World['ports']['reader'] = {
    ...w.ports.reader,
    nodes: async (signal) => {
      await w.clock.sleep(seconds(latency), forever);
      return w.ports.reader.nodes(signal);
    },
  };
  const steps = targets.map(async (target, place) => {
    const name = `policy-${place}`;
    const policy = aPolicy(name);
    const plan = aPlan(policy, [aMove(PODS[place] ?? WEB_1, target)]);
    w.plans.put({ ...plan, metadata: { ...plan.metadata, name } });
    const current = async () => ({ policy, invalid: [] });
    return step(w.plans.of(name), { ...how, current }, { ...w.ports, reader }, forever);
  });
  await drive(w.clock, Promise.all(steps));
  return w.cluster.accepted;
}

describe('plans of two policies that are carried on at the same time', () => {
  it.each([0, 0.3])('begin one move to a node, where each request takes %d s', async (latency) => {
    expect(await stepTogether(aWorld(), ['b', 'b'], execution(), latency)).toHaveLength(1);
  });

  it.each([0, 0.3])('keep the limit of the operator, where each request takes %d s', async (latency) => {
    const how = execution(2, { maxInFlight: 1 });
    expect(await stepTogether(aWorld(), ['b', 'c'], how, latency)).toHaveLength(1);
  });

  it.each([0, 0.3])('keep a budget of both, where each request takes %d s', async (latency) => {
    const spent = { reason: 'BudgetExhausted', message: 'nothing is left', stops: 'Disruptions' } as const;
    const stop: ExecutionPolicy['stop'] = async (plans) =>
      plans.some(({ status }) => status?.moves?.some(({ phase }) => phase !== 'Planned')) ? spent : undefined;
    expect(await stepTogether(aWorld(), ['b', 'c'], execution(2, { stop }), latency)).toHaveLength(1);
  });

  it.each([0, 0.3])('both begin where nothing limits them, where each request takes %d s', async (latency) => {
    expect(await stepTogether(aWorld(), ['b', 'c'], execution(), latency)).toHaveLength(2);
  });
});

describe('a step in which nothing may begin', () => {
  it('asks once what stops the plan, and not again', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'b')]);
    let asked = 0;
    const stop: ExecutionPolicy['stop'] = async () => {
      asked += 1;
      return undefined;
    };
    await stepOnce(w, execution(1, { stop }));
    const before = asked;
    await stepOnce(w, execution(1, { stop }));
    expect([before, asked - before]).toEqual([2, 1]);
  });
});

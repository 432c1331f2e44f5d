import { describe, expect, it } from 'vitest';
import { step } from '../../../src/execute/executor.ts';
import type { ExecutionPolicy } from '../../../src/execute/executor-ports.ts';
import { seconds } from '../../../src/model/units.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { API_1, aWorld, execution, forever, PLAN, put, stepOnce, WEB_1 } from '../../support/execution.ts';
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
    const stop: ExecutionPolicy['stop'] = async (plans) => () =>
      plans.some(({ status }) => status?.moves?.some(({ phase }) => phase !== 'Planned')) ? spent : undefined;
    expect(await stepTogether(aWorld(), ['b', 'c'], execution(2, { stop }), latency)).toHaveLength(1);
  });

  it.each([0, 0.3])('both begin where nothing limits them, where each request takes %d s', async (latency) => {
    expect(await stepTogether(aWorld(), ['b', 'c'], execution(), latency)).toHaveLength(2);
  });
});

describe('moves that begin together', () => {
  /** Room for so many moves, those included that are under way. */
  const roomFor =
    (most: number): NonNullable<ExecutionPolicy['stop']> =>
    async (plans) =>
    (next) => {
      const begun = plans.flatMap(({ status }) => status?.moves ?? []).filter(({ phase }) => phase !== 'Planned');
      return begun.length + next.length > most
        ? { reason: 'BudgetExhausted', message: `${most} fit`, stops: 'Disruptions' }
        : undefined;
    };

  it.each([1, 2])('are as many as a budget has room for together: %d', async (most) => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    await stepOnce(w, execution(2, { stop: roomFor(most) }));
    expect(w.cluster.accepted).toHaveLength(most);
  });

  it('are not sent where the room was taken after their intents were stored', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    let left = 2;
    const writeStatus: World['ports']['plans']['writeStatus'] = async (...write) => {
      left = 1;
      return w.ports.plans.writeStatus(...write);
    };
    const ports = { ...w.ports, plans: { ...w.ports.plans, writeStatus } };
    const stop: ExecutionPolicy['stop'] = async (all, signal) => roomFor(left)(all, signal);
    const ended = step(w.plans.of(PLAN), execution(2, { stop }), ports, forever);
    expect((await drive(w.clock, ended)).status?.moves).toMatchObject([
      { phase: 'Evicting' },
      { phase: 'Aborted', outcome: '1 fit' },
    ]);
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
  });
});

describe('a step in which nothing may begin', () => {
  it('asks once what stops the plan, and not again', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'b')]);
    let asked = 0;
    const stop: ExecutionPolicy['stop'] = async () => {
      asked += 1;
      return () => undefined;
    };
    await stepOnce(w, execution(1, { stop }));
    const before = asked;
    await stepOnce(w, execution(1, { stop }));
    expect([before, asked - before]).toEqual([3, 1]);
  });
});

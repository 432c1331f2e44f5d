import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import type { VariantResult } from '../../../src/report/simulation-result.ts';
import { grownWorkingSet } from '../../../src/simulate/memory.ts';
import type { Scenario } from '../../../src/simulate/scenario.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { constant, steps } from '../../../src/simulate/trace.ts';
import { aScenario, aSimulatedNode, aSimulatedWorkload } from '../../support/scenarios.ts';

const MIB = 2 ** 20;
const FILL = 60;

describe('a working set', () => {
  it('takes 1 - 1/e of what is missing in the time to fill, and all of it in the end', () => {
    expect(grownWorkingSet(0, 100, FILL, FILL).bytes).toBeCloseTo(63.212, 3);
    expect(grownWorkingSet(0, 100, 100 * FILL, FILL).bytes).toBeCloseTo(100, 9);
  });

  it('grows to the same in one span and in two, with the same area', () => {
    const whole = grownWorkingSet(20, 100, 90, FILL);
    const first = grownWorkingSet(20, 100, 50, FILL);
    const second = grownWorkingSet(first.bytes, 100, 40, FILL);
    expect(second.bytes).toBeCloseTo(whole.bytes, 9);
    expect(first.area + second.area).toBeCloseTo(whole.area, 9);
  });

  it('gives nothing back', () => {
    expect(grownWorkingSet(100, 10, 30, FILL)).toEqual({ bytes: 100, area: 3000 });
  });
});

async function play(fields: Partial<Scenario>): Promise<VariantResult> {
  const { variants } = await simulate(aScenario({ memory: { fill: seconds(FILL) }, ...fields }));
  return variants[0] as VariantResult;
}

/** One pod that uses this much memory, by the second; it requests 64 MiB. */
function user(name: string, memory: readonly (readonly [at: number, mebibytes: number])[], priority = 0) {
  const trace = steps(memory.map(([at, value]) => ({ at, value: value * MIB })));
  return aSimulatedWorkload(name, { usage: [{ cpu: constant(1), memory: trace }], pod: { priority } });
}

/** Memory of the only node in the mean from the beginning until each of these seconds, as a fraction of what it has. */
async function memoryAt(instants: readonly number[], fields: Partial<Scenario>): Promise<readonly number[]> {
  const values = await Promise.all(
    instants.map(async (at) => (await play({ ...fields, duration: seconds(at) })).balance.memory),
  );
  return values.map(({ max }) => max);
}

describe('the memory of simulated pods', () => {
  const nodes = [aSimulatedNode('a', { memory: '1000Mi' })];

  it('fills after a start, and stays when a pod becomes idle', async () => {
    const peak = [
      user('web', [
        [0, 500],
        [200, 0],
      ]),
    ];
    const means = await memoryAt([200, 400, 800], { nodes, workloads: peak });
    // 500 of 1000 MiB in the end; the mean over the time so far still has the start in it, and never falls.
    expect(means[0]).toBeGreaterThan(0.2);
    expect(means[0]).toBeLessThan(0.4);
    expect(means[1]).toBeGreaterThan(means[0] ?? 1);
    expect(means[2]).toBeGreaterThan(means[1] ?? 1);
    const [without] = await memoryAt([800], { nodes, workloads: peak, memory: undefined });
    expect(without).toBeLessThan(0.13);
  });

  it('is lost with the pod: its replacement starts with an empty working set', async () => {
    const incidents = [
      { at: 200, kind: 'NodeFails' as const, node: 'a' },
      { at: 201, kind: 'NodeReturns' as const, node: 'a' },
    ];
    const settings = { nodes, workloads: [user('web', [[0, 500]])], duration: seconds(300) };
    const [kept, restarted] = await Promise.all([play(settings), play({ ...settings, incidents })]);
    expect(restarted.balance.memory.max).toBeLessThan(0.8 * kept.balance.memory.max);
  });

  it('costs a pod its place on a node that has no more, those first that are furthest beyond their requests', async () => {
    const workloads = [user('small', [[0, 300]]), user('large', [[0, 900]])];
    const { moves, waits } = await play({ nodes, workloads, duration: seconds(300) });
    expect(moves.memoryEvictions).toBe(2);
    expect(waits.neverServed).toBe(0);
    // Only requests to the large one are lost: nobody ever evicts the small one.
    const rate = { rate: constant(1), arrivals: 'Even' as const, cpu: 0, memory: 0 };
    const asked = (name: string) =>
      workloads.map((each) => (each.info.name === name ? { ...each, requests: rate } : each));
    const failed = async (name: string) =>
      (await play({ nodes, workloads: asked(name), duration: seconds(300) })).requests.failed;
    expect(await failed('small')).toBeCloseTo(10); // its first start
    expect(await failed('large')).toBeGreaterThan(20);
  });

  it('goes by priority before it goes by size', async () => {
    const rate = { rate: constant(1), arrivals: 'Even' as const, cpu: 0, memory: 0 };
    const important = { ...user('large', [[0, 900]], 10), requests: rate };
    const { moves, requests } = await play({
      nodes,
      workloads: [important, user('small', [[0, 300]])],
      duration: seconds(300),
    });
    expect(moves.memoryEvictions).toBeGreaterThan(0);
    expect(requests.failed).toBeCloseTo(10);
  });

  it('evicts nobody where the scenario does not say how it behaves', async () => {
    const workloads = [user('small', [[0, 300]]), user('large', [[0, 900]])];
    const { moves } = await play({ nodes, workloads, memory: undefined });
    expect(moves.memoryEvictions).toBe(0);
  });
});

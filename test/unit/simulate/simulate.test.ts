import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import type { VariantResult } from '../../../src/report/simulation-result.ts';
import { DEFAULT_START } from '../../../src/simulate/parts.ts';
import type { Scenario, WorkloadSpec } from '../../../src/simulate/scenario.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { constant } from '../../../src/simulate/trace.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aServiceClass } from '../../support/builders/service-levels.ts';
import { kseScenario } from '../../support/kse.ts';
import { ALONE, aScenario, aSimulatedNode, aSimulatedWorkload } from '../../support/scenarios.ts';

async function play(fields: Partial<Scenario>): Promise<VariantResult> {
  const { variants } = await simulate(aScenario(fields));
  const [variant] = variants;
  if (variant === undefined) {
    throw new Error('there is no variant');
  }
  return variant;
}

const REQUESTS = { rate: constant(10), arrivals: 'Even', cpu: 10, memory: 0 } as const;

describe('a simulated cluster', () => {
  it('loses the requests of a start and no others', async () => {
    const { requests } = await play({ workloads: [aSimulatedWorkload('web', { requests: REQUESTS })] });
    expect(requests.total).toBeCloseTo(6000);
    expect(requests.failed).toBeCloseTo(100); // 10 s of start-up
  });

  it('measures what runs: 100 millicores for each of two pods, evenly on two nodes of 2000', async () => {
    const { balance } = await play({
      workloads: [aSimulatedWorkload('a'), aSimulatedWorkload('b')],
      duration: aScenario().duration,
    });
    // 39 of 40 windows are full, the first lacks 10 of its 15 s.
    expect(balance.cpu.mean).toBeCloseTo((0.05 * (39 + 1 / 3)) / 40);
    expect(balance.cpu.ema).toBeCloseTo(0);
  });

  it('runs Jobs to their end, and starts them anew when their node is lost', async () => {
    const job = aSimulatedWorkload('batch', { kind: 'Job', runTime: 100 });
    expect((await play({ workloads: [job] })).waits).toMatchObject({ finished: 1, makespan: 110, slowdown: 1.1 });
    const lost = await play({
      nodes: [aSimulatedNode('a')],
      workloads: [job],
      incidents: [
        { at: 60, kind: 'NodeFails', node: 'a' },
        { at: 70, kind: 'NodeReturns', node: 'a' },
      ],
    });
    // It starts again at 70, is Ready at 80 and has to run all of its 100 s.
    expect(lost.waits.makespan).toBe(180);
  });

  it('makes pods of a lost node anew elsewhere after grace and toleration, and not before', async () => {
    const { requests } = await play({
      nodes: [aSimulatedNode('a'), aSimulatedNode('b')],
      workloads: [aSimulatedWorkload('web', { requests: REQUESTS, pod: { nodeSelector: {} } })],
      incidents: [
        { at: 100, kind: 'NodeFails', node: 'a' },
        { at: 100, kind: 'NodeFails', node: 'b' },
        { at: 300, kind: 'NodeReturns', node: 'b' },
      ],
    });
    // 10 s of the first start, and at least from 100 until b is back and the pod has started there.
    expect(requests.failed).toBeGreaterThanOrEqual(100 + 10 * 210 - 1e-6);
  });

  it('ends services when their time is over', async () => {
    const { requests } = await play({ workloads: [aSimulatedWorkload('web', { requests: REQUESTS, endsAfter: 200 })] });
    expect(requests.total).toBeCloseTo(2000);
  });

  it('follows changes of scale', async () => {
    const { balance } = await play({
      workloads: [aSimulatedWorkload('web', { replicas: 1 })],
      incidents: [{ at: 300, kind: 'Scale', workload: 'web', replicas: 5 }],
    });
    const one = (0.025 * 590) / 600;
    const four = (4 * 0.025 * 290) / 600;
    expect(balance.cpu.mean).toBeCloseTo(one + four);
  });

  it('never loses a pod, whatever happens to nodes', async () => {
    const names = ['a', 'b', 'c'];
    const workloads = names.map((name) => aSimulatedWorkload(name, { replicas: 4 }));
    const incidents = Array.from({ length: 20 }, (_, index) => ({
      at: 20 + 25 * index,
      kind: index % 2 === 0 ? ('NodeFails' as const) : ('NodeReturns' as const),
      node: names[Math.floor(index / 2) % 3] ?? 'a',
    }));
    const { balance, waits } = await play({ nodes: names.map((name) => aSimulatedNode(name)), workloads, incidents });
    expect(waits.neverServed).toBe(0);
    expect(balance.cpu.mean).toBeGreaterThan(0);
  });

  it('takes no room for granted: what does not fit waits until something ends', async () => {
    const { waits } = await play({
      nodes: [aSimulatedNode('a', { pods: '1' })],
      workloads: [aSimulatedWorkload('first', { endsAfter: 100 }), aSimulatedWorkload('second', { arrivesAt: 1 })],
    });
    // The first is Ready at 10; it is asked to go at 100, gone at 105, and the second is Ready at 115.
    expect(waits.waiting).toBeCloseTo((10 + 114) / 2);
  });
});

describe('a policy in the simulator', () => {
  const spec = {
    mode: 'Automatic',
    interval: '60s',
    strategy: { type: 'RefineLB' },
    thresholds: { trigger: '0.1', minGain: '0.01', minImprovement: '0.01', consecutive: 1 },
    protections: { minPodAge: '0s', minReplicas: 1, stabilization: '0s', cooldown: '0s' },
    steering: { mode: 'AdmissionPolicy' },
  };
  const heavy = { cpu: constant(500), memory: constant(0) };
  const light = { cpu: constant(10), memory: constant(0) };
  /** The second heavy pod goes where the image is already; the scheduler sees equal requests. */
  const uneven: Partial<Scenario> = {
    nodes: [aSimulatedNode('a'), aSimulatedNode('b')],
    workloads: [heavy, heavy, light, light].map((usage, index) =>
      aSimulatedWorkload(`w${index}`, { usage: [usage], arrivesAt: index * 20 }),
    ),
  };

  it('moves load off the node that has most, by the planner and the executor of the operator', async () => {
    const played = Array.from({ length: 8 }, async (_, seed) => {
      const variants = [ALONE, { name: 'refine', scheduler: 'None' as const, policies: [aPolicy('refine', spec)] }];
      return (await simulate(aScenario({ ...uneven, seed, variants }))).variants;
    });
    const results = await Promise.all(played);
    const moved = results.filter(([, refine]) => (refine?.moves.transfers ?? 0) > 0);
    expect(moved.length).toBeGreaterThan(0);
    for (const [alone, refine] of results) {
      expect(refine?.balance.cpu.ema).toBeLessThanOrEqual((alone?.balance.cpu.ema ?? 0) + 1e-9);
    }
    for (const [alone, refine] of moved) {
      expect(refine?.balance.cpu.ema).toBeLessThan((alone?.balance.cpu.ema ?? 0) / 2);
    }
  });

  it('carries plans out whatever the mode of their policy: to see what they would do is what it is for', async () => {
    const modes = ['Automatic', 'DryRun', 'Approve'] as const;
    const variants = modes.map((mode) => ({
      name: mode,
      scheduler: 'None' as const,
      policies: [aPolicy('refine', { ...spec, mode })],
    }));
    const result = await simulate(aScenario({ ...uneven, seed: 1, variants }));
    const moves = result.variants.map(({ moves: { transfers } }) => transfers);
    expect(moves[0]).toBeGreaterThan(0);
    expect(new Set(moves).size).toBe(1);
  });

  it('lets the first of two policies own the pods that both select', async () => {
    const idle = { ...spec, thresholds: { trigger: '1' } };
    const play = (policies: Scenario['variants'][number]['policies']) =>
      simulate(aScenario({ ...uneven, seed: 1, variants: [{ name: 'two', scheduler: 'None', policies }] }));
    const [acts, waits] = [aPolicy('z', spec), aPolicy('a', idle)];
    const results = await Promise.all([play([acts, waits]), play([waits, acts])]);
    const [first, second] = results.map(({ variants }) => variants[0]?.moves.transfers ?? 0);
    expect(first).toBeGreaterThan(0);
    expect(second).toBe(0);
  });

  it('gives the same result, to the byte, for the same seed, and another for another', async () => {
    const [base] = [{ pods: 20, rate: 40, growth: 'constant', distribution: 'exponential', resource: 'cpu' } as const];
    const report = async (seed: number) => JSON.stringify(await simulate(kseScenario(base, seed)));
    expect(await report(3)).toBe(await report(3));
    expect(await report(3)).not.toBe(await report(4));
  });

  it('lets gates of pods be opened where no class governs them', async () => {
    const gated = aSimulatedWorkload('web', {
      requests: REQUESTS,
      pod: { schedulingGates: [{ name: 'evenkeel.dev/qos' }] },
    });
    const policies = [aPolicy('refine', spec)];
    const { requests } = await play({
      workloads: [gated],
      variants: [{ name: 'refine', scheduler: 'None', policies }],
    });
    expect(requests.failed).toBeCloseTo(110); // a second at the gate, ten to start
    expect((await play({ workloads: [gated] })).requests.failed).toBeCloseTo(100);
  });

  /** Runs on this node from the beginning. */
  function standing(workload: WorkloadSpec, nodeName: string): WorkloadSpec {
    const { name } = workload.info;
    const since = { createdAt: DEFAULT_START, readySince: DEFAULT_START };
    const rest = { name, uid: name, nodeName, phase: 'Running', ready: true, waiting: undefined } as const;
    return { ...workload, standing: [{ ...workload.template, ...since, ...rest }] };
  }

  it('stops a plan when a move takes so long that its workload falls below its SLO', async () => {
    const gold = aServiceClass({ name: 'gold', slo: 0.9, window: seconds(1000), expectedStartup: seconds(10) });
    const third = { cpu: constant(300), memory: constant(0) };
    const labels = { 'evenkeel.dev/service-class': 'gold' };
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const workloads = names.map((name) => standing(aSimulatedWorkload(name, { usage: [third], labels }), 'a'));
    const slow = { kind: 'Fixed' as const, value: seconds(100) };
    const timing = { ...aScenario().timing, startup: { hot: slow, cold: slow } };
    const once = { ...spec, interval: '5m', budgets: [{ maxConcurrent: 1 }] };
    const variants = [{ name: 'refine', scheduler: 'None' as const, policies: [aPolicy('refine', once)] }];
    const transfers = async (classes: Scenario['classes']) =>
      (await play({ workloads, classes, timing, variants, duration: seconds(599) })).moves.transfers;
    // Starts were taken to last 10 s: after 300 s of service they may last 33.
    expect([await transfers([]), await transfers([gold])]).toEqual([3, 1]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_SERVICE_LEVELS } from '../../../src/model/service-level.ts';
import { seconds } from '../../../src/model/units.ts';
import { verdictsIn } from '../../../src/plan/verdicts.ts';
import type { Cluster } from '../../../src/simulate/cluster.ts';
import { aScenario, aSimulatedNode, aSimulatedWorkload } from '../../support/scenarios.ts';
import { schedule } from '../../support/scheduled.ts';

function nodesOf({ world }: Cluster): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(world.pods.map(({ workload, info }) => [workload.info.name, info.nodeName]));
}

const term = (topologyKey: string) => ({ labelSelector: { matchLabels: { app: 'web' } }, topologyKey });

describe('the simulated scheduler', () => {
  it('puts pods only where the filters of the planner let them, and leaves none waiting that has a place', () => {
    const kinds = {
      plain: {},
      picky: { nodeSelector: { 'kubernetes.io/hostname': 'b' } },
      lonely: {
        affinity: {
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('kubernetes.io/hostname')] },
        },
      },
      ported: {
        containers: [
          { name: 'main', ports: [{ hostPort: 80, containerPort: 80 }], resources: { requests: { cpu: '300m' } } },
        ],
      },
    };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...Object.values(kinds)), { minLength: 1, maxLength: 30 }), (pods) => {
        const workloads = pods.map((pod, index) =>
          aSimulatedWorkload(`w${index}`, { pod, labels: { app: 'web' }, arrivesAt: index }),
        );
        const { world } = schedule(
          { nodes: ['a', 'b', 'c'].map((name) => aSimulatedNode(name, { pods: '6' })), workloads },
          100,
        );
        const snapshot = world.snapshot({ pastMoves: [], serviceLevels: NO_SERVICE_LEVELS, usage: undefined });
        const verdicts = verdictsIn(snapshot);
        for (const { info } of world.pods) {
          const open = snapshot.nodes
            .filter((node) => verdicts(info, node).refusals.length === 0)
            .map(({ name }) => name);
          if (info.nodeName === undefined) {
            expect(open).toEqual([]);
          } else {
            expect(open).toContain(info.nodeName);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('spreads equal pods over equal nodes', () => {
    const workloads = Array.from({ length: 8 }, (_, index) => aSimulatedWorkload(`w${index}`, { arrivesAt: index }));
    const nodes = Object.values(nodesOf(schedule({ workloads }, 50)));
    expect(nodes.filter((name) => name === 'a')).toHaveLength(4);
  });

  it('respects gates, and ties to one node', () => {
    const gated = aSimulatedWorkload('web', { pod: { schedulingGates: [{ name: 'evenkeel.dev/qos' }] } });
    const cluster = schedule({ workloads: [gated] }, 50);
    expect(nodesOf(cluster)).toEqual({ web: undefined });
    const [pod] = cluster.world.pods;
    if (pod !== undefined) {
      cluster.openGate(pod, { kind: 'Pinned', node: 'b' });
    }
    cluster.world.queue.run(60);
    expect(nodesOf(cluster)).toEqual({ web: 'b' });
  });

  it('follows a hint once the API server has seen it', () => {
    const cluster = schedule({ workloads: [aSimulatedWorkload('web')] }, 50);
    const [pod] = cluster.world.pods;
    const [from, to] = pod?.info.nodeName === 'a' ? ['a', 'b'] : ['b', 'a'];
    cluster.placeHint(pod?.info.uid ?? '', pod?.info.owner?.uid ?? '', {
      target: to,
      fallbacks: [],
      alternatives: undefined,
    });
    cluster.world.queue.run(52);
    if (pod !== undefined) {
      cluster.terminate(pod);
    }
    cluster.world.queue.run(100);
    expect([from, nodesOf(cluster)['web']]).toEqual([from, to]);
  });

  it('schedules by priority, then by age', () => {
    const cluster = schedule(
      {
        nodes: [aSimulatedNode('a', { pods: '1' })],
        workloads: [
          aSimulatedWorkload('first', { endsAfter: 100 }),
          aSimulatedWorkload('old', { arrivesAt: 10 }),
          aSimulatedWorkload('important', { arrivesAt: 20, pod: { priority: 5 } }),
        ],
      },
      200,
    );
    expect(nodesOf(cluster)).toEqual({ old: undefined, important: 'a' });
  });
});

describe('preemption by priority', () => {
  const low = (name: string, at: number) => aSimulatedWorkload(name, { arrivesAt: at, pod: { priority: 1 } });
  const middle = (name: string, at: number) => aSimulatedWorkload(name, { arrivesAt: at, pod: { priority: 2 } });
  const high = aSimulatedWorkload('high', { arrivesAt: 50, pod: { priority: 9 } });
  const one = [aSimulatedNode('a', { pods: '2' })];

  it('takes the lowest priority, and of those the youngest', () => {
    const { preempted } = schedule({ nodes: one, workloads: [middle('m', 1), low('l', 2), high] }, 60, true);
    expect(preempted).toEqual(['l']);
    expect(schedule({ nodes: one, workloads: [low('old', 1), low('young', 5), high] }, 60, true).preempted).toEqual([
      'young',
    ]);
  });

  it('takes nobody of the same priority', () => {
    const peer = aSimulatedWorkload('peer', { arrivesAt: 50, pod: { priority: 1 } });
    expect(schedule({ nodes: one, workloads: [low('x', 1), low('y', 2), peer] }, 60, true).preempted).toEqual([]);
  });

  it('prefers the node whose most important victim matters least', () => {
    const nodes = [aSimulatedNode('a', { pods: '1' }), aSimulatedNode('b', { pods: '1' })];
    const { preempted } = schedule({ nodes, workloads: [middle('m', 1), low('l', 2), high] }, 60, true);
    expect(preempted).toEqual(['l']);
  });

  it('gives the room to who it was made for, and asks for no more meanwhile', () => {
    const cluster = schedule({ nodes: one, workloads: [low('x', 1), low('y', 2), high, low('late', 52)] }, 300, true);
    expect(cluster.preempted).toEqual(['y']);
    expect(nodesOf(cluster)).toMatchObject({ x: 'a', high: 'a', late: undefined });
  });

  describe('of many at once', () => {
    const slots = (count: number) => Array.from({ length: count }, (_, at) => aSimulatedNode(`n${at}`, { pods: '1' }));
    const lows = (count: number) => Array.from({ length: count }, (_, at) => low(`low-${at}`, at / 10));
    const highs = (count: number) =>
      Array.from({ length: count }, (_, at) =>
        aSimulatedWorkload(`high-${at}`, { arrivesAt: 50, pod: { priority: 9 } }),
      );
    const slow = { ...aScenario().timing, termination: { kind: 'Fixed', value: seconds(60) } } as const;

    it('makes room for each on a node of its own, while the victims of the others terminate', () => {
      const cluster = schedule({ nodes: slots(8), workloads: [...lows(8), ...highs(8)], timing: slow }, 51, true);
      expect(new Set(cluster.preempted).size).toBe(8);
      cluster.world.queue.run(111);
      const nodes = nodesOf(cluster);
      expect(highs(8).filter(({ info }) => nodes[info.name] === undefined)).toEqual([]);
      expect(cluster.preempted).toHaveLength(8);
    });

    it('makes no more room than there is', () => {
      const cluster = schedule({ nodes: slots(3), workloads: [...lows(3), ...highs(8)], timing: slow }, 400, true);
      expect(cluster.preempted).toHaveLength(3);
      expect(Object.values(nodesOf(cluster)).filter((node) => node !== undefined)).toHaveLength(3);
    });

    it('evicts nobody again who already leaves for another reason', () => {
      const cluster = schedule({ nodes: slots(1), workloads: [...lows(1), ...highs(1)], timing: slow }, 49, true);
      cluster.world.pods.forEach((pod) => void cluster.terminate(pod));
      cluster.world.queue.run(200);
      expect(cluster.preempted).toEqual([]);
      expect(nodesOf(cluster)).toMatchObject({ 'high-0': 'n0' });
    });
  });
});

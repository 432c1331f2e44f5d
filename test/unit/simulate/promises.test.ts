import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import type { ClassResult, VariantResult } from '../../../src/report/simulation-result.ts';
import type { Incident, WorkloadSpec } from '../../../src/simulate/scenario.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aServiceClass } from '../../support/builders/service-levels.ts';
import { aScenario, aSimulatedNode, aSimulatedWorkload } from '../../support/scenarios.ts';

const HOUR = 3600;
/** As the scenario has them, with a look of the operator. */
const START = 10;
const EVICTION = 5 + 2;

/** The default budgets: two moves in flight. */
const policy = aPolicy('qos', {
  mode: 'Automatic',
  interval: '30s',
  strategy: { type: 'QoSDriven' },
  steering: { mode: 'Gate' },
  protections: { minReplicas: 1 },
});

const CLASSES = [
  aServiceClass({ name: 'prod', slo: 1, importance: 1 }),
  aServiceClass({ name: 'gold', slo: 0.95, importance: 1 }),
  aServiceClass({ name: 'batch', slo: 0.9, importance: 2 }),
  aServiceClass({ name: 'free', slo: 0.5, importance: 3 }),
  aServiceClass({ name: 'tenant', slo: 0.5, importance: 3 }),
];

interface Arrivals {
  readonly className: string;
  readonly count: number;
  /** Slots of each. */
  readonly slots?: number;
  /** When the first of them arrives, and the time between two. */
  readonly at?: number;
  readonly every?: number;
  readonly endsAfter?: number;
}

/** Requests of one pod each, which wait at the gate. */
function requests({ className, count, slots = 1, at = 0, every = 1, endsAfter }: Arrivals): readonly WorkloadSpec[] {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: `${slots}`, memory: '64Mi' } } }];
  return Array.from({ length: count }, (_, index) =>
    aSimulatedWorkload(`${className}-${index}`, {
      arrivesAt: at + index * every,
      endsAfter,
      template: {
        metadata: { labels: { 'evenkeel.dev/service-class': className } },
        spec: { containers, schedulingGates: [{ name: 'evenkeel.dev/qos' }] },
      },
    }),
  );
}

interface Cluster {
  readonly nodes: number;
  /** Of each node. */
  readonly slots: number;
  readonly arrivals: readonly Arrivals[];
  readonly incidents?: readonly Incident[];
}

/** An hour of it under the policy. */
async function play({ nodes, slots, arrivals, incidents = [] }: Cluster): Promise<VariantResult> {
  const { timing } = aScenario();
  const { variants } = await simulate(
    aScenario({
      duration: seconds(HOUR),
      timing: { ...timing, nodeToleration: seconds(300) },
      nodes: Array.from({ length: nodes }, (_, index) =>
        aSimulatedNode(`n${index}`, { cpu: `${slots}`, memory: '64Gi' }),
      ),
      workloads: arrivals.flatMap(requests),
      classes: CLASSES,
      incidents,
      variants: [{ name: 'ours', scheduler: 'None', policies: [policy] }],
    }),
  );
  return variants[0] as VariantResult;
}

function classNamed({ classes }: VariantResult, name: string): ClassResult {
  const found = classes.find((each) => each.name === name);
  if (found === undefined) {
    throw new Error(`no request is of class ${name}`);
  }
  return found;
}

/** Seconds in which the worst of a class did not run, of those since its arrival. */
function longestLoss(result: VariantResult, name: string, arrivedAt = 0): number {
  return (1 - classNamed(result, name).least) * (HOUR - arrivedAt);
}

describe('where there is room for what was promised', () => {
  it('thirty pods of the highest class that come at once wait no longer than their evictions take', async () => {
    const result = await play({
      nodes: 5,
      slots: 10,
      arrivals: [
        { className: 'free', count: 37 },
        { className: 'prod', count: 30, at: 600, every: 0 },
      ],
    });
    // 13 slots are empty; 17 pods have to leave, two at a time.
    expect(longestLoss(result, 'prod', 600)).toBeLessThan(START + Math.ceil(17 / 2) * EVICTION);
    expect(classNamed(result, 'free').fulfilled).toBe(1);
  });

  it('pods that need the room of three others get it, and those wait no more than they may', async () => {
    const result = await play({
      nodes: 4,
      slots: 10,
      arrivals: [
        { className: 'free', count: 44 },
        { className: 'batch', count: 5, slots: 3, at: 300, every: 20 },
      ],
    });
    expect(classNamed(result, 'batch').fulfilled).toBe(1);
    expect(classNamed(result, 'free').fulfilled).toBe(1);
  });

  it('a tenant that creates and deletes pods all the time takes nothing from those who stay', async () => {
    const result = await play({
      nodes: 2,
      slots: 10,
      arrivals: [
        { className: 'batch', count: 8 },
        { className: 'free', count: 12 },
        { className: 'tenant', count: 350, at: 60, every: 10, endsAfter: 60 },
      ],
    });
    expect(classNamed(result, 'batch').fulfilled).toBe(1);
    expect(classNamed(result, 'free').fulfilled).toBe(1);
    // A pod that is there for a minute may wait for half of it, and needs ten seconds to start.
    expect(classNamed(result, 'tenant').mean).toBeGreaterThan(0.3);
  });

  it('nobody falls below its SLO when 2 of 20 nodes fail', async () => {
    const result = await play({
      nodes: 20,
      slots: 5,
      arrivals: [
        { className: 'gold', count: 30 },
        { className: 'batch', count: 30 },
        { className: 'free', count: 50 },
      ],
      incidents: ['n3', 'n11'].map((node) => ({ at: 1200, kind: 'NodeFails', node })),
    });
    expect(result.classes.map(({ fulfilled }) => fulfilled)).toEqual([1, 1, 1]);
  });
});

describe('where more was promised than fits', () => {
  it.each([8, 10, 12])(
    'by a fifth, the least important class alone goes short, and its requests by about the same: nodes of %d slots',
    async (slots) => {
      const result = await play({
        nodes: 4,
        slots,
        arrivals: [
          { className: 'prod', count: 2 * slots },
          { className: 'batch', count: 2 * slots },
          { className: 'free', count: 2 * slots },
        ],
      });
      expect(longestLoss(result, 'prod')).toBeLessThan(START + 3 * EVICTION);
      const [batch, free] = [classNamed(result, 'batch'), classNamed(result, 'free')];
      expect(batch.fulfilled).toBe(1);
      // A twentieth of the slots is left: a tenth each, less what starts and the surplus of others cost.
      expect(batch.mean).toBeLessThan(0.95);
      expect(free.mean).toBeGreaterThan(0.04);
      expect(free.least).toBeGreaterThan(free.mean / 4);
      expect(free.gini).toBeLessThan(0.15);
    },
  );

  it('to the more important ones, the highest class keeps its promise, the next gets the rest and the lowest none of that', async () => {
    const result = await play({
      nodes: 4,
      slots: 10,
      arrivals: [
        { className: 'prod', count: 30 },
        { className: 'batch', count: 20 },
        { className: 'free', count: 10 },
      ],
    });
    expect(longestLoss(result, 'prod')).toBeLessThan(START + 5 * EVICTION);
    const [batch, free] = [classNamed(result, 'batch'), classNamed(result, 'free')];
    expect(batch.least).toBeGreaterThan(0.4);
    expect(batch.gini).toBeLessThan(0.05);
    expect(free.mean).toBeLessThan(0.05);
  });
});

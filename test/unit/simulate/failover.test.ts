import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import { projectPdb } from '../../../src/observe/project/pdb.ts';
import type { VariantResult } from '../../../src/report/simulation-result.ts';
import type { Scenario, WorkloadSpec } from '../../../src/simulate/scenario.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aServiceClass } from '../../support/builders/service-levels.ts';
import { aScenario, aSimulatedNode, aSimulatedWorkload } from '../../support/scenarios.ts';

const HOUR = 3600;
/** Until the node controller calls a silent node not Ready, and then until it deletes what runs there. */
const [GRACE, TOLERATION] = [40, 300];
/** A start, and the looks of the operator. */
const START = 15;
const TERMINATION = 5;

/** Nothing but news makes it run. */
const policy = aPolicy('qos', {
  mode: 'Automatic',
  interval: '1h',
  strategy: { type: 'QoSDriven' },
  steering: { mode: 'Gate' },
  protections: { minReplicas: 1 },
});

interface Settings {
  /** Of the ten nodes those that fall silent for good after ten minutes. */
  readonly failing: readonly string[];
  /** How many requests can wait, beside three that cannot. */
  readonly patient: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** For an hour, requests that take a node each. */
function scenario({ failing, patient, annotations = {} }: Settings): Scenario {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '2', memory: '64Mi' } } }];
  const request = (name: string, className: string) =>
    aSimulatedWorkload(name, {
      template: {
        metadata: { labels: { 'evenkeel.dev/service-class': className }, annotations },
        spec: { containers, schedulingGates: [{ name: 'evenkeel.dev/qos' }] },
      },
    });
  const base = aScenario();
  return {
    ...base,
    duration: seconds(HOUR),
    timing: { ...base.timing, nodeGrace: seconds(GRACE), nodeToleration: seconds(TOLERATION) },
    nodes: Array.from({ length: 10 }, (_, index) => aSimulatedNode(`n${index}`)),
    incidents: failing.map((node) => ({ at: 600, kind: 'NodeFails', node })),
    workloads: [
      ...['a', 'b', 'c'].map((name) => request(name, 'prod')),
      ...Array.from({ length: patient }, (_, index) => request(`free-${index}`, 'free')),
    ],
    classes: [
      aServiceClass({ name: 'prod', slo: 1, importance: 1 }),
      aServiceClass({ name: 'free', slo: 0.5, importance: 3 }),
    ],
    variants: [{ name: 'ours', scheduler: 'None', policies: [policy] }],
  };
}

/** Seconds of the hour in which the worst request that cannot wait did not run, its first start left out, and the moves. */
async function play(settings: Settings): Promise<{ readonly lost: number; readonly moves: VariantResult['moves'] }> {
  const { variants } = await simulate(scenario(settings));
  const { classes, moves } = variants[0] as VariantResult;
  return { lost: (1 - (classes.find(({ name }) => name === 'prod')?.least ?? 0)) * HOUR - START, moves };
}

describe('room that a node gives when it takes pods again', () => {
  it.each(['Standard', 'None'] as const)('is taken at once, with refinements %s', async (refinements) => {
    const base = scenario({ failing: [], patient: 0 });
    const [last] = base.workloads.slice(-1);
    const nodes = base.nodes.slice(0, 3);
    const incidents = [
      { at: 0, kind: 'Cordon', node: 'n0' },
      { at: 0, kind: 'Taint', node: 'n1', taint: { key: 'busy', value: '', effect: 'NoSchedule' } },
      { at: 600, kind: 'Uncordon', node: 'n0' },
      { at: 1200, kind: 'Untaint', node: 'n1', taint: { key: 'busy', value: '', effect: 'NoSchedule' } },
    ] as const;
    expect(last).toBeDefined();
    const qosDriven = { type: 'QoSDriven', qosDriven: { refinements, overload: '0.9' } } as const;
    const policies = [{ ...policy, spec: { ...policy.spec, strategy: qosDriven } }];
    const variants = [{ name: 'ours', scheduler: 'None', policies }] as const;
    const result = await simulate({ ...base, nodes, incidents, variants });
    const served = result.variants[0]?.classes.find(({ name }) => name === 'prod');
    expect(served?.mean).toBeGreaterThan((HOUR + HOUR - 600 + HOUR - 1200) / 3 / HOUR - START / HOUR);
  });
});

describe('room that a budget gives when it lets go whom it kept', () => {
  it('is taken at once', async () => {
    const base = scenario({ failing: [], patient: 1 });
    const [prod, , , free] = base.workloads;
    const guard = aSimulatedWorkload('guard');
    const others = { key: 'evenkeel.dev/service-class', operator: 'NotIn', values: ['prod'] };
    const pdb = projectPdb({
      metadata: { name: 'others', namespace: 'default' },
      spec: { minAvailable: 2, selector: { matchExpressions: [others] } },
    });
    const result = await simulate({
      ...base,
      nodes: [aSimulatedNode('n0', { cpu: '2200m' })],
      workloads: [{ ...(prod as WorkloadSpec), arrivesAt: 60 }, free as WorkloadSpec, guard],
      pdbs: [pdb],
      incidents: [{ at: 600, kind: 'Scale', workload: 'guard', replicas: 2 }],
    });
    const served = result.variants[0]?.classes.find(({ name }) => name === 'prod');
    expect(served?.mean).toBeGreaterThan(1 - (600 - 60 + 2 * START) / (HOUR - 60));
  });
});

describe('a request that cannot wait, on a node that fails', () => {
  it('runs elsewhere after a start, not when the node controller deletes it', async () => {
    const { lost, moves } = await play({ failing: ['n0', 'n1'], patient: 2 });
    expect(lost).toBeGreaterThan(GRACE - START);
    expect(lost).toBeLessThan(GRACE + START);
    expect(moves).toMatchObject({ preemptions: 0, transfers: 2 });
  });

  it('gets the room of one that can wait, while no more than a tenth of the nodes fail', async () => {
    const { lost, moves } = await play({ failing: ['n0'], patient: 7 });
    expect(lost).toBeLessThan(GRACE + TERMINATION + START);
    expect(moves.preemptions).toBeGreaterThan(0);
  });

  it('waits for the node controller when its owner wants it to stay, or most nodes fail', async () => {
    const kept = await play({ failing: ['n0'], patient: 2, annotations: { 'evenkeel.dev/do-not-evict': 'true' } });
    const most = await play({ failing: ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'], patient: 0 });
    for (const { lost, moves } of [kept, most]) {
      expect(lost).toBeGreaterThan(GRACE + TOLERATION - START);
      expect(moves.transfers).toBe(0);
    }
  });
});

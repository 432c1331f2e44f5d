import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { SteeringMode } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { step } from '../../../src/execute/executor.ts';
import type { ExecutionPolicy } from '../../../src/execute/executor-ports.ts';
import { ADMISSION_PATIENCE } from '../../../src/execute/verify.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { anAdmission, aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, atGate, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive } from '../../support/test-clock.ts';

const forever = new AbortController().signal;
const policy = aPolicy('qos');
const free = aWorkload('free', { replicas: 1 });
const prod = aWorkload('prod', { replicas: 1 });
const VICTIM = aPodOf(free, 'free-1', 'a');
const WAITING: PodInfo = atGate(aPodOf(prod, 'prod-1', ''));
const PLAN = 'qos-0123456789';
const EXECUTION: ExecutionPolicy = {
  current: async () => ({ policy, invalid: [] }),
  options: {
    ...resolveOptions(policy.spec),
    protections: { ...resolveOptions(policy.spec).protections, minReplicas: 0 },
  },
  maxConcurrent: 1,
  maxInFlight: 100,
  stop: undefined,
};

/** A plan in which free-1 makes room on a for prod-1, which waits at the gate; the scheduler by itself would choose c. */
function aWorld(steering: SteeringMode = 'None'): World {
  const w = world([aNode('a', TEN_CORES), aNode('c', TEN_CORES)], [free, prod], [VICTIM, WAITING]);
  w.cluster.gated.add(free.uid).add(prod.uid);
  w.cluster.bindTo = () => 'c';
  w.plans.put(aPlan(policy, [aPreemption(VICTIM), anAdmission(WAITING, 'a', [0])], { steering }));
  return w;
}

async function stepOnce(w: World): Promise<RebalancePlan> {
  return drive(w.clock, step(w.plans.of(PLAN), EXECUTION, w.ports, forever));
}

/** A step a second until the plan has ended; resolves to the phases of its moves. */
async function run(w: World): Promise<readonly string[]> {
  for (let count = 0; count < 2_000; count += 1) {
    const { status } = await stepOnce(w);
    if (status?.phase !== 'Executing') {
      return (status?.moves ?? []).map(({ phase }) => phase);
    }
    await w.clock.advance(1);
  }
  throw new Error('the plan did not end');
}

function whereIs(w: World, owner: string): readonly (string | undefined)[] {
  return [...w.cluster.pods.values()].filter((pod) => pod.owner?.uid === owner).map(({ nodeName }) => nodeName);
}

describe('a plan that preempts', () => {
  it('gives the room of the victim to the one that it was taken for, and to nobody else', async () => {
    const w = aWorld();
    expect(await run(w)).toEqual(['Vacated', 'Landed']);
    expect(w.plans.of(PLAN).status?.message).toBe('1 of 1 replacements landed as planned, 1 of 1 preempted pods left');
    expect(whereIs(w, prod.uid)).toEqual(['a']);
  });

  it('leaves the replacement of the victim at the gate, for a plan of its own', async () => {
    const w = aWorld();
    await run(w);
    expect([...w.cluster.pods.values()].find(({ owner }) => owner?.uid === free.uid)?.waiting?.gated).toBe(true);
  });

  it.each(['AdmissionPolicy', 'Webhook'] as const)(
    'places no hint, also where %s steers, and evicts the victim alone',
    async (mode) => {
      const w = aWorld(mode);
      await run(w);
      expect(w.calls).not.toContain('steering.place');
      expect(w.cluster.accepted).toEqual([VICTIM.uid]);
    },
  );

  it('lets nobody in before the victim is gone', async () => {
    const w = aWorld();
    w.cluster.delays.grace = 30;
    w.tap = (when, call) => {
      if (when === 'before' && call === 'gates.open') {
        expect(w.cluster.pods.has(VICTIM.uid)).toBe(false);
      }
    };
    expect(await run(w)).toEqual(['Vacated', 'Landed']);
    expect(w.gateActions).toEqual(['OpenedToTarget']);
  });

  it('goes on where it was killed: right before the eviction, and right before the gate', async () => {
    for (const call of ['evictor.evict', 'gates.open']) {
      const w = aWorld();
      let kills = 0;
      w.tap = (when, name) => {
        if (when === 'before' && name === call && kills < 1) {
          kills += 1;
          throw new Error('killed');
        }
      };
      await expect(run(w)).rejects.toThrow('killed');
      expect(await run(w)).toEqual(['Vacated', 'Landed']);
    }
  });

  it('keeps at the gate who cannot be let in after all, and says so', async () => {
    const w = aWorld();
    w.tap = (when, call) => {
      if (when === 'before' && call === 'gates.open') {
        throw new Error('killed');
      }
    };
    await expect(run(w)).rejects.toThrow('killed');
    w.tap = () => undefined;
    w.cluster.putNode(aNode('a', { ...TEN_CORES, unschedulable: true }));
    await run(w);
    expect(w.plans.of(PLAN).status?.moves?.[1]).toMatchObject({
      phase: 'Failed',
      outcome: `a could not take it for ${ADMISSION_PATIENCE} s: it waits at the gate for another plan`,
    });
    expect(w.cluster.pods.get(WAITING.uid)?.waiting?.gated).toBe(true);
    expect(w.events.find(({ reason }) => reason === 'TargetGivenUp')?.note).toMatch(/^waits at the gate, since a /);
  });

  it('ends when the one that waits is deleted', async () => {
    const w = aWorld();
    w.cluster.vanish('pod', WAITING.uid);
    expect(await run(w)).toEqual(['Vacated', 'Skipped']);
  });

  it('charges the admission to nobody', async () => {
    const w = aWorld();
    await run(w);
    expect(w.plans.of(PLAN).status?.moves?.map(({ unavailableSeconds }) => unavailableSeconds)).toEqual([
      undefined,
      undefined,
    ]);
  });
});

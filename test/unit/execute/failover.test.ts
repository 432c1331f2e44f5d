import { describe, expect, it } from 'vitest';
import type { MoveStatus, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { SteeringMode } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { step } from '../../../src/execute/executor.ts';
import type { ExecutionPolicy } from '../../../src/execute/executor-ports.ts';
import { ADMISSION_PATIENCE } from '../../../src/execute/verify.ts';
import type { NodeInfo } from '../../../src/model/node.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { planningOptions } from '../../../src/plan/options.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { aFailover, aMove, anAdmission, aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, atGate, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive, NOON } from '../../support/test-clock.ts';

const forever = new AbortController().signal;
const policy = aPolicy('qos', { strategy: { type: 'QoSDriven' } });
const PLAN = 'qos-0123456789';
const OPTIONS = planningOptions(resolveOptions(policy.spec));
/** Nothing is left for moves that take pods away which run. */
const EXECUTION: ExecutionPolicy = {
  current: async () => ({ policy, invalid: [] }),
  options: OPTIONS,
  maxConcurrent: 0,
  maxInFlight: 0,
  stop: async () => () => ({ reason: 'BudgetExhausted', message: 'no more service may be lost', stops: 'Disruptions' }),
};

const prod = aWorkload('prod', { replicas: 1 });
const STRANDED = stranded('prod-1');
const DOWN = aNode('down', { ...TEN_CORES, ready: false });

function stranded(name: string, owner = prod): PodInfo {
  return { ...aPodOf(owner, name, 'down'), ready: false, readySince: epochSeconds(NOON - 5) };
}

interface Standing {
  readonly nodes?: readonly NodeInfo[];
  readonly pods?: readonly PodInfo[];
  readonly moves?: RebalancePlan['spec']['moves'];
  readonly steering?: SteeringMode;
}

/** A plan in which prod-1 leaves the node that has failed for a; no pod there ever ends. The scheduler by itself would choose c. */
function aWorld({
  nodes = [DOWN, aNode('a', TEN_CORES), aNode('c', TEN_CORES)],
  pods = [STRANDED],
  moves = [aFailover(STRANDED, 'a')],
  steering = 'None',
}: Standing = {}): World {
  const w = world(
    nodes.map((node) => ({ ...node, ready: true })),
    [prod, free],
    pods.map((pod) => ({ ...pod, ready: true })),
  );
  w.cluster.delays.grace = 100_000;
  nodes.forEach(w.cluster.putNode);
  pods.forEach(w.cluster.putPod);
  if (steering === 'None') {
    w.cluster.gated.add(prod.uid).add(free.uid);
    w.cluster.bindTo = () => 'c';
  }
  const plan = aPlan(policy, moves, { steering });
  w.plans.put({ ...plan, spec: { ...plan.spec, strategy: 'QoSDriven' } });
  return w;
}

const free = aWorkload('free', { replicas: 1 });

/** A step a second until the plan has ended; resolves to what became of its moves, and how long it took. */
async function run(w: World, how = EXECUTION): Promise<{ moves: readonly MoveStatus[]; seconds: number }> {
  for (let seconds = 0; seconds < 2_000; seconds += 1) {
    const { status } = await drive(w.clock, step(w.plans.of(PLAN), how, w.ports, forever));
    if (status?.phase !== 'Executing') {
      return { moves: status?.moves ?? [], seconds };
    }
    await w.clock.advance(1);
  }
  throw new Error('the plan did not end');
}

describe('a move from a node that has failed', () => {
  it('is over as soon as the replacement runs, although the old pod never ends, and costs no service', async () => {
    const w = aWorld();
    const { moves, seconds } = await run(w);
    expect(moves).toMatchObject([{ phase: 'Landed', replacement: { node: 'a' } }]);
    expect(moves[0]?.unavailableSeconds).toBeUndefined();
    expect(w.cluster.pods.get(STRANDED.uid)?.terminating).toBe(true);
    expect(w.gateActions).toEqual(['OpenedToTarget']);
    expect(seconds).toBeLessThan(15);
  });

  it('is steered by a hint where pods do not wait at the gate', async () => {
    const w = aWorld({ steering: 'AdmissionPolicy' });
    expect((await run(w)).moves).toMatchObject([{ phase: 'Landed', replacement: { node: 'a' } }]);
  });

  it('is made whatever stops moves of pods that run: budgets, limits, and more than a tenth of the nodes', async () => {
    const runs = aPodOf(free, 'free-1', 'a');
    const w = aWorld({ pods: [STRANDED, runs], moves: [aMove(runs, 'c'), aFailover(STRANDED, 'a')] });
    expect((await run(w)).moves.map(({ phase }) => phase)).toEqual(['Aborted', 'Landed']);
    expect(w.plans.of(PLAN).status?.stopped).toBe('ClusterUnhealthy');
    expect(w.cluster.accepted).toEqual([STRANDED.uid]);
  });

  it('is not made when evictions are forbidden, or the policy is suspended', async () => {
    const forbidden = aWorld();
    forbidden.cluster.script = () => ({ kind: 'Forbidden', message: 'no right to evict' });
    expect((await run(forbidden)).moves).toMatchObject([{ phase: 'Aborted', outcome: 'no right to evict' }]);
    const suspended = { ...policy, spec: { ...policy.spec, suspend: true } };
    const how = { ...EXECUTION, current: async () => ({ policy: suspended, invalid: [] }) };
    expect((await run(aWorld(), how)).moves).toMatchObject([{ phase: 'Aborted' }]);
  });

  it.each<[string, (w: World) => void, string]>([
    ['the node', (w) => w.cluster.putNode(aNode('down', TEN_CORES)), 'its node down is Ready again'],
    ['the pod', (w) => w.cluster.putPod({ ...STRANDED, ready: true }), 'the pod is Ready again'],
  ])('is dropped when %s is Ready again right before the eviction', async (_, comeBack, outcome) => {
    const w = aWorld();
    w.tap = (when, call, args) => {
      if (when === 'after' && call === 'evictor.evict' && (args[1] as { dryRun: boolean }).dryRun) {
        comeBack(w);
      }
    };
    expect((await run(w)).moves).toMatchObject([{ phase: 'Skipped', outcome }]);
    expect(w.cluster.accepted).toEqual([]);
  });

  it('is dropped when most nodes have failed by then', async () => {
    const w = aWorld();
    w.cluster.putNode(aNode('c', { ...TEN_CORES, ready: false }));
    expect((await run(w)).moves).toMatchObject([
      { phase: 'Skipped', outcome: '2 of 3 nodes not Ready: from 55 % on they may only be cut off' },
    ]);
    expect(w.cluster.accepted).toEqual([]);
  });

  it('respects what its owner asks for, and the API server, which answers for PodDisruptionBudgets', async () => {
    const annotations = new Map([['evenkeel.dev/do-not-evict', 'true']]);
    const wished = aWorld({ pods: [{ ...STRANDED, annotations }] });
    expect((await run(wished)).moves).toMatchObject([
      { phase: 'Skipped', outcome: expect.stringMatching(/^annotation /) },
    ]);
    const guarded = aWorld();
    guarded.cluster.script = () => ({ kind: 'RefusedByBudget', message: 'the budget web allows none' });
    expect((await run(guarded)).moves).toMatchObject([
      { phase: 'Skipped', outcome: 'refused 5 times: the budget web allows none' },
    ]);
  });

  it('begins when its preemptions have left, and stays with the plan from the first of them on', async () => {
    const runs = aPodOf(free, 'free-1', 'a');
    const nodes = [DOWN, ...['a', 'c', ...'defghijk'].map((name) => aNode(name, TEN_CORES))];
    const w = aWorld({ nodes, pods: [STRANDED, runs], moves: [aPreemption(runs), aFailover(STRANDED, 'a', [0])] });
    w.cluster.delays.grace = 20;
    const how: ExecutionPolicy = { ...EXECUTION, maxConcurrent: 1, maxInFlight: 1, stop: undefined };
    const { moves, seconds } = await run(w, {
      ...how,
      options: { ...OPTIONS, protections: { ...OPTIONS.protections, minReplicas: 0 } },
    });
    expect(moves).toMatchObject([{ phase: 'Vacated' }, { phase: 'Landed' }]);
    expect(seconds).toBeGreaterThanOrEqual(20);
  });

  it('leaves a replacement that its node cannot take at the gate, for another plan', async () => {
    const w = aWorld();
    w.tap = (when, call, args) => {
      if (when === 'after' && call === 'evictor.evict' && !(args[1] as { dryRun: boolean }).dryRun) {
        w.cluster.putNode(aNode('a', { ...TEN_CORES, unschedulable: true }));
      }
    };
    expect((await run(w)).moves).toMatchObject([
      {
        phase: 'Failed',
        outcome: `a could not take it for ${ADMISSION_PATIENCE} s: it waits at the gate for another plan`,
      },
    ]);
  });

  it('ends when its controller wants no pod in its place', async () => {
    const w = aWorld();
    w.tap = (when, call, args) => {
      if (when === 'before' && call === 'evictor.evict' && !(args[1] as { dryRun: boolean }).dryRun) {
        w.cluster.scale(prod.uid, 0);
      }
    };
    expect((await run(w)).moves).toMatchObject([{ phase: 'Vacated' }]);
  });

  it('takes several pods of one owner and for one node in turn, each once the last one is bound and not only when it serves', async () => {
    const pods = ['prod-1', 'prod-2', 'prod-3'].map((name) => stranded(name));
    const moves = pods.map((pod) => aFailover(pod, 'a'));
    const w = aWorld({ pods, moves });
    w.cluster.delays.ready = 100;
    const { moves: done, seconds } = await run(w);
    expect(done.map(({ phase }) => phase)).toEqual(['Landed', 'Landed', 'Landed']);
    expect(new Set(done.map(({ replacement }) => replacement?.uid)).size).toBe(3);
    expect(seconds).toBeLessThan(130);
  });
});

describe('an admission', () => {
  it('is made beside moves from nodes that have failed', async () => {
    const waits: PodInfo = atGate(aPodOf(free, 'free-1', ''));
    const w = aWorld({ pods: [STRANDED, waits], moves: [aFailover(STRANDED, 'a'), anAdmission(waits, 'c')] });
    expect((await run(w)).moves.map(({ phase }) => phase)).toEqual(['Landed', 'Landed']);
  });
});

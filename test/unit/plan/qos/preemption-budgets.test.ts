import { describe, expect, it } from 'vitest';
import type { MoveUnderWay } from '../../../../src/model/past-move.ts';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import { budgetsLeft } from '../../../../src/plan/budgets/left.ts';
import type { BudgetOptions } from '../../../../src/plan/options.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { resolveOptions } from '../../../../src/plan/resolve-options.ts';
import { aBudget } from '../../../support/builders/options.ts';
import { aPolicy } from '../../../support/builders/policy.ts';
import { aServiceClass } from '../../../support/builders/service-levels.ts';
import { aNode, aWorkload, ownerOf } from '../../../support/builders.ts';
import { aContest, aRequest, cpu, qosOptions } from '../../../support/gated.ts';

const CLASSES = [
  aServiceClass({ name: 'prod', slo: 1, importance: 1 }),
  aServiceClass({ name: 'free', slo: 0.5, importance: 3 }),
];
const DEFAULTS = resolveOptions(aPolicy('qos').spec).budgets;

/** Nodes of so many slots of 1,000 millicores, full of best-effort pods, and pods that take this many of them. */
function aFullCluster(nodes: readonly number[], waiting: readonly number[]): ClusterSnapshot {
  const victims = nodes.flatMap((slots, node) =>
    Array.from({ length: slots }, (_, slot) =>
      aRequest(`v${node}-${slot}`, 'free', `n${node}`, { useful: 3000 }, cpu(1000)),
    ),
  );
  const waits = waiting.map((slots, index) =>
    aRequest(`w${index}`, 'prod', undefined, { pending: 5 }, cpu(1000 * slots)),
  );
  return aContest({}, CLASSES, [...victims, ...waits], {
    nodes: nodes.map((slots, node) => aNode(`n${node}`, { allocatable: { cpu: 1000 * slots } })),
  });
}

const within = (snapshot: ClusterSnapshot, budgets: readonly BudgetOptions[]) =>
  plan(snapshot, qosOptions('None', { budgets }));
const kinds = (snapshot: ClusterSnapshot, budgets: readonly BudgetOptions[]) =>
  within(snapshot, budgets).moves.map(({ from, to = 'out' }) => (from === undefined ? `in ${to}` : to));

function underWay(fields: Partial<MoveUnderWay> = {}): MoveUnderWay {
  const base = { from: 'n0', namespace: 'shop', owner: 'uid-v0-0', isSent: true, cost: seconds(3) };
  return { purpose: 'older 1', ...base, ...fields };
}

describe('a pod that needs the room of several on one node', () => {
  it('gets it with the default budgets', () => {
    expect(kinds(aFullCluster([3], [3]), DEFAULTS)).toEqual(['out', 'out', 'out', 'in n0']);
    expect(kinds(aFullCluster([8], [8]), DEFAULTS)).toHaveLength(9);
  });

  it('gets it also when all of them are of one controller', () => {
    const snapshot = aFullCluster([3], [3]);
    const controller = aWorkload('crowd', { replicas: 3, gated: true });
    const owner = ownerOf(controller);
    const ledgers = [...snapshot.serviceLevels.ledgers.values()].map((ledger) =>
      ledger.className === 'free' ? { ...ledger, owner } : ledger,
    );
    const crowd: ClusterSnapshot = {
      ...snapshot,
      pods: snapshot.pods.map((pod) => (pod.name.startsWith('v') ? { ...pod, owner } : pod)),
      workloads: new Map([...snapshot.workloads, [owner.uid, controller]]),
      serviceLevels: { ...snapshot.serviceLevels, ledgers: new Map(ledgers.map((each) => [each.owner.uid, each])) },
    };
    expect(kinds(crowd, DEFAULTS)).toHaveLength(4);
  });

  it('counts once against perNode, perNamespace and perOwner, and the next pod counts again', () => {
    const snapshot = aFullCluster([6], [3, 3]);
    expect(kinds(snapshot, [aBudget({ perNode: 1 })])).toHaveLength(4);
    expect(kinds(snapshot, [aBudget({ perNode: 2 })])).toHaveLength(8);
    expect(kinds(snapshot, [aBudget({ perNamespace: 1 })])).toHaveLength(4);
    expect(kinds(snapshot, [aBudget({ perNamespace: 2 })])).toHaveLength(8);
    expect(kinds(snapshot, [aBudget({ perNode: 0 })])).toEqual([]);
  });

  it('waits, and the outcome says why, where a budget lets fewer go than it needs', () => {
    const { outcome, rejections } = within(aFullCluster([3], [3]), [aBudget({ maxMoves: 2 })]);
    expect(outcome.kind).toBe('BudgetExhausted');
    expect(outcome).toMatchObject({ message: 'MaxMoves keeps pods from being evicted: the plan already has 2 moves' });
    expect(rejections.reasons.find(({ code }) => code === 'MaxMoves')).toBeDefined();
  });
});

describe('what older plans have begun', () => {
  const snapshot = aFullCluster([2, 2], [1, 1, 1, 1]);
  const beside = (moves: readonly MoveUnderWay[], budgets: readonly BudgetOptions[]) =>
    kinds({ ...snapshot, underWay: moves }, budgets).filter((kind) => kind === 'out').length;

  it('counts against budgets, once for each pod that it makes room for', () => {
    const two = [underWay(), underWay({ owner: 'uid-v0-1' })];
    expect([beside([], [aBudget({ maxMoves: 3 })]), beside(two, [aBudget({ maxMoves: 3 })])]).toEqual([3, 1]);
    expect([beside([], [aBudget({ perNode: 1 })]), beside(two, [aBudget({ perNode: 1 })])]).toEqual([2, 1]);
    expect([beside([], [aBudget({ perNamespace: 2 })]), beside(two, [aBudget({ perNamespace: 2 })])]).toEqual([2, 1]);
    const perOwner = aBudget({ perOwner: { kind: 'Count', count: 1 } });
    expect([beside([], [perOwner]), beside(two, [perOwner])]).toEqual([4, 2]);
  });

  it('costs service once: what was sent is a past move, too', () => {
    // By the pods of the snapshot: so long after they were made they were Ready.
    const start = 10;
    const slow = snapshot.pods.map((pod) => ({ ...pod, readySince: epochSeconds(pod.createdAt + start) }));
    const limit = seconds(2.5 * start);
    const budgets = [aBudget({ maxMoves: 9, overhead: { limit, window: seconds(3600) } })];
    const cost = seconds(start);
    const counts = [[], [underWay({ cost })], [underWay({ cost, isSent: false })]].map(
      (moves) => kinds({ ...snapshot, pods: slow, underWay: moves }, budgets).filter((kind) => kind === 'out').length,
    );
    expect(counts).toEqual([2, 2, 1]);
    const found = { moves: [], takenAt: snapshot.takenAt };
    const options = { ...qosOptions('None'), budgets };
    const left = (moves: readonly MoveUnderWay[]) => budgetsLeft(options, found, { ...snapshot, underWay: moves });
    expect([...left([underWay({ cost })]).values()]).toEqual([8, limit]);
    expect([...left([underWay({ cost, isSent: false })]).values()]).toEqual([8, limit - cost]);
  });
});

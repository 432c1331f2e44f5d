import { describe, expect, it } from 'vitest';
import type { MoveStatus, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { PlannedMove } from '../../../src/execute/move.ts';
import { type GateWish, gateWish, openGate } from '../../../src/execute/open-gate.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import type { GateOpening, Gates } from '../../../src/ports.ts';
import { aFailover, aMove, anAdmission, aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aNode, atGate, TEN_CORES } from '../../support/builders.ts';
import { aWorld, forever, PODS, policy, WEB_1 } from '../../support/execution.ts';

const PINNED: PodInfo = {
  ...atGate(WEB_1),
  name: 'gated',
  uid: 'uid-gated',
};
const TO_B: GateWish = { kind: 'Replace', node: 'b', fallbacks: ['c'] };

interface Setting {
  readonly pod?: Partial<PodInfo>;
  /** Whether node b takes no pods. */
  readonly isClosed?: boolean;
  /** Whether another node has the hostname of b, so that a pod cannot be kept to several nodes by theirs. */
  readonly isDoubled?: boolean;
  readonly answer?: Awaited<ReturnType<Gates['open']>>;
}

/** What comes of a pod at the gate, and how its gate was opened. */
async function opened(wish: GateWish, { pod, isClosed = false, isDoubled = false, answer = 'Done' }: Setting = {}) {
  const w = aWorld([...PODS, { ...PINNED, ...pod }]);
  if (isDoubled) {
    w.cluster.putNode(aNode('d', { ...TEN_CORES, labels: { 'kubernetes.io/hostname': 'b' } }));
  }
  if (isClosed) {
    w.cluster.putNode(aNode('b', { ...TEN_CORES, unschedulable: true }));
  }
  const openings: GateOpening[] = [];
  const open: Gates['open'] = async (_, opening) => {
    openings.push(opening);
    return answer;
  };
  const ports = { reader: w.ports.reader, gates: { ...w.ports.gates, open } };
  return { ...(await openGate(PINNED, wish, [], ports, forever)), openings };
}

describe('a pod at the gate', () => {
  it.each<[string, Partial<PodInfo>]>([
    ['has gone and another one has its name', { uid: 'uid-other' }],
    ['was let through', { waiting: { gated: false, pinnedTo: undefined, unschedulable: false } }],
    ['is bound', { nodeName: 'c', phase: 'Running', waiting: undefined }],
  ])('is left alone once it %s', async (_, pod) => {
    expect(await opened(TO_B, { pod })).toEqual({ action: undefined, obstacle: undefined, openings: [] });
  });

  it('is let through to anywhere as wished, whatever its node is like', async () => {
    expect(await opened({ kind: 'Anywhere' }, { isClosed: true })).toEqual({
      action: 'OpenedToAny',
      obstacle: undefined,
      openings: [{ kind: 'Anywhere' }],
    });
  });

  it('that is to go to one node alone is kept to it, or stays while the node cannot take it', async () => {
    const wish = { kind: 'Admit', node: 'b' } as const;
    expect(await opened(wish)).toEqual({
      action: 'OpenedToTarget',
      obstacle: undefined,
      openings: [{ kind: 'Pinned', node: 'b' }],
    });
    expect(await opened(wish, { isClosed: true })).toEqual({
      action: undefined,
      obstacle: 'b is cordoned',
      openings: [],
    });
  });

  it('that replaces another is kept to its node, with alternatives where there are some', async () => {
    expect(await opened(TO_B, { isDoubled: true })).toEqual({
      action: 'OpenedToTarget',
      obstacle: undefined,
      openings: [{ kind: 'Pinned', node: 'b' }],
    });
    const alternatives = expect.arrayContaining(['b', 'c', 'd']);
    expect(await opened(TO_B)).toEqual({
      action: 'OpenedToTarget',
      obstacle: undefined,
      openings: [{ kind: 'Steered', placement: { target: 'b', fallbacks: ['c'], alternatives } }],
    });
  });

  it('that replaces another may run anywhere while its node cannot take it', async () => {
    expect(await opened(TO_B, { isClosed: true })).toEqual({
      action: 'OpenedToAny',
      obstacle: 'b is cordoned',
      openings: [{ kind: 'Anywhere' }],
    });
  });

  it.each<[GateWish, boolean]>([
    [TO_B, false],
    [TO_B, true],
    [{ kind: 'Anywhere' }, false],
  ])('counts as gone when the server finds it gone in between: %j', async (wish, isClosed) => {
    expect(await opened(wish, { isClosed, answer: 'Gone' })).toMatchObject({ action: undefined, obstacle: undefined });
  });
});

describe('where the pod of a move is to go from the gate', () => {
  const plan = (steering: 'Gate' | 'None', strategy: RebalancePlan['spec']['strategy'] = 'RefineLB') => {
    const made = aPlan(policy, [], { steering });
    return { ...made, spec: { ...made.spec, strategy } };
  };
  const wishOf = (move: PlannedMove, of: RebalancePlan, changes: Partial<MoveStatus> = {}) =>
    gateWish(of, { index: 0, move, run: { podUID: WEB_1.uid, phase: 'Verifying', attempt: 0, ...changes } });
  const miss = { reason: 'TargetRefused', message: 'no room' } as const;

  it('is its planned node where the gate steers, and anywhere where something else does', () => {
    expect(wishOf(aMove(WEB_1, 'b'), plan('Gate'))).toEqual({ kind: 'Replace', node: 'b', fallbacks: [] });
    expect(wishOf({ ...aMove(WEB_1, 'b'), fallbacks: ['c'] }, plan('Gate'))).toEqual(TO_B);
    expect(wishOf(aMove(WEB_1, 'b'), plan('None'))).toEqual({ kind: 'Anywhere' });
    expect(wishOf(aFailover(WEB_1, 'b'), plan('None'))).toEqual({ kind: 'Anywhere' });
    expect(wishOf(aMove(WEB_1, 'b'), aPlan(policy, []))).toEqual({ kind: 'Anywhere' });
  });

  it('is its planned node for a strategy that admits waiting pods, whatever steers', () => {
    expect(wishOf(aMove(WEB_1, 'b'), plan('None', 'QoSDriven'))).toMatchObject({ kind: 'Replace', node: 'b' });
  });

  it('is no node for one that found no room on its planned node once, unless it is an admission', () => {
    expect(wishOf(aMove(WEB_1, 'b'), plan('Gate'), { miss })).toEqual({ kind: 'Anywhere' });
    expect(wishOf(aFailover(WEB_1, 'b'), plan('Gate'), { miss })).toEqual({ kind: 'Anywhere' });
    expect(wishOf(anAdmission(WEB_1, 'b'), plan('None'), { miss })).toEqual({ kind: 'Admit', node: 'b' });
  });

  it('is the planned node alone for an admission, and for a pod whose node has failed', () => {
    expect(wishOf(anAdmission(WEB_1, 'b'), plan('None'))).toEqual({ kind: 'Admit', node: 'b' });
    expect(wishOf(aFailover(WEB_1, 'b'), plan('Gate'))).toEqual({ kind: 'Admit', node: 'b' });
  });

  it('is anywhere for a move without a target', () => {
    expect(wishOf(aPreemption(WEB_1), plan('Gate'))).toEqual({ kind: 'Anywhere' });
  });
});

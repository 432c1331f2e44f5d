import { describe, expect, it } from 'vitest';
import type { MoveStatus, PlanPhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { decide } from '../../../src/control/plan-decision.ts';
import { openJournal } from '../../../src/execute/journal.ts';
import type { Plan, Transfer } from '../../../src/plan/plan.ts';
import { plan as computePlan } from '../../../src/plan/planner.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { inPhase, toRebalancePlan } from '../../../src/report/plan-resource.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { fakeCluster } from '../../support/fake-cluster.ts';
import { testClock } from '../../support/test-clock.ts';

const web = aWorkload('web', { replicas: 3 });
const api = aWorkload('api', { replicas: 3 });
const pods = [...[1, 2, 3].map((index) => aPodOf(web, `web-${index}`, 'a', 1_000)), aPodOf(api, 'api-1', 'a', 1_000)];
const cluster = fakeCluster(testClock(), [aNode('a', TEN_CORES), aNode('b', TEN_CORES)], [web, api], pods);
const snapshot = await cluster.reader.snapshot(new AbortController().signal);
const plan = computePlan(snapshot, resolveOptions(aPolicy('even').spec));
const without: Plan = { ...plan, moves: [], outcome: { kind: 'Balanced', message: 'level' } };

function open(policy = aPolicy('even'), phase: 'Proposed' | 'AwaitingApproval' = 'Proposed'): RebalancePlan {
  return inPhase(toRebalancePlan(plan, policy), phase, {});
}

const moved = { ...snapshot, pods: snapshot.pods.map((pod) => ({ ...pod, nodeName: 'b' })) };

describe('decide', () => {
  it('has a plan to decide on', () => {
    expect(plan.moves.length).toBeGreaterThan(0);
  });

  it.each(['DryRun', 'Approve', 'Automatic'] as const)(
    'in mode %s keeps what is open while there are no metrics, and drops it when nothing is to be done',
    (mode) => {
      const policy = aPolicy('even', { mode });
      for (const kind of ['MetricsUnavailable', 'MetricsIncomplete'] as const) {
        const blind: Plan = { ...without, outcome: { kind, message: 'no metrics' } };
        expect(decide(policy, blind, [open()], true, snapshot)).toEqual({ kind: 'Wait' });
      }
      expect(decide(policy, without, [open()], true, snapshot)).toEqual({ kind: 'Drop' });
    },
  );

  it('in mode DryRun stores each new plan at once and keeps one that says the same', () => {
    const policy = aPolicy('even');
    expect(decide(policy, plan, [], false, snapshot)).toEqual({ kind: 'Store', phase: 'Proposed' });
    expect(decide(policy, plan, [open()], false, snapshot)).toEqual({ kind: 'Keep', plan: open() });
    expect(decide(policy, { ...plan, hash: 'other' }, [open()], false, snapshot)).toEqual({
      kind: 'Store',
      phase: 'Proposed',
    });
  });

  it('keeps no plan of another generation', () => {
    const edited = { ...aPolicy('even'), metadata: { ...aPolicy('even').metadata, generation: 2 } };
    expect(decide(edited, plan, [open()], false, snapshot)).toEqual({ kind: 'Store', phase: 'Proposed' });
  });

  it('in mode Approve keeps the plan that people read while its pods are where it says, whatever a later run finds', () => {
    const policy = aPolicy('even', { mode: 'Approve' });
    const waiting = open(policy, 'AwaitingApproval');
    const other = { ...plan, hash: 'other' };
    expect(decide(policy, other, [waiting], false, snapshot)).toEqual({ kind: 'Keep', plan: waiting });
    expect(decide(policy, other, [waiting], true, moved)).toEqual({ kind: 'Store', phase: 'AwaitingApproval' });
    expect(decide(policy, other, [waiting], false, moved)).toEqual({ kind: 'Drop' });
    expect(decide(policy, plan, [], false, snapshot)).toEqual({ kind: 'Drop' });
  });

  it('in mode Automatic stores a plan for execution after enough runs, and nothing before', () => {
    const policy = aPolicy('even', { mode: 'Automatic' });
    expect(decide(policy, plan, [], false, snapshot)).toEqual({ kind: 'Drop' });
    expect(decide(policy, plan, [], true, snapshot)).toEqual({ kind: 'Store', phase: 'Executing' });
  });
});

describe('decide, in mode Automatic,', () => {
  const policy = aPolicy('even', { mode: 'Automatic' });
  const resource = toRebalancePlan(plan, policy);
  const transfers = plan.moves.filter((move): move is Transfer => move.from !== undefined && move.to !== undefined);
  const [first = expect.fail('no move'), second = expect.fail('one move')] = transfers;
  const runs = openJournal(resource);

  /** The plan as it stands when its moves are in these phases. */
  function standing(phase: PlanPhase, ...phases: readonly MoveStatus['phase'][]): RebalancePlan {
    const moves = runs.map((run, place) => ({ ...run, phase: phases[place] ?? run.phase }));
    return inPhase(resource, phase, { moves });
  }

  const STORE = { kind: 'Store', phase: 'Executing' };

  it('has a plan of two moves to decide on', () => {
    expect(plan.moves).toHaveLength(2);
  });

  it('keeps the plan under way that would begin the same next, in the same order', () => {
    const begun = standing('Executing');
    expect(decide(policy, plan, [begun], true, snapshot)).toEqual({ kind: 'Keep', plan: begun });
    expect(decide(policy, { ...plan, moves: [second, first] }, [begun], true, snapshot)).toEqual(STORE);
    const half = standing('Executing', 'Evicting');
    expect(decide(policy, { ...plan, moves: [second] }, [half], false, snapshot)).toEqual({ kind: 'Keep', plan: half });
    expect(decide(policy, plan, [half], true, snapshot)).toEqual(STORE);
    expect(decide(policy, { ...plan, moves: [first] }, [begun], true, snapshot)).toEqual(STORE);
  });

  it.each<[string, Partial<Pick<Transfer, 'pod' | 'from' | 'to'>>]>([
    ['another pod', { pod: { ...first.pod, uid: 'uid-other' } }],
    ['another source', { from: 'c' }],
    ['another target', { to: 'c' }],
  ])('makes another plan where the next move has %s', (_, changes) => {
    const moves = [{ ...first, ...changes }, second];
    expect(decide(policy, { ...plan, moves }, [standing('Executing')], true, snapshot)).toEqual(STORE);
    expect(decide(policy, { ...plan, moves }, [], true, snapshot, standing('Aborted', 'Aborted', 'Aborted'))).toEqual(
      STORE,
    );
  });

  it('keeps the plan that was stopped, while what it has not begun is what would be done', () => {
    const stopped = standing('Aborted', 'Landed', 'Aborted');
    expect(decide(policy, { ...plan, moves: [second] }, [], true, snapshot, stopped)).toEqual({
      kind: 'Keep',
      plan: stopped,
    });
    expect(decide(policy, plan, [], true, snapshot, stopped)).toEqual(STORE);
    expect(decide(policy, plan, [], false, snapshot, stopped)).toEqual({ kind: 'Drop' });
  });

  it('keeps none that only proposes it', () => {
    expect(decide(policy, plan, [standing('Proposed')], true, snapshot)).toEqual(STORE);
  });
});

describe('decide, in mode Approve,', () => {
  const policy = aPolicy('even', { mode: 'Approve' });
  const waiting = open(policy, 'AwaitingApproval');
  const nodesOf = (...nodes: readonly string[]) => {
    const moved = new Map(plan.moves.map(({ pod }, place) => [pod.uid, nodes[place] ?? 'a']));
    const changed = snapshot.pods.map((pod) => ({ ...pod, nodeName: moved.get(pod.uid) ?? pod.nodeName }));
    return { ...snapshot, pods: changed };
  };

  it('keeps a plan only while all of its pods are where it says, those that have failed included', () => {
    const kept = { kind: 'Keep', plan: waiting };
    expect(decide(policy, plan, [waiting], false, nodesOf('a', 'a'))).toEqual(kept);
    expect(decide(policy, plan, [waiting], false, nodesOf('a', 'b'))).toEqual({ kind: 'Drop' });
    expect(decide(policy, plan, [waiting], false, { ...snapshot, pods: [], failedPods: snapshot.pods })).toEqual(kept);
    expect(decide(policy, plan, [waiting], false, { ...snapshot, pods: [] })).toEqual({ kind: 'Drop' });
  });

  it('keeps none that was only proposed', () => {
    expect(decide(policy, plan, [open(policy)], true, snapshot)).toEqual({ kind: 'Store', phase: 'AwaitingApproval' });
  });
});

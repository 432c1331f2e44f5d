import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { epochSeconds } from '../../../../src/model/units.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { listRejections } from '../../../../src/plan/rejections.ts';
import { aServiceClass } from '../../../support/builders/service-levels.ts';
import { aWorkload, NOW, type PodFields, type SnapshotFields } from '../../../support/builders.ts';
import { aContest, aRequest, qosOptions, type Request } from '../../../support/gated.ts';

const BOTH = ['None', 'Standard'] as const;

/** `prod` matters most; all replicas of `team` and `crew` run, or none is of use. */
const CLASSES = [
  aServiceClass({ name: 'prod', slo: 1, importance: 1 }),
  aServiceClass({ name: 'team', slo: 0.9, importance: 2, mode: 'Concurrent' }),
  aServiceClass({ name: 'crew', slo: 0.5, importance: 3, mode: 'Concurrent' }),
  aServiceClass({ name: 'free', slo: 0.5, importance: 3 }),
];

/** Replicas of one request, of which each has a node or waits; `pending` seconds were lost by each. */
function replicas(
  name: string,
  className: string,
  nodes: readonly (string | undefined)[],
  times: { readonly useful?: number; readonly pending?: number },
  fields: PodFields = {},
): readonly Request[] {
  const pods = nodes.map((node, index) =>
    aRequest(`${name}-${index}`, className, node, times, { ...fields, owner: name }),
  );
  const waiting = nodes.filter((node) => node === undefined).length;
  const owner = { kind: 'ReplicaSet', name, uid: `uid-${name}` };
  return pods.map(({ pod, ledger }) => ({
    pod,
    ledger: { ...ledger, owner, running: nodes.length - waiting, waiting },
  }));
}

/** The contest of these requests; ledgers of one request are one. */
function contest(slots: Readonly<Record<string, number>>, requests: readonly Request[], fields: SnapshotFields = {}) {
  const owners = Map.groupBy(requests, ({ ledger }) => ledger.owner.name);
  const workloads = [...owners].map(([name, own]) => aWorkload(name, { replicas: own.length, gated: true }));
  return aContest(slots, CLASSES, requests, { workloads, ...fields });
}

function movesOf(snapshot: ClusterSnapshot, refinements: (typeof BOTH)[number] = 'Standard'): readonly string[] {
  return plan(snapshot, qosOptions(refinements)).moves.map(
    ({ pod, from = '', to = '', after }) => `${pod.name}: ${from} > ${to}${after.length === 0 ? '' : ` [${after}]`}`,
  );
}

function codesOf(snapshot: ClusterSnapshot): Readonly<Record<string, string>> {
  const { rejections } = plan(snapshot, qosOptions('Standard'));
  return Object.fromEntries(listRejections(rejections).map(({ pod, code }) => [pod.name, code]));
}

const waiting = (count: number): readonly undefined[] => Array.from({ length: count }, () => undefined);

describe('replicas of a Concurrent request', () => {
  it.each(BOTH)('are let in together where there is room for all (refinements %s)', (refinements) => {
    const snapshot = contest({ n1: 2, n2: 1 }, replicas('team', 'team', waiting(3), { pending: 60 }));
    expect(movesOf(snapshot, refinements)).toHaveLength(3);
  });

  it.each(BOTH)('stay out where there is not, and leave the room to others (refinements %s)', (refinements) => {
    const team = replicas('team', 'team', waiting(3), { pending: 60 });
    const late = aRequest('late', 'free', undefined, {});
    const snapshot = contest({ n1: 2 }, [...team, late]);
    expect(movesOf(snapshot, refinements)).toEqual(['late:  > n1']);
    expect(codesOf(snapshot)).toEqual({ 'team-0': 'AllOrNone', 'team-1': 'AllOrNone', 'team-2': 'NoEligibleVictim' });
  });

  it('are let in behind all evictions for any of them, two as well as more', () => {
    const rich = aRequest('rich', 'free', 'n1', { useful: 3000 });
    const team = replicas('team', 'team', waiting(2), { pending: 60 });
    expect(movesOf(contest({ n1: 1, n2: 1 }, [rich, ...team]))).toEqual([
      'rich: n1 > ',
      'team-0:  > n2 [0]',
      'team-1:  > n1 [0]',
    ]);
  });

  it('wait for those that have not come to the gate yet', () => {
    const [first, second] = replicas('team', 'team', waiting(3), { pending: 60 });
    if (first === undefined || second === undefined) {
      throw new Error('there are three');
    }
    const snapshot = contest({ n1: 5 }, [first, second]);
    expect(movesOf(snapshot)).toEqual([]);
    expect(codesOf(snapshot)).toEqual({ 'team-0': 'AllOrNone', 'team-1': 'AllOrNone' });
    const [reason] = listRejections(plan(snapshot, qosOptions('Standard')).rejections);
    expect(reason?.message).toContain('2 of the 3 without a node have come to the gate');
  });

  it('wait for a ledger, which tells how many there are', () => {
    const team = replicas('team', 'team', waiting(3), { pending: 60 });
    const future = team.map(({ pod, ledger }) => ({ pod, ledger: { ...ledger, asOf: epochSeconds(NOW + 60) } }));
    expect(movesOf(contest({ n1: 5 }, future))).toEqual([]);
    expect(codesOf(contest({ n1: 5 }, future))['team-0']).toBe('NoLedger');
  });

  it('are each let in alone when the others have nodes, as in a rollout', () => {
    const team = replicas('team', 'team', ['n1', 'n1', undefined], { useful: 600 });
    expect(movesOf(contest({ n1: 3 }, team))).toEqual(['team-2:  > n1']);
    const [old, other, surge] = replicas('team', 'team', ['n1', 'n1', undefined], { useful: 600 });
    if (old === undefined || other === undefined || surge === undefined) {
      throw new Error('there are three');
    }
    // Two are wanted: the third is the surge of a rollout.
    const ledger = { ...old.ledger, running: 2, waiting: 0 };
    const rollout = [old, other, surge].map(({ pod }) => ({ pod, ledger }));
    expect(movesOf(contest({ n1: 3 }, rollout))).toEqual(['team-2:  > n1']);
  });

  it('all wait for all preemptions that make their room', () => {
    const rich = ['n1', 'n2'].map((node) => aRequest(`rich-${node}`, 'free', node, { useful: 3000 }));
    const team = replicas('team', 'team', waiting(3), { useful: 900, pending: 100 });
    const moves = movesOf(contest({ n1: 1, n2: 2 }, [...rich, ...team]));
    expect(
      moves
        .slice(0, 2)
        .map((move) => move.split(':')[0])
        .sort(),
    ).toEqual(['rich-n1', 'rich-n2']);
    expect(moves.slice(2)).toHaveLength(3);
    expect(moves.slice(2).every((move) => move.endsWith(' [0,1]'))).toBe(true);
  });

  it('evict nobody when one of them finds no place', () => {
    const rich = ['n1', 'n2'].map((node) => aRequest(`rich-${node}`, 'free', node, { useful: 3000 }));
    const team = replicas('team', 'team', waiting(3), { useful: 900, pending: 100 });
    const poor = aRequest('poor', 'prod', undefined, { pending: 1 });
    const snapshot = contest({ n1: 1, n2: 1 }, [...rich, ...team]);
    expect(movesOf(snapshot)).toEqual([]);
    // What was tried for them leaves no trace: those after them are served as if they were not there.
    const later = contest({ n1: 1, n2: 1 }, [...rich, ...team, poor]);
    const alone = contest({ n1: 1, n2: 1 }, [...rich, poor]);
    expect(movesOf(later)).toEqual(movesOf(alone));
    expect(movesOf(later)).toHaveLength(2);
  });
});

describe('idle replicas of a Concurrent request', () => {
  const idle = () => replicas('crew', 'crew', ['n1', undefined, undefined], { useful: 100, pending: 900 });

  it.each(BOTH)('make room first, though others can do longer without (refinements %s)', (refinements) => {
    const rich = aRequest('rich', 'free', 'n2', { useful: 3000 });
    const waits = aRequest('waits', 'prod', undefined, { pending: 5 });
    const moves = movesOf(contest({ n1: 1, n2: 1 }, [...idle(), rich, waits]), refinements);
    expect(moves).toEqual(['crew-0: n1 > ', 'waits:  > n1 [0]']);
  });

  it('make room for those who matter less, too', () => {
    const team = replicas('team', 'team', ['n1', undefined], { useful: 100, pending: 900 });
    const free = aRequest('free', 'free', undefined, { pending: 5 });
    expect(movesOf(contest({ n1: 1 }, [...team, free]))).toEqual(['team-0: n1 > ', 'free:  > n1 [0]']);
  });

  it('make room for no replica of their own request', () => {
    expect(movesOf(contest({ n1: 2 }, idle()))).toEqual([]);
  });

  it('are those of requests that lack a node, not of those that start', () => {
    const team = replicas('team', 'team', ['n1', 'n1'], { useful: 1000 });
    const starting = team.map(({ pod, ledger }, index) => ({
      pod: index === 0 ? pod : { ...pod, ready: false },
      ledger: { ...ledger, running: 1, waiting: 1 },
    }));
    const free = aRequest('free', 'free', undefined, { pending: 5 });
    expect(movesOf(contest({ n1: 2 }, [...starting, free]))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { emptyJournal } from '../../../src/adapters/kubernetes/move-journals.ts';
import {
  differsInMovesOnly,
  isBehind,
  isJournalOf,
  journalSpec,
  withJournal,
} from '../../../src/adapters/kubernetes/with-journal.ts';
import type { MoveJournal, MoveJournalSpec } from '../../../src/api/v1alpha1/move-journal.ts';
import type { MoveStatus, RebalancePlan, RebalancePlanStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';

const bare = aPlan(aPolicy('even'), []);
const planned: MoveStatus = { podUID: 'a', phase: 'Planned', attempt: 0 };
const other: MoveStatus = { ...planned, podUID: 'b' };
const evicting: MoveStatus = { ...planned, phase: 'Evicting' };

/** A plan whose status has come to this sequence of the journal `j`; of no journal where that is left out. */
function aPlanAt(sequence?: number, status: RebalancePlanStatus = {}): RebalancePlan {
  const journal = sequence === undefined ? {} : { journal: { uid: 'j', sequence } };
  return { ...bare, status: { moves: [planned, other], ...status, ...journal } };
}

function aJournal(spec: Partial<MoveJournalSpec> = {}): MoveJournal {
  const empty = emptyJournal(bare);
  return { ...empty, metadata: { ...empty.metadata, uid: 'j' }, spec: { ...empty.spec, ...spec } };
}

describe('a journal', () => {
  it('is that of the plan which names it, by its UID', () => {
    expect(isJournalOf(aJournal(), aPlanAt(0))).toBe(true);
    expect(isJournalOf(aJournal(), aPlanAt())).toBe(false);
    expect(isJournalOf(aJournal(), { ...bare, status: { journal: { uid: 'k', sequence: 0 } } })).toBe(false);
    const { uid: _, ...metadata } = aJournal().metadata;
    expect(isJournalOf({ ...aJournal(), metadata }, { ...bare, status: {} })).toBe(false);
  });

  it.each([
    [undefined, 0, false],
    [undefined, 1, true],
    [4, 3, false],
    [4, 4, false],
    [4, 5, true],
  ])('that a plan at %s is behind of may go on from %i: %s', (sequence, base, expected) => {
    expect(isBehind(aPlanAt(sequence), aJournal({ base, sequence: 9 }))).toBe(expected);
  });

  it.each([
    [3, 'Planned'],
    [4, 'Planned'],
    [5, 'Evicting'],
  ])('at %i tells a plan at 4 what it does not say yet', (sequence, phase) => {
    const plan = aPlanAt(4);
    const joined = withJournal(plan, aJournal({ sequence, moves: [evicting] }));
    expect(joined.status?.moves).toEqual([{ ...planned, phase }, other]);
    expect(joined === plan).toBe(phase === 'Planned');
  });

  it('tells a plan nothing that is of another journal, or has none', () => {
    const plan = aPlanAt();
    expect(withJournal(plan, aJournal({ sequence: 9, moves: [evicting] }))).toBe(plan);
    expect(withJournal(aPlanAt(4, { message: 'kept' }), undefined).status).toMatchObject({ message: 'kept' });
  });

  it('tells of moves that the plan does not know, and nothing new of those that have ended there', () => {
    const landed: MoveStatus = { ...planned, phase: 'Landed', finishedAt: '2026-01-01T12:00:00Z' };
    const third: MoveStatus = { ...planned, podUID: 'c' };
    const { status } = withJournal(
      aPlanAt(0, { moves: [landed, other] }),
      aJournal({ sequence: 1, moves: [third, evicting] }),
    );
    expect(status?.moves).toEqual([landed, other, third]);
    expect(
      withJournal(
        { ...bare, status: { journal: { uid: 'j', sequence: 0 } } },
        aJournal({ sequence: 1, moves: [third] }),
      ).status?.moves,
    ).toEqual([third]);
  });

  it('replaces why the plan has stopped, and its summary, only where it has them', () => {
    const summary = { total: 2, done: 0, landed: 0 };
    const plan = aPlanAt(0, { stopped: 'Suspended', summary, message: 'kept' });
    expect(withJournal(plan, aJournal({ sequence: 1 })).status).toEqual(plan.status);
    const changes = { stopped: 'MetricsGone', summary: { total: 2, done: 1, landed: 1 } };
    expect(withJournal(plan, aJournal({ sequence: 1, ...changes })).status).toEqual({ ...plan.status, ...changes });
  });
});

describe('what a journal is to say', () => {
  it('are the moves that differ from the plan, one write further, from where the plan is', () => {
    const spec = journalSpec(aPlanAt(4), aJournal({ sequence: 6 }), { moves: [evicting, { ...other }] });
    expect(spec).toEqual({ sequence: 7, base: 4, moves: [evicting] });
  });

  it('goes on from nothing in a plan without a status, and has why it stopped and the summary', () => {
    const summary = { total: 2, done: 1, landed: 1 };
    const { status: _, ...rest } = bare;
    expect(journalSpec(rest, aJournal(), { moves: [planned], stopped: 'Suspended', summary })).toEqual({
      sequence: aJournal().spec.sequence + 1,
      base: 0,
      moves: [planned],
      stopped: 'Suspended',
      summary,
    });
    expect(journalSpec(aPlanAt(2), aJournal(), {}).moves).toEqual([]);
  });

  it.each<[string, RebalancePlanStatus, boolean]>([
    ['moves', { moves: [evicting] }, true],
    ['why it stopped', { stopped: 'Suspended' }, true],
    ['the summary', { summary: { total: 2, done: 1, landed: 1 } }, true],
    ['the journal', { journal: { uid: 'k', sequence: 9 } }, true],
    ['the phase', { phase: 'Completed' }, false],
    ['the message', { message: 'another' }, false],
  ])('is enough where %s differ', (_, change, isEnough) => {
    const status: RebalancePlanStatus = { phase: 'Executing', message: 'moves', moves: [planned] };
    expect(differsInMovesOnly(status, { ...status, ...change })).toBe(isEnough);
  });
});

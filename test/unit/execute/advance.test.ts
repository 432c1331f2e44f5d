import { describe, expect, it } from 'vitest';
import { MOVE_PHASES, type MovePhase, type MoveStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { ANSWER_GRACE, advance, MAX_ATTEMPTS } from '../../../src/execute/advance.ts';
import type { Advanced, MoveEvent, Observation, PlannedMove, Replacement } from '../../../src/execute/move.ts';
import {
  assertLegal,
  clip,
  enter,
  finish,
  hintEffects,
  isFinal,
  isInFlight,
  sinceReplaceable,
  sinceStart,
  TRANSITIONS,
} from '../../../src/execute/transitions.ts';
import { REPLACEMENT_DEADLINE } from '../../../src/execute/verify.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import type { EvictionAnswer } from '../../../src/ports.ts';
import { aReplacement } from '../../support/builders/plan.ts';
import { NOON } from '../../support/test-clock.ts';

const FINAL: readonly MovePhase[] = ['Vacated', 'Landed', 'Missed', 'Failed', 'Skipped', 'Aborted'];
const planned = {
  pod: { namespace: 'shop', name: 'old', uid: 'old' },
  owner: { kind: 'ReplicaSet', name: 'web', uid: 'web' },
  load: '0.1',
  gain: '0.1',
  reason: 'because',
};
const TRANSFER: PlannedMove = { ...planned, from: 'node-a', to: 'node-b' };
const later = (span: number) => epochSeconds(NOON + span);
const instant = (span: number) => formatInstant(later(span));

function move(phase: MovePhase, changes: Partial<MoveStatus> = {}): MoveStatus {
  const sent = phase === 'Evicting' ? { sentAt: instant(0) } : {};
  return { podUID: 'old', phase, attempt: 0, startedAt: instant(0), ...sent, ...changes };
}

/** One step at `span` seconds after the intent. */
function at(span: number, run: MoveStatus, event: MoveEvent): Advanced {
  return advance(run, event, TRANSFER, later(span));
}

/** What is seen at `span` seconds after the intent, when the eviction has been looked at for `looked`. */
function seen(
  span: number,
  pod: Observation['pod'],
  replacement?: Partial<Replacement>,
  looked: number = span,
): MoveEvent {
  const found = replacement === undefined ? undefined : aReplacement(replacement);
  const serverTime = later(span);
  const withoutEffect = seconds(looked);
  return { kind: 'Observed', pod, deletion: undefined, replacement: found, awaited: true, serverTime, withoutEffect };
}

function answer(given: EvictionAnswer, span = 0): MoveEvent {
  return { kind: 'Answer', answer: given, at: later(span), siblings: undefined };
}

const accepted = answer({ kind: 'Accepted' });
const ambiguous = answer({ kind: 'Ambiguous', message: 'socket hang up' });
const refusedByBudget = answer({ kind: 'RefusedByBudget', message: 'budget keep-web needs 2' });

const EVENTS: Readonly<Record<string, MoveEvent>> = {
  Begin: { kind: 'Begin', serverTime: later(1), leaderEpoch: 3, siblings: undefined },
  Skip: { kind: 'Skip', why: 'drift' },
  Abort: { kind: 'Abort', why: 'suspended' },
  Accepted: accepted,
  Gone: answer({ kind: 'Gone' }),
  Refused: answer({ kind: 'Refused', message: 'two PDBs' }),
  RefusedByBudget: refusedByBudget,
  TryLater: answer({ kind: 'TryLater', message: 'busy', retryAfter: ANSWER_GRACE }),
  Ambiguous: ambiguous,
  Running: seen(1, 'Running'),
  RunningLate: seen(ANSWER_GRACE + 1, 'Running'),
  Terminating: seen(1, 'Terminating'),
  Gone1: seen(1, 'Gone'),
  GoneLate: seen(REPLACEMENT_DEADLINE + 1, 'Gone'),
  Pending: seen(1, 'Gone', {}),
  Bound: seen(1, 'Gone', { node: 'node-b' }),
  BoundLate: seen(REPLACEMENT_DEADLINE + 1, 'Gone', { node: 'node-b' }),
  Available: seen(1, 'Gone', { node: 'node-b', available: true }),
  Elsewhere: seen(1, 'Gone', { node: 'node-c', available: true }),
};

/** Where each event leads from each phase; what is absent leaves the move as it is. */
const EXPECTED: Readonly<Record<MovePhase, Readonly<Record<string, MovePhase>>>> = {
  Planned: {
    Begin: 'Intent',
    Skip: 'Skipped',
    Abort: 'Aborted',
    Gone: 'Skipped',
    Refused: 'Skipped',
    RefusedByBudget: 'Planned',
    TryLater: 'Planned',
    Ambiguous: 'Planned',
  },
  Intent: {
    Accepted: 'Evicting',
    Ambiguous: 'Evicting',
    Gone: 'Skipped',
    Refused: 'Skipped',
    RefusedByBudget: 'Planned',
    TryLater: 'Planned',
    Skip: 'Skipped',
    Abort: 'Aborted',
    Running: 'Evicting',
    RunningLate: 'Evicting',
    Terminating: 'AwaitingReplacement',
    Gone1: 'AwaitingReplacement',
    GoneLate: 'AwaitingReplacement',
    Pending: 'AwaitingReplacement',
    Bound: 'AwaitingReplacement',
    BoundLate: 'AwaitingReplacement',
    Available: 'AwaitingReplacement',
    Elsewhere: 'AwaitingReplacement',
  },
  Evicting: {
    RunningLate: 'Planned',
    Terminating: 'AwaitingReplacement',
    Gone1: 'AwaitingReplacement',
    GoneLate: 'AwaitingReplacement',
    Pending: 'AwaitingReplacement',
    Bound: 'AwaitingReplacement',
    BoundLate: 'AwaitingReplacement',
    Available: 'AwaitingReplacement',
    Elsewhere: 'AwaitingReplacement',
  },
  AwaitingReplacement: {
    GoneLate: 'Failed',
    Pending: 'Verifying',
    Bound: 'Verifying',
    BoundLate: 'Verifying',
    Available: 'Verifying',
    Elsewhere: 'Verifying',
  },
  Verifying: {
    Running: 'AwaitingReplacement',
    RunningLate: 'AwaitingReplacement',
    Terminating: 'AwaitingReplacement',
    Gone1: 'AwaitingReplacement',
    GoneLate: 'AwaitingReplacement',
    Pending: 'Verifying',
    Bound: 'Verifying',
    BoundLate: 'Failed',
    Available: 'Landed',
    Elsewhere: 'Missed',
  },
  Vacated: {},
  Landed: {},
  Missed: {},
  Failed: {},
  Skipped: {},
  Aborted: {},
};

describe('TRANSITIONS', () => {
  it('has exactly the phases of the journal, and leaves none but by way to a final one', () => {
    expect(Object.keys(TRANSITIONS)).toEqual([...MOVE_PHASES]);
    const ends = new Set<MovePhase>(FINAL);
    for (let round = 0; round < MOVE_PHASES.length; round += 1) {
      for (const phase of MOVE_PHASES) {
        const next: readonly MovePhase[] = TRANSITIONS[phase];
        if (next.some((to) => ends.has(to))) {
          ends.add(phase);
        }
      }
    }
    expect([...ends].sort()).toEqual([...MOVE_PHASES].sort());
  });

  it('tells final, in flight and not begun apart', () => {
    expect(MOVE_PHASES.filter(isFinal)).toEqual(FINAL);
    expect(MOVE_PHASES.filter(isInFlight)).toEqual(['Intent', 'Evicting', 'AwaitingReplacement', 'Verifying']);
  });

  it('never leads back from a spent eviction to anything but another try or its end', () => {
    expect(() => assertLegal('AwaitingReplacement', 'Planned')).toThrow(
      'a move cannot go from AwaitingReplacement to Planned',
    );
    expect(() => assertLegal('Evicting', 'Skipped')).not.toThrow();
    expect(() => assertLegal('Landed', 'Landed')).toThrow();
  });
});

describe('enter', () => {
  const kept = {
    sentAt: instant(1),
    siblings: { digests: 'abcdef' },
    waitingFor: 'its finalizers',
    goneAt: instant(9),
  };
  const full: MoveStatus = { podUID: 'old', phase: 'Intent', attempt: 2, outcome: 'why', ...kept };

  it.each<[MovePhase, MovePhase, readonly (keyof typeof kept)[]]>([
    ['Intent', 'Evicting', ['sentAt', 'siblings', 'goneAt']],
    ['Evicting', 'AwaitingReplacement', ['siblings', 'waitingFor', 'goneAt']],
    ['AwaitingReplacement', 'Verifying', ['siblings', 'goneAt']],
    ['Verifying', 'Landed', []],
    ['Evicting', 'Planned', []],
  ])('keeps on the way from %s to %s only what is read there', (from, to, names) => {
    const rest = Object.fromEntries(names.map((name) => [name, kept[name]]));
    expect(enter(full, from, to)).toStrictEqual({ podUID: 'old', phase: to, attempt: 2, outcome: 'why', ...rest });
  });

  it.each<[MovePhase, MovePhase]>([
    ['Intent', 'Evicting'],
    ['Evicting', 'AwaitingReplacement'],
    ['AwaitingReplacement', 'Verifying'],
  ])('adds nothing on the way from %s to %s', (from, to) => {
    expect(enter({ podUID: 'old', phase: from, attempt: 0 }, from, to)).toStrictEqual({
      podUID: 'old',
      phase: to,
      attempt: 0,
    });
  });

  it('takes no way that the table does not have', () => {
    expect(() => enter(full, 'Landed', 'Planned')).toThrow('a move cannot go from Landed to Planned');
  });
});

describe('finish', () => {
  it('notes what came of the move and when, cut to what the API takes, and that it waits for nothing', () => {
    const run = move('Verifying', { notBefore: instant(3) });
    expect(finish(run, 'Failed', 'x'.repeat(501), later(7))).toStrictEqual({
      run: {
        podUID: 'old',
        phase: 'Failed',
        attempt: 0,
        startedAt: instant(0),
        outcome: `${'x'.repeat(499)}…`,
        finishedAt: instant(7),
      },
      effects: ['RemoveHint'],
    });
  });

  it('leaves a text that the API takes as it is', () => {
    expect(clip('x'.repeat(500))).toBe('x'.repeat(500));
    expect(clip('x'.repeat(501))).toHaveLength(500);
  });
});

describe('hintEffects', () => {
  it.each<[MovePhase, MoveStatus['replacement'], boolean]>([
    ['Planned', undefined, false],
    ['Intent', undefined, true],
    ['Verifying', { name: 'new', uid: 'new' }, true],
    ['Verifying', { name: 'new', uid: 'new', node: 'node-b' }, false],
  ])('in %s with replacement %j', (phase, replacement, isThere) => {
    const run = replacement === undefined ? move(phase) : move(phase, { replacement });
    expect(hintEffects(run)).toEqual(isThere ? ['RemoveHint'] : []);
  });
});

describe('the time that a move takes', () => {
  it('runs from its intent, or from when the pod was gone that it has waited for', () => {
    const run = move('AwaitingReplacement');
    expect([sinceStart(run, later(7)), sinceReplaceable(run, later(7))]).toEqual([7, 7]);
    const gone = { ...run, goneAt: instant(5) };
    expect([sinceStart(gone, later(7)), sinceReplaceable(gone, later(7))]).toEqual([7, 2]);
  });

  it('is none before the intent', () => {
    const { startedAt: _, ...run } = move('Planned');
    expect([sinceStart(run, later(7)), sinceReplaceable(run, later(7))]).toEqual([0, 0]);
  });
});

describe('advance', () => {
  const pairs = MOVE_PHASES.flatMap((phase) => Object.keys(EVENTS).map((name) => [phase, name] as const));

  it.each(pairs)('%s on %s goes where the journal says, or stays', (phase, name) => {
    const run = move(phase);
    const event = EVENTS[name] ?? accepted;
    const { run: next, effects } = at(1, run, event);
    const expected = EXPECTED[phase][name];
    expect(next.phase).toBe(expected ?? phase);
    if (expected === undefined) {
      expect(next).toBe(run);
      expect(effects).toEqual([]);
    } else {
      expect(() => assertLegal(phase, next.phase)).not.toThrow();
    }
  });

  it('begins with the hint and then the eviction, by the clock of the server', () => {
    const waiting = move('Planned', { notBefore: instant(0) });
    const { run, effects } = at(9, waiting, {
      kind: 'Begin',
      serverTime: later(3),
      leaderEpoch: undefined,
      siblings: undefined,
    });
    expect(effects).toEqual(['Evict']);
    expect(run).toEqual({ podUID: 'old', phase: 'Intent', attempt: 0, startedAt: instant(3) });
  });

  it('names the leader of each intent, and not that of an earlier one', () => {
    const again = move('Planned', { leaderEpoch: 2 });
    const begin = (leaderEpoch: number | undefined) =>
      at(0, again, { kind: 'Begin', serverTime: later(0), leaderEpoch, siblings: undefined });
    expect(begin(5).run.leaderEpoch).toBe(5);
    expect(begin(0).run.leaderEpoch).toBe(0);
    expect(begin(undefined).run).not.toHaveProperty('leaderEpoch');
  });

  it('backs off from a PDB from 10 s up to 10 min, and skips at the fifth refusal with its name', () => {
    let run = move('Intent');
    const waits: number[] = [];
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { run: next, effects } = at(0, { ...run, phase: 'Intent' }, refusedByBudget);
      expect(next).toMatchObject({ phase: 'Planned', attempt, outcome: 'budget keep-web needs 2' });
      expect(effects).toEqual(['RemoveHint']);
      waits.push((Date.parse(next.notBefore ?? '') - NOON * 1000) / 1000);
      run = next;
    }
    expect(waits).toEqual([10, 40, 160, 600]);
    const { run: last } = at(0, { ...run, phase: 'Intent' }, refusedByBudget);
    expect(last).toMatchObject({
      phase: 'Skipped',
      attempt: 5,
      outcome: 'refused 5 times: budget keep-web needs 2',
      finishedAt: instant(0),
    });
    expect(last.notBefore).toBeUndefined();
  });

  it('counts refusals of the dry run like those of the eviction', () => {
    const { run } = at(0, move('Planned', { attempt: 1 }), refusedByBudget);
    expect(run).toMatchObject({ phase: 'Planned', attempt: 2, notBefore: instant(40) });
  });

  it('holds a move that something passing stands against, like a PDB, and changes none that has begun', () => {
    const hold: MoveEvent = { kind: 'Hold', why: 'web has 1 of 3 pods available' };
    expect(at(0, move('Planned'), hold).run).toMatchObject({ phase: 'Planned', attempt: 1, notBefore: instant(10) });
    expect(at(0, move('Planned', { attempt: 4 }), hold).run).toMatchObject({
      phase: 'Skipped',
      outcome: 'refused 5 times: web has 1 of 3 pods available',
    });
    expect(at(0, move('Verifying'), hold).run).toEqual(move('Verifying'));
  });

  it('tries a dry run without an answer again sooner than what a PDB refuses', () => {
    const lost = answer({ kind: 'Ambiguous', message: 'reset' });
    expect(at(0, move('Planned', { attempt: 3 }), lost).run).toMatchObject({ attempt: 4, notBefore: instant(80) });
  });

  it('rests no longer than ten minutes, whatever an overloaded server asks for', () => {
    const overloaded = answer({ kind: 'TryLater', message: 'busy', retryAfter: seconds(86_400) });
    expect(at(0, move('Planned'), overloaded).run).toMatchObject({ notBefore: instant(600) });
  });

  it('ends what was evicted by the clock of the server, though ours has jumped', () => {
    const available = seen(5, 'Gone', { node: 'node-b', available: true });
    const { run } = advance(move('Verifying'), available, TRANSFER, later(7_200));
    expect(run).toMatchObject({ phase: 'Landed', finishedAt: instant(5) });
  });

  it('waits for no replacement once the controller wants none, and not before the pod is gone', () => {
    const unwanted = (pod: Observation['pod']) => ({ ...seen(5, pod), awaited: false }) as MoveEvent;
    expect(at(5, move('AwaitingReplacement'), unwanted('Terminating')).run.phase).toBe('AwaitingReplacement');
    const { run } = at(5, move('AwaitingReplacement'), unwanted('Gone'));
    expect(run).toMatchObject({
      phase: 'Vacated',
      outcome: 'left its node, and its controller wants no pod in its place',
    });
  });

  it('waits as long as a server or a webhook asks, and no less than after other refusals, which it counts as', () => {
    const later = (retryAfter: number) =>
      answer({ kind: 'TryLater', message: 'busy', retryAfter: seconds(retryAfter) });
    const { run, effects } = at(0, move('Intent', { attempt: 1 }), later(300));
    expect(run).toMatchObject({ phase: 'Planned', attempt: 2, notBefore: instant(300), outcome: 'busy' });
    expect(effects).toEqual(['RemoveHint']);
    expect(at(0, move('Intent', { attempt: 1 }), later(1)).run).toMatchObject({ attempt: 2, notBefore: instant(40) });
    const { run: last } = at(0, move('Planned', { attempt: 4 }), later(1));
    expect(last).toMatchObject({ phase: 'Skipped', outcome: 'refused 5 times: busy' });
  });

  it('takes an eviction without a time of its sending for sent until now', () => {
    const { sentAt: _, ...unsent } = move('Evicting');
    const { run } = at(5, unsent, seen(5, 'Running', undefined, ANSWER_GRACE + 1));
    expect(run).toMatchObject({ phase: 'Evicting', sentAt: instant(5) });
  });

  it('keeps a lost answer as spent until the pod is seen to run on', () => {
    const { run: spent, effects } = at(1, move('Intent'), ambiguous);
    expect(spent).toMatchObject({ phase: 'Evicting', outcome: 'socket hang up' });
    expect(effects).toEqual([]);
    expect(at(ANSWER_GRACE, spent, seen(ANSWER_GRACE, 'Running')).run).toBe(spent);
    const lost = at(20, spent, seen(ANSWER_GRACE + 1, 'Running'));
    expect(lost.run).toMatchObject({ phase: 'Planned', attempt: 1, notBefore: instant(20) });
    expect(lost.effects).toEqual(['RemoveHint']);
  });

  it.each(['Terminating', 'Gone'] as const)('knows by a pod that is %s that a lost answer was yes', (pod) => {
    const spent = move('Evicting', { outcome: 'socket hang up' });
    const { run, effects } = at(2, spent, seen(2, pod));
    expect(run).toEqual(move('AwaitingReplacement'));
    expect(effects).toEqual([]);
  });

  it('gives up an eviction whose answer is lost five times', () => {
    const spent = move('Evicting', { attempt: MAX_ATTEMPTS - 1 });
    const { run, effects } = at(20, spent, seen(20, 'Running'));
    expect(run).toMatchObject({ phase: 'Skipped', attempt: MAX_ATTEMPTS });
    expect(effects).toEqual(['RemoveHint']);
  });

  it('counts what it costs from when the eviction was accepted, and from the intent where that is not known', () => {
    const replaced = seen(30, 'Gone', { available: true, readySince: later(30), node: 'node-b' });
    const lostBy = (first: MoveEvent): number | undefined => {
      const evicting = at(5, move('Intent'), first).run;
      const awaiting = at(20, evicting, seen(20, 'Gone')).run;
      const verifying = at(30, awaiting, replaced).run;
      return at(31, verifying, replaced).run.unavailableSeconds ?? verifying.unavailableSeconds;
    };
    expect(lostBy(answer({ kind: 'Accepted' }, 5))).toBe(25);
    expect(lostBy(answer({ kind: 'Ambiguous', message: 'reset' }, 5))).toBe(30);
  });

  it('waits for a lost answer from when it was lost, not from the intent: a batch takes longer than the grace', () => {
    const { run: spent } = at(20, move('Intent'), answer({ kind: 'Ambiguous', message: 'reset' }, 20));
    expect(spent).toMatchObject({ phase: 'Evicting', startedAt: instant(0), sentAt: instant(20) });
    const looked = (span: number) => seen(20 + span, 'Running', undefined, span);
    expect(at(20 + ANSWER_GRACE, spent, looked(ANSWER_GRACE)).run).toBe(spent);
    const { run } = at(36, spent, looked(ANSWER_GRACE + 1));
    expect(run).toMatchObject({ phase: 'Planned', attempt: 1 });
    expect(run).not.toHaveProperty('sentAt');
  });

  it('takes up an intent after a crash: its eviction may have been sent until now', () => {
    expect(at(40, move('Intent'), seen(40, 'Running', undefined, ANSWER_GRACE + 1)).run.phase).toBe('Evicting');
    const sentTwice = move('Intent', { sentAt: instant(0) });
    expect(at(40, sentTwice, seen(40, 'Running', undefined, ANSWER_GRACE + 1)).run.phase).toBe('Evicting');
    const { run: taken, effects } = at(16, move('Intent'), seen(16, 'Running'));
    expect(taken).toMatchObject({ phase: 'Evicting', sentAt: instant(16) });
    expect(effects).toEqual([]);
    expect(at(31, taken, seen(ANSWER_GRACE, 'Running')).run).toBe(taken);
    expect(at(32, taken, seen(ANSWER_GRACE + 1, 'Running')).run.phase).toBe('Planned');
    expect(at(5, move('Intent'), seen(5, 'Gone')).run.phase).toBe('AwaitingReplacement');
  });

  it('takes back an intent whose eviction was not sent after all, and with it the hint', () => {
    const hold: MoveEvent = { kind: 'Hold', why: 'web has 2 of 3 pods available' };
    expect(at(3, move('Intent'), hold)).toMatchObject({
      run: { phase: 'Planned', attempt: 1, notBefore: instant(13), outcome: 'web has 2 of 3 pods available' },
      effects: ['RemoveHint'],
    });
    expect(at(3, move('Intent'), { kind: 'Abort', why: 'suspended' })).toMatchObject({
      run: { phase: 'Aborted', outcome: 'suspended' },
      effects: ['RemoveHint'],
    });
  });

  it('removes the hint once, when the replacement is bound', () => {
    const awaiting = move('AwaitingReplacement');
    const pending = at(2, awaiting, seen(2, 'Gone', {}));
    expect(pending.effects).toEqual([]);
    expect(pending.run.replacement).toEqual({ name: 'new', uid: 'new' });
    const bound = at(3, pending.run, seen(3, 'Gone', { node: 'node-b' }));
    expect(bound.effects).toEqual(['RemoveHint']);
    expect(at(4, bound.run, seen(4, 'Gone', { node: 'node-b' })).effects).toEqual([]);
    expect(at(2, awaiting, seen(2, 'Gone', { node: 'node-b' })).effects).toEqual(['RemoveHint']);
    const landed = at(5, bound.run, seen(5, 'Gone', { node: 'node-b', available: true }));
    expect(landed).toMatchObject({ run: { phase: 'Landed' }, effects: [] });
  });

  it.each<[string, Partial<Replacement>, MovePhase, string]>([
    ['on the planned node', { node: 'node-b', available: true }, 'Landed', 'runs on node-b'],
    ['elsewhere', { node: 'node-a', available: true }, 'Missed', 'runs on node-a instead of node-b'],
  ])('ends with a replacement that is available %s', (_, replacement, phase, outcome) => {
    const { run, effects } = at(30, move('Verifying'), seen(30, 'Gone', replacement));
    expect(run).toMatchObject({ phase, outcome, finishedAt: instant(30) });
    expect(effects).toEqual(['RemoveHint']);
  });

  it.each<[string, Partial<Replacement> | undefined, string]>([
    ['is never bound', {}, 'replacement new was never bound to a node after 600 s'],
    ['never becomes Ready', { node: 'node-b' }, 'replacement new is not Ready on node-b after 600 s'],
  ])('fails ten minutes after the intent when the replacement %s, not before', (_, replacement, outcome) => {
    const verifying = move('Verifying', { replacement: { name: 'new', uid: 'new' } });
    expect(at(600, verifying, seen(REPLACEMENT_DEADLINE, 'Gone', replacement)).run.phase).toBe('Verifying');
    const { run } = at(601, verifying, seen(REPLACEMENT_DEADLINE + 1, 'Gone', replacement));
    expect(run).toMatchObject({ phase: 'Failed', outcome });
  });

  it('records the service that was lost: up to Ready, not to the look that found it, or up to the failure', () => {
    const ready = { node: 'node-b', available: true, readySince: later(12) };
    expect(at(30, move('Verifying'), seen(30, 'Gone', ready)).run.unavailableSeconds).toBe(12);
    const early = { ...ready, readySince: later(-5) };
    expect(at(30, move('Verifying'), seen(30, 'Gone', early)).run.unavailableSeconds).toBe(0);
    expect(at(601, move('AwaitingReplacement'), seen(601, 'Gone')).run.unavailableSeconds).toBe(601);
    expect(at(5, move('Verifying'), seen(5, 'Gone', { node: 'node-b' })).run.unavailableSeconds).toBeUndefined();
  });

  it('fails when the controller makes no replacement', () => {
    const awaiting = move('AwaitingReplacement');
    expect(at(600, awaiting, seen(REPLACEMENT_DEADLINE, 'Gone')).run).toBe(awaiting);
    expect(at(601, awaiting, seen(601, 'Gone')).run).toMatchObject({
      phase: 'Failed',
      outcome: 'its controller created no replacement',
    });
  });

  it('waits for a pod that is being deleted as long as it takes, says for what, and gives its replacement ten minutes then', () => {
    const terminating = (span: number, deletion: Observation['deletion']): MoveEvent => ({
      ...(seen(span, 'Terminating') as MoveEvent & { kind: 'Observed' }),
      deletion,
    });
    const awaiting = move('AwaitingReplacement');
    const grace = { due: later(3_600), finalizers: ['example.com/flush'] };
    expect(at(60, awaiting, terminating(60, grace)).run).toBe(awaiting);
    const { run: waiting } = at(700, awaiting, terminating(700, grace));
    expect(waiting).toMatchObject({
      phase: 'AwaitingReplacement',
      waitingFor: `the deletion of its pod began at ${instant(0)}: its grace period ends at ${instant(3_600)}`,
    });
    expect(at(701, waiting, terminating(701, grace)).run).toBe(waiting);
    const { run: held } = at(3_700, waiting, terminating(3_700, grace));
    expect(held.waitingFor).toBe(
      `the deletion of its pod began at ${instant(0)}: it waits for its finalizers (example.com/flush)`,
    );
    const { run: gone } = at(9_000, held, seen(9_000, 'Gone'));
    expect(gone).toMatchObject({ phase: 'AwaitingReplacement', goneAt: instant(9_000) });
    expect(gone.waitingFor).toBeUndefined();
    const { run: verifying } = at(9_002, gone, seen(9_002, 'Gone', { node: 'node-b' }));
    expect(verifying.phase).toBe('Verifying');
    expect(at(9_600, verifying, seen(9_600, 'Gone', { node: 'node-b' })).run.phase).toBe('Verifying');
    expect(at(9_601, verifying, seen(9_601, 'Gone', { node: 'node-b' })).run.phase).toBe('Failed');
    expect(at(9_601, gone, seen(9_601, 'Gone')).run.phase).toBe('Failed');
  });

  it('gives up a replacement that cannot be removed from a node which cannot take it', () => {
    const stuck = { waiting: { gated: false, pinnedTo: 'node-b', unschedulable: true }, age: seconds(3_000) };
    expect(at(300, move('Verifying'), seen(300, 'Gone', stuck)).effects).toEqual(['RemoveHint', 'Release']);
    expect(at(601, move('Verifying'), seen(601, 'Gone', stuck)).run.phase).toBe('Failed');
  });

  it('forgets a replacement that is gone, and looks for the next', () => {
    const { run } = at(9, move('Verifying', { replacement: { name: 'x', uid: 'x' } }), seen(9, 'Gone'));
    expect(run).toEqual(move('AwaitingReplacement'));
  });

  it.each<[string, MovePhase, MoveEvent]>([
    ['a refusal', 'Intent', answer({ kind: 'Refused', message: 'x'.repeat(5_000) })],
    ['a lost answer', 'Intent', answer({ kind: 'Ambiguous', message: 'x'.repeat(5_000) })],
    ['a PDB', 'Intent', answer({ kind: 'RefusedByBudget', message: 'x'.repeat(5_000) })],
    ['a stop', 'Planned', { kind: 'Abort', why: 'x'.repeat(5_000) }],
  ])('keeps the outcome of %s within what the CRD allows', (_, phase, event) => {
    expect(at(1, move(phase), event).run.outcome?.length).toBeLessThanOrEqual(512);
  });
});

describe('what is told of a move', () => {
  it('is cut to 500 characters, which the API takes', () => {
    const fits = 'x'.repeat(500);
    expect(clip(fits)).toBe(fits);
    expect(clip(`${fits}x`)).toBe(`${'x'.repeat(499)}…`);
  });
});

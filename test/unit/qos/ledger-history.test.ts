import { describe, expect, it } from 'vitest';
import { epochSeconds } from '../../../src/model/units.ts';
import { type PodSighting, withoutTrace, withSighting } from '../../../src/qos/ledger-history.ts';
import type { PodRecord, ReadyMark } from '../../../src/qos/ledger-record.ts';

/** A pod that was just created, of which nothing else is known. */
function aSighting(fields: Partial<PodSighting> = {}): PodSighting {
  return {
    uid: 'uid-p',
    createdAt: epochSeconds(100),
    scheduledAt: undefined,
    mark: undefined,
    end: undefined,
    hot: undefined,
    ...fields,
  };
}

function aMark(ready: boolean, since: number, fields: Partial<ReadyMark> = {}): ReadyMark {
  return { ready, since: epochSeconds(since), startedAt: undefined, stoppedAt: undefined, ...fields };
}

/** What is known after these were seen one after another. */
function history(first: PodSighting, ...others: readonly PodSighting[]): PodRecord {
  return others.reduce<PodRecord>(withSighting, withSighting(undefined, first));
}

function marksOf(...marks: readonly ReadyMark[]): PodRecord['marks'] {
  return history(aSighting(), ...marks.map((mark) => aSighting({ mark }))).marks;
}

describe('what is known of a pod', () => {
  it('is at first what was seen of it', () => {
    const mark = aMark(true, 120);
    const end = { at: epochSeconds(130), how: 'Failed' } as const;
    const seen = aSighting({ scheduledAt: epochSeconds(110), mark, end, hot: true });
    expect(history(seen)).toEqual({
      uid: 'uid-p',
      createdAt: 100,
      scheduledAt: 110,
      marks: [mark],
      end,
      missedAt: undefined,
      hot: true,
    });
    expect(history(aSighting())).toMatchObject({ scheduledAt: undefined, marks: [], end: undefined, hot: undefined });
  });

  it('is when it was bound last, also where a version does not say', () => {
    const bound = aSighting({ scheduledAt: epochSeconds(110) });
    expect(history(bound, aSighting()).scheduledAt).toBe(110);
    expect(history(aSighting(), bound).scheduledAt).toBe(110);
    expect(history(bound, aSighting({ scheduledAt: epochSeconds(115) })).scheduledAt).toBe(115);
  });

  it('is whether its node had the image when that was first known', () => {
    expect(history(aSighting(), aSighting({ hot: false })).hot).toBe(false);
    expect(history(aSighting({ hot: false }), aSighting({ hot: true })).hot).toBe(false);
    expect(history(aSighting({ hot: true }), aSighting()).hot).toBe(true);
  });

  it('keeps each state of Ready in the order in which they were seen', () => {
    const [waiting, ready, again] = [aMark(false, 110), aMark(true, 120), aMark(false, 130)];
    expect(marksOf(waiting, ready, again)).toEqual([waiting, ready, again]);
    expect(history(aSighting({ mark: waiting }), aSighting()).marks).toEqual([waiting]);
  });

  it('has a state of Ready once, with what was seen of it last', () => {
    const [waiting, ready] = [aMark(false, 110), aMark(true, 120)];
    const started = aMark(true, 120, { startedAt: epochSeconds(119) });
    expect(marksOf(waiting, ready, started)).toEqual([waiting, started]);
    expect(marksOf(waiting, waiting)).toEqual([waiting]);
  });

  it('has two states of Ready that are told apart by when they began, or by what they are', () => {
    const [early, late] = [aMark(true, 120), aMark(true, 140)];
    expect(marksOf(early, late)).toEqual([early, late]);
    const unready = aMark(false, 120);
    expect(marksOf(early, unready)).toEqual([early, unready]);
    expect(marksOf(unready, early)).toEqual([unready, early]);
  });

  it('gives up the oldest of more than sixteen states of Ready', () => {
    const marks = Array.from({ length: 18 }, (_, place) => aMark(place % 2 === 0, 110 + place));
    expect(marksOf(...marks.slice(0, 16))).toEqual(marks.slice(0, 16));
    expect(marksOf(...marks.slice(0, 17))).toEqual(marks.slice(1, 17));
    expect(marksOf(...marks)).toEqual(marks.slice(2));
  });

  it('is how it first ended, once the API server says when', () => {
    const end = { at: epochSeconds(150), how: 'Failed' } as const;
    const deleted = { at: epochSeconds(160), how: 'Deleted' } as const;
    expect(history(aSighting(), aSighting({ end })).end).toEqual(end);
    expect(history(aSighting({ end }), aSighting({ end: deleted })).end).toEqual(end);
    expect(history(aSighting({ end }), aSighting()).end).toEqual(end);
    const vague = { at: undefined, how: 'Deleted' } as const;
    expect(history(aSighting({ end: vague }), aSighting({ end })).end).toEqual(end);
  });
});

describe('a pod that is gone', () => {
  it('was deleted, nobody knows when, and was missed then', () => {
    const known = history(aSighting({ mark: aMark(true, 120) }));
    expect(withoutTrace(known, epochSeconds(170))).toEqual({
      ...known,
      end: { at: undefined, how: 'Deleted' },
      missedAt: 170,
    });
    expect(withoutTrace(known, undefined).missedAt).toBeUndefined();
  });

  it('ended as it was seen to end', () => {
    const known = history(aSighting({ end: { at: epochSeconds(150), how: 'Succeeded' } }));
    expect(withoutTrace(known, epochSeconds(170))).toBe(known);
  });

  it('is missed no longer when it is seen after all', () => {
    const gone = withoutTrace(history(aSighting()), epochSeconds(170));
    expect(withSighting(gone, aSighting())).toMatchObject({ end: undefined, missedAt: undefined });
  });
});

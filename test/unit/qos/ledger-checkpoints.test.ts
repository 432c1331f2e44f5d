import { describe, expect, it } from 'vitest';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { checkpointsThrough, type Stretch } from '../../../src/qos/ledger-checkpoints.ts';
import { times } from '../../support/builders/service-levels.ts';

/** Of parts of a hundred seconds. */
const WINDOW = seconds(1200);

/** One instance that runs for as long as it lasts. */
function aStretch(from: number, to: number): Stretch {
  return {
    from: epochSeconds(from),
    to: epochSeconds(to),
    before: times({ useful: from }),
    after: times({ useful: to }),
  };
}

function aCheckpoint(at: number) {
  return { at: epochSeconds(at), ...times({ useful: at }) };
}

/** The instants that are remembered after a stretch. */
function instants(known: readonly number[], from: number, to: number, window = WINDOW): readonly number[] {
  return checkpointsThrough(known.map(aCheckpoint), aStretch(from, to), window).map(({ at }) => at);
}

describe('the checkpoints of a ledger', () => {
  it('are at whole multiples of a twelfth of the window, after the begin of a stretch up to its end', () => {
    expect(instants([], 150, 450)).toEqual([200, 300, 400]);
    expect(instants([], 200, 400)).toEqual([300, 400]);
    expect(instants([], 199, 399)).toEqual([200, 300]);
  });

  it('are those that there were where a stretch reaches no such instant', () => {
    const known = [aCheckpoint(100)];
    expect(checkpointsThrough(known, aStretch(110, 199), WINDOW)).toBe(known);
    expect(checkpointsThrough(known, aStretch(110, 110), WINDOW)).toBe(known);
  });

  it('follow those that there were', () => {
    expect(instants([100, 200], 250, 310)).toEqual([100, 200, 300]);
  });

  it('are given up once they are as old as the window and a part', () => {
    expect(instants([100, 200], 1310, 1399)).toEqual([100, 200]);
    expect(instants([100, 200], 1310, 1400)).toEqual([200, 1400]);
    expect(instants([99, 100, 101], 1350, 1399)).toEqual([100, 101]);
    expect(instants([100, 101], 1401, 1450)).toEqual([]);
  });

  it('are no more than reach back over the window and a part, however long a stretch is', () => {
    const twelve = Array.from({ length: 13 }, (_, place) => 8800 + place * 100);
    expect(instants([100], 150, 10_000)).toEqual(twelve);
    expect(instants([], 150, 10_050)).toEqual(twelve);
  });

  it('have parts of whole seconds, of one at least, that reach over the whole window', () => {
    expect(instants([], 0, 5, seconds(13))).toEqual([2, 4]);
    expect(instants([], 0, 3, seconds(12))).toEqual([1, 2, 3]);
    expect(instants([], 0, 3, seconds(6))).toEqual([1, 2, 3]);
    expect(instants([], 0, 1, seconds(0))).toEqual([1]);
  });

  it('tell what each of the times had grown to by then, in whole seconds', () => {
    const before = times({ useful: 10, discarded: 100, pending: 1000 });
    const after = times({ useful: 70, discarded: 130, pending: 1300 });
    const stretch = { from: epochSeconds(150), to: epochSeconds(450), before, after };
    expect(checkpointsThrough([], stretch, WINDOW)).toEqual([
      { at: 200, ...times({ useful: 20, discarded: 105, pending: 1050 }) },
      { at: 300, ...times({ useful: 40, discarded: 115, pending: 1150 }) },
      { at: 400, ...times({ useful: 60, discarded: 125, pending: 1250 }) },
    ]);
    const third = { ...aStretch(150, 450), before: times(), after: times({ useful: 1, pending: 4 }) };
    expect(checkpointsThrough([], third, WINDOW).map(({ useful, pending }) => [useful, pending])).toEqual([
      [0, 1],
      [1, 2],
      [1, 3],
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { createReleaseBackOff } from '../../../src/control/release-back-off.ts';
import { seconds } from '../../../src/model/units.ts';
import { aPodOf, aWorkload } from '../../support/builders.ts';

const MINUTE = 60;
const HOUR = 3_600;
const web = aWorkload('web', { replicas: 3 });
const api = aWorkload('api', { replicas: 3 });
const POD = aPodOf(web, 'web-1', 'a');

/** Whether a pod of one controller may be removed at each of these times. */
function answersAt(times: readonly number[]): readonly boolean[] {
  const backOff = createReleaseBackOff();
  return times.map((time) => backOff.take(POD, seconds(time)));
}

describe('the back-off of removals', () => {
  it('lets the first pod of a controller be removed at once, and the next after a minute', () => {
    expect(answersAt([7, 7, 7 + MINUTE - 1, 7 + MINUTE])).toEqual([true, false, false, true]);
  });

  it('doubles the wait with each pod up to an hour, and not beyond', () => {
    const waits = [1, 2, 4, 8, 16, 32, 60, 60].map((minutes) => minutes * MINUTE);
    const backOff = createReleaseBackOff();
    let now = 0;
    const answers = [backOff.take(POD, seconds(now))];
    for (const wait of waits) {
      answers.push(backOff.take(POD, seconds(now + wait - 1)), backOff.take(POD, seconds(now + wait)));
      now += wait;
    }
    expect(answers).toEqual([true, ...waits.flatMap(() => [false, true])]);
  });

  it('is not made longer by those that had to wait', () => {
    expect(answersAt([0, 10, 50, 60, 179, 180])).toEqual([true, false, false, true, false, true]);
  });

  it('forgets a controller after two hours without a removal, and not sooner', () => {
    const last = 3 * MINUTE;
    expect(answersAt([0, MINUTE, last, last + 2 * HOUR, last + 2 * HOUR + 4 * MINUTE])).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    const forgotten = last + 2 * HOUR + 1;
    expect(answersAt([0, MINUTE, last, forgotten, forgotten + MINUTE])).toEqual([true, true, true, true, true]);
  });

  it('keeps controllers apart, and not the pods of one', () => {
    const backOff = createReleaseBackOff();
    const now = seconds(0);
    expect(backOff.take(POD, now)).toBe(true);
    expect(backOff.take(aPodOf(web, 'web-2', 'a'), now)).toBe(false);
    expect(backOff.take(aPodOf(api, 'api-1', 'a'), now)).toBe(true);
  });

  it('takes a pod without a controller for the one that bears its name in its namespace', () => {
    const backOff = createReleaseBackOff();
    const now = seconds(0);
    const bare = { namespace: 'shop', name: 'bare', owner: undefined };
    expect(backOff.take(bare, now)).toBe(true);
    expect(backOff.take({ ...bare }, now)).toBe(false);
    expect(backOff.take({ ...bare, name: 'other' }, now)).toBe(true);
    expect(backOff.take({ ...bare, namespace: 'elsewhere' }, now)).toBe(true);
  });
});

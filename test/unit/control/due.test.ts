import { describe, expect, it } from 'vitest';
import { startCron } from '../../../src/adapters/cron.ts';
import { RETRY_WAIT, whatIsDue } from '../../../src/control/due.ts';
import { createPolicyMemory } from '../../../src/control/policy-memory.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { NOON, testClock } from '../../support/test-clock.ts';

/** Why a run is due for a policy that has never run, and that has to wait for so long yet. */
function dueAfter(wait: number | undefined) {
  const stored = { policy: aPolicy('even'), invalid: [] };
  const memory = createPolicyMemory(() => undefined, { clock: testClock(), startCron });
  const remembered = memory.of(stored);
  remembered.notBefore = wait === undefined ? undefined : epochSeconds(NOON + wait);
  const { run } = whatIsDue({ stored, plans: [], remembered, news: { room: 0, requests: 0 }, now: NOON });
  memory.clear();
  return run;
}

describe('a run that is due by the schedule', () => {
  it.each<[string, number | undefined]>([
    ['there is no wait', undefined],
    ['the wait is over', -1],
    ['the wait ends now', 0],
    ['the wait is longer than any that is given, since the clock was set back', RETRY_WAIT + 0.1],
  ])('begins when %s', (_, wait) => {
    expect(dueAfter(wait)).toBe('Schedule');
  });

  it.each([0.1, 0.9, 1, RETRY_WAIT])('does not begin %d s before the wait is over', (wait) => {
    expect(dueAfter(wait)).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { livenessOf } from '../../../src/page/liveness.ts';
import { emptyState } from '../../../src/report/page/state.ts';

const TAKEN = '2026-01-20T14:00:00Z';
const TAKEN_AT = Date.parse(TAKEN);

function shownAfter(seconds: number, role: 'Files' | 'Planner') {
  const state = { ...emptyState('here', role), takenAt: TAKEN };
  return livenessOf({ kind: 'Live' }, state, new Date(TAKEN_AT + seconds * 1000));
}

describe('how current a page is', () => {
  it.each([
    [10, 'file', 'Snapshot, less than a minute old'],
    [60, 'file', 'Snapshot, 1 minute old'],
    [3 * 3600, 'file', 'Snapshot, 3 hours old'],
    [86_401, 'stale', 'Snapshot, 1 day old'],
    [306 * 86_400, 'stale', 'Snapshot, 10 months old'],
    [800 * 86_400, 'stale', 'Snapshot, 2 years old'],
    [-30, 'file', 'Snapshot, less than a minute old'],
  ])('is the age of a file: %i s', (seconds, tone, text) => {
    expect(shownAfter(seconds, 'Files')).toMatchObject({ tone, text });
  });

  it('is the time of a file that is ahead of the clock', () => {
    expect(shownAfter(-7200, 'Files').text).toMatch(/^Snapshot of .*\d\d:00:00$/);
  });

  it('is live where a cluster is read', () => {
    expect(shownAfter(10, 'Planner')).toMatchObject({ tone: 'on', text: expect.stringMatching(/^Live · /) });
  });

  it('is the trouble of a cluster that cannot be read', () => {
    const state = { ...emptyState('here', 'Leader'), trouble: 'pods cut off' };
    expect(livenessOf({ kind: 'Live' }, state, new Date())).toEqual({
      tone: 'stale',
      text: 'No data yet',
      detail: 'pods cut off',
    });
  });
});

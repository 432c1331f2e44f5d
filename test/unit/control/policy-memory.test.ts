import { describe, expect, it } from 'vitest';
import { createPolicyMemory } from '../../../src/control/policy-memory.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import type { StartCron, StoredPolicy } from '../../../src/ports.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { NOON, testClock } from '../../support/test-clock.ts';

const CRON = { schedule: '*/5 * * * *' };

function stored(name: string, generation = 1, spec: Record<string, unknown> = CRON): StoredPolicy {
  const policy = aPolicy(name, spec);
  return { policy: { ...policy, metadata: { ...policy.metadata, generation } }, invalid: [] };
}

/** A memory, and how many timers run for it. */
function bench() {
  let timers = 0;
  const startCron: StartCron = () => {
    timers += 1;
    return {
      stop: () => {
        timers -= 1;
      },
      next: () => epochSeconds(NOON + 300),
    };
  };
  return { memory: createPolicyMemory(() => undefined, { clock: testClock(), startCron }), timers: () => timers };
}

describe('what is remembered of a policy', () => {
  it('is nothing at first', () => {
    const { memory } = bench();
    const { schedule: _, ...fresh } = memory.of(stored('even', 4));
    expect(fresh).toEqual({
      generation: 4,
      demand: 0,
      underWay: new Set(),
      ranAt: undefined,
      request: undefined,
      againAt: undefined,
      isPostponed: false,
      notBefore: undefined,
      overlap: undefined,
      sampling: undefined,
      services: undefined,
      removal: {},
      steering: undefined,
    });
  });

  it('stays until it is edited, and each policy has its own', () => {
    const { memory, timers } = bench();
    const first = memory.of(stored('even'));
    expect(memory.of(stored('even'))).toBe(first);
    expect(memory.of(stored('odd'))).not.toBe(first);
    expect(timers()).toBe(2);
  });

  it('is made anew after an edit, but for what was removed and the samples that it goes on with', () => {
    const { memory, timers } = bench();
    const smooth = { ...CRON, load: { smoothing: '10m' } };
    const before = memory.of(stored('even', 1, smooth));
    const removal = { Degraded: { status: 'True', reason: 'ExecuteFailed', message: '503' } } as const;
    Object.assign(before, { removal, demand: 7, ranAt: NOON, isPostponed: true });
    const after = memory.of(stored('even', 2, smooth));
    expect(after).toMatchObject({ generation: 2, removal, demand: 0, ranAt: undefined, isPostponed: false });
    expect(after.sampling).toBeDefined();
    expect(after.sampling).toBe(before.sampling);
    expect(timers()).toBe(1);
  });

  it('is forgotten with its timer when the policy is gone, and no other is', () => {
    const { memory, timers } = bench();
    const [even, odd] = [memory.of(stored('even')), memory.of(stored('odd'))];
    memory.keepOnly([stored('even'), stored('new')]);
    expect(timers()).toBe(1);
    expect(memory.of(stored('even'))).toBe(even);
    expect(memory.of(stored('odd'))).not.toBe(odd);
    memory.clear();
    expect(timers()).toBe(0);
    expect(memory.of(stored('even'))).not.toBe(even);
  });
});

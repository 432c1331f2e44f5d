import { describe, expect, it } from 'vitest';
import { freeLease } from '../../../src/control/free-lease.ts';
import { seconds } from '../../../src/model/units.ts';
import { ConflictError, type LeaseStore } from '../../../src/ports.ts';
import { type FakeLease, fakeLease } from '../../support/fake-leases.ts';
import { NOON, testClock } from '../../support/test-clock.ts';

const forever = new AbortController().signal;
const isOurs = (holder: string): boolean => holder === 'a';

/** A Lease that this replica holds. */
async function heldBy(holder: string): Promise<FakeLease> {
  const lease = fakeLease();
  const record = { holder, duration: seconds(15), acquiredAt: NOON, renewedAt: NOON, transitions: 3 };
  await lease.store.create(record, forever);
  return lease;
}

/** The store, where somebody annotates the Lease before each of the first `times` writes. */
function disturbed({ store }: FakeLease, times: number): { readonly store: LeaseStore; readonly writes: () => number } {
  let writes = 0;
  const update: LeaseStore['update'] = async (target, record, signal) => {
    writes += 1;
    if (writes <= times) {
      throw new ConflictError('somebody else wrote');
    }
    return await store.update(target, record, signal);
  };
  return { store: { ...store, update }, writes: () => writes };
}

describe('a Lease that is freed', () => {
  it('has no holder, and counts its transitions on', async () => {
    const lease = await heldBy('a');
    expect(await freeLease(lease.store, testClock(), isOurs)).toBe(true);
    expect(lease.stored?.record).toEqual({
      holder: '',
      duration: 1,
      acquiredAt: NOON,
      renewedAt: NOON,
      transitions: 3,
    });
  });

  it('is left alone where another replica holds it, or nobody does', async () => {
    for (const holder of ['b', '']) {
      const lease = await heldBy(holder);
      expect(await freeLease(lease.store, testClock(), isOurs)).toBe(false);
      expect(lease.history).toHaveLength(1);
    }
  });

  it('is not made anew where it is gone', async () => {
    const lease = fakeLease();
    expect(await freeLease(lease.store, testClock(), () => true)).toBe(false);
    expect(lease.stored).toBeUndefined();
  });

  it('is waited for until it is known whose it is', async () => {
    const lease = await heldBy('a');
    expect(await freeLease(lease.store, testClock(), async () => false)).toBe(false);
    expect(await freeLease(lease.store, testClock(), async () => true)).toBe(true);
  });

  it.each([1, 4])('is written again where somebody has annotated it %d times meanwhile', async (times) => {
    const lease = await heldBy('a');
    const { store, writes } = disturbed(lease, times);
    expect(await freeLease(store, testClock(), isOurs)).toBe(true);
    expect(writes()).toBe(times + 1);
    expect(lease.stored?.record.holder).toBe('');
  });

  it('is given up after five writes that somebody else was faster than', async () => {
    const lease = await heldBy('a');
    const { store, writes } = disturbed(lease, 5);
    await expect(freeLease(store, testClock(), isOurs)).rejects.toThrow(ConflictError);
    expect(writes()).toBe(5);
    expect(lease.stored?.record.holder).toBe('a');
  });

  it('is not taken from a replica that has got it after a conflict', async () => {
    const lease = await heldBy('a');
    const update: LeaseStore['update'] = async (target, record) => {
      await lease.store.update(target, { ...record, holder: 'b' }, forever);
      throw new ConflictError('somebody else wrote');
    };
    expect(await freeLease({ ...lease.store, update }, testClock(), isOurs)).toBe(false);
    expect(lease.stored?.record.holder).toBe('b');
  });

  it('is not tried again after another failure', async () => {
    const lease = await heldBy('a');
    let writes = 0;
    const update = async (): Promise<never> => {
      writes += 1;
      throw new Error('503');
    };
    await expect(freeLease({ ...lease.store, update }, testClock(), isOurs)).rejects.toThrow('503');
    expect(writes).toBe(1);
  });
});

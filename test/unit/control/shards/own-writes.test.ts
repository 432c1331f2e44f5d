import { describe, expect, it } from 'vitest';
import { claim, leaseTimes } from '../../../../src/control/lease.ts';
import { rememberWrites } from '../../../../src/control/shards/own-writes.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import type { LeaseStore, SharedLeases, StoredLease } from '../../../../src/ports.ts';

const NEVER = new AbortController().signal;
const RECORD = claim(undefined, 'a', leaseTimes(seconds(15)), epochSeconds(0));

function stored(resourceVersion: string | undefined): StoredLease {
  return { record: RECORD, metadata: resourceVersion === undefined ? {} : { resourceVersion } };
}

/** Leases whose writes are answered with these versions, one after the other, each a second after it was sent. */
function remembered(...versions: readonly string[]) {
  let now = 100;
  const left = [...versions];
  const answer = async (): Promise<StoredLease> => {
    now += 1;
    return stored(left.shift());
  };
  const store: LeaseStore = {
    get: async () => stored('999'),
    create: answer,
    update: answer,
    remove: async () => undefined,
  };
  const leases: SharedLeases = {
    of: () => store,
    seen: new Map(),
    list: async () => [],
    watch: async () => undefined,
    renew: () => undefined,
  };
  return rememberWrites(leases, seconds(10), { monotonic: () => seconds(now) });
}

describe('what this process has written', () => {
  it('was written after a Lease of an older version, at the latest when its answer came', async () => {
    const leases = remembered('10', '20', '30');
    const own = leases.of('own', new Map());
    await own.create(RECORD, NEVER);
    await own.update(stored('10'), RECORD, NEVER);
    await own.update(stored('20'), RECORD, NEVER);
    const times = ['9', '10', '15', '20', '29', '30', '31'].map((version) => leases.writtenBy(stored(version)));
    expect(times).toEqual([101, 102, 102, 103, 103, undefined, undefined]);
  });

  it('counts whatever the Lease, and a read is no write', async () => {
    const leases = remembered('10', '20');
    await leases.of('one', new Map()).create(RECORD, NEVER);
    await leases.of('other', new Map()).create(RECORD, NEVER);
    await leases.of('other', new Map()).get(NEVER);
    expect(leases.writtenBy(stored('15'))).toBe(102);
    expect(leases.writtenBy(stored('500'))).toBeUndefined();
  });

  it('is forgotten after its span', async () => {
    const leases = remembered(...Array.from({ length: 12 }, (_, place) => String(10 * place + 10)));
    const own = leases.of('own', new Map());
    for (let write = 0; write < 12; write += 1) {
      await own.update(stored('1'), RECORD, NEVER);
    }
    expect(leases.writtenBy(stored('5'))).toBe(102);
  });

  it('says nothing of versions that cannot be compared', async () => {
    const leases = remembered('10', 'opaque');
    const own = leases.of('own', new Map());
    await own.create(RECORD, NEVER);
    await own.update(stored('10'), RECORD, NEVER);
    expect([undefined, '', 'opaque', 'other'].map((version) => leases.writtenBy(stored(version)))).toEqual(
      Array(4).fill(undefined),
    );
  });

  it('is not remembered when it failed', async () => {
    const leases = remembered();
    const failing = {
      ...leases,
      of: () => ({ ...leases.of('own', new Map()), update: () => Promise.reject(new Error('no answer')) }),
    };
    const all = rememberWrites(failing, seconds(10), { monotonic: () => seconds(0) });
    await expect(all.of('own', new Map()).update(stored('1'), RECORD, NEVER)).rejects.toThrow('no answer');
    expect(all.writtenBy(stored('0'))).toBeUndefined();
  });
});

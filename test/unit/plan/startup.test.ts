import { describe, expect, it } from 'vitest';
import type { PastMove } from '../../../src/model/past-move.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { indexOwners } from '../../../src/plan/owners.ts';
import { sortIntoKinds } from '../../../src/plan/pod-kinds.ts';
import { DEFAULT_STARTUP, NO_PODS, startupTimes } from '../../../src/plan/startup.ts';
import { aPastMove, aPod, NOW, type PodFields } from '../../support/builders.ts';

const moved = (unavailable: number | undefined, fields: Partial<PastMove> = {}): PastMove => ({
  ...aPastMove('p', fields),
  unavailable: unavailable === undefined ? undefined : seconds(unavailable),
});
const started = (name: string, after: number, fields: PodFields = {}): PodInfo =>
  aPod(name, { createdAt: NOW, readySince: epochSeconds(NOW + after), ...fields });

function startOf(pastMoves: readonly PastMove[], pods: readonly PodInfo[] = [], owner = 'uid-web'): number {
  const owners = indexOwners(sortIntoKinds(pods), new Map());
  return startupTimes(pastMoves, { pods, owners }).of(owner);
}

describe('how long pods of a workload take to start', () => {
  it('is half a minute where nothing was measured', () => {
    expect(startOf([])).toBe(30);
    expect(startupTimes([], NO_PODS).of('uid-web')).toBe(DEFAULT_STARTUP);
  });

  it('is the lower median of its past moves', () => {
    expect(startOf([moved(9)])).toBe(9);
    expect(startOf([moved(9), moved(4)])).toBe(4);
    expect(startOf([moved(9), moved(4), moved(100)])).toBe(9);
    expect(startOf([moved(9), moved(4), moved(100), moved(20)])).toBe(9);
  });

  it('does not count moves of others, those that failed, and those of which nothing is known', () => {
    const other = { owner: { kind: 'ReplicaSet', name: 'api', uid: 'uid-api' } };
    expect(startOf([moved(9), moved(4, other), moved(3, { phase: 'Failed' }), moved(undefined)])).toBe(9);
    expect(startOf([moved(4, other)])).toBe(30);
    expect(startOf([moved(9), moved(4, other)], [], 'uid-api')).toBe(4);
  });

  it('counts nothing above ten minutes, nor below nothing', () => {
    expect(startOf([moved(600)])).toBe(600);
    expect(startOf([moved(601)])).toBe(30);
    expect(startOf([moved(0)])).toBe(0);
    expect(startOf([moved(-1)])).toBe(30);
  });

  it('is the lower median of its running pods where it was never moved', () => {
    const pods = [
      started('a', 8),
      started('b', 2),
      started('c', 5),
      started('d', 1, { ready: false }),
      started('e', 1, { owner: 'api' }),
      started('f', 1, { owner: undefined }),
      { ...started('g', 1), readySince: undefined },
    ];
    expect(startOf([], pods)).toBe(5);
    expect(startOf([], pods, 'uid-api')).toBe(1);
    expect(startOf([], pods, 'uid-none')).toBe(30);
    expect(startOf([moved(9)], pods)).toBe(9);
    expect(startOf([moved(700)], pods)).toBe(5);
  });
});

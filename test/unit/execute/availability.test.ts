import { describe, expect, it } from 'vitest';
import { shortfall } from '../../../src/execute/availability.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { labelsHash } from '../../../src/plan/hash.ts';
import { aPodOf, aRollout, aWorkload } from '../../support/builders.ts';
import { NOON } from '../../support/test-clock.ts';

const web = aWorkload('web', { replicas: 2, rollout: aRollout(2), minReadySeconds: seconds(30) });
const [one, two] = [1, 2].map((index) => aPodOf(web, `web-${index}`, 'a')) as [
  ReturnType<typeof aPodOf>,
  ReturnType<typeof aPodOf>,
];

describe('shortfall', () => {
  it('is none when as many pods as are asked for have been Ready for minReadySeconds', () => {
    expect(shortfall(web, [one, two], NOON)).toBeUndefined();
    expect(shortfall(web, [one, { ...two, readySince: epochSeconds(NOON - 29) }], NOON)).toBe(
      'ReplicaSet web has 1 of 2 pods available, and no other pod moves before all are',
    );
    expect(shortfall(web, [one, { ...two, readySince: epochSeconds(NOON - 30) }], NOON)).toBeUndefined();
  });

  it('counts pods that are there, not what the status of the controller says, which lags behind', () => {
    const lagging = { ...web, rollout: aRollout(2, { ready: 1, available: 1 }) };
    expect(shortfall(lagging, [one, two], NOON)).toBeUndefined();
    expect(shortfall(web, [one], NOON)).toContain('1 of 2');
  });

  it('does not mind a pod that is going when another stands in its place', () => {
    expect(shortfall(web, [one, two, { ...aPodOf(web, 'web-0', 'b'), terminating: true }], NOON)).toBeUndefined();
  });

  it('counts of a Job the pods that run: those that have ended are not missing', () => {
    const job = aWorkload('batch', { kind: 'Job', replicas: 3, rollout: undefined });
    const running = aPodOf(job, 'batch-1', 'a');
    expect(shortfall(job, [running, { ...running, phase: 'Succeeded', ready: false }], NOON)).toBeUndefined();
    expect(shortfall(job, [running, { ...running, ready: false }], NOON)).toContain('1 of 2');
  });
});

describe('labelsHash', () => {
  it('is the same for the same labels in any order, and another for any other', () => {
    const labels = new Map([
      ['app', 'web'],
      ['__proto__', 'x'],
    ]);
    expect(labelsHash(new Map([...labels].reverse()))).toBe(labelsHash(labels));
    expect(labelsHash(new Map([...labels, ['role', 'primary']]))).not.toBe(labelsHash(labels));
    expect(labelsHash(new Map())).toMatch(/^[0-9a-f]{16}$/);
  });
});

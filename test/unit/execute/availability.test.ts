import { describe, expect, it } from 'vitest';
import { comebackOf, recovery, shortfall } from '../../../src/execute/availability.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { labelsHash } from '../../../src/plan/hash.ts';
import { aNode, aPodOf, aRollout, aWorkload } from '../../support/builders.ts';
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

  it('counts of the pods that are there none that has failed or ended, and none that is going', () => {
    const third = aPodOf(web, 'web-3', 'a');
    for (const lost of [
      { phase: 'Failed' },
      { phase: 'Succeeded' },
      { terminating: true },
      { ready: false },
    ] as const) {
      expect(shortfall(web, [one, { ...two, ...lost }], NOON)).toContain('1 of 2');
      expect(shortfall(web, [one, two, { ...third, ...lost }], NOON)).toBeUndefined();
    }
  });

  it('asks of a controller that does not say how many pods it wants for those that are there', () => {
    const { replicas: _, ...open } = web;
    const unknown = { ...open, replicas: undefined };
    expect(shortfall(unknown, [one], NOON)).toBeUndefined();
    expect(shortfall(unknown, [one, { ...two, ready: false }], NOON)).toContain('1 of 2');
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

describe('recovery', () => {
  const since = (span: number) => ({ ...one, readySince: epochSeconds(NOON + span) });

  it('is that of a pod that has become Ready after the plan was made', () => {
    expect(recovery(since(1), NOON)).toBe('the pod has become Ready since the plan was made');
    expect(recovery(since(0), NOON)).toBeUndefined();
    expect(recovery(since(-1), NOON)).toBeUndefined();
  });

  it('is none where the pod is not Ready, or nobody knows since when', () => {
    expect(recovery({ ...since(1), ready: false }, NOON)).toBeUndefined();
    expect(recovery({ ...one, readySince: undefined }, NOON)).toBeUndefined();
  });
});

describe('comebackOf', () => {
  const down = aNode('a', { ready: false });
  const unready = { ...one, ready: false };

  it('names what is Ready again: the node first, then the pod', () => {
    expect(comebackOf(one, aNode('a'))).toBe('its node a is Ready again');
    expect(comebackOf(unready, aNode('a'))).toBe('its node a is Ready again');
    expect(comebackOf(one, down)).toBe('the pod is Ready again');
  });

  it('is none where neither is, or the node is gone and the pod is not Ready', () => {
    expect(comebackOf(unready, down)).toBeUndefined();
    expect(comebackOf(unready, undefined)).toBeUndefined();
    expect(comebackOf(one, undefined)).toBe('the pod is Ready again');
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

import { describe, expect, it } from 'vitest';
import { bytes, epochSeconds, seconds } from '../../../src/model/units.ts';
import { classOf } from '../../../src/qos/class-of.ts';
import { serviceLevelAt } from '../../../src/qos/service-level.ts';
import { expectedStartup, imagesOn, measuredStartup, startTimeOf } from '../../../src/qos/startup.ts';
import { randomStreams } from '../../../src/simulate/random.ts';
import {
  aLedger,
  anInstance,
  aServiceClass,
  aStartTime,
  serviceLevels,
  times,
} from '../../support/builders/service-levels.ts';
import { aNode, aPod, labels, NOW } from '../../support/builders.ts';

describe('what a request got of its service level', () => {
  it('is extrapolated since admission and over the window', () => {
    const ledger = aLedger({
      admittedAt: epochSeconds(NOW - 1000),
      asOf: epochSeconds(NOW - 100),
      times: { useful: 450, pending: 450 },
      checkpoints: [{ at: epochSeconds(NOW - 200), ...times({ useful: 350, pending: 450 }) }],
      instances: [anInstance({ pod: 'p', running: true })],
      preemptions: 1,
      overhead: 50,
    });
    expect(serviceLevelAt(ledger, aServiceClass({ slo: 0.5, window: 200 }), NOW)).toEqual({
      availability: 0.55,
      availabilityOverWindow: 1,
      timeToViolate: 97,
    });
  });

  it('is undefined where nothing was observed, and violates nothing without instances', () => {
    const level = serviceLevelAt(aLedger({ running: 0 }), aServiceClass(), NOW);
    expect(level).toEqual({
      availability: undefined,
      availabilityOverWindow: undefined,
      timeToViolate: Number.POSITIVE_INFINITY,
    });
  });

  it('is that of the worst replica in mode Independent', () => {
    const instances = [anInstance(times({ useful: 90, pending: 10 })), anInstance(times({ useful: 20, pending: 80 }))];
    const ledger = aLedger({ instances, times: { useful: 110, pending: 90 } });
    const level = serviceLevelAt(ledger, aServiceClass({ mode: 'Independent', slo: 0.5 }), NOW);
    expect([level.availability, level.timeToViolate]).toEqual([0.2, -63]);
  });
});

describe('alpha', () => {
  const promised = aServiceClass({ expectedStartup: 30 });
  const running = { running: true };
  const both = aLedger({ startup: { hot: 2, cold: 5 } });

  it('is what the class expects until anything was measured', () => {
    expect(expectedStartup(aLedger(), promised, running)).toBe(30);
    expect(expectedStartup(aLedger(), promised, running, 'Absent')).toBe(30);
  });

  it('is what was measured with the image on the node, or without', () => {
    expect(expectedStartup(both, promised, running, 'Present')).toBe(2);
    expect(expectedStartup(both, promised, running, 'Absent')).toBe(5);
  });

  it('is the longer one where nobody knows, and the one there is where the other was not measured', () => {
    expect(expectedStartup(both, promised, running)).toBe(5);
    expect(expectedStartup(aLedger({ startup: { hot: 2 } }), promised, running, 'Absent')).toBe(2);
    expect(expectedStartup(aLedger({ startup: { cold: 5 } }), promised, running, 'Present')).toBe(5);
    expect(expectedStartup(aLedger({ startup: { hot: 2 } }), promised, running)).toBe(2);
  });

  it('is the expected maximum of all starts it takes where only all replicas together are of use', () => {
    const fields = { running: 2, waiting: 2, startup: { hot: 6 } };
    const ledger = { ...aLedger(fields), startup: { hot: aStartTime(6, 3), cold: undefined } };
    const together = aServiceClass({ mode: 'Concurrent' });
    expect(expectedStartup(ledger, together, { running: false })).toBeCloseTo(6 + 3 / 2, 12);
    expect(expectedStartup(ledger, together, running)).toBeCloseTo(6 + 3 * (1 / 2 + 1 / 3), 12);
    expect(expectedStartup(ledger, promised, running)).toBe(6);
    const alone = { ...ledger, waiting: 0 };
    expect(expectedStartup(alone, together, { running: false })).toBe(6);
    expect(expectedStartup(alone, together, running)).toBe(6);
  });

  it('is that of a single start where nobody says of how many', () => {
    const ledger = { startup: { hot: aStartTime(6, 3), cold: aStartTime(5, 9) } };
    expect(measuredStartup(ledger)).toBe(6);
    expect(measuredStartup(ledger, 1, 'Absent')).toBe(5);
    expect(measuredStartup(ledger, 2)).toBeCloseTo(5 + 9 / 2, 12);
    expect(measuredStartup(ledger, 2, 'Present')).toBeCloseTo(6 + 3 / 2, 12);
    expect(measuredStartup({ startup: { hot: undefined, cold: undefined } })).toBeUndefined();
  });

  it('is near the maximum of starts that were drawn, however many there are', () => {
    const stream = randomStreams(7)('starts');
    for (const starts of [1, 2, 5, 20, 100]) {
      const draw = (): number => 2 + 4 * stream.exponential();
      const drawn = Array.from({ length: 4000 }, () => Math.max(...Array.from({ length: starts }, draw)));
      const mean = drawn.reduce((sum, each) => sum + each, 0) / drawn.length;
      const ledger = { startup: { hot: aStartTime(6, 4), cold: undefined } };
      expect(Math.abs((measuredStartup(ledger, starts) ?? 0) / mean - 1)).toBeLessThan(0.05);
    }
  });
});

describe('the starts that were measured', () => {
  const starts = (count: number, total: number, squares: number) => ({ count, total: seconds(total), squares });

  it('have no time where there were none', () => {
    expect(startTimeOf(undefined)).toBeUndefined();
    expect(startTimeOf(starts(0, 0, 0))).toBeUndefined();
  });

  it('have a mean and a deviation from it', () => {
    // Of 5; of 2 and 8; of 1, 1 and 4.
    expect(startTimeOf(starts(1, 5, 25))).toEqual(aStartTime(5, 0));
    expect(startTimeOf(starts(2, 10, 68))).toEqual(aStartTime(5, 3));
    expect(startTimeOf(starts(3, 6, 18))?.deviation).toBeCloseTo(Math.SQRT2, 12);
  });

  it('do not deviate where rounding leaves less than nothing', () => {
    expect(startTimeOf(starts(2, 10, 49.999))).toEqual(aStartTime(5, 0));
  });
});

describe('the images of a pod', () => {
  const images = new Map(['app:1', 'proxy:2'].map((name) => [name, bytes(9)]));
  const podOf = (...names: readonly string[]) => aPod('p', { constraints: { images: names } });

  it('are present on a node that has all of them, and absent where one is not listed', () => {
    expect(imagesOn(aNode('n', { images }), podOf('app:1', 'proxy:2'))).toBe('Present');
    expect(imagesOn(aNode('n', { images }), podOf('app:1', 'app:2'))).toBe('Absent');
    expect(imagesOn(aNode('n', { images }), podOf('app:2'))).toBe('Absent');
  });

  it('may be on a node that lists none', () => {
    expect(imagesOn(aNode('n', { images: new Map() }), podOf('app:1'))).toBeUndefined();
  });
});

describe('the class of a pod', () => {
  const levels = {
    ...serviceLevels(['a', 'b', 'c'].map((name) => aServiceClass({ name }))),
    byPriorityClass: new Map([['low', 'c']]),
  };
  const namespaces = new Map([['team', labels({ 'evenkeel.dev/service-class': 'b' })]]);

  it('is that of its label, else of its namespace, else of its PriorityClass', () => {
    const named = { 'evenkeel.dev/service-class': 'a' };
    const pods = [
      aPod('p', { namespace: 'team', labels: named, priorityClassName: 'low' }),
      aPod('q', { namespace: 'team', priorityClassName: 'low' }),
      aPod('r', { priorityClassName: 'low' }),
      aPod('s'),
    ];
    expect(pods.map((pod) => classOf(pod, levels, namespaces)?.name)).toEqual(['a', 'b', 'c', undefined]);
  });

  it('is the default one where it would have none, but for pods of the system', () => {
    const pods = [aPod('r', { priorityClassName: 'low' }), aPod('s'), aPod('t', { namespace: 'kube-system' })];
    const names = pods.map((pod) => classOf(pod, { ...levels, byDefault: 'b' }, namespaces)?.name);
    expect(names).toEqual(['c', 'b', undefined]);
  });

  it('is none when the one that is named does not exist', () => {
    const pod = aPod('p', { labels: { 'evenkeel.dev/service-class': 'gone' }, priorityClassName: 'low' });
    expect(classOf(pod, levels, namespaces)).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import type { LedgerMode } from '../../../src/model/service-level.ts';
import type { VariantResult } from '../../../src/report/simulation-result.ts';
import type { WorkloadParts } from '../../../src/simulate/parts.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { aServiceClass } from '../../support/builders/service-levels.ts';
import { aScenario, aSimulatedNode, aSimulatedWorkload } from '../../support/scenarios.ts';

/** Ten minutes of one workload, whose pods request 0.1 cores and start for 10 s; what is owed is doubled. */
async function play(
  mode: LedgerMode,
  slots: number,
  slo: number,
  parts: Partial<WorkloadParts>,
): Promise<VariantResult> {
  const { variants } = await simulate(
    aScenario({
      nodes: [aSimulatedNode('a', { pods: String(slots) })],
      classes: [aServiceClass({ name: 'gold', slo, mode, penalties: [{ below: slo, surcharge: 1 }] })],
      workloads: [aSimulatedWorkload('web', { labels: { 'evenkeel.dev/service-class': 'gold' }, ...parts })],
    }),
  );
  const [variant] = variants;
  if (variant === undefined) {
    throw new Error('there is no variant');
  }
  return variant;
}

describe('what is reported of a class', () => {
  // One of two replicas serves for 590 of 600 s, the other one has no room.
  it.each([
    ['Aggregated', 590 / 1200, 1, 0],
    ['Independent', 0, 0, 2 * 0.4 * 600 * 0.1],
    ['Concurrent', 0, 0, 2 * 0.4 * 1200 * 0.1],
    ['Task', 590 / 1200, 1, 0],
  ] as const)('follows mode %s, in all and by window', async (mode, availability, fulfilled, penalty) => {
    const { classes, windows, series } = await play(mode, 1, 0.4, { replicas: 2 });
    expect(classes).toMatchObject([{ fulfilled, deficit: 0.4 * (1 - fulfilled), gini: 0 }]);
    expect(classes[0]?.mean).toBeCloseTo(availability, 12);
    expect(classes[0]?.least).toBeCloseTo(availability, 12);
    expect(classes[0]?.penalty).toBeCloseTo(penalty, 9);
    expect(windows).toMatchObject([{ classes: [{ fulfilled }] }]);
    expect(windows[0]?.classes[0]?.least).toBeCloseTo(availability, 12);
    expect(series.availability[0]?.values.at(-1)).toBeCloseTo(availability, 12);
  });

  it('is short of room by mode, too: one replica without room fails an Independent request', async () => {
    const shares = await Promise.all(
      (['Aggregated', 'Independent', 'Concurrent'] as const).map(async (mode) => {
        const { windows } = await play(mode, 1, 0.4, { replicas: 2 });
        return windows[0]?.classes[0]?.withoutRoom;
      }),
    );
    expect(shares).toEqual([0, 1, 1]);
  });

  it.each(['Aggregated', 'Independent', 'Task'] as const)(
    'owes a Job for the time up to its end, and nothing for the time after it, in mode %s',
    async (mode) => {
      const { classes } = await play(mode, 3, 1, { kind: 'Job', replicas: 3, runTime: 100 });
      expect(classes[0]?.mean).toBeCloseTo(100 / 110, 12);
      expect(classes[0]?.penalty).toBeCloseTo(2 * 3 * 10 * 0.1, 9);
    },
  );
});

import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import type { Contention } from '../../../src/report/simulation-result.ts';
import type { Variant } from '../../../src/simulate/scenario.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { aServiceClass } from '../../support/builders/service-levels.ts';
import { aScenario, aSimulatedNode, aSimulatedWorkload } from '../../support/scenarios.ts';

const PRIORITY: Variant = { name: 'priority', scheduler: 'Priority', policies: [] };
const CLASSES = [
  { name: 'prod', slo: 1, importance: 1, priority: 11 },
  { name: 'batch', slo: 0.9, importance: 2, priority: 7 },
  { name: 'free', slo: 0.5, importance: 3, priority: 1 },
] as const;

/** Contention of two windows where two pods of each class want one of so many slots, in order of their arrival. */
async function contentionWith(
  slots: number,
  { arrivals = CLASSES.map(() => 0), names = ['prod', 'batch', 'free'] } = {},
): Promise<readonly Contention[]> {
  const used = CLASSES.filter(({ name }) => names.includes(name));
  const { contention } = await simulate(
    aScenario({
      duration: seconds(1200),
      nodes: [aSimulatedNode('a', { pods: String(slots) })],
      classes: used.map(({ priority: _, ...fields }) => aServiceClass(fields)),
      workloads: used.flatMap(({ name, priority }, place) =>
        ['1', '2'].map((number) =>
          aSimulatedWorkload(`${name}-${number}`, {
            labels: { 'evenkeel.dev/service-class': name },
            arrivesAt: arrivals[place] ?? 0,
            pod: { priority },
          }),
        ),
      ),
      variants: [PRIORITY],
    }),
  );
  return contention;
}

describe('the contention of a window', () => {
  it('is none where all have room, however long they take to start', async () => {
    expect(await contentionWith(6)).toEqual(['none', 'none']);
    // Observed for the last 5 s of the first window alone, in which none of them is Ready.
    expect(await contentionWith(6, { arrivals: [595, 595, 595] })).toEqual(['none', 'none']);
  });

  it.each([
    [5, 'low'],
    [4, 'low'],
    [3, 'medium'],
    [2, 'medium'],
    [1, 'high'],
  ] as const)('with %i slots for six pods is %s', async (slots, level) => {
    expect(await contentionWith(slots)).toEqual([level, level]);
  });

  it('does not count the time in which victims end against the class that has taken their room', async () => {
    expect(await contentionWith(4, { arrivals: [700, 0, 0] })).toEqual(['none', 'low']);
  });

  it('is high where the only class lacks room', async () => {
    expect(await contentionWith(1, { names: ['free'] })).toEqual(['high', 'high']);
  });
});

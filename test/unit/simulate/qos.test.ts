import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { VariantResult } from '../../../src/report/simulation-result.ts';
import { parseRequestLog } from '../../../src/simulate/request-log.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { generateRequests, OURS, PRIORITY, PUBLISHED, qosScenario } from '../../support/qos-validation.ts';

const log = parseRequestLog(readFileSync('test/bench/qos-validation1.csv', 'utf8'), 'log.csv');
/** 20 requests for 15 slots or so: one in ten of the published ones, on two nodes, for ten minutes. */
const few = log.filter((_, index) => index % 10 === 0).map((request, index) => ({ ...request, second: index }));

function availabilities({ classes }: VariantResult): Readonly<Record<string, number>> {
  return Object.fromEntries(classes.map(({ name, mean }) => [name, mean]));
}

describe('the published experiment in the simulator', () => {
  it('starves 56 of 96 with priorities alone, and nobody that matters more', async () => {
    const { variants, contention } = await simulate(qosScenario(log, [PRIORITY]));
    const free = variants[0]?.classes.find(({ name }) => name === 'free')?.availabilities ?? [];
    expect(free.filter((value) => value < 0.1)).toHaveLength(56);
    expect(free.filter((value) => value > 0.9)).toHaveLength(40);
    expect(availabilities(variants[0] as VariantResult)['prod']).toBeGreaterThan(0.999);
    expect(contention.at(-1)).toBe('low');
  });

  it.for([1800, 3600, 5400])(
    'shares what is left among equals by QoSDriven, with few preemptions by our defaults, in %i s',
    async (duration) => {
      const { variants } = await simulate(qosScenario(few, [PUBLISHED, OURS], { nodes: 2, duration }));
      const [published, ours] = variants as [VariantResult, VariantResult];
      for (const variant of [published, ours]) {
        expect(variant.moves.preemptions).toBeGreaterThan(0);
        expect(availabilities(variant)['prod']).toBeGreaterThan(1 - 3.6 / duration);
        expect(variant.classes.find(({ name }) => name === 'free')?.least).toBeGreaterThan(0.25);
      }
      expect(ours.moves.preemptions).toBeLessThanOrEqual(published.moves.preemptions / 3);
    },
  );

  it('serves single pods by their own account as it serves them by that of their request', async () => {
    const settings = { nodes: 2, duration: 1800 };
    const play = async (mode: 'Aggregated' | 'Independent') =>
      (await simulate(qosScenario(few, [OURS], { ...settings, mode }))).variants[0] as VariantResult;
    const [together, each] = await Promise.all([play('Aggregated'), play('Independent')]);
    expect(each.moves.preemptions).toBe(together.moves.preemptions);
    expect(availabilities(each)).toEqual(availabilities(together));
  });

  it('preempts nobody while there is room for all, by whatever policy', async () => {
    const { variants } = await simulate(
      qosScenario(few.slice(0, 18), [PRIORITY, PUBLISHED, OURS], { nodes: 2, duration: 600 }),
    );
    const [first, ...others] = variants;
    expect(variants.map(({ moves }) => moves.preemptions)).toEqual([0, 0, 0]);
    expect(others.map(({ classes }) => classes)).toEqual([first?.classes, first?.classes]);
  });
});

describe('generated requests', () => {
  it('ask for the slots 1.1 to 1.5 times over, and are promised no more than there are', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const { requests, contention } = generateRequests(seed);
      expect(requests).toHaveLength(Math.round(200 * contention));
      expect(requests.reduce((sum, { slo }) => sum + slo, 0)).toBeLessThanOrEqual(0.97 * 200 + 1);
      expect(new Set(requests.map(({ second }) => second)).size).toBe(requests.length);
    }
  });
});

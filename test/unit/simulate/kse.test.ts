import { describe, expect, it } from 'vitest';
import type { VariantResult } from '../../../src/report/simulation-result.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { type KseCase, kseScenario } from '../../support/kse.ts';

async function alone(each: KseCase): Promise<VariantResult> {
  const { variants } = await simulate(kseScenario(each, 1, ['default scheduler']));
  return variants[0] as VariantResult;
}

describe("a scenario of KSE's that costs memory", () => {
  const base = { pods: 20, rate: 20, growth: 'constant', distribution: 'exponential' } as const;

  it('is not the scenario that costs CPU with another name', async () => {
    const [cpu, memory] = await Promise.all([
      alone({ ...base, resource: 'cpu' }),
      alone({ ...base, resource: 'memory' }),
    ]);
    expect(memory.balance.memory.ema).not.toBeCloseTo(cpu.balance.cpu.ema, 3);
    expect(memory.requests.total).toBe(cpu.requests.total);
  });
});

import type { Balance } from '../report/simulation-result.ts';
import type { NodeUse } from './meter.ts';

/** Sums what windows show. */
export interface BalanceSum {
  readonly add: (use: ReadonlyMap<string, NodeUse>) => void;
  readonly cpu: () => Balance;
  readonly memory: () => Balance;
}

/** The balance of one moment. */
export function balanceOf(values: readonly number[]): Balance {
  if (values.length === 0) {
    return { mean: 0, ema: 0, stddev: 0, max: 0 };
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const ema = values.reduce((sum, value) => sum + Math.abs(value - mean), 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, ema, stddev: Math.sqrt(variance), max: Math.max(...values) };
}

/** The mean of several balances; all zero without any. */
export function meanBalance(balances: readonly Balance[]): Balance {
  const mean = (of: (balance: Balance) => number): number =>
    balances.length === 0 ? 0 : balances.reduce((sum, balance) => sum + of(balance), 0) / balances.length;
  return { mean: mean((b) => b.mean), ema: mean((b) => b.ema), stddev: mean((b) => b.stddev), max: mean((b) => b.max) };
}

/** An empty sum. */
export function createBalanceSum(): BalanceSum {
  const cpu: Balance[] = [];
  const memory: Balance[] = [];
  return {
    add: (use) => {
      cpu.push(balanceOf([...use.values()].map((node) => node.cpu)));
      memory.push(balanceOf([...use.values()].map((node) => node.memory)));
    },
    cpu: () => meanBalance(cpu),
    memory: () => meanBalance(memory),
  };
}

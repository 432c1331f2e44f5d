import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { STRATEGY_NAMES } from '../../../../src/api/v1alpha1/rebalance-policy.ts';

const SRC = join(import.meta.dirname, '../../../../src');
/** Refinements and modes of steering are called None, too. */
const NAMES = STRATEGY_NAMES.filter((name) => name !== 'None');
const NAME = `['"](?:${NAMES.join('|')})['"]`;
const COMPARISON = new RegExp(`[=!]==?\\s*${NAME}|${NAME}\\s*[=!]==?|case ${NAME}`);

/** The registry, the settings that each strategy has of its own, and their schema. */
const REGISTRY = ['plan/strategies/index.ts', 'plan/resolve-options.ts', 'api/v1alpha1/rebalance-policy.ts'];

function isExempt(path: string): boolean {
  return REGISTRY.includes(path);
}

function comparisonsIn(path: string): readonly string[] {
  const lines = readFileSync(join(SRC, path), 'utf8').split('\n');
  return lines.flatMap((line, index) => (COMPARISON.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []));
}

it('no code but the registry compares the name of a strategy: it asks STRATEGY_TRAITS', () => {
  const paths = globSync('**/*.{ts,tsx}', { cwd: SRC }).filter((path) => !isExempt(path));
  expect(paths.length).toBeGreaterThan(100);
  expect(paths.flatMap(comparisonsIn)).toEqual([]);
});

it.each(["if (type !== 'QoSDriven')", "'GreedyLB' === type", "case 'RefineLB':"])('finds %s', (line) => {
  expect(line).toMatch(COMPARISON);
});

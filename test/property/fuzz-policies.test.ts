import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPath, isRecord } from '../../src/api/json-schema.ts';
import type { RebalancePolicy } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { formatProblem, validatePolicy, validateResource } from '../../src/api/validate.ts';
import { scheduleProblems } from '../../src/control/schedule.ts';
import { plan } from '../../src/plan/planner.ts';
import { resolveOptions } from '../../src/plan/resolve-options.ts';
import { toRebalancePlan } from '../../src/report/plan-resource.ts';
import { aNode, aPod, aSnapshot, labels } from '../support/builders.ts';
import { HOSTILE_NAMES, mutate, mutations, wrongNumbers } from '../support/mutations.ts';
import { policyObject } from '../support/resources.ts';

const FULL = {
  mode: 'Automatic',
  interval: '5m',
  suspend: false,
  strategy: { type: 'RefineLB', refineLB: { overload: '1.05', refinements: 'Standard' } },
  load: {
    source: 'MetricsAPI',
    resources: [
      { name: 'cpu', weight: 1 },
      { name: 'memory', weight: 3 },
    ],
    aggregate: 'Dominant',
    maxAge: '90s',
    minCoverage: '0.95',
  },
  thresholds: { trigger: '0.05', minGain: '0', minImprovement: '0', minReduction: '0', consecutive: 1 },
  scope: {
    namespaceSelector: { matchLabels: { team: 'a' } },
    podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['db', 'cache'] }] },
    nodeSelector: { matchExpressions: [{ key: 'spot', operator: 'DoesNotExist' }] },
  },
  budgets: [
    { maxMoves: 10, maxConcurrent: 2, perOwner: '25%', perNode: 2, perNamespace: 5 },
    { maxOverhead: '10m', window: '1h' },
    { maxMoves: 0, schedule: '0 8 * * 1-5', duration: '10h', timeZone: 'Europe/Rome' },
    { perOwner: 3 },
  ],
  protections: {
    minPodAge: '0s',
    minReplicas: 1,
    priorityThreshold: 1000,
    localStorage: 'Allow',
    stabilization: '0s',
    cooldown: '0s',
  },
  steering: { mode: 'Auto' },
  historyLimit: 10,
};
const GREEDY = {
  schedule: '0 3 * * *',
  timeZone: 'America/New_York',
  strategy: { type: 'GreedyLB', greedyLB: { minimizeMoves: false, tolerance: '0.02' } },
  load: { source: 'MetricsAPI' },
  scope: { podSelector: { matchLabels: { constructor: 'a' } } },
};
const SPECS = [FULL, { ...FULL, mode: 'DryRun', budgets: [{ perNode: 3 }], scope: {} }, GREEDY];
const VALID = [...SPECS, {}].map((spec) => policyObject('any', spec));

const span = fc.constantFrom('0s', '10s', '90s', '1m', '1h30m', '24h', '1s1s1s', '999999h', '-1s', '');
const share = fc.constantFrom('0', '0.000001', '0.05', '0.5', '1', '1.000000', '1.000001', '.5', '1e-3');
const whole = fc.constantFrom(-(2 ** 31), -1, 0, 1, 2, 3, 100, 1000, 1001, 2 ** 31 - 1, 2 ** 31, 0.5);
const name = fc.constantFrom(...HOSTILE_NAMES, 'app', 'team', 'kubernetes.io/hostname');
const selector = some({
  matchLabels: fc.dictionary(name, name, { maxKeys: 3 }),
  matchExpressions: fc.array(
    some({
      key: name,
      operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt'),
      values: fc.array(name, { maxLength: 3 }),
    }),
    { maxLength: 2 },
  ),
});

/** An object with some of these fields. */
function some<Model extends object>(model: { [Key in keyof Model]: fc.Arbitrary<Model[Key]> }) {
  return fc.record<Model>(model, { requiredKeys: [] });
}

/** Specs of the right shape, whose values may be anything at and beyond what is allowed. */
const shaped = some({
  mode: fc.constantFrom('DryRun', 'Automatic', 'Auto'),
  interval: span,
  strategy: some({
    type: fc.constantFrom('RefineLB', 'GreedyLB'),
    refineLB: some({ overload: fc.constantFrom('1', '1.0', '1.000001', '10', '10.1', '0.99') }),
    greedyLB: some({ minimizeMoves: fc.boolean(), tolerance: share }),
  }),
  load: some({
    source: fc.constantFrom('MetricsAPI', 'Requests'),
    aggregate: fc.constantFrom('Weighted', 'Dominant'),
    maxAge: span,
    minCoverage: share,
  }),
  thresholds: some({ trigger: share, minGain: share, minImprovement: share, minReduction: share, consecutive: whole }),
  scope: some({ namespaceSelector: selector, podSelector: selector, nodeSelector: selector }),
  budgets: fc.array(
    some({
      maxMoves: whole,
      maxConcurrent: whole,
      perOwner: fc.oneof(whole, fc.constantFrom('0%', '25%', '100%', '101%')),
      perNode: whole,
      maxOverhead: span,
      window: span,
      schedule: fc.constantFrom('* * * * *', '0 0 31 2 *', '0 0 1 * 1', '60 * * * *', '@daily', '0-59/7 * * * *'),
      duration: span,
      timeZone: fc.constantFrom('Etc/UTC', 'Europe/Rome', 'Mars/Olympus', '__proto__'),
    }),
    { maxLength: 3 },
  ),
  protections: some({ minPodAge: span, minReplicas: whole, priorityThreshold: whole, cooldown: span }),
  historyLimit: whole,
});
/** One part of such a spec, so that many are valid. */
const partOf = fc
  .tuple(shaped, fc.nat())
  .map(([spec, place]) =>
    Object.fromEntries(Object.entries(spec).filter((_, index, all) => index === place % all.length)),
  );

const policies = fc.oneof(
  { weight: 4, arbitrary: fc.record({ mutation: mutations(VALID.length) }) },
  { weight: 8, arbitrary: fc.record({ inSpec: mutations(SPECS.length) }) },
  { weight: 4, arbitrary: fc.record({ spec: shaped as fc.Arbitrary<unknown> }) },
  { weight: 12, arbitrary: fc.record({ spec: partOf as fc.Arbitrary<unknown> }) },
  { weight: 1, arbitrary: fc.record({ spec: fc.jsonValue({ maxDepth: 5 }) as fc.Arbitrary<unknown> }) },
  { weight: 1, arbitrary: fc.record({ object: fc.jsonValue({ maxDepth: 4 }) }) },
);

type Recipe = typeof policies extends fc.Arbitrary<infer Made> ? Made : never;

function made(recipe: Recipe): unknown {
  if ('mutation' in recipe) {
    return mutate(VALID, recipe.mutation);
  }
  if ('inSpec' in recipe) {
    return { ...policyObject('any', {}), spec: mutate(SPECS, recipe.inSpec) };
  }
  return 'spec' in recipe ? { ...policyObject('any', {}), spec: recipe.spec } : recipe.object;
}

const PODS = Array.from({ length: 6 }, (_, index) => `web-${index}`);
/** Six pods of one controller on one of three nodes. */
const snapshot = aSnapshot({
  nodes: [aNode('a'), aNode('b'), aNode('c')],
  namespaces: new Map([['shop', labels({ team: 'a' })]]),
  pods: PODS.map((name) => aPod(name, { nodeName: 'a' })),
  uses: Object.fromEntries(PODS.map((name) => [name, 500])),
});

/** What becomes of an object that claims to be a policy: problems, or a plan. */
function judge(object: unknown): { readonly problems: readonly string[]; readonly moves: number } {
  const { value, problems } = validatePolicy(object);
  const all = [...problems, ...(problems.length === 0 ? scheduleProblems(value.spec) : [])];
  for (const { path, message } of all) {
    expect(message).toMatch(/\S/);
    expect(message.length).toBeLessThan(2000);
    expect(path.length > 0 ? formatPath(path) : String(isRecord(object))).not.toBe('true');
  }
  return { problems: all.map(formatProblem), moves: all.length > 0 ? 0 : movesOf(value) };
}

function movesOf(policy: RebalancePolicy): number {
  const options = resolveOptions(policy.spec);
  expect(wrongNumbers(options)).toEqual([]);
  const found = plan(snapshot, options);
  expect(wrongNumbers(found)).toEqual([]);
  const { apiVersion, kind, metadata, spec } = toRebalancePlan(found, policy);
  expect(validateResource({ apiVersion, kind, metadata, spec }).problems).toEqual([]);
  return found.moves.length;
}

describe('10,000 RebalancePolicies of any content', () => {
  it('are each refused with problems that name a place, or give a plan that is a valid resource', () => {
    const tally = { refused: 0, planned: 0, moving: 0 };
    fc.assert(
      fc.property(policies, (recipe) => {
        const { problems, moves } = judge(made(recipe));
        tally[problems.length > 0 ? 'refused' : 'planned'] += 1;
        tally.moving += moves > 0 ? 1 : 0;
      }),
      { numRuns: 10_000 },
    );
    expect(tally.refused).toBeGreaterThan(1000);
    expect(tally.planned).toBeGreaterThan(1000);
    expect(tally.moving).toBeGreaterThan(100);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

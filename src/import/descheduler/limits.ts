import { integerAt, type JsonObject, objectAt, objectsAt, textAt } from '../../model/json.ts';
import { changed, type ImportNote, lost } from '../note.ts';
import type { Part } from './part.ts';
import { about, type Conditions } from './scopes.ts';
import { expressionsOf } from './selectors.ts';

/** Most that a budget of ours can be told. */
const LARGEST_BUDGET = 1000;

/** What applies to all profiles of a DeschedulerPolicy. */
export interface Limits {
  /** Fields of a budget. */
  readonly budget: Readonly<Record<string, number>>;
  /** Settings that they come from. */
  readonly settings: readonly string[];
  /** Of nodes. */
  readonly conditions: Conditions;
  readonly notes: readonly ImportNote[];
}

/** Limits of evictions, and the fields of a budget that they become. */
const LIMITS = [
  ['maxNoOfPodsToEvictTotal', 'maxMoves'],
  ['maxNoOfPodsToEvictPerNode', 'perNode'],
  ['maxNoOfPodsToEvictPerNamespace', 'perNamespace'],
] as const;

/** Converts what stands beside the profiles. */
export function convertLimits(settings: JsonObject): Limits {
  const limits = LIMITS.flatMap(([theirs, ours]) => {
    const value = integerAt(settings, theirs, '');
    return value === undefined ? [] : [{ theirs, ours, value }];
  });
  const nodeSelector = textAt(settings, 'nodeSelector', '');
  return {
    budget: Object.fromEntries(limits.map(({ ours, value }) => [ours, Math.min(value, LARGEST_BUDGET)])),
    settings: limits.map(({ theirs }) => theirs),
    conditions: about('node', nodeSelector === undefined ? [] : expressionsOf(nodeSelector, 'nodeSelector')),
    notes: [
      ...limits
        .filter(({ value }) => value > LARGEST_BUDGET)
        .map(({ theirs, ours }) => changed(theirs, `a plan has at most ${LARGEST_BUDGET} moves: ${ours} is that`)),
      ...(settings['gracePeriodSeconds'] === undefined
        ? []
        : [lost('gracePeriodSeconds', 'pods end as their own terminationGracePeriodSeconds says')]),
      ...(nodeSelector === undefined ? [] : [chosenNodes('nodeSelector')]),
      ...providers(settings),
    ],
  };
}

/** What a selector of nodes does otherwise. */
export function chosenNodes(path: string): ImportNote {
  return changed(
    path,
    'is about targets, too: pods move only between the nodes that it selects. The descheduler evicts from these, and the scheduler may choose any node',
  );
}

function providers(settings: JsonObject): readonly ImportNote[] {
  return objectsAt(settings, 'metricsProviders', '').flatMap((provider, index) => {
    const path = `metricsProviders[${index}]`;
    const url = textAt(objectAt(provider, 'prometheus', path) ?? {}, 'url', `${path}.prometheus`);
    return url === undefined
      ? []
      : [changed(`${path}.prometheus`, `is a flag of the operator: it is started with the server ${url}`)];
  });
}

/** What a policy that packs gets in place of the default budget, whose few moves per node would empty no node. */
const PACKING_BUDGET = { maxMoves: 100, maxConcurrent: 2, perOwner: '25%' };

/** A budget as a policy has it. */
export type Budget = Readonly<Record<string, number | string>>;

/** The budget of a policy of these parts; undefined where the policy has the default one. */
export function budgetOf({ budget }: Limits, parts: readonly Part[]): Budget | undefined {
  const tightest = Math.min(
    ...parts.flatMap(({ perNode }) => perNode ?? []),
    budget['perNode'] ?? Number.POSITIVE_INFINITY,
  );
  const all = Number.isFinite(tightest) ? { ...budget, perNode: Math.min(tightest, LARGEST_BUDGET) } : budget;
  if (Object.keys(all).length > 0) {
    return all;
  }
  return parts.some(({ packs }) => packs) ? PACKING_BUDGET : undefined;
}

/** What is told of the budget of these parts: nothing where the file has limits of its own. */
export function unlimited(path: string, limits: Limits, parts: readonly Part[]): readonly ImportNote[] {
  switch (budgetOf(limits, parts)) {
    case undefined:
      return [
        changed(
          path,
          'evictions were unlimited: the default budget holds instead (10 moves, 2 at a time, 25% of an owner, 2 per node, 5 per namespace)',
        ),
      ];
    case PACKING_BUDGET:
      return [
        changed(
          path,
          'evictions were unlimited: budgets[0] allows 100 moves, 2 at a time, 25% of an owner: enough to empty whole nodes',
        ),
      ];
    default:
      return [];
  }
}

import type { Random } from '../support/random.ts';
import { between, chance, pick, pickSome, sample, weighted } from './choice.ts';
import type { Json, LabelsJson } from './kube-object.ts';
import { NAMESPACE_LABELS, NAMESPACES, POD_LABELS, REVISION_LABELS, TOPOLOGY_KEYS } from './vocabulary.ts';

/** A label selector; when `labels` are given it mostly selects them. */
export function randomSelector(random: Random, labels?: LabelsJson): Json {
  const known = Object.entries(labels ?? {}).filter(([key]) => Object.hasOwn(POD_LABELS, key));
  const chosen = known.length > 0 && chance(random, 0.9) ? pickSome(random, known, between(random, 1, 2)) : [];
  if (chosen.length === 0) {
    return weighted<() => Json>(random, [
      [8, () => ({ matchExpressions: [randomExpression(random, POD_LABELS)] })],
      [1, () => ({})],
    ])();
  }
  return chance(random, 0.6)
    ? { matchLabels: Object.fromEntries(chosen) }
    : { matchExpressions: chosen.map(([key, value]) => expressionFor(random, key, value)) };
}

/** An expression that holds for this label. */
function expressionFor(random: Random, key: string, value: string): Json {
  const others = (POD_LABELS[key] ?? []).filter((other) => other !== value);
  return weighted<Json>(random, [
    [3, { key, operator: 'In', values: [value, ...sample(random, others, 0.3)] }],
    [1, { key, operator: 'NotIn', values: others }],
    [1, { key, operator: 'Exists' }],
  ]);
}

function randomExpression(random: Random, vocabulary: Readonly<Record<string, readonly string[]>>): Json {
  const key = pick(random, Object.keys(vocabulary));
  const values = [pick(random, vocabulary[key] ?? [])];
  return pick<Json>(random, [
    { key, operator: 'In', values },
    { key, operator: 'NotIn', values },
    { key, operator: 'Exists' },
    { key, operator: 'DoesNotExist' },
  ]);
}

/** A required term of pod anti-affinity, of every shape that the API server accepts. */
export function randomAntiAffinityTerm(random: Random, labels?: LabelsJson): Json {
  return randomTerm(random, labels, randomExpression(random, NAMESPACE_LABELS));
}

/**
 * A required term of pod affinity. Its namespace selector needs a label: one that holds without labels is read by
 * kube-scheduler 1.36 as one for all namespaces, and by the planner in both ways (topology/terms.ts, termAsPlaced).
 */
export function randomAffinityTerm(random: Random, labels?: LabelsJson): Json {
  const key = pick(random, Object.keys(NAMESPACE_LABELS));
  const values = [pick(random, NAMESPACE_LABELS[key] ?? [])];
  return randomTerm(
    random,
    labels,
    pick(random, [
      { key, operator: 'In', values },
      { key, operator: 'Exists' },
    ]),
  );
}

function randomTerm(random: Random, labels: LabelsJson | undefined, namespaces: Json): Json {
  const labelSelector = chance(random, 0.96) ? randomSelector(random, labels) : undefined;
  return {
    topologyKey: pick(random, TOPOLOGY_KEYS),
    ...(labelSelector === undefined ? {} : { labelSelector, ...labelKeys(random) }),
    ...(chance(random, 0.3) ? { namespaces: pickSome(random, NAMESPACES, between(random, 1, 2)) } : {}),
    ...(chance(random, 0.25)
      ? { namespaceSelector: chance(random, 0.3) ? {} : { matchExpressions: [namespaces] } }
      : {}),
  };
}

function labelKeys(random: Random): Json {
  const keys = Object.keys(REVISION_LABELS);
  return weighted<() => Json>(random, [
    [6, () => ({})],
    [1, () => ({ matchLabelKeys: [pick(random, keys)] })],
    [1, () => ({ mismatchLabelKeys: [pick(random, keys)] })],
    [1, () => ({ matchLabelKeys: keys.slice(0, 1), mismatchLabelKeys: keys.slice(1) })],
  ])();
}

/** Topology spread constraints, mostly DoNotSchedule; no two over one key, which the API server refuses. */
export function randomSpread(random: Random, labels?: LabelsJson): readonly Json[] {
  const keys = pickSome(
    random,
    [...new Set(TOPOLOGY_KEYS)],
    weighted(random, [
      [3, 1],
      [1, 2],
    ]),
  );
  return keys.map((topologyKey) => spreadOver(random, topologyKey, labels));
}

function spreadOver(random: Random, topologyKey: string, labels: LabelsJson | undefined): Json {
  const hard = chance(random, 0.93);
  const policies = ['Honor', 'Ignore'] as const;
  return {
    topologyKey,
    maxSkew: between(random, 1, 3),
    whenUnsatisfiable: hard ? 'DoNotSchedule' : 'ScheduleAnyway',
    ...(chance(random, 0.97) ? { labelSelector: randomSelector(random, labels), ...spreadKeys(random) } : {}),
    ...(hard && chance(random, 0.4) ? { minDomains: between(random, 1, 4) } : {}),
    ...(chance(random, 0.6) ? { nodeAffinityPolicy: pick(random, policies) } : {}),
    ...(chance(random, 0.5) ? { nodeTaintsPolicy: pick(random, policies) } : {}),
  };
}

function spreadKeys(random: Random): Json {
  return chance(random, 0.3) ? { matchLabelKeys: sample(random, Object.keys(REVISION_LABELS), 0.6) } : {};
}

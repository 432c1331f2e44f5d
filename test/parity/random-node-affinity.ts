import type { NodeInfo, Taint } from '../../src/model/node.ts';
import type { Random } from '../support/random.ts';
import { between, chance, pick, pickSome, weighted } from './choice.ts';
import type { Json } from './kube-object.ts';
import { TAINTS } from './random-nodes.ts';

/** Tolerations for all taints of the node, in one of the forms there are, or for all but one. */
export function tolerationsOf(random: Random, { taints, unschedulable }: NodeInfo, meet: boolean): readonly Json[] {
  const cordon: readonly Taint[] = unschedulable
    ? [{ key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' }]
    : [];
  const all = [...taints.filter(({ key }) => key !== cordon[0]?.key), ...cordon];
  const spared = meet && chance(random, 0.9) ? -1 : random.below(all.length + 1);
  const wanted = all.filter((_, index) => index !== spared).map((taint) => tolerationOf(random, taint));
  return chance(random, 0.2) ? [...wanted, nearMiss(random)] : wanted;
}

function tolerationOf(random: Random, { key, value, effect }: Taint): Json {
  return weighted<Json>(random, [
    [4, { key, operator: 'Equal', value, effect }],
    [2, { key, value }],
    [2, { key, operator: 'Exists' }],
    [1, { key, operator: 'Exists', effect }],
    [1, { operator: 'Exists', effect }],
    [1, { operator: 'Exists' }],
    ...(effect === 'NoExecute' ? [[1, { key, operator: 'Exists', effect, tolerationSeconds: 3600 }] as const] : []),
  ]);
}

/** A toleration for a taint like those of the campaign, but of another value or effect. */
function nearMiss(random: Random): Json {
  const { key, value } = pick(random, TAINTS);
  return pick(random, [
    { key, operator: 'Equal', value: 'other' },
    { key, operator: 'Equal', value: value ?? '', effect: 'PreferNoSchedule' },
    { key: `${key}s`, operator: 'Exists' },
  ]);
}

/** A node selector or required node affinity of one or two terms that holds for the node, or does not. */
export function randomNodeRequirements(random: Random, node: NodeInfo, meet: boolean): Json {
  if (chance(random, 0.25)) {
    return { nodeSelector: selectorFor(random, node, meet) };
  }
  const terms = [
    termFor(random, node, meet),
    ...(chance(random, 0.4) ? [termFor(random, node, chance(random, 0.2))] : []),
  ];
  const required = { nodeSelectorTerms: pickSome(random, terms, terms.length) };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
}

function selectorFor(random: Random, { labels }: NodeInfo, meet: boolean): Json {
  const [key, value] = pick(random, [...labels]);
  return { [key]: meet ? value : 'elsewhere' };
}

function termFor(random: Random, node: NodeInfo, meet: boolean): Json {
  if (chance(random, 0.08)) {
    return {};
  }
  const { labels, name } = node;
  const expressions = pickSome(random, [...labels], between(random, 1, 2)).map(([key, value]) =>
    expressionFor(random, key, value),
  );
  const wrong = meet
    ? []
    : [pick(random, [{ key: 'rack', operator: 'In', values: ['r9'] }, ...contrary(random, labels)])];
  const fields = chance(random, 0.1)
    ? [{ key: 'metadata.name', operator: pick(random, ['In', 'NotIn']), values: [name] }]
    : [];
  return { matchExpressions: [...expressions, ...wrong], ...(fields.length === 0 ? {} : { matchFields: fields }) };
}

/** An expression that holds for a label; Gt and Lt for whole numbers. */
function expressionFor(random: Random, key: string, value: string): Json {
  const number = /^\d+$/.test(value) && chance(random, 0.7) ? Number(value) : undefined;
  if (number !== undefined) {
    return pick(random, [
      { key, operator: 'Gt', values: [String(Math.max(0, number - between(random, 0, 3)))] },
      { key, operator: 'Lt', values: [String(number + between(random, 0, 3))] },
    ]);
  }
  return weighted<Json>(random, [
    [3, { key, operator: 'In', values: [value, 'other'] }],
    [1, { key, operator: 'NotIn', values: ['other'] }],
    [1, { key, operator: 'Exists' }],
    [1, { key: `${key}x`, operator: 'DoesNotExist' }],
    [1, { key: `${key}x`, operator: 'NotIn', values: [value] }],
  ]);
}

/** Expressions that do not hold for a node with these labels. */
function contrary(random: Random, labels: NodeInfo['labels']): readonly Json[] {
  const [key, value] = pick(random, [...labels]);
  return [
    { key, operator: 'NotIn', values: [value] },
    { key, operator: 'DoesNotExist' },
    { key: 'gen', operator: 'Gt', values: ['99'] },
    { key: 'gen', operator: 'Lt', values: ['0'] },
    { key: 'absent', operator: 'Exists' },
  ];
}

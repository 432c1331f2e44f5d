import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import type { LabelSelectorField } from '../api/v1alpha1/schema.ts';
import { Failure } from './failure.ts';

/** The namespace and label flags of kubectl. */
export interface Narrowing {
  readonly namespace: string | undefined;
  /** Equality-based label selector such as app=web,tier!=db. */
  readonly selector: string | undefined;
}

/** The policy about only part of its scope, as -n and -l ask. Throws a Failure for a selector that is not understood. */
export function narrow(policy: RebalancePolicy, { namespace, selector }: Narrowing): RebalancePolicy {
  const { scope } = policy.spec;
  const namespaceSelector =
    namespace === undefined
      ? scope.namespaceSelector
      : require(scope.namespaceSelector, [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [namespace] }]);
  const podSelector = selector === undefined ? scope.podSelector : require(scope.podSelector, parseSelector(selector));
  return { ...policy, spec: { ...policy.spec, scope: { ...scope, namespaceSelector, podSelector } } };
}

type Expressions = NonNullable<LabelSelectorField['matchExpressions']>;

function require(field: LabelSelectorField, expressions: Expressions): LabelSelectorField {
  return { ...field, matchExpressions: [...(field.matchExpressions ?? []), ...expressions] };
}

/** Expressions of `app=web,tier!=db,canary,!old`. */
export function parseSelector(text: string): Expressions {
  return text.split(',').map((part) => {
    const [, not, key, comparison, value] = /^\s*(!?)([\w./-]+)(?:\s*(==?|!=)\s*([\w.-]*))?\s*$/.exec(part) ?? [];
    if (key === undefined || (not === '!' && comparison !== undefined)) {
      throw new Failure(
        `-l "${text}": "${part}" is not understood: write key=value, key!=value, key or !key, joined by commas`,
      );
    }
    if (comparison === undefined) {
      return { key, operator: not === '!' ? ('DoesNotExist' as const) : ('Exists' as const) };
    }
    return { key, operator: comparison === '!=' ? ('NotIn' as const) : ('In' as const), values: [value ?? ''] };
  });
}

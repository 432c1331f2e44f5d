import { type LabelExpressions, LabelSelectorError, parseLabelSelector } from '../api/label-selector.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import type { LabelSelectorField } from '../api/v1alpha1/schema.ts';
import { Failure } from '../app/failure.ts';

/** The namespace and label flags of kubectl. */
export interface Narrowing {
  readonly namespace: string | undefined;
  /** Label selector as kubectl takes it, such as app=web,tier in (front, back). */
  readonly selector: string | undefined;
}

/** The policy about only part of its scope, as -n and -l ask. Throws a Failure for a selector that is not understood. */
export function narrow(policy: RebalancePolicy, { namespace, selector }: Narrowing): RebalancePolicy {
  const { scope } = policy.spec;
  const namespaceSelector =
    namespace === undefined
      ? scope.namespaceSelector
      : require(scope.namespaceSelector, [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [namespace] }]);
  const podSelector = selector === undefined ? scope.podSelector : require(scope.podSelector, expressionsOf(selector));
  return { ...policy, spec: { ...policy.spec, scope: { ...scope, namespaceSelector, podSelector } } };
}

function require(field: LabelSelectorField, expressions: LabelExpressions): LabelSelectorField {
  return { ...field, matchExpressions: [...(field.matchExpressions ?? []), ...expressions] };
}

function expressionsOf(text: string): LabelExpressions {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    throw error instanceof LabelSelectorError ? new Failure(`-l "${text}": ${error.message}`) : error;
  }
}

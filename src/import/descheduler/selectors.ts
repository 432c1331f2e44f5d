import { type LabelExpressions, LabelSelectorError, parseLabelSelector } from '../../api/label-selector.ts';
import type { LabelSelectorField } from '../../api/v1alpha1/schema.ts';
import { type JsonObject, MalformedField, objectAt, textsAt } from '../../model/json.ts';

/** Expressions of the selector in one line at `path`. Throws MalformedField. */
export function expressionsOf(text: string, path: string): LabelExpressions {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    throw error instanceof LabelSelectorError ? new MalformedField(path, error.message) : error;
  }
}

/** Namespaces by `include` or `exclude`, as expressions over their names; none for neither. */
export function namespaceExpressions(namespaces: JsonObject, path: string): LabelExpressions {
  return (['include', 'exclude'] as const).flatMap((key) => {
    const values = textsAt(namespaces, key, path);
    const operator = key === 'include' ? ('In' as const) : ('NotIn' as const);
    return values.length === 0 ? [] : [{ key: 'kubernetes.io/metadata.name', operator, values: [...values] }];
  });
}

/** A label selector as the field of a RebalancePolicy has it; undefined when absent. */
export function selectorAt(parent: JsonObject, key: string, path: string): LabelSelectorField | undefined {
  // What the selector says is checked with the rest of the RebalancePolicy.
  return objectAt(parent, key, path) as LabelSelectorField | undefined;
}

import type { LabelSelectorField } from '../../api/v1alpha1/schema.ts';
import { type JsonObject, MalformedField, objectAt, textsAt } from '../../observe/json.ts';

type Expressions = NonNullable<LabelSelectorField['matchExpressions']>;

/** Expressions of a selector in one line: `disk=ssd,zone!=a,zone in (b, c),canary,!old`. Throws MalformedField. */
export function expressionsOf(text: string, path: string): Expressions {
  const parts = text.match(/[^,(]+(?:\([^)]*\))?[^,(]*/g) ?? [];
  return parts.map((part) => expressionOf(part.trim(), path));
}

function expressionOf(part: string, path: string): Expressions[number] {
  const [, key, comparison, value] = /^([\w./-]+)\s*(==?|!=)\s*([\w.-]*)$/.exec(part) ?? [];
  if (key !== undefined) {
    return { key, operator: comparison === '!=' ? 'NotIn' : 'In', values: [value ?? ''] };
  }
  const [, member, not, list] = /^([\w./-]+)\s+(notin|in)\s*\(([^)]*)\)$/.exec(part) ?? [];
  if (member !== undefined) {
    const values = (list ?? '').split(',').map((each) => each.trim());
    return { key: member, operator: not === 'notin' ? 'NotIn' : 'In', values };
  }
  const [, negation, name] = /^(!?)\s*([\w./-]+)$/.exec(part) ?? [];
  if (name === undefined) {
    throw new MalformedField(
      path,
      `"${part}" is no part of a label selector: write key=value, key!=value, key in (a, b), key or !key`,
    );
  }
  return { key: name, operator: negation === '!' ? 'DoesNotExist' : 'Exists' };
}

/** Namespaces by `include` or `exclude`, as expressions over their names; none for neither. */
export function namespaceExpressions(namespaces: JsonObject, path: string): Expressions {
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

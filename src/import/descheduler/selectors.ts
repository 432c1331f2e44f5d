import { type LabelExpressions, LabelSelectorError, parseLabelSelector } from '../../api/label-selector.ts';
import {
  type JsonObject,
  MalformedField,
  nameAt,
  objectAt,
  objectsAt,
  textEntriesAt,
  textsAt,
} from '../../model/json.ts';

/** Expressions of the selector in one line at `path`. Throws MalformedField. */
export function expressionsOf(text: string, path: string): LabelExpressions {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    throw error instanceof LabelSelectorError ? new MalformedField(path, error.message) : error;
  }
}

/** Namespaces by `include` or `exclude`, as expressions over their names; none for neither. Throws MalformedField for both. */
export function namespaceExpressions(namespaces: JsonObject, path: string): LabelExpressions {
  const lists = (['include', 'exclude'] as const).flatMap((key) => {
    const values = textsAt(namespaces, key, path);
    const operator = key === 'include' ? ('In' as const) : ('NotIn' as const);
    return values.length === 0 ? [] : [{ key: NAMESPACE_NAME, operator, values: [...values] }];
  });
  if (lists.length > 1) {
    throw new MalformedField(path, 'include and exclude exclude each other: keep one of them');
  }
  return lists;
}

/** Label that the API server gives every namespace. */
export const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

/** Expressions of a label selector as resources have it; none when absent. Throws MalformedField for an operator that is none. */
export function selectorAt(parent: JsonObject, key: string, path: string): LabelExpressions {
  const selector = objectAt(parent, key, path) ?? {};
  const at = `${path}.${key}`;
  return [
    ...textEntriesAt(selector, 'matchLabels', at).map(([label, value]) => ({
      key: label,
      operator: 'In' as const,
      values: [value],
    })),
    ...objectsAt(selector, 'matchExpressions', at).map((expression, index) =>
      expressionAt(expression, `${at}.matchExpressions[${index}]`),
    ),
  ];
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

function expressionAt(expression: JsonObject, path: string): LabelExpressions[number] {
  const written = nameAt(expression, 'operator', path);
  const operator = OPERATORS.find((each) => each === written);
  if (operator === undefined) {
    throw new MalformedField(`${path}.operator`, `is ${written}: write ${OPERATORS.join(', ')}`);
  }
  const values = textsAt(expression, 'values', path);
  return { key: nameAt(expression, 'key', path), operator, ...(values.length === 0 ? {} : { values: [...values] }) };
}

import {
  describe,
  type JsonObject,
  MalformedField,
  objectAt,
  objectsAt,
  textAt,
  textEntriesAt,
  textsAt,
} from '../../model/json.ts';
import type { Requirement, Selector, SelectorOperator } from '../../model/selector.ts';

const LABEL_OPERATORS: ReadonlyMap<string, SelectorOperator> = new Map([
  ['In', 'In'],
  ['NotIn', 'NotIn'],
  ['Exists', 'Exists'],
  ['DoesNotExist', 'DoesNotExist'],
]);

const NODE_OPERATORS: ReadonlyMap<string, SelectorOperator> = new Map([...LABEL_OPERATORS, ['Gt', 'Gt'], ['Lt', 'Lt']]);

/** The label selector at `key`; undefined, which selects nothing, when absent or null. Throws MalformedField. */
export function readSelector(parent: JsonObject, key: string, field: string): Selector | undefined {
  const selector = objectAt(parent, key, field);
  if (selector === undefined) {
    return undefined;
  }
  const path = `${field}.${key}`;
  const labels = textEntriesAt(selector, 'matchLabels', path).map(
    ([label, value]): Requirement => ({ key: label, operator: 'In', values: [value] }),
  );
  return { requirements: [...labels, ...readRequirements(selector, 'matchExpressions', path, LABEL_OPERATORS)] };
}

/** Requirements of node affinity, where Gt and Lt exist too. Throws MalformedField. */
export function readNodeRequirements(parent: JsonObject, key: string, field: string): readonly Requirement[] {
  return readRequirements(parent, key, field, NODE_OPERATORS);
}

function readRequirements(
  parent: JsonObject,
  key: string,
  field: string,
  operators: ReadonlyMap<string, SelectorOperator>,
): readonly Requirement[] {
  return objectsAt(parent, key, field).map((item, index) =>
    readRequirement(item, `${field}.${key}[${index}]`, operators),
  );
}

function readRequirement(
  item: JsonObject,
  field: string,
  operators: ReadonlyMap<string, SelectorOperator>,
): Requirement {
  const key = textAt(item, 'key', field) ?? '';
  const operator = operators.get(textAt(item, 'operator', field) ?? '');
  const values = textsAt(item, 'values', field);
  if (operator === undefined) {
    const choices = [...operators.keys()].join(', ');
    throw new MalformedField(
      `${field}.operator`,
      `${describe(item.operator)} is not an operator: write one of ${choices}`,
    );
  }
  if (!takes(operator, values.length)) {
    throw new MalformedField(`${field}.values`, `${values.length} values do not go with ${operator}`);
  }
  return { key, operator, values };
}

/** How many values an operator takes: labels.NewRequirement. */
function takes(operator: SelectorOperator, count: number): boolean {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0;
    case 'Exists':
    case 'DoesNotExist':
      return count === 0;
    case 'Gt':
    case 'Lt':
      return count === 1;
    default:
      return operator satisfies never;
  }
}

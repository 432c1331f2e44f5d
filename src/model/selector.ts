/** Labels or annotations. A Map, since `constructor` and `__proto__` are valid keys. */
export type Labels = ReadonlyMap<string, string>;

/** Operators of a label selector and of node affinity; Gt and Lt only in the latter. */
export type SelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

/** One expression of a selector; all expressions of a selector must hold. */
export interface Requirement {
  readonly key: string;
  readonly operator: SelectorOperator;
  readonly values: readonly string[];
}

/** A label selector: matchLabels are turned into In requirements. Empty: selects everything. */
export interface Selector {
  readonly requirements: readonly Requirement[];
}

/** The selector that selects everything. */
export const EVERYTHING: Selector = { requirements: [] };

/** Whether all requirements of `selector` hold for `labels` (apimachinery labels.Selector; NotIn holds for an absent key). */
export function matches(selector: Selector, labels: Labels): boolean {
  return selector.requirements.every((requirement) => holds(requirement, labels));
}

/** Whether one requirement holds for `labels`; Gt and Lt compare integers and fail for anything else (labels.Requirement). */
export function holds(requirement: Requirement, labels: Labels): boolean {
  const value = labels.get(requirement.key);
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && requirement.values.includes(value);
    case 'NotIn':
      return value === undefined || !requirement.values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compareIntegers(value, requirement.values[0], (label, bound) => label > bound);
    case 'Lt':
      return compareIntegers(value, requirement.values[0], (label, bound) => label < bound);
    default:
      return requirement.operator satisfies never;
  }
}

function compareIntegers(
  value: string | undefined,
  bound: string | undefined,
  compare: (label: bigint, bound: bigint) => boolean,
): boolean {
  const left = parseInteger(value);
  const right = parseInteger(bound);
  return left !== undefined && right !== undefined && compare(left, right);
}

function parseInteger(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
}

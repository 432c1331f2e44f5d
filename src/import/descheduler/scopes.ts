import type { LabelExpressions } from '../../api/label-selector.ts';
import type { LabelSelectorField } from '../../api/v1alpha1/schema.ts';

/** What an expression is about: labels of the namespace, of the pod, or of its node. */
type Subject = 'namespace' | 'pod' | 'node';

/** One condition of a scope. */
interface Condition {
  readonly subject: Subject;
  readonly expression: LabelExpressions[number];
}

/** Conditions that hold together. */
export type Conditions = readonly Condition[];

/** `expressions`, each about `subject`. */
export function about(subject: Subject, expressions: LabelExpressions): Conditions {
  return expressions.map((expression) => ({ subject, expression }));
}

/** What all conditions on one label leave of its values. */
interface Domain {
  readonly subject: Subject;
  readonly key: string;
  readonly mayBeAbsent: boolean;
  /** The values that are left, or with `isComplement` all but these. */
  readonly values: ReadonlySet<string>;
  readonly isComplement: boolean;
}

/** Pods that meet some conditions, by label. */
export type Scope = ReadonlyMap<string, Domain>;

/** All pods. */
const ALL_PODS: Scope = new Map();

/** A scope, and the items that are about all of its pods. */
export interface Division<Item> {
  readonly scope: Scope;
  readonly items: readonly Item[];
}

/** Parts of all pods that are looked at, also those that nothing wants yet. */
const MOST_PIECES = 1000;

/**
 * Disjoint scopes that together are the scopes of `wants`: in each of them the same items want every pod. Those that no condition
 * singles out come first. The number of scopes may grow exponentially with the conditions: undefined above `most`.
 */
export function divide<Item>(
  wants: readonly { readonly conditions: Conditions; readonly item: Item }[],
  most: number,
): readonly Division<Item>[] | undefined {
  let divisions: readonly Division<Item>[] = [{ scope: ALL_PODS, items: [] }];
  for (const { conditions, item } of wants) {
    divisions = divisions.flatMap((division) => split(division, conditions, item));
    if (divisions.length > MOST_PIECES) {
      return undefined;
    }
  }
  const wanted = divisions.filter(({ items }) => items.length > 0);
  return wanted.length > most ? undefined : wanted;
}

/** What does not meet the conditions keeps its items: all before the first that fails are met. */
function split<Item>(division: Division<Item>, conditions: Conditions, item: Item): readonly Division<Item>[] {
  const { items } = division;
  const outside: Division<Item>[] = [];
  let scope = division.scope;
  for (const condition of conditions) {
    const rest = narrowed(scope, opposite(condition));
    if (!isEmpty(rest)) {
      outside.push({ scope: rest, items });
    }
    scope = narrowed(scope, condition);
    if (isEmpty(scope)) {
      return outside;
    }
  }
  return [...outside, { scope, items: [...items, item] }];
}

/** Whether a pod may be in both. */
export function overlap(left: Scope, right: Scope): boolean {
  const both = [...right.values()].reduce((scope, domain) => withDomain(scope, domain), left);
  return !isEmpty(both);
}

/** The pods of a scope that meet the conditions, too. */
export function withConditions(scope: Scope, conditions: Conditions): Scope {
  return conditions.reduce(narrowed, scope);
}

function narrowed(scope: Scope, { subject, expression }: Condition): Scope {
  return withDomain(scope, { subject, key: expression.key, ...domainOf(expression) });
}

function withDomain(scope: Scope, domain: Domain): Scope {
  const name = `${domain.subject} ${domain.key}`;
  const present = scope.get(name);
  return new Map(scope).set(name, present === undefined ? domain : intersection(present, domain));
}

function domainOf({ operator, values = [] }: LabelExpressions[number]): Omit<Domain, 'subject' | 'key'> {
  switch (operator) {
    case 'In':
      return { mayBeAbsent: false, values: new Set(values), isComplement: false };
    case 'NotIn':
      return { mayBeAbsent: true, values: new Set(values), isComplement: true };
    case 'Exists':
      return { mayBeAbsent: false, values: new Set(), isComplement: true };
    case 'DoesNotExist':
      return { mayBeAbsent: true, values: new Set(), isComplement: false };
    default:
      return operator satisfies never;
  }
}

const OPPOSITES = { In: 'NotIn', NotIn: 'In', Exists: 'DoesNotExist', DoesNotExist: 'Exists' } as const;

function opposite({ subject, expression }: Condition): Condition {
  return { subject, expression: { ...expression, operator: OPPOSITES[expression.operator] } };
}

function intersection(left: Domain, right: Domain): Domain {
  const mayBeAbsent = left.mayBeAbsent && right.mayBeAbsent;
  const common = { ...left, mayBeAbsent };
  if (left.isComplement && right.isComplement) {
    return { ...common, values: new Set([...left.values, ...right.values]) };
  }
  if (!left.isComplement && !right.isComplement) {
    return { ...common, values: without(left.values, (value) => !right.values.has(value)) };
  }
  const [few, others] = left.isComplement ? [right, left] : [left, right];
  return { ...common, values: without(few.values, (value) => others.values.has(value)), isComplement: false };
}

function without(values: ReadonlySet<string>, isOut: (value: string) => boolean): ReadonlySet<string> {
  return new Set([...values].filter((value) => !isOut(value)));
}

function isEmpty(scope: Scope): boolean {
  return [...scope.values()].some((domain) => !domain.mayBeAbsent && !domain.isComplement && domain.values.size === 0);
}

/** Values of a label that pods in the scope must have one of; none where it is not limited to some. */
export function valuesOf(scope: Scope, subject: Subject, key: string): readonly string[] {
  const domain = scope.get(`${subject} ${key}`);
  return domain === undefined || domain.isComplement ? [] : [...domain.values];
}

/** Names of what the scope is limited to: the values of its labels, `[]` where it only leaves some out. */
export function namesIn(scope: Scope): readonly string[] {
  return [...scope.values()].flatMap(({ isComplement, values }) => (isComplement ? [] : [...values]));
}

/** The scope as `spec.scope` of a RebalancePolicy; undefined when it has no conditions. */
export function scopeField(scope: Scope): Readonly<Record<string, LabelSelectorField>> | undefined {
  const fields = (['namespace', 'pod', 'node'] as const).flatMap((subject) => {
    const domains = [...scope.values()].filter((domain) => domain.subject === subject);
    const expressions = domains.flatMap(expressionsOfDomain);
    return expressions.length === 0 ? [] : [[`${subject}Selector`, selectorField(expressions)] as const];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

function expressionsOfDomain({ key, mayBeAbsent, values, isComplement }: Domain): LabelExpressions {
  const listed = [...values];
  if (!isComplement) {
    return [mayBeAbsent ? { key, operator: 'DoesNotExist' } : { key, operator: 'In', values: listed }];
  }
  return [
    ...(mayBeAbsent ? [] : [{ key, operator: 'Exists' as const }]),
    ...(listed.length === 0 ? [] : [{ key, operator: 'NotIn' as const, values: listed }]),
  ];
}

/** A label with one value is written as people write it. */
function selectorField(expressions: LabelExpressions): LabelSelectorField {
  const single = expressions.filter(({ operator, values }) => operator === 'In' && values?.length === 1);
  const others = expressions.filter((expression) => !single.includes(expression));
  const labels = single.map(({ key, values }) => [key, values?.[0] ?? ''] as const);
  return {
    ...(labels.length === 0 ? {} : { matchLabels: Object.fromEntries(labels) }),
    ...(others.length === 0 ? {} : { matchExpressions: [...others] }),
  };
}

import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LabelExpressions } from '../../src/api/label-selector.ts';
import { about, divide, overlap, type Scope, scopeField } from '../../src/import/descheduler/scopes.ts';
import { type Labels, matches } from '../../src/model/selector.ts';
import { resolveSelector } from '../../src/plan/resolve-options.ts';

const KEYS = ['a', 'b'];
const VALUES = ['1', '2', '3'];

const expression: fc.Arbitrary<LabelExpressions[number]> = fc.oneof(
  fc.record({
    key: fc.constantFrom(...KEYS),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 1 }),
  }),
  fc.record({ key: fc.constantFrom(...KEYS), operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
);
const expressions = fc.array(expression, { maxLength: 3 });

/** Every pod that these labels can tell apart. */
const PODS: readonly Labels[] = [undefined, ...VALUES, '4'].flatMap((a) =>
  [undefined, ...VALUES, '4'].map(
    (b) => new Map([...(a === undefined ? [] : [['a', a] as const]), ...(b === undefined ? [] : [['b', b] as const])]),
  ),
);

const selects = (list: LabelExpressions, pod: Labels): boolean =>
  matches(resolveSelector({ matchExpressions: [...list] }), pod);
const isIn = (scope: Scope, pod: Labels): boolean =>
  matches(resolveSelector(scopeField(scope)?.['podSelector'] ?? {}), pod);

it('divided scopes exclude each other, and each has exactly the items that want its pods', () => {
  void fc.assert(
    fc.property(fc.array(expressions, { minLength: 1, maxLength: 3 }), (wants) => {
      const divisions = divide(
        wants.map((list, item) => ({ conditions: about('pod', list), item })),
        1000,
      );
      for (const pod of PODS) {
        const wanted = wants.flatMap((list, item) => (selects(list, pod) ? [item] : []));
        const own = (divisions ?? []).filter(({ scope }) => isIn(scope, pod));
        expect(own.map(({ items }) => items)).toEqual(wanted.length === 0 ? [] : [wanted]);
      }
    }),
    { numRuns: 500 },
  );
});

it('scopes overlap exactly when a pod may be in both', () => {
  void fc.assert(
    fc.property(expressions, expressions, (left, right) => {
      const scopes = [left, right].map(
        (list) => divide([{ conditions: about('pod', list), item: 0 }], 100)?.[0]?.scope,
      );
      const [one, other] = scopes;
      const isShared = PODS.some((pod) => selects(left, pod) && selects(right, pod));
      expect(one !== undefined && other !== undefined && overlap(one, other)).toBe(isShared);
    }),
    { numRuns: 500 },
  );
});

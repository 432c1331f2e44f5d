import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matches, type Requirement } from '../../../../src/model/selector.ts';
import { createSelectorIndex } from '../../../../src/plan/topology/selector-index.ts';

const key = fc.constantFrom('app', 'tier', 'constructor', '__proto__');
const value = fc.constantFrom('a', 'b', 'c');
const requirement: fc.Arbitrary<Requirement> = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const), values: fc.constant([]) }),
);

describe('the selector index', () => {
  it('finds exactly the selectors that match', () => {
    const selectors = fc.array(
      fc.array(requirement, { maxLength: 3 }).map((requirements) => ({ requirements })),
      { maxLength: 8 },
    );
    const podLabels = fc.array(fc.tuple(key, value)).map((entries) => new Map(entries));
    fc.assert(
      fc.property(selectors, podLabels, (list, labels) => {
        const index = createSelectorIndex<number>();
        for (const [place, selector] of list.entries()) {
          index.add(selector, place);
        }
        const expected = [...list.keys()].filter((place) => matches(list[place] ?? { requirements: [] }, labels));
        expect([...index.find(labels)].sort((left, right) => left - right)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});

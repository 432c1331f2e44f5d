import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHeap } from '../../../src/plan/heap.ts';

describe('a heap', () => {
  it('has nothing on top while it is empty', () => {
    const heap = createHeap<number>((left, right) => left - right);
    expect([heap.peek(), heap.pop()]).toEqual([undefined, undefined]);
    heap.push(1);
    expect([heap.peek(), heap.pop(), heap.pop(), heap.peek()]).toEqual([1, 1, undefined, undefined]);
  });

  it('gives what was pushed in its order, whatever is pushed in between', () => {
    const step = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant('pop' as const));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const heap = createHeap<number>((left, right) => left - right);
        let kept: number[] = [];
        for (const each of steps) {
          if (each === 'pop') {
            expect(heap.pop()).toBe(kept[0]);
            kept = kept.slice(1);
          } else {
            heap.push(each);
            kept = [...kept, each].sort((left, right) => left - right);
          }
          expect(heap.peek()).toBe(kept[0]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('gives many in their order', () => {
    const heap = createHeap<number>((left, right) => left - right);
    const shuffled = Array.from({ length: 101 }, (_, place) => (place * 37) % 101);
    for (const each of shuffled) {
      heap.push(each);
    }
    expect(shuffled.map(() => heap.pop())).toEqual([...shuffled.keys()]);
  });
});

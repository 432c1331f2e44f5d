import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEventQueue } from '../../../src/simulate/event-queue.ts';

describe('the event queue', () => {
  it('performs actions by instant, and those of one instant in the order in which they were asked for', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (instants) => {
        const queue = createEventQueue();
        const performed: (readonly [number, number])[] = [];
        instants.forEach((instant, place) => {
          queue.at(instant, () => performed.push([queue.now(), place]));
        });
        queue.run(20);
        const wanted = instants.map((instant, place) => [instant, place]).sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
        expect(performed).toEqual(wanted);
      }),
    );
  });

  it('performs at once what is asked for an instant that has passed', () => {
    const queue = createEventQueue();
    const seen: number[] = [];
    queue.at(5, () => queue.at(1, () => seen.push(queue.now())));
    queue.run(5);
    expect(seen).toEqual([5]);
  });

  it('leaves what is due later for later', () => {
    const queue = createEventQueue();
    const seen: number[] = [];
    queue.at(7, () => seen.push(7));
    queue.run(6);
    expect(seen).toEqual([]);
    expect(queue.now()).toBe(6);
  });

  it('performs the next action alone when asked to', () => {
    const queue = createEventQueue();
    const seen: number[] = [];
    queue.at(7, () => seen.push(queue.now()));
    queue.at(7, () => seen.push(queue.now()));
    queue.step();
    expect(seen).toEqual([7]);
  });
});

import { createHeap } from '../plan/heap.ts';

/** Virtual time: actions in the order of their instants, those of one instant in the order in which they were asked for. */
export interface EventQueue {
  /** Seconds since the beginning. */
  readonly now: () => number;
  /** Asks for an action at an instant; one that has passed is now. */
  readonly at: (instant: number, action: () => void) => void;
  /** Performs what is due until `instant`, that instant included, and leaves the clock there. */
  readonly run: (instant: number) => void;
  /** Performs the next action alone, whenever it is due. */
  readonly step: () => void;
  /** Instant of the next action; infinite without one. */
  readonly next: () => number;
  /** Actions performed so far. */
  readonly performed: () => number;
}

interface Due {
  readonly instant: number;
  readonly sequence: number;
  readonly action: () => void;
}

/** An empty queue at instant 0. */
export function createEventQueue(): EventQueue {
  const heap = createHeap(compare);
  let now = 0;
  let sequence = 0;
  let performed = 0;
  const step = (): void => {
    const next = heap.pop();
    if (next !== undefined) {
      now = next.instant;
      performed += 1;
      next.action();
    }
  };
  const nextInstant = (): number => heap.peek()?.instant ?? Number.POSITIVE_INFINITY;
  return {
    now: () => now,
    at: (instant, action) => {
      heap.push({ instant: Math.max(now, instant), sequence, action });
      sequence += 1;
    },
    run: (instant) => {
      while (nextInstant() <= instant) {
        step();
      }
      now = Math.max(now, instant);
    },
    step,
    next: nextInstant,
    performed: () => performed,
  };
}

/** Total, since no two have the same sequence. */
function compare(left: Due, right: Due): number {
  return left.instant - right.instant || left.sequence - right.sequence;
}

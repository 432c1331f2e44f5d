/** Virtual time: actions in the order of their instants, those of one instant in the order in which they were asked for. */
export interface EventQueue {
  /** Seconds since the beginning. */
  readonly now: () => number;
  /** Asks for an action at an instant; one that has passed is now. */
  readonly at: (instant: number, action: () => void) => void;
  /** Performs what is due until `instant`, that instant included, and leaves the clock there. */
  readonly run: (instant: number) => void;
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
  const heap: Due[] = [];
  let now = 0;
  let sequence = 0;
  let performed = 0;
  return {
    now: () => now,
    at: (instant, action) => {
      push(heap, { instant: Math.max(now, instant), sequence, action });
      sequence += 1;
    },
    run: (instant) => {
      for (let next = heap[0]; next !== undefined && next.instant <= instant; next = heap[0]) {
        pop(heap);
        now = next.instant;
        performed += 1;
        next.action();
      }
      now = Math.max(now, instant);
    },
    performed: () => performed,
  };
}

function isBefore(left: Due, right: Due): boolean {
  return left.instant < right.instant || (left.instant === right.instant && left.sequence < right.sequence);
}

function push(heap: Due[], due: Due): void {
  let place = heap.length;
  heap.push(due);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(due, above)) {
      break;
    }
    heap[place] = above;
    place = parent;
  }
  heap[place] = due;
}

function pop(heap: Due[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) {
    return;
  }
  let place = 0;
  for (let child = smallerChild(heap, place); child >= 0; child = smallerChild(heap, place)) {
    const below = heap[child];
    if (below === undefined || !isBefore(below, last)) {
      break;
    }
    heap[place] = below;
    place = child;
  }
  heap[place] = last;
}

function smallerChild(heap: readonly Due[], place: number): number {
  const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]];
  if (left === undefined) {
    return -1;
  }
  return right !== undefined && isBefore(right, left) ? 2 * place + 2 : 2 * place + 1;
}

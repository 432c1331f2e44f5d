/** A binary heap; what is pushed must not change its order. */
export interface Heap<Item> {
  readonly peek: () => Item | undefined;
  readonly pop: () => Item | undefined;
  readonly push: (item: Item) => void;
}

/** An empty heap with the first item on top. `compare` must be a total order. */
export function createHeap<Item>(compare: (left: Item, right: Item) => number): Heap<Item> {
  const items: Item[] = [];
  const isBefore = (left: number, right: number): boolean => {
    const [one, other] = [items[left], items[right]];
    return one !== undefined && other !== undefined && compare(one, other) < 0;
  };
  const swap = (left: number, right: number): void => {
    const [one, other] = [items[left], items[right]];
    if (one !== undefined && other !== undefined) {
      items[left] = other;
      items[right] = one;
    }
  };
  const down = (): void => {
    let place = 0;
    for (;;) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      let first = isBefore(left, place) ? left : place;
      first = isBefore(right, first) ? right : first;
      if (first === place) {
        return;
      }
      swap(place, first);
      place = first;
    }
  };
  return {
    peek: () => items[0],
    pop: () => {
      swap(0, items.length - 1);
      const top = items.pop();
      down();
      return top;
    },
    push: (item) => {
      let place = items.push(item) - 1;
      while (place > 0 && isBefore(place, (place - 1) >>> 1)) {
        swap(place, (place - 1) >>> 1);
        place = (place - 1) >>> 1;
      }
    },
  };
}

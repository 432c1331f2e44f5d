/** What waits for room, told by who looks after the gates to who runs the policies. */
export interface Demand {
  /** Says which pods wait for their turn now, by uid. Others than last time, or other chances for the same, are news. */
  tell(queue: readonly string[]): void;
  /** Counts the news. */
  version(): number;
  /** Who is called with every news. */
  onNews(hear: () => void): void;
}

/** Nothing waits yet. `turnover` changes whenever room may have been freed or taken. */
export function createDemand(turnover: () => number): Demand {
  let last = '';
  let news = 0;
  let hear = (): void => undefined;
  return {
    tell(queue) {
      const picture = queue.length === 0 ? '' : `${[...queue].sort().join(' ')} ${turnover()}`;
      if (picture !== last) {
        last = picture;
        news += 1;
        hear();
      }
    },
    version: () => news,
    onNews: (listener) => {
      hear = listener;
    },
  };
}

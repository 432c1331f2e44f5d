/** Lets one piece of work at a time run, in the order in which they came. */
export interface Mutex {
  /**
   * Resolves or rejects as `work` does, which begins when all that came before has ended. Where that is waited for by requests, rejects
   * when `signal` is aborted, and as they do.
   */
  runExclusive<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value>;
}

/** A mutex that nobody holds. */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return {
    runExclusive(work) {
      const done = last.then(work);
      last = done.catch(() => undefined); // whoever waits for `done` hears of it
      return done;
    },
  };
}

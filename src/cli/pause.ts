/** Waits so many seconds; false as soon as interrupted. */
export function pause(span: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(false);
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(done, 1000 * span);
    signal.addEventListener('abort', done, { once: true });
  });
}

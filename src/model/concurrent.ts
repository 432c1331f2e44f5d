/**
 * Runs `work` on each item, at most `limit` at a time. Rejects with the first failure and aborts the rest; resolves to the
 * results in the order of the items.
 */
export async function runConcurrently<Item, Result>(
  items: readonly Item[],
  limit: number,
  signal: AbortSignal,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<readonly Result[]> {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const results: Result[] = [];
  const waiting = items.entries();
  async function runSome(): Promise<void> {
    for (const [index, item] of waiting) {
      controller.signal.throwIfAborted();
      results[index] = await work(item, controller.signal);
    }
  }
  try {
    signal.throwIfAborted();
    await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runSome));
    return results;
  } catch (error) {
    controller.abort(error);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

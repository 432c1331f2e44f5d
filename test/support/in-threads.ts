import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/**
 * Lets a module answer each input, posted to its `parentPort`, in as many threads as there are cores; the last inputs first.
 * `take` gets each answer as it comes. Resolves after the last one. Rejects when a thread fails.
 */
export async function inThreads<Input, Output>(
  module: URL,
  inputs: readonly Input[],
  take: (input: Input, output: Output) => void,
): Promise<void> {
  const left = [...inputs];
  const work = async (): Promise<void> => {
    const worker = new Worker(module);
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const answer = once(worker, 'message');
      worker.postMessage(next);
      const [output] = (await answer) as [Output];
      take(next, output);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}

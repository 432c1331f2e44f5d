import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/**
 * Lets a module answer each input, posted to its `parentPort`, in as many threads as there are cores; the last inputs first.
 * Resolves to its answers, in the order of the inputs; `take` gets each as it comes. Rejects when a thread fails.
 */
export async function inThreads<Input, Output>(
  module: URL,
  inputs: readonly Input[],
  take: (input: Input, output: Output) => void = () => undefined,
): Promise<readonly Output[]> {
  const outputs: Output[] = new Array(inputs.length);
  const left = [...inputs.entries()];
  const work = async (): Promise<void> => {
    const worker = new Worker(module);
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [place, input] = next;
      const answer = once(worker, 'message');
      worker.postMessage(input);
      const [output] = (await answer) as [Output];
      outputs[place] = output;
      take(input, output);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return outputs;
}

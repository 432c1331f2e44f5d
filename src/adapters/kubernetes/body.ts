import { ApiError } from './api-error.ts';

/** Far above any object, and above a page of 500 of them. */
const MAX_BYTES = 256 * 2 ** 20;

/** The whole of a body as text. Rejects with ApiError when it is longer than `most`. */
export async function readBytes(chunks: AsyncIterable<Uint8Array>, most = MAX_BYTES): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) {
      throw new ApiError('BadAnswer', `the API server's answer is longer than ${most} bytes`);
    }
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The lines of a body as they arrive; a last line without its end is left out: the stream broke off in it. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, longest = MAX_BYTES): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    // Only what is new is searched: a long line in many chunks would take its length squared.
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    const lines = [rest + first, ...others];
    rest = lines.pop() ?? '';
    if (rest.length > longest) {
      throw new ApiError('BadAnswer', `a line of the API server's answer is longer than ${longest} bytes`);
    }
    yield* lines.filter((line) => line.trim() !== '');
  }
}

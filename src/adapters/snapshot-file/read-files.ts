import { open } from 'node:fs/promises';
import { InputError } from '../../model/input-error.ts';
import { parseObjects } from './parse-objects.ts';

/** Largest input: a little less than the longest string that V8 makes. */
const MAX_BYTES = 500 * 2 ** 20;

/**
 * The objects in these files, in their order; `-` stands for `stdin`. Throws InputError that names the file, for a person
 * to read.
 */
export async function readObjectFiles(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array | string>,
): Promise<readonly unknown[]> {
  const objects: (readonly unknown[])[] = [];
  for (const path of paths) {
    const file = path === '-' ? '<stdin>' : path;
    objects.push(parseObjects(path === '-' ? await readStdin(stdin) : await readText(path), file));
  }
  return objects.flat();
}

/** The text of a file. Throws InputError when there is none, or it is too large or not UTF-8. */
export async function readText(path: string): Promise<string> {
  try {
    const handle = await open(path, 'r');
    try {
      const { size } = await handle.stat();
      return decode(size > MAX_BYTES ? tooLarge(path) : await handle.readFile(), path);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw error instanceof InputError ? error : new InputError(path, undefined, whyUnreadable(error), { cause: error });
  }
}

/** All of standard input as text. */
export async function readStdin(stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    chunks.push(size > MAX_BYTES ? tooLarge('<stdin>') : bytes);
  }
  return decode(Buffer.concat(chunks), '<stdin>');
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new InputError(file, undefined, 'is not UTF-8 text: write YAML or JSON in UTF-8', { cause: error });
  }
}

function tooLarge(file: string): never {
  const limit = `${MAX_BYTES / 2 ** 20} MiB`;
  throw new InputError(
    file,
    undefined,
    `is larger than ${limit}: split it, or write it with evenkeel snapshot, which trims`,
  );
}

/** Why a file or folder could not be opened, for people. */
export function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EISDIR':
      return 'is a folder: name one file in it';
    case 'EACCES':
      return 'may not be read by this user';
    default:
      return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

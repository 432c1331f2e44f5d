import { open } from 'node:fs/promises';
import { InputError } from '../../model/input-error.ts';
import { FIRST_LINE } from './write-snapshot.ts';
import { type ParsedDocument, parseLargeYaml, parseYamlDocuments } from './yaml-documents.ts';

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

/** Up to this many characters JSON goes through the YAML parser too, which finds duplicate keys and knows line numbers. */
const SMALL = 64 * 1024;

const WANTED = 'write what `kubectl get nodes,pods -A -o yaml` prints';

/**
 * The objects in YAML or JSON text: one document or many, lists as they are. Throws InputError with file and line for
 * what is not valid, is no object, or names no kind.
 */
export function parseObjects(text: string, file: string): readonly unknown[] {
  const documents = parseDocuments(text.startsWith('\ufeff') ? text.slice(1) : text, file);
  const objects = documents.flatMap(({ value, line }) =>
    Array.isArray(value) ? value : [checkObject(value, file, line)],
  );
  if (objects.length === 0) {
    throw new InputError(file, undefined, `holds no objects: ${WANTED}`);
  }
  return objects;
}

function checkObject(value: unknown, file: string, line: number): unknown {
  if (typeof value !== 'object' || value === null) {
    throw new InputError(file, line, `${JSON.stringify(String(value).slice(0, 60))} is not an object: ${WANTED}`);
  }
  if (!('kind' in value) || typeof value.kind !== 'string') {
    throw new InputError(file, line, `this object names no kind: ${WANTED}`);
  }
  return value;
}

/** The parser that tells most about mistakes for what people write, a fast one for what programs write. */
function parseDocuments(text: string, file: string): readonly ParsedDocument[] {
  if (text.length <= SMALL) {
    return parseYamlDocuments(text, file);
  }
  if (/^\s*[{[]/.test(text)) {
    return parseJson(text, file);
  }
  return parseOwnSnapshot(text, file) ?? parseLargeYaml(text, file);
}

/** One JSON value, or one on each line. */
function parseJson(text: string, file: string): readonly ParsedDocument[] {
  try {
    const value: unknown = JSON.parse(text);
    return [{ value, line: 1 }];
  } catch (error) {
    return parseJsonLines(text) ?? refuseJson(text, file, error);
  }
}

function parseJsonLines(text: string): readonly ParsedDocument[] | undefined {
  try {
    return text.split('\n').flatMap((each, index) => {
      const value: unknown = each.trim() === '' ? undefined : JSON.parse(each);
      return value === undefined ? [] : [{ value, line: index + 1 }];
    });
  } catch {
    return undefined;
  }
}

function refuseJson(text: string, file: string, error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  const position = Number(/at position (\d+)/.exec(message)?.[1] ?? Number.NaN);
  const line = Number.isNaN(position) ? undefined : text.slice(0, position).split('\n').length;
  const [what = ''] = message.split(/,? (?:in JSON )?at position/);
  throw new InputError(file, line, `not valid JSON: ${what}`, { cause: error });
}

/**
 * The List in a file that `evenkeel snapshot` wrote: each item is JSON on a line of its own, so that no YAML parser has to
 * look at it. Undefined when the file is another, or was edited by hand; it is still YAML then.
 */
function parseOwnSnapshot(text: string, file: string): readonly ParsedDocument[] | undefined {
  const begin = text.indexOf('\nitems:\n- ');
  if (!text.startsWith(FIRST_LINE) || begin === -1) {
    return undefined;
  }
  const lines = text
    .slice(begin + '\nitems:\n'.length)
    .trimEnd()
    .split('\n');
  try {
    const items = lines.map((line): unknown => JSON.parse(line.startsWith('- ') ? line.slice(2) : ''));
    const frame = parseYamlDocuments(text.slice(0, begin), file);
    return frame.map(({ value, line }) => ({ value: Object.assign({}, value, { items }), line }));
  } catch {
    return undefined;
  }
}

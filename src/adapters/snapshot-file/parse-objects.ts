import { InputError } from './input-error.ts';
import { type ParsedDocument, parseYamlDocuments } from './yaml-documents.ts';
import { parseListDocument } from './yaml-list.ts';

/** Up to this many characters JSON goes through the YAML parser, which finds duplicate keys and knows line numbers. */
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

function parseDocuments(text: string, file: string): readonly ParsedDocument[] {
  if (text.length > SMALL && /^\s*[{[]/.test(text)) {
    return parseJson(text, file);
  }
  const list = text.length > SMALL ? parseListDocument(text.replace(/^---[^\S\n]*\n/, ''), file) : undefined;
  return list === undefined ? parseEach(text, file) : [{ value: list, line: 1 }];
}

/** Documents one by one, so that of many small ones each is read in the fastest way, and one large List among them too. */
function parseEach(text: string, file: string): readonly ParsedDocument[] {
  if (text.length <= SMALL || /^%|^\.\.\./m.test(text)) {
    return parseYamlDocuments(text, file);
  }
  let line = 1;
  return text.split(/^---[^\S\n]*$/m).flatMap((document) => {
    const firstLine = line;
    line += document.split('\n').length - 1;
    const list = parseListDocument(document, file);
    return list === undefined ? parseYamlDocuments(document, file, firstLine) : [{ value: list, line: firstLine }];
  });
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

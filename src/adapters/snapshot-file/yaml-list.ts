import { InputError } from './input-error.ts';
import { OutsideSubset, parseBlockYaml } from './yaml-block.ts';
import { parseYamlDocuments } from './yaml-documents.ts';

/**
 * The one value of a document that is a List with its items in block style, as kubectl and `evenkeel snapshot` print
 * it, read item by item, each in the fastest way that understands it. Undefined when the document is not of that form, or
 * when something in it is wrong: the full parser then says what.
 */
export function parseListDocument(text: string, file: string): unknown {
  const parts = splitItems(text);
  if (parts === undefined) {
    return undefined;
  }
  try {
    const [frame, ...others] = parseYamlDocuments(parts.frame, file);
    const list = frame?.value;
    if (others.length > 0 || typeof list !== 'object' || list === null || !Object.hasOwn(list, 'items')) {
      return undefined;
    }
    return { ...list, items: parts.items.map((item) => parseItem(item, file)) };
  } catch (error) {
    if (error instanceof InputError) {
      return undefined;
    }
    throw error;
  }
}

/** An item with its dash turned into indentation: JSON on one line, plain blocks, or any YAML. Throws InputError. */
function parseItem(text: string, file: string): unknown {
  if (/^ *\{/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      return parseWhole(text, file);
    }
  }
  try {
    return parseBlockYaml(text);
  } catch (error) {
    if (error instanceof OutsideSubset) {
      return parseWhole(text, file);
    }
    throw error;
  }
}

function parseWhole(text: string, file: string): unknown {
  const documents = parseYamlDocuments(text, file);
  if (documents.length !== 1) {
    throw new InputError(file, undefined, 'not one item');
  }
  return documents[0]?.value;
}

interface Parts {
  /** The list without its items. */
  readonly frame: string;
  readonly items: readonly string[];
}

/**
 * Splits at the lines that begin with a dash at the indentation of the first item. In block style every line that belongs
 * to an item is indented further, so these are the beginnings of items and nothing else.
 */
function splitItems(text: string): Parts | undefined {
  const match = /(?:^|\n)items: *\n(?=( *)- )/.exec(text);
  if (match === null || /^%|^---|^\.\.\./m.test(text)) {
    return undefined;
  }
  const margin = match[1] ?? '';
  const begin = match.index + match[0].length;
  const end = findEnd(text, begin, margin.length);
  const items = text
    .slice(begin + margin.length + 1, end)
    .split(`\n${margin}-`)
    .map((item) => `${margin} ${item}`);
  if (items.some((item) => !item.startsWith(`${margin}  `))) {
    return undefined;
  }
  return { frame: `${text.slice(0, begin).trimEnd()} []\n${text.slice(end)}`, items };
}

/** Where the first line after `begin` starts that is neither blank, nor indented further than `margin`, nor an item. */
function findEnd(text: string, begin: number, margin: number): number {
  const outside = new RegExp(
    margin === 0 ? '\\n[^ \\n-]' : `\\n(?: {0,${margin - 1}}[^ \\n]| {${margin}}[^ \\n-])`,
    'g',
  );
  outside.lastIndex = begin;
  const match = outside.exec(text);
  return match === null ? text.length : match.index + 1;
}

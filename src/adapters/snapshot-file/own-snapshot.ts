import { FIRST_LINE } from './write-snapshot.ts';
import { type ParsedDocument, parseYamlDocuments } from './yaml-documents.ts';

/**
 * The List in a file that `evenkeel snapshot` wrote: each item is JSON on a line of its own, so that no YAML parser has to
 * look at it. Undefined when the file is another, or was edited by hand; it is still YAML then.
 */
export function parseOwnSnapshot(text: string, file: string): readonly ParsedDocument[] | undefined {
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

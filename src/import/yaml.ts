import { stringify } from 'yaml';
import type { Conversion, ImportNote } from './note.ts';

/** A conversion as a YAML file: what was lost or changed as comments on top, then one document for each resource. */
export function conversionYaml({ resources, notes }: Conversion): string {
  const comments = notes.map((note) => `# ${noteLine(note)}\n`).join('');
  const documents = resources.map((resource) => `---\n${stringify(resource, { lineWidth: 0 })}`).join('');
  return comments + documents;
}

/** `Lost profiles[0].plugins.balance.enabled[1]: ...`, on one line whatever names the document has. */
export function noteLine({ effect, path, message }: ImportNote): string {
  return `${effect} ${path === '' ? '' : `${path}: `}${message}`.replaceAll(/\s+/g, ' ');
}

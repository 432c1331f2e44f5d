import { Document, isScalar, visit } from 'yaml';
import { escapeJson, escapeText, escapeYaml, needsQuotes } from '../model/escape.ts';

/** Any object as json, yaml or its name. */
export function renderObject(object: unknown, name: string, output: 'json' | 'yaml' | 'name'): string {
  switch (output) {
    case 'json':
      return renderJson(object);
    case 'yaml':
      return renderYaml(object);
    case 'name':
      return `${escapeText(name)}\n`;
    default:
      return output satisfies never;
  }
}

/** Any object as indented JSON that is safe to print on a terminal. */
export function renderJson(object: unknown): string {
  return `${escapeJson(JSON.stringify(object, null, 2))}\n`;
}

/** Any object as YAML that is safe to print on a terminal. */
export function renderYaml(object: unknown): string {
  const document = new Document(object, { aliasDuplicateObjects: false });
  visit(document, (_key, node) => {
    if (isScalar(node) && typeof node.value === 'string' && needsQuotes(node.value)) {
      node.type = 'QUOTE_DOUBLE';
    }
  });
  return escapeYaml(document.toString({ lineWidth: 0 }));
}

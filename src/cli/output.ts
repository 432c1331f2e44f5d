import { stringify } from 'yaml';

/** Any object as json, yaml or its name. */
export function renderObject(object: unknown, name: string, output: 'json' | 'yaml' | 'name'): string {
  switch (output) {
    case 'json':
      return `${JSON.stringify(object, null, 2)}\n`;
    case 'yaml':
      return stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });
    case 'name':
      return `${name}\n`;
    default:
      return output satisfies never;
  }
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { crdOf } from '../src/api/crd.ts';
import { KINDS } from '../src/api/v1alpha1/kinds.ts';

/** Writes crds/*.yaml from the schemas; with --check it only fails when they differ. */
function main(check: boolean): void {
  const folder = import.meta.dirname;
  const stale: string[] = [];
  for (const definition of KINDS) {
    const crd = crdOf(definition);
    const file = join(folder, `${crd.metadata.name}.yaml`);
    const text = `# Generated from src/api/v1alpha1 by npm run generate. Do not edit.\n${stringify(crd, { lineWidth: 110, aliasDuplicateObjects: false })}`;
    if (!check) {
      writeFileSync(file, text);
    } else if (read(file) !== text) {
      stale.push(file);
    }
  }
  if (stale.length > 0) {
    console.error(`out of date: ${stale.join(', ')}\nrun npm run generate and commit the result`);
    process.exitCode = 1;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

main(process.argv.includes('--check'));

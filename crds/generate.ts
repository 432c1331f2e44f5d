import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { crdOf } from '../src/api/crd.ts';
import { KINDS } from '../src/api/v1alpha1/kinds.ts';

/** Here, and where Helm looks for them. */
const FOLDERS = [import.meta.dirname, join(import.meta.dirname, '..', 'deploy', 'chart', 'evenkeel', 'crds')];

/** Writes crds/*.yaml and the chart's from the schemas; with --check it only fails when they differ. */
function main(check: boolean): void {
  const stale: string[] = [];
  for (const { folder, definition } of FOLDERS.flatMap((each) =>
    KINDS.map((kind) => ({ folder: each, definition: kind })),
  )) {
    const crd = crdOf(definition);
    const path = join(folder, `${crd.metadata.name}.yaml`);
    const text = `# Generated from src/api/v1alpha1 by npm run generate. Do not edit.\n${stringify(crd, { lineWidth: 110, aliasDuplicateObjects: false })}`;
    if (!check) {
      writeFileSync(path, text);
    } else if (read(path) !== text) {
      stale.push(path);
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

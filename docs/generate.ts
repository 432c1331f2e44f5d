import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsReference } from './reference/fields.ts';
import { flagsReference } from './reference/flags.ts';
import { metricsReference } from './reference/metrics.ts';

/** Writes docs/reference/*.md from schemas, commands and metrics; with --check it only fails when they differ. */
async function main(check: boolean): Promise<void> {
  const pages = {
    'fields.md': fieldsReference(),
    'flags.md': flagsReference(),
    'metrics.md': await metricsReference(),
  };
  const folder = join(import.meta.dirname, 'reference');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(pages)) {
    const path = join(folder, name);
    if (!check) {
      writeFileSync(path, text);
    } else if (readFileSync(path, 'utf8') !== text) {
      console.error(`out of date: docs/reference/${name}\nrun npm run generate and commit the result`);
      process.exitCode = 1;
    }
  }
}

await main(process.argv.includes('--check'));

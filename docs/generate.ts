import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { availabilityOverTime } from './pictures/availability.ts';
import { moveLife } from './pictures/move-life.ts';
import { nodeLoads } from './pictures/node-loads.ts';
import { deschedulerReference } from './reference/descheduler.ts';
import { fieldsReference } from './reference/fields.ts';
import { flagsReference } from './reference/flags.ts';
import { logReference } from './reference/log.ts';
import { metricsReference } from './reference/metrics.ts';

/** Writes docs/reference/*.md from schemas, commands, log lines and metrics, and docs/images/*.svg from plans and simulations; with --check it only fails when they differ. */
async function main(check: boolean): Promise<void> {
  const pages = {
    'reference/descheduler.md': deschedulerReference(),
    'reference/fields.md': fieldsReference(),
    'reference/flags.md': flagsReference(),
    'reference/log.md': logReference(),
    'reference/metrics.md': await metricsReference(),
    'images/node-loads.svg': nodeLoads(),
    'images/availability.svg': await availabilityOverTime(),
    'images/move-life.svg': moveLife(),
  };
  for (const [name, text] of Object.entries(pages)) {
    const path = join(import.meta.dirname, name);
    if (!check) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    } else if (readFileSync(path, 'utf8') !== text) {
      console.error(`out of date: docs/${name}\nrun npm run generate and commit the result`);
      process.exitCode = 1;
    }
  }
}

await main(process.argv.includes('--check'));

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { VariantResult } from '../../../src/report/simulation-result.ts';

/** Results of runs by their keys, kept in a file from one start of the benchmark to the next. */
export interface Results {
  get(key: string): VariantResult | undefined;
  /** Keeps a result at once, so that a benchmark that is stopped goes on where it was. */
  add(key: string, result: VariantResult): void;
}

/**
 * Opens the results in `file`, one JSON array of key and result a line; without a file they last as long as the process. They hold for
 * the code that made them: begin a new file when it changes. Throws a SyntaxError for a line that is no JSON.
 */
export function openResults(file: string | undefined): Results {
  const lines = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const kept = new Map(
    lines.filter((line) => line !== '').map((line) => JSON.parse(line) as readonly [string, VariantResult]),
  );
  return {
    get: (key) => kept.get(key),
    add: (key, result) => {
      kept.set(key, result);
      if (file !== undefined) {
        appendFileSync(file, `${JSON.stringify([key, result])}\n`);
      }
    },
  };
}

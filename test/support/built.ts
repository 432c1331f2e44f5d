import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BUNDLE } from './operator-process.ts';

/** Builds the bundle where there is none: tests of the command line run it, several at a time. */
export async function setup(): Promise<void> {
  if (!existsSync(BUNDLE)) {
    await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: join(import.meta.dirname, '..', '..') });
  }
}

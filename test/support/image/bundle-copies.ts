import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** SHA-256 of each JavaScript file of a folder by its name. */
export function hashesOf(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const hash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  return Object.fromEntries(names.sort().map((name) => [name, hash(name)]));
}

/** Builds the bundle in a copy of this checkout, so many folders deep below a temporary one; its hashes. */
export async function buildCopy(depth: number): Promise<Readonly<Record<string, string>>> {
  const temporary = mkdtempSync(join(tmpdir(), 'evenkeel-bundle-'));
  try {
    const folder = join(temporary, ...Array.from({ length: depth }, (_, index) => `folder-${index}`));
    mkdirSync(folder, { recursive: true });
    const sources = ['package.json', 'src', 'node_modules'].map((name) => realpathSync(join(ROOT, name)));
    const run = promisify(execFile);
    await run('cp', ['-a', '--reflink=auto', ...sources, folder]);
    await run('npm', ['run', '--silent', 'build'], { cwd: folder });
    return hashesOf(join(folder, 'dist'));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

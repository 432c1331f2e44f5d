import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../../model/input-error.ts';
import { whyUnreadable } from './read-files.ts';

/**
 * These files, with each folder replaced by the .yaml, .yml and .json files right in it, by name, as `kubectl -f` does. Hidden
 * files are left out: they configure other tools, as .gitlab-ci.yml does. A missing path stays, so that its reader reports it.
 * Throws InputError for a folder without such a file.
 */
export async function expandFolders(paths: readonly string[]): Promise<readonly string[]> {
  const expanded = await Promise.all(
    paths.map(async (path) => ((await isFolder(path)) ? await filesOf(path) : [path])),
  );
  return expanded.flat();
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return path !== '-' && found?.isDirectory() === true;
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw new InputError(folder, undefined, whyUnreadable(error), { cause: error });
  });
  const names = entries.filter((entry) => !entry.isDirectory() && /^[^.].*\.(ya?ml|json)$/.test(entry.name));
  if (names.length === 0) {
    const wrong =
      'is a folder without .yaml, .yml or .json files (hidden files and subfolders are not read): name the files';
    throw new InputError(folder, undefined, wrong);
  }
  return names.map(({ name }) => join(folder, name)).toSorted();
}

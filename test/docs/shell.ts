import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BUNDLE } from '../support/operator-process.ts';
import type { CliResult } from '../support/run-cli.ts';
import { ROOT } from './pages.ts';

/** Runs blocks of pages at the top of the checkout as a person would, who has `evenkeel` on the PATH. */
export type Shell = (script: string) => Promise<CliResult>;

type Rest = [path?: readonly string[], variables?: Readonly<Record<string, string>>];

/** A command that goes on until somebody ends it. */
export interface Foreground {
  /** What it wrote so far, to standard output and to standard error. */
  output(): string;
  isOver(): boolean;
  /** Presses Ctrl-C: every process of its group is interrupted. Resolves when the command has ended. */
  interrupt(): Promise<void>;
}

/** Starts a command at the top of the checkout as a terminal does, in a process group of its own. */
export function startInForeground(command: string, env: NodeJS.ProcessEnv): Foreground {
  const child = spawn('bash', ['-c', `exec ${command}`], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  let output = '';
  const keep = (chunk: Buffer): void => {
    output += chunk.toString('utf8');
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return {
    output: () => output,
    isOver,
    interrupt: async () => {
      if (child.pid !== undefined && !isOver()) {
        process.kill(-child.pid, 'SIGINT');
        await exited;
      }
    },
  };
}

/** Variables of a shell whose home is `folder`, with `evenkeel` and further folders on its PATH, and further variables. */
export function environmentIn(
  folder: string,
  path: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  const program = join(folder, 'evenkeel');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`);
  chmodSync(program, 0o755);
  return {
    ...process.env,
    KUBECONFIG: '',
    HOME: folder,
    NO_COLOR: '1',
    FORCE_COLOR: undefined,
    PATH: [folder, ...path, process.env['PATH']].join(delimiter),
    ...variables,
  };
}

/** A shell with these variables whose /tmp is `folder`. */
export function shellIn(folder: string, ...environment: Rest): Shell {
  const env = environmentIn(folder, ...environment);
  return async (script) => {
    const own = script.replaceAll('/tmp/', `${folder}/`);
    const child = spawn('bash', ['-euo', 'pipefail', '-c', own], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = once(child, 'exit');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await exited;
    return { stdout, stderr, code: child.exitCode };
  };
}

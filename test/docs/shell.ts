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

/** A shell whose /tmp is `folder`, with further folders on its PATH and further variables. */
export function shellIn(
  folder: string,
  path: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): Shell {
  const program = join(folder, 'evenkeel');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`);
  chmodSync(program, 0o755);
  const env = {
    ...process.env,
    KUBECONFIG: '',
    HOME: folder,
    NO_COLOR: '1',
    FORCE_COLOR: undefined,
    PATH: [folder, ...path, process.env['PATH']].join(delimiter),
    ...variables,
  };
  return async (script) => {
    const own = script.replaceAll('/tmp/', `${folder}/`);
    const child = spawn('bash', ['-euo', 'pipefail', '-c', own], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = once(child, 'exit');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await exited;
    return { stdout, stderr, code: child.exitCode };
  };
}

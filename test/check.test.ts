import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');

it.each(['types', 'lint', 'exports', 'crds', 'docs'])('npm run check:%s finds nothing', async (part) => {
  const outcome = await run('npm', ['run', '--silent', `check:${part}`], { cwd: root }).then(
    () => 'clean',
    (error: { stdout: string; stderr: string }) => `${error.stdout}\n${error.stderr}`,
  );
  expect(outcome).toBe('clean');
});

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Mutation, mutate } from './mutations.ts';

/** What became of a mutation: it does not compile, a test noticed it, the tests did not end, or nothing noticed it. */
export type Fate = 'Invalid' | 'Noticed' | 'TimedOut' | 'Survived';

/** A copy of the repository in which sources may be broken. */
export interface Sandbox {
  /** Runs what should notice the mutation, the fastest first, until something does. */
  judge(mutation: Mutation): Promise<Fate>;
  remove(): void;
}

/** Milliseconds without a test that ends after which tests count as having noticed. */
const PATIENCE = 240_000;

/** Checks that start programs of the build, or look at the sources themselves. */
const BLIND = ['test/check.test.ts', 'test/docs/**', 'test/layers.test.ts'];

/** Who looks at a mutation of `file`, in order. */
function judges(file: string): readonly (readonly [Fate, string, readonly string[]])[] {
  const blind = BLIND.flatMap((pattern) => ['--exclude', pattern]);
  const tests = ['--project', 'fast', '--config', 'test/mutants/vitest.config.ts', '--passWithNoTests', ...blind];
  return [
    ['Invalid', 'tsc', ['-p', '.']],
    ['Noticed', 'vitest', ['related', '--run', '--bail', '1', '--reporter', 'verbose', ...tests, file]],
  ];
}

/** Copies what git knows of the repository in `top` to a temporary folder; its packages and its build are shared. */
export function createSandbox(top: string): Sandbox {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-mutants-'));
  const files = execFileSync('git', ['ls-files'], { cwd: top, encoding: 'utf8' }).split('\n').filter(Boolean);
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(top, file), join(folder, file));
  }
  for (const shared of ['node_modules', 'dist']) {
    symlinkSync(join(top, shared), join(folder, shared));
  }
  return {
    async judge(mutation) {
      const path = join(folder, mutation.file);
      const source = readFileSync(path, 'utf8');
      writeFileSync(path, mutate(source, mutation));
      try {
        return await fateOf(folder, mutation.file);
      } finally {
        writeFileSync(path, source);
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function fateOf(folder: string, file: string): Promise<Fate> {
  for (const [fate, tool, args] of judges(file)) {
    const verdict = await run(folder, join(folder, 'node_modules', '.bin', tool), args, file);
    if (verdict !== 'Passed') {
      return verdict === 'TimedOut' ? 'TimedOut' : fate;
    }
  }
  return 'Survived';
}

/** Ends the whole process group of a tool that prints nothing for too long: tests have workers. */
function run(
  cwd: string,
  command: string,
  args: readonly string[],
  file: string,
): Promise<'Passed' | 'Failed' | 'TimedOut'> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, EVENKEEL_MUTANT: file };
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    }, PATIENCE);
    child.stdout.on('data', () => void timer.refresh());
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(timedOut ? 'TimedOut' : code === 0 ? 'Passed' : 'Failed');
    });
  });
}

import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Answer, Question } from './judge.ts';
import { type Mutation, mutate } from './mutations.ts';
import { PASSES } from './probe.ts';
import { readPasses, withProbes } from './probes.ts';

/** What became of a mutation: a test noticed it, the tests did not end, none noticed it, or none evaluates what it changes. */
export type Fate = 'Noticed' | 'TimedOut' | 'Survived' | 'Unreached';

/** A mutation and the test files that are to judge it. */
export interface Judged {
  readonly mutation: Mutation;
  readonly tests: readonly string[];
}

/** A copy of the repository in which sources may be broken. */
export interface Sandbox {
  /** Those of the mutations, each of a file of its own, with which the sources compile. */
  compiling(mutations: readonly Mutation[]): Promise<ReadonlySet<Mutation>>;
  /** The test files that evaluate what each of the mutations changes, in their order. Throws where the tests do not end without any. */
  testsOf(mutations: readonly Mutation[]): Promise<readonly (readonly string[])[]>;
  /**
   * Runs the tests with the mutation, the likeliest first, until one notices. A test that fails without the mutation as well has
   * noticed nothing, and tests that do not end are run once more, in a new process.
   */
  judge(mutation: Mutation, tests: readonly string[]): Promise<Fate>;
  /**
   * Tells the fates of mutations, each of a file of its own. All tests are run once with all of them, and each mutation is judged
   * by those of its tests that fail then: many that hardly any test notices are judged in the time of one.
   */
  judgeTogether<Each extends Judged>(judged: readonly Each[], tell: (judged: Each, fate: Fate) => void): Promise<void>;
  remove(): void;
}

/** Milliseconds without a test that ends after which tests count as having noticed. */
const PATIENCE = 120_000;

const VITEST = ['run', '--project', 'fast', '--config', 'test/mutants/vitest.config.ts', '--reporter', 'verbose'];

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
  let tester: Tester | undefined;
  const failedOf = async (question: Question): Promise<readonly string[] | 'TimedOut'> => {
    tester ??= startTester(folder);
    const failed = await tester.failedOf(question);
    if (failed === 'TimedOut') {
      tester.end();
      tester = undefined;
    }
    return failed;
  };
  const withMutations = (
    mutations: readonly Mutation[],
    tests: readonly string[],
    toTheEnd: boolean,
  ): Promise<readonly string[] | 'TimedOut'> =>
    changed(folder, mutations.map(changeOf), async () => {
      const question = { sources: mutations.map(({ file }) => file), tests, toTheEnd };
      const failed = await failedOf(question);
      return failed === 'TimedOut' ? failedOf(question) : failed;
    });
  const fateOf = async (mutation: Mutation, tests: readonly string[]): Promise<Fate> => {
    const failed = await withMutations([mutation], tests, false);
    if (failed === 'TimedOut') {
      return 'TimedOut';
    }
    if (failed.length === 0) {
      return 'Survived';
    }
    const unfit = await failedOf({ sources: [mutation.file], tests: failed, toTheEnd: true });
    if (unfit !== 'TimedOut' && failed.some((test) => !unfit.includes(test))) {
      return 'Noticed';
    }
    console.error(`left out, since they fail without a mutation: ${failed.join(', ')}`);
    return fateOf(
      mutation,
      tests.filter((test) => !failed.includes(test)),
    );
  };
  const judge = async (mutation: Mutation, tests: readonly string[]): Promise<Fate> =>
    tests.length === 0 ? 'Unreached' : fateOf(mutation, tests);
  const judgeTogether = async <Each extends Judged>(
    judged: readonly Each[],
    tell: (judged: Each, fate: Fate) => void,
  ): Promise<void> => {
    const tests = new Set(judged.flatMap((each) => each.tests));
    const mutations = judged.map(({ mutation }) => mutation);
    const failed = await withMutations(mutations, [...tests], true);
    if (failed !== 'TimedOut') {
      for (const each of judged) {
        const suspects = each.tests.filter((test) => failed.includes(test));
        const isUnnoticed = each.tests.length > 0 && suspects.length === 0;
        tell(each, isUnnoticed ? 'Survived' : await judge(each.mutation, suspects));
      }
      return;
    }
    const [only, ...others] = judged;
    if (only !== undefined && others.length === 0) {
      tell(only, 'TimedOut');
      return;
    }
    const half = Math.ceil(judged.length / 2);
    await judgeTogether(judged.slice(0, half), tell);
    await judgeTogether(judged.slice(half), tell);
  };
  return {
    compiling: async (mutations) => new Set(await compileTogether(folder, mutations)),
    testsOf: (mutations) => testsOf(folder, mutations),
    judge,
    judgeTogether,
    remove: () => {
      tester?.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Change = readonly [file: string, change: (source: string) => string];

function changeOf(mutation: Mutation): Change {
  return [mutation.file, (source) => mutate(source, mutation)];
}

/** Does something while files are changed. */
async function changed<T>(folder: string, changes: readonly Change[], work: () => Promise<T>): Promise<T> {
  const sources = changes.map(([file]) => [join(folder, file), readFileSync(join(folder, file), 'utf8')] as const);
  for (const [file, change] of changes) {
    writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')));
  }
  try {
    return await work();
  } finally {
    for (const [path, source] of sources) {
      writeFileSync(path, source);
    }
  }
}

/**
 * The compiler names the files of those that do not compile. An error where what a mutation exports is used may be that of any of
 * them: then each half is tried.
 */
async function compileTogether(folder: string, mutations: readonly Mutation[]): Promise<readonly Mutation[]> {
  const args = ['-p', '.', '--pretty', 'false', '--incremental', '--tsBuildInfoFile', join(folder, '.tsbuildinfo')];
  const { verdict, output } = await changed(folder, mutations.map(changeOf), () => run(folder, 'tsc', args, {}));
  const wrong = new Set([...output.matchAll(/^(.+?)\(\d+,\d+\): error /gm)].map(([, file]) => file));
  const rest = mutations.filter(({ file }) => !wrong.has(file));
  if (verdict !== 'Passed' && wrong.size === 0) {
    throw new Error(`the compiler has failed: ${output}`);
  }
  if (mutations.length - rest.length === wrong.size) {
    return rest;
  }
  const half = Math.ceil(mutations.length / 2);
  return mutations.length === 1
    ? []
    : [
        ...(await compileTogether(folder, mutations.slice(0, half))),
        ...(await compileTogether(folder, mutations.slice(half))),
      ];
}

async function testsOf(folder: string, mutations: readonly Mutation[]): Promise<readonly (readonly string[])[]> {
  if (mutations.length === 0) {
    return [];
  }
  const byFile = Map.groupBy([...mutations.entries()], ([, { file }]) => file);
  const changes = [...byFile].map(
    ([file, all]) => [file, (source: string): string => withProbes(source, all)] as const,
  );
  const noted = join(folder, '.passes');
  writeFileSync(noted, '');
  const { verdict, output } = await changed(folder, changes, () => run(folder, 'vitest', VITEST, { [PASSES]: noted }));
  if (verdict === 'TimedOut') {
    throw new Error('the tests do not end with probes and without a mutation');
  }
  for (const [, failed] of output.matchAll(/^ *× (.+)$/gm)) {
    console.error(`fails without a mutation, and notices none if it does so again: ${failed}`);
  }
  const passes = readPasses(noted, folder);
  return mutations.map((_, probe) => [...(passes.get(probe) ?? [])]);
}

/** A process that runs tests: judge.ts. */
interface Tester {
  /** The files that failed. Rejects when the process has ended by itself. */
  failedOf(question: Question): Promise<readonly string[] | 'TimedOut'>;
  end(): void;
}

function startTester(folder: string): Tester {
  const child = fork(join(folder, 'test', 'mutants', 'judge.ts'), {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  });
  tools.add(child);
  child.once('close', () => tools.delete(child));
  return {
    failedOf: (question) =>
      new Promise((resolve, reject) => {
        const end = (failed: readonly string[] | 'TimedOut'): void => {
          clearTimeout(timer);
          child.removeAllListeners('message').removeListener('close', broken);
          resolve(failed);
        };
        const broken = (): void => {
          clearTimeout(timer);
          reject(new Error(`the tests of ${question.sources.join(', ')} could not be run`));
        };
        const timer = setTimeout(() => end('TimedOut'), PATIENCE);
        child.once('close', broken).on('message', (answer: Answer) => {
          if (answer === 'Alive') {
            timer.refresh();
          } else {
            end(answer);
          }
        });
        child.send(question);
      }),
    end: () => endGroup(child),
  };
}

interface Run {
  readonly verdict: 'Passed' | 'Failed' | 'TimedOut';
  readonly output: string;
}

/** The tools that run, each with a process group of its own: tests have workers. */
const tools = new Set<ChildProcess>();

/** Ends what runs in all sandboxes, where a person ends the campaign. */
export function endTools(): void {
  tools.forEach(endGroup);
}

function endGroup({ pid, exitCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null) {
    process.kill(-pid, 'SIGKILL');
  }
}

/** Ends a tool that prints nothing for too long. */
function run(
  cwd: string,
  tool: 'tsc' | 'vitest',
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(cwd, 'node_modules', '.bin', tool), args, {
      cwd,
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    tools.add(child);
    let timedOut = false;
    let output = '';
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup(child);
    }, PATIENCE);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      timer.refresh();
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      tools.delete(child);
      resolve({ verdict: timedOut ? 'TimedOut' : code === 0 ? 'Passed' : 'Failed', output });
    });
  });
}

/**
 * Started by the sandbox as a process of its own: runs test files of its folder again and again in one vitest, which imports and
 * transforms again only what was changed. Files of a run share a worker: they import what they test once.
 */
import { join, relative } from 'node:path';
import { createVitest, type TestSpecification } from 'vitest/node';
import { likeness, wordsOf } from './likely.ts';

/** Sources that stand changed, and the tests that are to judge them; both as paths from the top of the folder. */
export interface Question {
  readonly sources: readonly string[];
  readonly tests: readonly string[];
  /** Whether tests are still run after some have failed. */
  readonly toTheEnd: boolean;
}

/**
 * `Alive` comes before the answer, whenever a test has ended, until one has failed of a question that ends with that: many tests
 * that each wait for what does not come would take hours. Then the files that failed, as paths from the top; empty where all pass.
 */
export type Answer = 'Alive' | readonly string[];

/** Test files that are run together: when one has failed the rest of them is still run. */
const AT_ONCE = 6;

const folder = process.cwd();
const vitest = await createVitest('test', {
  config: join(folder, 'test', 'mutants', 'vitest.config.ts'),
  project: ['fast'],
  isolate: false,
  maxWorkers: 1,
  reporters: [
    {
      onTestCaseResult: (test) => {
        isDecided ||= !asked.toTheEnd && !test.ok();
        if (!isDecided) {
          tell('Alive');
        }
      },
    },
  ],
  watch: false,
});
/** Milliseconds that test files took. */
const durations = new Map<string, number>();
let asked: Question = { sources: [], tests: [], toTheEnd: true };
let isDecided = false;

process.on('message', (question: Question) => {
  judge(question).then(tell, (error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});

process.once('disconnect', () => process.exit());

function tell(answer: Answer): void {
  process.send?.(answer);
}

async function judge(question: Question): Promise<readonly string[]> {
  const { sources, tests, toTheEnd } = question;
  for (const each of new Set([...asked.sources, ...sources])) {
    vitest.invalidateFile(join(folder, each));
  }
  asked = question;
  isDecided = false;
  const files = await vitest.globTestSpecifications(tests.map((test) => join(folder, test)));
  const left = likelyFirst(files, sources);
  const failed: string[] = [];
  while (left.length > 0 && (toTheEnd || failed.length === 0)) {
    failed.push(...(await failedOf(left.splice(0, AT_ONCE))));
  }
  return failed;
}

/** The tests that most likely notice come first: those named like the sources, then the fast ones. */
function likelyFirst(files: readonly TestSpecification[], sources: readonly string[]): TestSpecification[] {
  const words = new Set(sources.flatMap((source) => [...wordsOf(source)]));
  const rank = ({ moduleId }: TestSpecification): number => -likeness(moduleId.slice(folder.length), words);
  const duration = ({ moduleId }: TestSpecification): number => durations.get(moduleId) ?? 0;
  return files.toSorted((a, b) => rank(a) - rank(b) || duration(a) - duration(b));
}

/** Vitest remembers what was run before as well, so only the files of this run are asked. An error outside of tests is blamed on all. */
async function failedOf(files: readonly TestSpecification[]): Promise<readonly string[]> {
  vitest.state.clearErrors();
  const ran = new Set(files.map(({ moduleId }) => moduleId));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications([...files], true);
  const modules = testModules.filter(({ moduleId }) => ran.has(moduleId));
  for (const each of modules) {
    durations.set(each.moduleId, each.diagnostic().duration);
  }
  const passed = new Set(modules.filter((each) => each.ok()).map(({ moduleId }) => moduleId));
  return [...ran]
    .filter((moduleId) => unhandledErrors.length > 0 || !passed.has(moduleId))
    .map((moduleId) => relative(folder, moduleId));
}

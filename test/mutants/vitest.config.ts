import { defineConfig, type UserWorkspaceConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from '../../vitest.config.ts';
import { likeness, wordsOf } from './likely.ts';

/** The tests that most likely notice a mutation of `EVENKEEL_MUTANT` come first: those named like it, then the fast ones. */
class LikelyFirst extends BaseSequencer {
  readonly #words = wordsOf(process.env['EVENKEEL_MUTANT'] ?? '');

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => this.#unlikeness(a) - this.#unlikeness(b) || this.#duration(a) - this.#duration(b));
  }

  #unlikeness({ moduleId }: TestSpecification): number {
    return -likeness(moduleId.slice(this.ctx.config.root.length), this.#words);
  }

  #duration(file: TestSpecification): number {
    return this.ctx.cache.getTestSpecificationResult(file)?.duration ?? 0;
  }
}

/** Checks that start programs of the build, or look at the sources themselves. */
const BLIND = ['test/check.test.ts', 'test/docs/**', 'test/layers.test.ts'];

const fast = config.test?.projects?.find((project) => isProject(project) && project.test?.name === 'fast');
if (!isProject(fast)) {
  throw new Error('vitest.config.ts has no project fast');
}

function isProject(project: unknown): project is UserWorkspaceConfig {
  return typeof project === 'object' && project !== null && 'test' in project;
}

const exclude = [...(fast.test?.exclude ?? []), ...BLIND];

export default defineConfig({
  test: {
    ...config.test,
    // Files that share a worker import what they test once: half of the time that files apart take.
    projects: [{ ...fast, test: { ...fast.test, exclude, isolate: false } }],
    sequence: { sequencer: LikelyFirst },
  },
});

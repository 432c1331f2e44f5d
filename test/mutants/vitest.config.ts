import { mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from '../../vitest.config.ts';

/** Names of a path's folders and file, without endings. */
function wordsOf(path: string): ReadonlySet<string> {
  return new Set(path.replaceAll(/\.test\.ts$|\.ts$/g, '').split(/[/-]/));
}

/** The tests that most likely notice a mutation of `EVENKEEL_MUTANT` come first: those named like it, then the fast ones. */
class LikelyFirst extends BaseSequencer {
  readonly #words = wordsOf(process.env['EVENKEEL_MUTANT'] ?? '');

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => this.#unlikeness(a) - this.#unlikeness(b) || this.#duration(a) - this.#duration(b));
  }

  #unlikeness({ moduleId }: TestSpecification): number {
    const shared = [...wordsOf(moduleId.slice(this.ctx.config.root.length))].filter((word) => this.#words.has(word));
    return -shared.length;
  }

  #duration(file: TestSpecification): number {
    return this.ctx.cache.getTestSpecificationResult(file)?.duration ?? 0;
  }
}

export default mergeConfig(config, { test: { sequence: { sequencer: LikelyFirst } } });

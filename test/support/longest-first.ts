import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longer than two minutes, the longest first: begun last, one of them would run on alone for ten minutes. */
const LONGEST = [
  'crash.test.ts',
  'rebalance.test.ts',
  'faults.test.ts',
  'webhook.test.ts',
  'install.test.ts',
  'qos.test.ts',
  'pressure.test.ts',
  'disruption-budgets.test.ts',
  'parity.test.ts',
  'log.test.ts',
  'modes.test.ts',
  'journal.test.ts',
];

/** Runs test files in the usual order, but those that take longest before all others. */
export class LongestFirst extends BaseSequencer {
  /** All files, as `LONGEST` says. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.indexOf(basename(moduleId));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).toSorted((left, right) => rank(left) - rank(right));
  }
}

import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

/**
 * Ends the output with `N passed, N failed`; a file that cannot be loaded, a suite whose hooks fail, so that its tests do not run,
 * and an unhandled error count as failed.
 */
export default class SummaryReporter implements Reporter {
  private passed = 0;
  private failed = 0;

  onTestCaseResult(test: TestCase): void {
    const { state } = test.result();
    this.passed += state === 'passed' ? 1 : 0;
    this.failed += state === 'failed' ? 1 : 0;
  }

  onTestSuiteResult(suite: TestSuite): void {
    this.failed += suite.errors().length > 0 ? 1 : 0;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const broken = modules.filter((module) => module.errors().length > 0).length;
    const line = `${this.passed} passed, ${this.failed + broken + unhandled.length} failed`;
    process.once('exit', () => process.stdout.write(`\n${line}\n`));
  }
}

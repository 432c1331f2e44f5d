import { describe, expect, it } from 'vitest';
import { missingLoad } from '../../../src/cli/missing-load.ts';

describe('missingLoad', () => {
  it.each([
    [0, ''],
    [1, 'warning: 1 of 8 nodes has no metrics (n-1): plan -f needs '],
    [5, 'warning: 5 of 8 nodes have no metrics (n-1, n-2, n-3 and 2 more): plan -f needs '],
  ])('with %d nodes of 8 without metrics begins with %j', (missing, start) => {
    const unmeasured = Array.from({ length: missing }, (_, index) => `n-${index + 1}`);
    const text = missingLoad({ metricsServed: true, nodes: 8, unmeasured });
    expect(text.slice(0, start.length)).toBe(start);
    expect(text === '').toBe(missing === 0);
  });

  it('says what follows without a Metrics API', () => {
    const text = missingLoad({ metricsServed: false, nodes: 8, unmeasured: ['n-1'] });
    expect(text).toMatch(
      /^warning: the Metrics API does not answer, so the snapshot has no load: plan -f finds no moves/,
    );
  });
});

import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    setupFiles: ['test/support/assert-node.ts', 'test/support/fixed-seed.ts'],
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/summary-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          globalSetup: ['test/support/built.ts'],
          include: ['test/{unit,property,contract,scenario,docs}/**/*.test.ts', 'test/{check,layers}.test.ts'],
          exclude: ['test/contract/kubernetes*.test.ts'],
          // Ends what hangs: the longest takes a minute alone, and several where the machine is shared.
          testTimeout: 600_000,
          // By default one of two cores stands idle.
          maxWorkers: 2,
        },
      },
      {
        // One browser at a time: it takes as many cores as there are.
        extends: true,
        test: {
          name: 'page',
          include: ['test/page/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Real control planes wait most of their time (for samples, pods and leases), so that two cores have room for three.
        extends: true,
        test: {
          name: 'control-plane',
          globalSetup: ['test/control-plane/global-setup.ts'],
          setupFiles: ['test/support/tell-logs.ts'],
          testTimeout: 300_000,
          hookTimeout: 1_200_000,
          include: ['test/{e2e,control-plane,parity,monitoring}/**/*.test.ts', 'test/contract/kubernetes*.test.ts'],
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    setupFiles: ['test/support/assert-node.ts', 'test/support/fixed-seed.ts'],
    reporters: ['default', './test/support/summary-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/{unit,property,contract,scenario}/**/*.test.ts', 'test/check.test.ts'],
          exclude: ['test/contract/kubernetes*.test.ts'],
          testTimeout: 120_000,
        },
      },
      {
        // Real control planes: one file at a time, since each brings its own API server to two cores.
        extends: true,
        test: {
          name: 'control-plane',
          globalSetup: ['test/control-plane/global-setup.ts'],
          include: ['test/{e2e,control-plane,parity}/**/*.test.ts', 'test/contract/kubernetes*.test.ts'],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 1_200_000,
        },
      },
    ],
  },
});

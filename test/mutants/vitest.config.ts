import { defineConfig, type UserWorkspaceConfig } from 'vitest/config';
import config from '../../vitest.config.ts';

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
  test: { ...config.test, projects: [{ ...fast, test: { ...fast.test, exclude } }] },
});

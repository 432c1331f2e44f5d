import { buildControlPlane } from './build.ts';

/** Compiles the control plane before the first test: that takes minutes once, and no test's deadline should count them. */
export async function setup(): Promise<void> {
  await buildControlPlane({ log: (line) => void process.stderr.write(`${line}\n`) });
}

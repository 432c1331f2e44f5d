import { appendFileSync } from 'node:fs';

/** File to which each line adds a probe that was passed and the test file that passed it. */
export const PASSES = 'EVENKEEL_PROBES';

const passed = new Set<number>();

/** Notes that the running test file passed a probe; called by sources into which probes.ts has put it. */
export function pass(probe: number): void {
  const file = process.env[PASSES];
  if (file === undefined || passed.has(probe)) {
    return;
  }
  passed.add(probe);
  const worker: unknown = Reflect.get(globalThis, '__vitest_worker__');
  const test = typeof worker === 'object' && worker !== null ? Reflect.get(worker, 'filepath') : undefined;
  appendFileSync(file, `${JSON.stringify({ probe, test })}\n`);
}

/**
 * `npm run campaign:histories [-- --histories N --seed S]`: random histories of the operator's replicas on a modelled cluster.
 * Progress goes to stderr, the report to stdout; the exit code is 1 when an invariant was broken, and the smallest history
 * that breaks it is printed.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { type History, histories } from '../property/histories/history.ts';
import { play } from '../property/histories/play.ts';

const { values } = parseArgs({
  options: { histories: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
});
const counts = new Map<string, number>();
let played = 0;
const began = performance.now();
const property = fc.asyncProperty(histories, async (history: History) => {
  for (const [what, count] of (await play(history)).counts) {
    counts.set(what, (counts.get(what) ?? 0) + count);
  }
  played += 1;
  if (played % 1000 === 0) {
    process.stderr.write(`${played} histories in ${Math.round((performance.now() - began) / 1000)} s\n`);
  }
});
const result = await fc.check(property, { numRuns: Number(values.histories), seed: Number(values.seed) });
const broken = result.failed ? `${result.errorInstance}\n${fc.defaultReportMessage(result)}` : undefined;
const report = { histories: played, seed: result.seed, counts: Object.fromEntries([...counts].sort()), broken };
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
if (broken !== undefined) {
  process.stderr.write(`${broken}\n`);
  process.exitCode = 1;
}

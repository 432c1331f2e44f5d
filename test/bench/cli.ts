import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import { writeSnapshot } from '../../src/adapters/snapshot-file/write-snapshot.ts';
import { epochSeconds } from '../../src/model/units.ts';
import { BUNDLE } from '../support/operator-process.ts';
import { printTable } from '../support/print-table.ts';
import { fullSizeCluster } from './cli-input.ts';

/**
 * Times of whole processes, from start to exit, of the bundle: median and 95th percentile of so many runs each, one after the
 * other in turns, so that what else the machine does hits all alike. Run with `npm run bench:cli`; nothing is asserted.
 */
const RUNS = 20;
const NODES = 100;
const PODS = 3000;
const TAKEN_AT = '2026-01-01T12:00:00Z';

interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  /** Milliseconds; undefined where nothing was promised. */
  readonly target: number | undefined;
}

function run({ args }: Subject, home: string): number {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, KUBECONFIG: '' };
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const took = performance.now() - began;
  if (status !== 0) {
    throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  }
  return took;
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function measure(subjects: readonly Subject[], home: string): readonly (readonly number[])[] {
  for (const subject of subjects) {
    run(subject, home);
  }
  const times = subjects.map((): number[] => []);
  for (let round = 0; round < RUNS; round += 1) {
    subjects.forEach((subject, index) => {
      times[index]?.push(run(subject, home));
    });
  }
  return times;
}

function mebibytes(file: string): string {
  return `${(statSync(file).size / 2 ** 20).toFixed(1)} MiB`;
}

function main(): void {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-bench-cli-'));
  try {
    const objects = fullSizeCluster(NODES, PODS, TAKEN_AT);
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    const policy = join(folder, 'policy.yaml');
    writeFileSync(
      policy,
      dump({ apiVersion: 'evenkeel.dev/v1alpha1', kind: 'RebalancePolicy', metadata: { name: 'even' } }),
    );
    const own = join(folder, 'snapshot.yaml');
    writeFileSync(own, writeSnapshot(objects, epochSeconds(Date.parse(TAKEN_AT) / 1000)));
    const json = join(folder, 'kubectl.json');
    writeFileSync(json, JSON.stringify(list));
    const yaml = join(folder, 'kubectl.yaml');
    writeFileSync(yaml, dump(list, { noRefs: true }));
    const plan = (name: string, file: string, target: number | undefined): Subject => ({
      name: `plan, ${name} of ${mebibytes(file)}`,
      args: [BUNDLE, 'plan', '-f', file, '-p', policy],
      target,
    });
    const subjects: readonly Subject[] = [
      { name: 'node -e 0', args: ['-e', '0'], target: undefined },
      { name: 'evenkeel --help', args: [BUNDLE, '--help'], target: 150 },
      { name: 'evenkeel version', args: [BUNDLE, 'version'], target: undefined },
      { name: 'evenkeel lint policy.yaml', args: [BUNDLE, 'lint', policy], target: undefined },
      plan('evenkeel snapshot', own, 600),
      plan('kubectl -o json', json, 600),
      plan('kubectl -o yaml', yaml, undefined),
    ];
    report(subjects, measure(subjects, folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function report(subjects: readonly Subject[], times: readonly (readonly number[])[]): void {
  const medians = times.map((each) => quantile(each, 0.5));
  const rows = subjects.map(({ name, target }, index) => {
    const median = medians[index] ?? 0;
    return [
      name,
      `${median.toFixed(0)} ms`,
      `${quantile(times[index] ?? [], 0.95).toFixed(0)} ms`,
      (median / (medians[0] ?? 1)).toFixed(2),
      target === undefined ? '' : `${target} ms`,
      target === undefined ? '' : median <= target ? 'met' : 'MISSED',
    ];
  });
  console.log(`${RUNS} runs each; ${NODES} nodes, ${PODS} pods; Node ${process.version}\n`);
  printTable(['process', 'median', 'p95', 'x node -e 0', 'target', ''], rows);
}

main();

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultKind } from '../support/faults/kinds.ts';
import { startFaultProxy } from '../support/faults/proxy.ts';
import { createRandom } from '../support/random.ts';
import { changeScale, changeUsage } from './disturb.ts';
import { type Evidence, evidenceOf } from './evidence.ts';
import { startOperators } from './operators.ts';
import { createPlanLog, untilConverged } from './plan-log.ts';
import { applyEagerPolicy, MAX_CONCURRENT, setStage } from './stage.ts';

/** What a campaign is to do. */
export interface FaultOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Share of requests that are spoiled. */
  readonly rate: number;
  readonly log: (line: string) => void;
}

/** What came of it: each list is to be empty. */
export interface FaultReport extends Evidence {
  readonly minutes: number;
  readonly injected: Readonly<Partial<Record<FaultKind, number>>>;
  /** Logs of operators that ended though they had not lost the lease. */
  readonly crashes: readonly string[];
  readonly leasesLost: number;
  /** Plans that were carried out after the faults had stopped, until the policy was Converged. */
  readonly roundsToConverge: number;
  /** Median resident memory in MiB of the second and of the last third of the time, of the processes that lived throughout. */
  readonly memory: { readonly second: number; readonly last: number };
}

const POLICY = 'faulty';
/** Seconds between two disturbances of the load. */
const CHANGE_EVERY = 20;

/**
 * Runs the operator behind a proxy that spoils its requests while the load changes, then stops the faults and the changes and
 * waits for balance. The evidence is in the audit log, the plans and the process.
 */
export async function runFaultCampaign({ minutes, seed, rate, log }: FaultOptions): Promise<FaultReport> {
  const random = createRandom(seed);
  const cp = await setStage(log);
  const proxy = await startFaultProxy({
    upstream: await cp.kubeconfigFor({ namespace: 'evenkeel-system', name: 'evenkeel' }),
    seed,
  });
  const operators = await startOperators(cp, 1, { kubeconfig: proxy.kubeconfig });
  const plans = createPlanLog(cp);
  const memory: number[] = [];
  try {
    await applyEagerPolicy(cp, POLICY);
    proxy.spoil(rate);
    const end = performance.now() + minutes * 60_000;
    for (let round = 0; performance.now() < end; round += 1) {
      await (round % 3 === 2 ? changeScale(cp, random) : changeUsage(cp, random));
      for (let second = 0; second < CHANGE_EVERY; second += 1) {
        await sleep(1000);
        await plans.look();
        memory.push(residentMemory(operators.process(0)?.pid));
      }
      log(`${plans.all().length} plans, ${sum(proxy.injected.values())} faults, ${memory.at(-1)} MiB`);
    }
    proxy.spoil(0);
    const before = new Set(plans.all().map(({ metadata }) => metadata.name));
    await untilConverged(cp, POLICY, plans, log);
    await operators.stop();
    const seen = plans.all();
    return {
      minutes,
      injected: Object.fromEntries([...proxy.injected].sort()),
      ...evidenceOf(await cp.audit(), seen, MAX_CONCURRENT),
      crashes: operators.ends.map((each) => `exit code ${each.code}:\n${each.log}`),
      leasesLost: operators.leasesLost(),
      roundsToConverge: seen.filter(({ metadata }) => !before.has(metadata.name)).length,
      memory: thirds(memory),
    };
  } finally {
    await operators.stop();
    await proxy.stop();
    await cp.stop();
  }
}

/** Resident memory of a process in MiB (VmRSS of proc(5)); NaN when there is none. */
function residentMemory(pid: number | undefined): number {
  if (pid === undefined) {
    return Number.NaN;
  }
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kibibytes) / 1024);
}

function thirds(samples: readonly number[]): FaultReport['memory'] {
  const third = Math.floor(samples.length / 3);
  return { second: median(samples.slice(third, 2 * third)), last: median(samples.slice(2 * third)) };
}

function median(samples: readonly number[]): number {
  const known = samples.filter((sample) => !Number.isNaN(sample)).sort((left, right) => left - right);
  return known[known.length >> 1] ?? Number.NaN;
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}

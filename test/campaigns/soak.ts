import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { createRandom } from '../support/random.ts';
import { policyObject } from '../support/resources.ts';
import { createChurn } from './churn.ts';
import { type Evidence, evidenceOf } from './evidence.ts';
import { startOperators } from './operators.ts';
import { followPlans, hasEnded, type PlanLog } from './plan-log.ts';
import { setStage } from './stage.ts';
import { assess, type Constitution, WARM_UP } from './trend.ts';
import { type Confession, confessionOf, type Vitals, vitalsOf } from './vitals.ts';

/** What a campaign is to do. */
export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** What came of it: each list is to be empty. */
export interface SoakReport extends Evidence, Constitution {
  readonly minutes: number;
  /** Changes to the cluster by everybody but the operator. */
  readonly changes: number;
  /** Moves by the phase in which they ended. */
  readonly moves: Readonly<Record<string, number>>;
  /** Percent of a core that the operator used while the cluster changed, and once nothing did. */
  readonly cpu: { readonly busy: number; readonly idle: number };
  /** Logs of operators that ended by themselves. */
  readonly crashes: readonly string[];
}

const POLICY = 'soaking';
const MAX_CONCURRENT = 5;
/** Seconds between two samples, and between two changes. */
const SAMPLE_EVERY = 15;
const CHANGE_EVERY = 3;
/** Seconds over which the idle operator is watched. */
const IDLE = 60;

/**
 * Lets the operator, elected like any other, balance 200 nodes and 4,000 pods that never come to rest, and takes its vitals all
 * the while; then suspends the policy, leaves the cluster alone, and looks at what the operator uses with nothing to do.
 */
export async function runSoakCampaign({ minutes, seed, log }: SoakOptions): Promise<SoakReport> {
  const cp = await setStage(log, { scenario: 'soak.yaml', metricResolution: '15s', measured: false });
  const operators = await startOperators(cp, 1, {});
  const plans = await followPlans(cp);
  const churn = createChurn(cp, createRandom(seed));
  try {
    const operator = operators.process(0);
    await operator?.logged('leading');
    const confess = await confessionOf(cp, Number((await operator?.logged('operator started'))?.['metricsPort']));
    const sample = vitalsOf(operator?.pid ?? 0);
    await applyPolicy(cp, false);
    const samples: Vitals[] = [await sample()];
    const began = performance.now();
    const end = began + minutes * 60_000;
    const warmFrom = began + WARM_UP * minutes * 60_000;
    let warm: Confession | undefined;
    let changes = 0;
    for (; performance.now() < end; changes += 1) {
      const pause = sleep(CHANGE_EVERY * 1000);
      const what = await churn.next();
      if (changes % (SAMPLE_EVERY / CHANGE_EVERY) === 0) {
        const vitals = await sample();
        samples.push(vitals);
        await plans.look();
        warm ??= performance.now() >= warmFrom ? await confess() : undefined;
        log(`${line(vitals)}, ${plans.all().length} plans; ${what}`);
      }
      await pause;
    }
    const said = { warm: warm ?? (await confess()), end: await confess() };
    await churn.heal();
    await applyPolicy(cp, true);
    await untilEnded(plans, log);
    const rest = [await sample()];
    await sleep(IDLE * 1000);
    rest.push(await sample());
    await operators.stop();
    await plans.look();
    await plans.stop();
    return {
      minutes,
      changes,
      ...evidenceOf(await cp.audit(), plans, MAX_CONCURRENT),
      moves: countPhases(plans.all()),
      ...assess(samples, said),
      cpu: { busy: cpuShare(samples), idle: cpuShare(rest) },
      crashes: operators.ends.map((each) => `exit code ${each.code}:\n${each.log}`),
    };
  } finally {
    await operators.stop();
    await plans.stop().finally(() => cp.stop());
  }
}

/** Acts at once on whatever tilts the cluster, in plans of a few moves, so that there are many. */
async function applyPolicy(cp: ControlPlane, suspend: boolean): Promise<void> {
  await cp.apply([
    policyObject(POLICY, {
      mode: 'Automatic',
      suspend,
      interval: '20s',
      historyLimit: 20,
      thresholds: { trigger: '0.05', consecutive: 1 },
      budgets: [{ maxMoves: 5, maxConcurrent: MAX_CONCURRENT }],
      protections: { minPodAge: '0s', stabilization: '0s', cooldown: '1m' },
    }),
  ]);
}

async function untilEnded(plans: PlanLog, log: (line: string) => void): Promise<void> {
  const open = async (): Promise<string | undefined> => {
    await plans.look();
    const left = plans.all().filter((plan) => !hasEnded(plan));
    return left.length === 0 ? undefined : left.map(({ metadata }) => metadata.name).join(', ');
  };
  await waitUntil('the end of all plans', open, { timeoutMilliseconds: 300_000, log });
}

function line({ at, rss, descriptors, cpu }: Vitals): string {
  return `${at.toFixed(0)} s: ${rss.toFixed(0)} MiB, ${descriptors} descriptors, ${cpu.toFixed(1)} s of CPU`;
}

function countPhases(plans: ReturnType<PlanLog['all']>): Record<string, number> {
  const phases = plans.flatMap(({ status }) => (status?.moves ?? []).map(({ phase }) => phase));
  return Object.fromEntries([...Map.groupBy(phases, (phase) => phase)].map(([phase, all]) => [phase, all.length]));
}

/** Percent of one core between the first and the last sample. */
function cpuShare(samples: readonly Vitals[]): number {
  const [first, last] = [samples[0], samples.at(-1)];
  return first === undefined || last === undefined ? Number.NaN : (100 * (last.cpu - first.cpu)) / (last.at - first.at);
}

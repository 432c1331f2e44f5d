import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../control-plane/wait-until.ts';
import { createRandom } from '../support/random.ts';
import { changeUsage } from './disturb.ts';
import { type Evidence, evidenceOf, strayMoves } from './evidence.ts';
import { type Operators, startOperators } from './operators.ts';
import { createPlanLog, untilConverged } from './plan-log.ts';
import { applyEagerPolicy, MAX_CONCURRENT, setStage } from './stage.ts';

/** What a campaign is to do. */
export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** What came of it: each list is to be empty. */
export interface CrashReport extends Evidence {
  readonly kills: number;
  /** Kills of the replica that led. */
  readonly killsOfLeaders: number;
  /** Pods that are said to have landed but run elsewhere. */
  readonly strays: readonly string[];
  readonly hintsLeft: readonly string[];
  /** Logs of replicas that ended by themselves. */
  readonly crashes: readonly string[];
  readonly leasesLost: number;
}

const POLICY = 'crashing';
/** Two replicas; the second one takes over when the first one is away for longer than the lease. */
const REPLICAS = 2;
/** As short as it may be, so that the next leader is not waited for longer than it lives. */
const LEASE = ['--lease-duration', '2s'];
/** Milliseconds between the beginning of a term and a kill, at most. */
const LONGEST_TERM = 3000;
const PATIENCE = { timeoutMilliseconds: 60_000 };
/** Share of the kills that are aimed at the replica that leads. */
const LEADERS_SHARE = 0.7;
/** Kills between two changes of the load. */
const KILLS_PER_CHANGE = 4;

/**
 * Kills replicas of the operator at random instants while it balances a cluster whose load changes, then lets it finish, and
 * collects the evidence from the audit log and the plans.
 */
export async function runCrashCampaign({ kills, seed, log }: CrashOptions): Promise<CrashReport> {
  const random = createRandom(seed);
  const cp = await setStage(log);
  const operators = await startOperators(cp, REPLICAS, { args: LEASE });
  const plans = createPlanLog(cp);
  let killsOfLeaders = 0;
  try {
    await applyEagerPolicy(cp, POLICY);
    for (let kill = 0; kill < kills; kill += 1) {
      if (kill % KILLS_PER_CHANGE === 0) {
        await changeUsage(cp, random);
        await plans.look();
        log(`${kill} of ${kills} kills, ${plans.all().length} plans`);
      }
      await waitUntil('a leader', async () => (leaderOf(operators) === undefined ? 'none' : undefined), PATIENCE);
      await sleep(random.next() * LONGEST_TERM);
      const other = random.below(REPLICAS);
      const replica = random.next() < LEADERS_SHARE ? (leaderOf(operators) ?? other) : other;
      killsOfLeaders += isLeading(operators, replica) ? 1 : 0;
      await operators.kill(replica, random.below(2) * 1000);
    }
    await untilConverged(cp, POLICY, plans, log);
    await sleep(5000);
    const hints = await cp.kubectl(['get', 'placementhints', '-A', '-o', 'name']);
    await operators.stop();
    await plans.look();
    const seen = plans.all();
    return {
      kills,
      killsOfLeaders,
      ...evidenceOf(await cp.audit(), seen, MAX_CONCURRENT),
      strays: seen.flatMap(strayMoves).map(({ podUID }) => podUID),
      hintsLeft: hints.split('\n').filter((line) => line !== ''),
      crashes: operators.ends.map((end) => `exit code ${end.code}:\n${end.log}`),
      leasesLost: operators.leasesLost(),
    };
  } finally {
    await operators.stop();
    await cp.stop();
  }
}

function leaderOf(operators: Operators): number | undefined {
  return Array.from({ length: REPLICAS }, (_, replica) => replica).find((each) => isLeading(operators, each));
}

function isLeading(operators: Operators, replica: number): boolean {
  return operators.process(replica)?.log().includes('"msg":"leading"') === true;
}

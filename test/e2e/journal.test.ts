import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MoveJournal } from '../../src/api/v1alpha1/move-journal.ts';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { evidenceOf } from '../campaigns/evidence.ts';
import { followPlans, hasEnded, type PlanLog } from '../campaigns/plan-log.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { type ObjectWatch, watchObjects } from '../support/object-watch.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { policyObject } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const API = '/apis/evenkeel.dev/v1alpha1';
const AT_A_TIME = 3;
/** Plans of more moves have a journal. */
const LARGE = 20;
/** Moves that have begun when the operator is killed. */
const KILLS = [3, 9, 14];
/** Moves that have begun when the journal is deleted, beside an operator that goes on. */
const DELETION = 18;
const patience = { timeoutMilliseconds: 240_000, log };

let cp: ControlPlane;
let operator: OperatorProcess | undefined;
let plans: PlanLog;
const watches: ObjectWatch[] = [];
/** Every state that was stored of large plans and of journals. */
const written = { plans: 0, journals: 0, plansBytes: 0, journalsBytes: 0 };
let newest: MoveJournal | undefined;

const size = (object: unknown): number => Buffer.byteLength(JSON.stringify(object));

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'tilted.yaml')), { log });
  plans = await followPlans(cp);
  watches.push(
    await watchObjects<RebalancePlan>(cp, `${API}/rebalanceplans`, ({ object }) => {
      const isLarge = object.spec.moves.length > LARGE;
      written.plans += isLarge ? 1 : 0;
      written.plansBytes += isLarge ? size(object) : 0;
    }),
    await watchObjects<MoveJournal>(cp, `${API}/movejournals`, ({ type, object }) => {
      written.journals += type === 'DELETED' ? 0 : 1;
      written.journalsBytes += type === 'DELETED' ? 0 : size(object);
      newest = type === 'DELETED' ? undefined : object;
    }),
  );
  operator = await startOperator(cp, { args: ['--lease-duration', '6s'] });
  const spec = {
    mode: 'Automatic',
    interval: '10s',
    load: { source: 'Requests' },
    thresholds: { trigger: '0.05', minGain: '0.005', minImprovement: '0', minReduction: '0', consecutive: 1 },
    budgets: [{ maxMoves: 100, maxConcurrent: AT_A_TIME }],
    protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
  };
  await cp.apply([policyObject('even', spec)]);
}, 400_000);

afterAll(async () => {
  await Promise.all([plans, ...watches].map((each) => each?.stop()));
  await operator?.end('SIGTERM');
  await cp?.stop();
});

/** Moves of the large plan that have begun. */
function begun(): number {
  const runs = plans.all().flatMap(({ spec, status }) => (spec.moves.length > LARGE ? (status?.moves ?? []) : []));
  return runs.filter(({ phase }) => phase !== 'Planned').length;
}

async function untilBegun(count: number): Promise<void> {
  const enough = async () =>
    begun() >= count
      ? undefined
      : `${begun()} moves; the policy says ${await cp.kubectl(['get', 'rebalancepolicy', 'even', '-o', 'jsonpath={.status.conditions[*].message}'])}`;
  await waitUntil(`waiting for ${count} moves that have begun`, enough, patience);
}

describe('a plan of more than 20 moves', () => {
  it('is carried out to its end though the operator is killed amid it, and its journal deleted', {
    timeout: 500_000,
  }, async () => {
    for (const count of KILLS) {
      await untilBegun(count);
      await operator?.end('SIGKILL');
      operator = await startOperator(cp, { args: ['--lease-duration', '6s'] });
    }
    await untilBegun(DELETION);
    expect(newest?.spec.sequence).toBeGreaterThan(0);
    await cp.kubectl(['delete', 'movejournals', '--all']);
    await waitUntil(
      'the end of the plan',
      async () => {
        const open = plans.all().filter((plan) => !hasEnded(plan));
        return plans.all().length > 0 && open.length === 0
          ? undefined
          : open.map(({ metadata, status }) => `${metadata.name}: ${JSON.stringify(status?.summary)}`).join(', ');
      },
      patience,
    );
  });

  it('evicts no pod twice, and none that it does not own up to, and keeps to its budget', async () => {
    const [largest = 0] = plans
      .all()
      .map(({ spec }) => spec.moves.length)
      .sort((a, b) => b - a);
    expect(largest).toBeGreaterThan(LARGE);
    // Not `unfinished`: the operator goes on, and may have begun the next plan.
    const { evictions, evictedTwice, unexplained, disowned, overBudget } = evidenceOf(
      await cp.audit(),
      plans,
      AT_A_TIME,
    );
    expect({ evictedTwice, unexplained, disowned, overBudget }).toEqual({
      evictedTwice: [],
      unexplained: [],
      disowned: [],
      overBudget: [],
    });
    expect(evictions).toBeGreaterThan(20);
  });

  it('leaves no journal, and says by itself what came of its moves', async () => {
    await waitUntil(
      'the deletion of the journal',
      async () => (await cp.kubectl(['get', 'movejournals', '-o', 'name'])).trim() || undefined,
      patience,
    );
    const stored = JSON.parse(await cp.kubectl(['get', 'rebalanceplans', '-o', 'json'])) as { items: RebalancePlan[] };
    const large = stored.items.filter(({ spec }) => spec.moves.length > LARGE);
    expect(large.length).toBeGreaterThan(0);
    for (const { spec, status } of large) {
      expect(status?.summary?.done).toBe(spec.moves.length);
      expect(status?.journal).toBeUndefined();
    }
  });

  it('has written more often to its journal than to itself', () => {
    log(JSON.stringify(written));
    expect(written.journals).toBeGreaterThan(written.plans);
    expect(written.journalsBytes / written.journals).toBeLessThan(written.plansBytes / written.plans / 2);
  });
});

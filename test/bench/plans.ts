import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { MoveStatus, RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { connect } from '../../src/app/cluster.ts';
import { formatInstant } from '../../src/model/instant.ts';
import { epochSeconds, seconds } from '../../src/model/units.ts';
import type { PlanStore } from '../../src/ports.ts';
import { toRebalancePlan } from '../../src/report/plan-resource.ts';
import type { Delay } from '../../src/simulate/scenario.ts';
import { vitalsOf } from '../campaigns/vitals.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { type BytesWritten, bytesWritten, largePlan, stage } from '../support/large-plan.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { printTable } from '../support/print-table.ts';
import { policyObject } from '../support/resources.ts';

/**
 * What large plans cost: the memory of the operator beside many plans that have ended, on the real control plane, and what is
 * written while one plan is carried out, on the modelled cluster. Run with `npm run bench:plans [-- --plans 400 --moves 1000 --only memory|writes --at-a-time 100]`.
 * Nothing is asserted: the table is for people.
 */
const { values } = parseArgs({
  options: {
    plans: { type: 'string', default: '400' },
    moves: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '90' },
    only: { type: 'string', default: '' },
    'at-a-time': { type: 'string', default: '100,20,5,2' },
  },
});
const PLANS = Number(values.plans);
const MOVES = Number(values.moves);
/** As many plans as one policy may keep. */
const OF_POLICY = 100;
/** Seconds from the end of one plan of a policy to that of the next. */
const APART = 900;
/** Nodes take one move at a time, and half of them take any. */
const nodesFor = (concurrent: number): number => Math.max(40, 2 * concurrent);
const RSS_TARGET_MIB = 512;
const WRITTEN_TARGET_MB = 60;
const MOST_ATTEMPTS = 5;
const MIB = 2 ** 20;
const MB = 10 ** 6;

const log = (line: string): void => void process.stderr.write(`${line}\n`);

const large = largePlan(MOVES);

/** Pods that take long to start, each another time: so moves end one by one, and others begin one by one. */
const VARIED = { kind: 'LogNormal', mean: seconds(20), p95: seconds(50) } as const;

/** A plan that is carried out, and how. */
interface Execution {
  readonly moves: number;
  readonly concurrent: number;
  readonly startup: Delay | undefined;
}

/** Pods that start one by one, and in lock-step. */
const EXECUTIONS: readonly Execution[] = [
  ...[100, 20, 5, 2].map((concurrent) => ({ moves: MOVES, concurrent, startup: VARIED })),
  ...[20, 2].map((concurrent) => ({ moves: MOVES / 10, concurrent, startup: VARIED })),
  { moves: MOVES, concurrent: 100, startup: undefined },
].filter(({ concurrent }) => values['at-a-time'].split(',').includes(String(concurrent)));

/** What one plan writes, by the operator's own store over a modelled API server, in virtual time. */
async function measureWrites({ moves, concurrent, startup }: Execution): Promise<BytesWritten> {
  const w = stage(largePlan(moves, nodesFor(concurrent)));
  w.cluster.delays.startup = startup;
  return await bytesWritten(w, concurrent, 100_000);
}

function writesRow({ moves, concurrent, startup }: Execution, { plans, journals, total }: BytesWritten) {
  const { mean } = startup === undefined ? { mean: 0 } : VARIED;
  return [
    String(moves),
    String(concurrent),
    startup === undefined ? 'all at once' : `after ${mean} s on average`,
    String(plans.length),
    String(journals.length),
    `${(total / MB).toFixed(1)} MB`,
    total / MB <= WRITTEN_TARGET_MB ? 'met' : 'MISSED',
  ];
}

/** The staged plan as it is after all of its moves have landed; names differ, as those of pods do. */
function endedPlan(policy: RebalancePlan['spec']['policy'], place: number): RebalancePlan {
  const { spec } = toRebalancePlan(large.plan, aPolicy(policy.name), 1, large.snapshot);
  const finished = epochSeconds(Math.floor(Date.now() / 1000) - 60 - APART * place);
  const [startedAt, finishedAt] = [formatInstant(epochSeconds(finished - 600)), formatInstant(finished)];
  const moves = spec.moves.map((move, index) => ({
    ...move,
    pod: { ...move.pod, uid: uuid(place, index) },
  }));
  const runs = moves.map(
    ({ pod, to = '' }, index): MoveStatus => ({
      podUID: pod.uid,
      phase: 'Landed',
      attempt: 1,
      startedAt,
      finishedAt,
      unavailableSeconds: 1,
      outcome: `runs on ${to}`,
      replacement: { name: `${pod.name}-r`, uid: uuid(place + 1_000_000, index), node: to },
    }),
  );
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'RebalancePlan',
    metadata: { name: `${policy.name}-${place}` },
    spec: { ...spec, policy, moves, takenAt: startedAt },
    status: { phase: 'Completed', startedAt, finishedAt, moves: runs } as RebalancePlan['status'] & object,
  };
}

function uuid(left: number, right: number): string {
  const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0');
  return `${hex(left, 8)}-0000-4000-8000-${hex(right, 12)}`;
}

/** Stores the plans. Resolves to their MiB as JSON. */
async function storePlans(cp: ControlPlane): Promise<number> {
  const cluster = await connect({ kubeconfig: cp.kubeconfig, context: undefined });
  const { signal } = new AbortController();
  let size = 0;
  try {
    const policies = await cluster.policies.list(signal);
    for (let index = 0; index < PLANS; index += 1) {
      const stored = policies[Math.floor(index / OF_POLICY)];
      if (stored === undefined) {
        throw new Error(`there is no policy for plan ${index}`);
      }
      const { name, uid = '', generation = 1 } = stored.policy.metadata;
      const plan = endedPlan({ name, uid, generation }, index % OF_POLICY);
      size += JSON.stringify(plan).length;
      await storePlan(cluster.plans, plan, signal);
      if ((index + 1) % 50 === 0) {
        log(`${index + 1} plans of ${MOVES} moves are stored`);
      }
    }
  } finally {
    await cluster.close();
  }
  return size / MIB;
}

/** Stores a plan with its status, whose writing an API server that is busy with those before may not answer in time. */
async function storePlan(plans: PlanStore, plan: RebalancePlan, signal: AbortSignal): Promise<void> {
  const { name } = plan.metadata;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const stored = attempt === 0 ? undefined : await plans.get(name, signal);
      await (stored === undefined ? plans.create(plan, signal) : plans.writeStatus(stored, plan.status ?? {}, signal));
      return;
    } catch (error) {
      if (attempt === MOST_ATTEMPTS) {
        throw error;
      }
      log(`plan ${name} is stored again: ${String(error)}`);
    }
  }
}

/** MiB of the operator's memory beside these plans: the most, and after `seconds`. */
async function measureMemory(): Promise<{ readonly stored: number; readonly most: number; readonly last: number }> {
  const cp = await startControlPlane({ log });
  try {
    await install(cp, 'default');
    const policies = Array.from({ length: Math.ceil(PLANS / OF_POLICY) }, (_, index) =>
      policyObject(`policy-${index}`, {
        mode: 'DryRun',
        interval: '10s',
        historyLimit: 100,
        load: { source: 'Requests' },
      }),
    );
    await cp.apply(policies);
    const stored = await storePlans(cp);
    const operator = await startOperator(cp);
    try {
      const look = vitalsOf(operator.pid);
      let [most, last] = [0, 0];
      for (let second = 0; second < Number(values.seconds); second += 1) {
        await sleep(1000);
        last = (await look().catch(() => endedEarly(operator))).rss;
        most = Math.max(most, last);
        if (second % 15 === 0) {
          log(`${second} s: ${last.toFixed(0)} MiB`);
        }
      }
      const warnings = operator
        .log()
        .split('\n')
        .filter((line) => /"level":"(warn|error)"/.test(line));
      warnings.slice(-5).forEach((line) => {
        log(line.slice(0, 400));
      });
      return { stored, most, last };
    } finally {
      await operator.end('SIGTERM');
    }
  } finally {
    await cp.stop();
  }
}

function endedEarly(operator: OperatorProcess): never {
  throw new Error(`the operator has ended by itself:\n${operator.log().slice(-4000)}`);
}

function row(what: string, value: number, unit: string, target?: number): readonly string[] {
  const verdict = target === undefined ? '' : value <= target ? 'met' : 'MISSED';
  return [
    what,
    `${value.toFixed(unit === '' ? 0 : 1)} ${unit}`.trim(),
    target === undefined ? '' : `${target} ${unit}`,
    verdict,
  ];
}

const rows: (readonly string[])[] = [];
if (values.only !== 'memory') {
  const written: (readonly string[])[] = [];
  for (const execution of EXECUTIONS) {
    log(`a plan of ${execution.moves} moves, ${execution.concurrent} at a time`);
    const found = writesRow(execution, await measureWrites(execution));
    log(found.join(', '));
    written.push(found);
  }
  const target = `written, target ${WRITTEN_TARGET_MB} MB`;
  printTable(['moves', 'at a time', 'pods start', 'writes of the plan', 'of its journal', target, ''], written);
}
if (values.only !== 'writes') {
  const { stored, most, last } = await measureMemory();
  rows.push(
    row(`${PLANS} plans of ${MOVES} moves, stored`, stored, 'MiB'),
    row('RSS at most', most, 'MiB', RSS_TARGET_MIB),
    row(`RSS after ${values.seconds} s`, last, 'MiB', RSS_TARGET_MIB),
  );
}
if (rows.length > 0) {
  printTable(['', 'measured', 'target', ''], rows);
}

/**
 * `npm run campaign:kubelets`: three nodes with real kubelets and containers. Two are full before the third joins; the operator is to
 * even out what metrics-server measures. Judges are the containers' own logs and a prober from outside. Needs root and
 * `npm run setup:kubelets`. Progress goes to stderr, tables to stdout; the exit code is 1 when a claim does not hold.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import type { MoveStatus, RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { buildControlPlane } from '../control-plane/build.ts';
import { nodeLoads, standardDeviation } from '../control-plane/node-loads.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, startOperator } from '../support/operator-process.ts';
import { printTable } from '../support/print-table.ts';
import { getPlans, getPolicy, policyObject } from '../support/resources.ts';
import { measureEnds, type ReportedEnd } from './ends.ts';
import { writeImage } from './image.ts';
import { createNodeAddresses, enterOwnNetwork } from './network.ts';
import { type RealNode, startNode } from './node.ts';
import { startProber } from './prober.ts';
import { buildKubelets, checkMachine } from './programs.ts';
import { BURNERS, burnerObjects, NAMESPACE } from './workloads.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const POLICY = 'kubelets';
const NODES = 3;
/** Allocatable of each node. */
const MILLICORES = 600;
/** Of the operator's account of lost service, for each move: it counts whole seconds, and so do the conditions of pods. */
const ROUNDING = 1;

checkMachine();
const programs = await buildKubelets(log);
await buildControlPlane({ log });
enterOwnNetwork();

const SPEC = {
  mode: 'Automatic',
  interval: '15s',
  thresholds: { trigger: '0.10', consecutive: 1 },
  budgets: [{ maxMoves: 20, maxConcurrent: 2 }],
  protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s', localStorage: 'Allow' },
};

interface Said {
  readonly event: 'started' | 'ready' | 'terminating' | 'ended';
  readonly time: string;
  readonly pod: string;
}

function said(logs: string): readonly Said[] {
  return readdirSync(logs)
    .flatMap((pod) => readFileSync(join(logs, pod), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as Said);
}

async function measuredLoads(cp: ControlPlane): Promise<ReadonlyMap<string, number>> {
  await waitUntil(
    'metrics of all nodes',
    async () => ((await nodeLoads(cp)).size === NODES ? undefined : `${(await nodeLoads(cp)).size} of ${NODES}`),
    { timeoutMilliseconds: 90_000, log },
  );
  return nodeLoads(cp);
}

/** Two samples of metrics-server, each over its last interval, and the scrape between them. */
const settled = (): Promise<void> => sleep(35_000);

async function allReady(cp: ControlPlane): Promise<void> {
  await cp.kubectl(['rollout', 'status', 'deployment', `--namespace=${NAMESPACE}`, '--timeout=120s']);
}

/** Waits until three rounds in a row planned nothing. */
async function untilRest(cp: ControlPlane): Promise<void> {
  const quiet = new Set<string>();
  await waitUntil(
    'the cluster at rest',
    async () => {
      const [{ status }, plans] = [await getPolicy(cp, POLICY), await getPlans(cp)];
      if (plans.some((plan) => plan.status?.finishedAt === undefined && plan.spec.moves.length > 0)) {
        quiet.clear();
      } else if (status?.lastRun !== undefined) {
        quiet.add(`${plans.length} ${status.lastRun}`);
      }
      return quiet.size > 3
        ? undefined
        : `${plans.length} plans, ${quiet.size} quiet rounds: ${status?.conditions?.find(({ type }) => type === 'PlanReady')?.message}`;
    },
    { timeoutMilliseconds: 900_000, log },
  );
}

interface Moved {
  readonly workload: string;
  readonly pod: string;
  readonly run: MoveStatus;
}

function movesOf(plans: readonly RebalancePlan[]): readonly Moved[] {
  return plans.flatMap(({ spec, status }) =>
    (status?.moves ?? []).map((run, index) => ({
      workload: spec.moves[index]?.workload?.name ?? '',
      pod: spec.moves[index]?.pod.name ?? '',
      run,
    })),
  );
}

/** Seconds from SIGTERM of the moved pod to `ready` of its replacement, by their own logs. */
function loggedGap({ pod, run }: Moved, lines: readonly Said[]): number {
  const timeOf = (name: string | undefined, event: Said['event']): number =>
    Date.parse(lines.find((line) => line.pod === name && line.event === event)?.time ?? '');
  return (timeOf(run.replacement?.name, 'ready') - timeOf(pod, 'terminating')) / 1000;
}

async function campaign(cp: ControlPlane, images: string): Promise<boolean> {
  const nodes: RealNode[] = [];
  const logs = join(cp.dir, 'logs');
  mkdirSync(logs);
  chmodSync(logs, 0o777);
  chmodSync(cp.dir, 0o755);
  const addresses = createNodeAddresses(NODES);
  const joins = async (place: number): Promise<void> => {
    const began = performance.now();
    const address = addresses[place] ?? '';
    nodes.push(await startNode(cp, { number: place + 1, address, millicores: MILLICORES, programs, images }));
    log(`real-${place + 1} Ready after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  };
  const client = new ApiClient(await connect({ kubeconfig: cp.kubeconfig, context: undefined, env: {} }), {
    userAgent: 'prober',
    attempts: 3,
    clock: systemClock,
    random: Math.random,
  });
  try {
    await install(cp, 'default');
    await joins(0);
    await joins(1);
    await cp.apply(burnerObjects(logs));
    await allReady(cp);
    await joins(2);
    const operator = await startOperator(cp, { args: ['--metrics-insecure'] });
    const prober = startProber(client, NAMESPACE, new Map(BURNERS.map(({ name, replicas }) => [name, replicas])));
    try {
      await operator.logged('leading');
      await settled();
      const before = await measuredLoads(cp);
      const lostBefore = new Map(prober.lost);
      await cp.apply([policyObject(POLICY, SPEC)]);
      await untilRest(cp);
      await settled();
      const lost = new Map([...prober.lost].map(([service, sum]) => [service, sum - (lostBefore.get(service) ?? 0)]));
      return report({
        before,
        after: await measuredLoads(cp),
        moves: movesOf(await getPlans(cp)),
        lines: said(logs),
        lost,
        ends: await measureEnds(cp, logs),
      });
    } finally {
      await prober.stop();
      await operator.end('SIGTERM');
    }
  } finally {
    await client.close();
    await Promise.all(nodes.map((node) => node.kill()));
  }
}

interface Findings {
  readonly before: ReadonlyMap<string, number>;
  readonly after: ReadonlyMap<string, number>;
  readonly moves: readonly Moved[];
  readonly lines: readonly Said[];
  /** Seconds, by workload. */
  readonly lost: ReadonlyMap<string, number>;
  readonly ends: readonly ReportedEnd[];
}

/** Prints what was found. Returns whether all claims hold. */
function report({ before, after, moves, lines, lost, ends }: Findings): boolean {
  const spreadOf = (loads: ReadonlyMap<string, number>) => Math.max(...loads.values()) - Math.min(...loads.values());
  const percent = (share: number | undefined): string => `${((share ?? Number.NaN) * 100).toFixed(1)} %`;
  printTable(
    ['node', 'measured before', 'after'],
    [...before.keys()].sort().map((node) => [node, percent(before.get(node)), percent(after.get(node))]),
  );
  const landed = moves.filter(({ run }) => run.phase === 'Landed');
  process.stdout.write(
    `\nspread ${percent(spreadOf(before))} -> ${percent(spreadOf(after))}, deviation ${percent(standardDeviation([...before.values()]))} -> ${percent(standardDeviation([...after.values()]))}; ${moves.length} moves, ${landed.length} landed\n\n`,
  );
  printTable(
    ['move of', 'outcome', 'seconds without it, by the operator', 'by the containers'],
    moves.map((move) => [
      move.workload,
      `${move.run.phase} ${move.run.outcome ?? ''}`,
      String(move.run.unavailableSeconds ?? '-'),
      loggedGap(move, lines).toFixed(1),
    ]),
  );
  const accounts = [...lost].map(([workload, probed]) => {
    const own = moves.filter((move) => move.workload === workload);
    const told = own.reduce((sum, { run }) => sum + (run.unavailableSeconds ?? 0), 0);
    return { workload, probed, told, moves: own.length };
  });
  process.stdout.write('\n');
  printTable(
    ['workload', 'moves', 'service lost, by the operator', 'by a client'],
    accounts.map(({ workload, probed, told, moves: count }) => [
      workload,
      String(count),
      `${told} s`,
      `${probed.toFixed(1)} s`,
    ]),
  );
  const delays = ends.map((end) => end.after).sort((left, right) => left - right);
  const [median, longest] = [delays[Math.floor(delays.length / 2)], delays.at(-1)];
  process.stdout.write(
    `\n${ends.length} containers killed; reported after ${delays[0]?.toFixed(2)} to ${longest?.toFixed(2)} s, median ${median?.toFixed(2)} s\n`,
  );
  const claims = {
    'there were moves': moves.length > 0,
    'all moves landed': landed.length === moves.length,
    'the spread is at most a third of what it was': spreadOf(after) <= spreadOf(before) / 3,
    'lost service is right to a second for each move': accounts.every(
      ({ probed, told, moves: count }) => Math.abs(probed - told) <= ROUNDING * Math.max(1, count),
    ),
    'the end of each container is reported within half of the default lease': ends.every((end) => end.after <= 7.5),
    'no end is said to be earlier than the second in which it was': ends.every(({ named }) => named > -1),
    'each start-up is right to two seconds': moves.every(
      (move) => Math.abs(loggedGap(move, lines) - (move.run.unavailableSeconds ?? Number.NaN)) <= 2,
    ),
  };
  process.stdout.write('\n');
  for (const [claim, holds] of Object.entries(claims)) {
    process.stdout.write(`${holds ? 'yes' : 'NO'}: ${claim}\n`);
  }
  return Object.values(claims).every(Boolean);
}

const cp = await startControlPlane({ kubelets: true, log });
const images = mkdtempSync(join(tmpdir(), 'evenkeel-images-'));
try {
  writeImage(join(programs, 'pause'), 'kubelets.local/pause:1', join(images, 'pause.tar'));
  writeImage(join(programs, 'burner'), 'kubelets.local/burner:1', join(images, 'burner.tar'));
  process.exitCode = (await campaign(cp, images)) ? 0 : 1;
} finally {
  await cp.stop();
  rmSync(images, { recursive: true });
}

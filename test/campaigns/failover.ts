import { setTimeout as sleep } from 'node:timers/promises';
import { hasCondition } from '../control-plane/cluster-state.ts';
import { applyScenario } from '../control-plane/scenario.ts';
import { parseScenario } from '../control-plane/scenario-parse.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { meanOf } from '../support/mean.ts';
import { type PodEvent, watchPods } from '../support/object-watch.ts';
import { install, installShared } from '../support/operator-process.ts';
import { createRandom } from '../support/random.ts';
import { createReplicaPods } from '../support/replica-pods.ts';
import { policyObject } from '../support/resources.ts';
import { followLeaders } from './leaders.ts';
import { startOperators } from './operators.ts';
import { contestSpec, NAMESPACE, requestObject, serviceClassObject } from './requests.ts';
import { startSchedulers } from './schedulers.ts';

/** Who is killed: kube-scheduler, one of two that elect a leader, or one of three replicas of the operator, at whose gate pods wait. */
export const SYSTEMS = ['Scheduler', 'Standby', 'Evenkeel'] as const;
/** One of them. */
export type System = (typeof SYSTEMS)[number];

/** The submissions after which whoever leads is killed (KMS, chapter 5): of 50. */
export const PROFILES = {
  Undisturbed: [],
  Moderate: [14, 27, 41],
  Intense: [4, 9, 14, 17, 21, 25, 30, 33, 36, 38, 45],
} as const satisfies Record<string, readonly number[]>;
/** One of them. */
export type Profile = keyof typeof PROFILES;

/** What a run is to do. */
export interface FailoverOptions {
  readonly system: System;
  /** Submissions after which whoever leads is killed, the first one is 1. */
  readonly kills: readonly number[];
  /** How many submissions there are, and of how many pods in all. */
  readonly submissions: number;
  readonly pods: number;
  /** Of the instants of submission. */
  readonly seed: number;
  /** Whether the replicas of the operator share policies; the gate goes with the rest, and its leader is killed. Default false. */
  readonly shardPolicies?: boolean;
  /** Whether the kubelets of the operator's replicas report the end of their containers; else, as if their nodes had failed, nobody does. */
  readonly reported: boolean;
  readonly log: (line: string) => void;
}

/** Means over all pods, in seconds on one clock. */
export interface FailoverReport {
  readonly kills: number;
  /** Pods that ran to their end. */
  readonly pods: number;
  /** From the creation of a pod until it has a node, and until it is Ready. */
  readonly waitForNode: number;
  readonly waitUntilReady: number;
  /** From the first submission to the end of the last pod. */
  readonly makespan: number;
  /** (wait until Ready + run time) / run time. */
  readonly slowdown: number;
}

/** Of all pods. */
const CLASS = 'failover';
/**
 * Milliseconds between two submissions, on average, and how much they differ from it at most, so that they do not come in step with
 * the looks at the gate.
 */
const SUBMISSION_PERIOD = 6000;
const SUBMISSION_JITTER = 1000;
/** Milliseconds that a pod runs once it is Ready. */
const RUN_TIME = 60_000;
/** Milliseconds after which a run that does not come to its end is given up. */
const LONGEST = 1_800_000;
/** Replicas of the operator, and their lease. */
const REPLICAS = 3;
const LEASE = ['--lease-duration', '4s'];
/** Milliseconds until a kubelet starts a container again that has ended: at first, then twice as long each time, up to five minutes. */
const FIRST_BACK_OFF = 10_000;
const LONGEST_BACK_OFF = 300_000;

/** Whoever places pods, in several replicas. */
interface Placer {
  leader(): number | undefined;
  kill(replica: number, pause: number): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * The experiment of KMS (tables 5 to 7) on a real control plane: pods are submitted along a normal curve, and whoever places them is
 * killed after given submissions, and started again as a kubelet would, with its back-off.
 */
export async function runFailover(options: FailoverOptions): Promise<FailoverReport> {
  const { system, log } = options;
  const cp = await startControlPlane({ metricsServer: false, log });
  const over = new AbortController();
  let placer: Placer | undefined;
  const lives = new Map<string, Life>();
  try {
    await applyScenario(cp, scenario(), { log });
    await cp.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, priorityClass()]);
    placer = await startPlacer(cp, options);
    const watch = await watchPods(cp, (event) => take(event, lives, (app) => void endLater(cp, app, over.signal)));
    const began = performance.now();
    const kills = await submitAll(cp, placer, options);
    const missing = async () => {
      const ended = [...lives.values()].filter(({ ready }) => ready !== undefined).length;
      return ended === options.pods ? undefined : `${ended} of ${options.pods} pods were Ready`;
    };
    await waitUntil(`${system}: the last pod`, missing, { timeoutMilliseconds: LONGEST, log });
    await watch.stop();
    return report([...lives.values()], began, kills);
  } finally {
    over.abort();
    await placer?.stop();
    await cp.stop();
  }
}

function scenario() {
  const nodes = [{ prefix: 'node-', count: 8, cpu: '12', memory: '32Gi', pods: 110 }];
  return parseScenario(JSON.stringify({ nodes }), 'failover');
}

async function startPlacer(
  cp: ControlPlane,
  { system, shardPolicies = false, reported }: FailoverOptions,
): Promise<Placer> {
  if (system !== 'Evenkeel') {
    const schedulers = await startSchedulers(cp, system === 'Standby' ? 2 : 1);
    const missing = async () => (schedulers.leader() === undefined ? 'none leads' : undefined);
    await waitUntil('a scheduler', missing, { timeoutMilliseconds: 60_000 });
    return schedulers;
  }
  await (shardPolicies ? installShared(cp, 'gate') : install(cp, 'gate'));
  await cp.apply([
    serviceClassObject(CLASS, { slo: '0.9', importance: 1, window: '10m', expectedStartup: '3s' }),
    policyObject('failover', contestSpec('Standard')),
  ]);
  const args = [...LEASE, ...(shardPolicies ? ['--shard-policies'] : [])];
  const operators = await startOperators(cp, REPLICAS, {
    args,
    ...(reported ? { pods: await createReplicaPods(cp) } : {}),
  });
  const leaders = await followLeaders(cp, operators, { shared: shardPolicies, policies: [] });
  const leader = leaders.rest;
  await waitUntil('a leader', async () => (leader() === undefined ? 'none' : undefined), {
    timeoutMilliseconds: 60_000,
  });
  const stop = async (): Promise<void> => {
    await operators.stop();
    await leaders.stop();
  };
  return { leader, kill: operators.kill, stop };
}

function priorityClass(): object {
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: CLASS }, value: 1000 };
}

/** How many pods come with each submission: along a normal curve over all, six deviations wide, by cumulative rounding. */
function normalCurve(submissions: number, pods: number): readonly number[] {
  const weights = Array.from({ length: submissions }, (_, place) =>
    Math.exp(-(((place - (submissions - 1) / 2) / (submissions / 6)) ** 2) / 2),
  );
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  return weights.map((weight) => {
    const before = Math.round((pods * sum) / whole);
    sum += weight;
    return Math.round((pods * sum) / whole) - before;
  });
}

/** Resolves to how often somebody was killed: where nobody leads there is nobody to kill. */
async function submitAll(
  cp: ControlPlane,
  placer: Placer,
  { system, kills, submissions, pods, seed, log }: FailoverOptions,
): Promise<number> {
  const crashes = new Map<number, number>();
  const random = createRandom(seed);
  let app = 0;
  for (const [place, count] of normalCurve(submissions, pods).entries()) {
    const pause = sleep(SUBMISSION_PERIOD + SUBMISSION_JITTER * (2 * random.next() - 1));
    const promise = system === 'Evenkeel' ? { serviceClass: CLASS } : { priorityClass: CLASS };
    const requests = Array.from({ length: count }, (_, index) =>
      requestObject({ app: `app-${app + index}`, replicas: 1, promise }),
    );
    app += count;
    if (requests.length > 0) {
      await cp.apply(requests);
    }
    if (kills.includes(place + 1)) {
      const leader = placer.leader();
      log(
        `${system}: submission ${place + 1}, kill of ${leader === undefined ? 'nobody: none leads' : `replica ${leader}`}`,
      );
      if (leader !== undefined) {
        crashes.set(leader, (crashes.get(leader) ?? 0) + 1);
        await placer.kill(leader, backOff(crashes.get(leader) ?? 1));
      }
    }
    await pause;
  }
  return [...crashes.values()].reduce((total, count) => total + count, 0);
}

/** Milliseconds until a container that has ended for the `crash`th time is started again: at once for the first time. */
function backOff(crash: number): number {
  return crash === 1 ? 0 : Math.min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2 ** (crash - 2));
}

/** Milliseconds on the clock of this machine. */
interface Life {
  readonly created: number;
  bound?: number;
  ready?: number;
}

/** Times are those of the first pod of each app: there is no other while nothing is evicted. */
function take(
  { object: { metadata, spec, status } }: PodEvent,
  lives: Map<string, Life>,
  isReady: (app: string) => void,
): void {
  const app = metadata.labels?.['app'];
  if (app === undefined) {
    return;
  }
  const now = performance.now();
  const life = lives.get(app) ?? { created: now };
  lives.set(app, life);
  if (spec.nodeName !== undefined) {
    life.bound ??= now;
  }
  if (life.ready === undefined && hasCondition({ status }, 'Ready')) {
    life.ready = now;
    isReady(app);
  }
}

/** Takes a pod away once it has run for its time; when all is over it goes with its cluster. */
async function endLater(cp: ControlPlane, app: string, over: AbortSignal): Promise<void> {
  try {
    await sleep(RUN_TIME, undefined, { signal: over });
    await cp.kubectl(['delete', 'deployment', app, `--namespace=${NAMESPACE}`, '--wait=false', '--ignore-not-found']);
  } catch (error) {
    if (!over.aborted) {
      throw error;
    }
  }
}

function report(lives: readonly Life[], began: number, kills: number): FailoverReport {
  const inSeconds = (of: (life: Life) => number): number => meanOf(lives.map(of)) / 1000;
  const untilReady = ({ created, ready = Number.NaN }: Life): number => ready - created;
  const ends = lives.map(({ ready = Number.NaN }) => ready + RUN_TIME);
  return {
    kills,
    pods: lives.length,
    waitForNode: inSeconds(({ created, bound = Number.NaN }) => bound - created),
    waitUntilReady: inSeconds(untilReady),
    makespan: (Math.max(...ends) - began) / 1000,
    slowdown: meanOf(lives.map((life) => (untilReady(life) + RUN_TIME) / RUN_TIME)),
  };
}

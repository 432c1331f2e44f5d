import { setTimeout as sleep } from 'node:timers/promises';
import { acceptedEvictions } from '../../control-plane/audit.ts';
import { listNodes, milliCpuOf } from '../../control-plane/cluster-state.ts';
import type { Placement } from '../../control-plane/initial-placement.ts';
import { standardDeviation } from '../../control-plane/node-loads.ts';
import { type ControlPlane, startControlPlane } from '../../control-plane/start.ts';
import { type Case, type Goal, namespacesOf, type Placeable, placeables, prepare } from './cases.ts';
import type { Contender } from './contender.ts';
import {
  emptiedNothing,
  gainedNothing,
  lostSeconds,
  mostWaiting,
  type Replacement,
  replacementsOf,
  usedNodes,
} from './judge.ts';
import { observe, type PodTrack } from './observer.ts';

/** What came of one contender on one case. */
export interface Measured {
  readonly evictions: number;
  /** Those that evened out nothing, or repaired nothing. */
  readonly forNothing: number;
  /** Standard deviation of the nodes' load by what their pods use. */
  readonly deviation: { readonly before: number; readonly after: number };
  /** Pods that must move, or nodes that run pods; `undefined` where the case is about load. */
  readonly left: { readonly before: number; readonly after: number } | undefined;
  /** The last eviction; `undefined` while the last three rounds still had some. */
  readonly rest: Rest | undefined;
  /** Pods that waited for a node at worst. */
  readonly waiting: number;
  /** Seconds without service, over all pods. */
  readonly lost: number;
  /** Where the pods were at first, for who comes next. */
  readonly placement: Placement;
}

/** When a contender came to rest. */
export interface Rest {
  /** The round in which the last eviction was decided on, from 1; 0 when there was none. */
  readonly rounds: number;
  /** Seconds until the last eviction was sent. */
  readonly seconds: number;
}

/** Rounds without an eviction after which a cluster counts as being at rest. */
const ROUNDS_AT_REST = 3;
const SETTLED_MS = 5000;

/** Lets a contender put a cluster right, with the pods where `placed` has them, or where the scheduler puts them. */
export async function measure(
  peerCase: Case,
  contender: Contender,
  placed: Placement | undefined,
  log: (line: string) => void,
): Promise<Measured> {
  const { task, minutes, goal, scoring } = peerCase;
  const cp = await startControlPlane({ log, ...(scoring && { scoring }) });
  try {
    await contender.install(cp, log);
    const placement = await prepare(peerCase, cp, placed, log);
    await sleep(SETTLED_MS);
    const observer = await observe(cp, namespacesOf(peerCase));
    const alreadyEvicted = acceptedEvictions(await cp.audit()).length;
    const nodes = await placeables(cp);
    const before = {
      pods: observer.pods().map((each) => ({ ...each })),
      deviation: await deviation(cp, observer.pods()),
    };
    const began = Date.now();
    const end = await contender.start(cp, task, log);
    const evicted = async () => acceptedEvictions(await cp.audit()).slice(alreadyEvicted);
    const lastSent = await untilRest(evicted, began, { ...task, minutes }, log);
    await end();
    await sleep(SETTLED_MS);
    const evictions = await evicted();
    const pods = observer.pods();
    const replacements = replacementsOf(evictions, pods);
    const sentAt = replacements.map(({ at }) => at);
    const decidedAt = await contender.decidedAt(cp, sentAt, task.seconds);
    const rounds = Math.ceil(((decidedAt.at(-1) ?? began) - began) / (1000 * task.seconds));
    const left = leftBy(goal, before.pods, pods, nodes);
    await observer.stop();
    return {
      evictions: evictions.length,
      forNothing: forNothing(goal, left, { replacements, pods, decidedAt }),
      deviation: { before: before.deviation, after: await deviation(cp, pods) },
      left,
      rest: lastSent === undefined ? undefined : { rounds, seconds: (lastSent - began) / 1000 },
      waiting: mostWaiting(pods, began),
      lost: lostSeconds(replacements, Date.now()),
      placement,
    };
  } finally {
    await cp.stop();
  }
}

function leftBy(
  goal: Goal,
  before: readonly PodTrack[],
  after: readonly PodTrack[],
  nodes: readonly Placeable[],
): Measured['left'] {
  switch (goal.kind) {
    case 'Deviation':
      return undefined;
    case 'OutOfPlace':
      return { before: goal.count(before, nodes), after: goal.count(after, nodes) };
    case 'UsedNodes':
      return { before: usedNodes(before).size, after: usedNodes(after).size };
    default:
      return goal satisfies never;
  }
}

/** All that was evicted and watched, and when each eviction was decided on. */
interface Deeds {
  readonly replacements: readonly Replacement[];
  readonly pods: readonly PodTrack[];
  readonly decidedAt: readonly number[];
}

function forNothing({ kind }: Goal, left: Measured['left'], { replacements, pods, decidedAt }: Deeds): number {
  switch (kind) {
    case 'Deviation':
      return gainedNothing(replacements, pods, decidedAt);
    case 'OutOfPlace':
      return Math.max(0, replacements.length - Math.max(0, (left?.before ?? 0) - (left?.after ?? 0)));
    case 'UsedNodes':
      return emptiedNothing(replacements, pods);
    default:
      return kind satisfies never;
  }
}

type Evictions = () => Promise<readonly { readonly answeredAt: string }[]>;

/** When the last eviction was sent, in milliseconds: `began` when there was none; `undefined` when the time was up. */
async function untilRest(
  evicted: Evictions,
  began: number,
  { seconds, minutes }: { readonly seconds: number; readonly minutes: number },
  log: (line: string) => void,
): Promise<number | undefined> {
  const round = seconds * 1000;
  const deadline = began + minutes * 60_000;
  while (Date.now() < deadline) {
    await sleep(5000);
    const all = await evicted();
    const last = all.at(-1)?.answeredAt;
    const lastAt = last === undefined ? began : Date.parse(last);
    if (Date.now() - lastAt > (ROUNDS_AT_REST + 0.5) * round) {
      log(`at rest after ${all.length} evictions`);
      return lastAt;
    }
  }
  return undefined;
}

/** Standard deviation of node loads by what the pods on them use. */
async function deviation(cp: ControlPlane, pods: readonly PodTrack[]): Promise<number> {
  const used = new Map<string, number>();
  for (const { node, usage, goneAt } of pods) {
    if (node !== undefined && goneAt === undefined) {
      used.set(node, (used.get(node) ?? 0) + usage);
    }
  }
  const nodes = await listNodes(cp);
  return standardDeviation(
    nodes.map(({ metadata, status }) => (used.get(metadata.name) ?? 0) / milliCpuOf(status.allocatable.cpu)),
  );
}

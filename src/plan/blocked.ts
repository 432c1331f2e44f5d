import { after, type EpochSeconds, seconds } from '../model/units.ts';
import type { Cluster } from './cluster.ts';
import { formatDeadline } from './cron.ts';
import type { Evictability, EvictionBlock } from './evictability.ts';
import { count } from './format.ts';
import { at, itemAt, type PodIndex } from './indices.ts';
import type { RejectionCode } from './rejection-codes.ts';
import type { StateView } from './state.ts';

/** The field of `spec.protections` behind a code, where there is one. */
const SETTINGS: Partial<Record<RejectionCode, string>> = {
  MinPodAge: 'minPodAge',
  MinReplicas: 'minReplicas',
  PriorityThreshold: 'priorityThreshold',
  LocalStorage: 'localStorage',
  PersistentVolumeClaim: 'pvc',
  NoPodDisruptionBudget: 'withoutPDB',
  Rollout: 'stabilization',
  Cooldown: 'cooldown',
};

/** Why one pod stays; `remaining` seconds if that ends by itself. */
interface Hold {
  readonly code: RejectionCode;
  readonly remaining: number | undefined;
}

/** Why no pod may be moved at all: what protects how many of those in scope, and when the first of them is free. */
export function unmovableMessage(holds: Evictability, { home, pods }: Cluster, now: EpochSeconds): string {
  const found = pods.flatMap((_, pod): readonly Hold[] =>
    holds.inScope[pod] === 1
      ? [
          longest(holds.all(pod)) ?? {
            code: at(home, pod) < 0 ? 'NodeNotParticipating' : 'NoUsage',
            remaining: undefined,
          },
        ]
      : [],
  );
  const [first] = found;
  if (first === undefined) {
    return 'no pod is in scope';
  }
  const setting = SETTINGS[first.code];
  const isOne = setting !== undefined && found.every(({ code }) => code === first.code);
  const all = found.length === 1 ? 'the only pod in scope is' : `all ${found.length} pods in scope are`;
  const why = isOne ? `${all} protected by ${setting}` : `no pod may be moved: ${tally(found)}`;
  return `${why}${earliest(found, now)}`;
}

/**
 * What protects pods of the highest node for a time only that are worth moving (`minGain`, a load), where no other move helps;
 * `undefined` when nothing does. The cluster is not at rest then: moves may help as soon as the protections end.
 */
export function protectedForNow(
  holds: Evictability,
  state: StateView,
  minGain: number,
  now: EpochSeconds,
): string | undefined {
  const { nodes, home } = state.cluster;
  const loads = nodes.map((_, node) => state.load(node));
  const highest = loads.indexOf(Math.max(...loads));
  const isLarge = (pod: PodIndex): boolean => state.load(highest) - state.loadWithout(pod) >= Math.max(1, minGain);
  const found = [...home.keys()].flatMap((pod): readonly Hold[] => {
    const hold =
      at(home, pod) === highest && holds.inScope[pod] === 1 && holds.of(pod) !== undefined && isLarge(pod)
        ? longest(holds.all(pod))
        : undefined;
    return hold?.remaining === undefined ? [] : [hold];
  });
  return found.length === 0
    ? undefined
    : `on ${itemAt(nodes, highest).name} ${count(found.length, 'pod')} ${found.length === 1 ? 'is' : 'are'} protected for now: ${tally(found)}${earliest(found, now)}`;
}

/** The one that lasts longest, which is the one that does not end by itself if there is such a one. */
function longest(blocks: readonly EvictionBlock[]): Hold | undefined {
  const holds = blocks.map(({ code, numbers }): Hold => ({ code, remaining: numbers['remaining'] }));
  const most = holds.reduce((span, hold) => Math.max(span, remainingOf(hold)), 0);
  return holds.find((hold) => remainingOf(hold) === most);
}

/** Seconds; infinite where it does not end by itself. */
function remainingOf({ remaining = Number.POSITIVE_INFINITY }: Hold): number {
  return remaining;
}

/** `minPodAge 9, DaemonSetPod 2`: the most frequent first. */
function tally(holds: readonly Hold[]): string {
  const codes = [...Map.groupBy(holds, ({ code }) => code)];
  const order = codes.sort(([left, a], [right, b]) => b.length - a.length || (left < right ? -1 : 1));
  return order.map(([code, of]) => `${SETTINGS[code] ?? code} ${of.length}`).join(', ');
}

function earliest(holds: readonly Hold[], now: EpochSeconds): string {
  const remaining = holds.reduce((least, hold) => Math.min(least, remainingOf(hold)), Number.POSITIVE_INFINITY);
  return Number.isFinite(remaining)
    ? `; the earliest is free at ${formatDeadline(after(now, seconds(remaining)), now)}`
    : '';
}

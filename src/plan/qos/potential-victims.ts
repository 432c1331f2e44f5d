import type { Cluster } from '../cluster.ts';
import type { Evictability } from '../evictability.ts';
import { at, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { isIdle } from './idle-replicas.ts';
import { compareNumbers, type ServicePosition } from './rules.ts';
import type { ServicePositions } from './service-position.ts';

/** A running pod that may have to make room. */
export interface PotentialVictim {
  readonly pod: PodIndex;
  /** When so many others of its request that run now have gone. */
  readonly standing: ServicePosition;
  readonly gone: number;
}

/** Negative when `left` makes room before `right`: idle ones first, then whoever can do longest without running. */
export function compareVictims(left: PotentialVictim, right: PotentialVictim): number {
  return (
    Number(isIdle(right.standing)) - Number(isIdle(left.standing)) ||
    compareNumbers(right.standing.metric, left.standing.metric) ||
    left.pod - right.pod
  );
}

/**
 * Pods on each node that no protection, class or ledger keeps there: idle ones first, then whoever can do longest without
 * running.
 */
export type PotentialVictimsOf = (node: NodeIndex) => readonly PotentialVictim[];

/** Sorts the pods of a node when they are first asked for. */
export function createPotentialVictims(
  { home, nodes, pods }: Cluster,
  holds: Evictability,
  standings: ServicePositions,
): PotentialVictimsOf {
  const known: (readonly PotentialVictim[] | undefined)[] = new Array(nodes.length);
  let byNode: readonly (readonly PodIndex[])[] | undefined;
  const residentsOf = (evictable: readonly PodIndex[]): readonly PotentialVictim[] =>
    standing(evictable, standings).sort(compareVictims);
  return (node) => {
    byNode ??= evictableByNode(home, holds, nodes.length, pods.length);
    const residents = known[node] ?? residentsOf(itemAt(byNode, node));
    known[node] = residents;
    return residents;
  };
}

/** In the order of the pods. */
function standing(pods: readonly PodIndex[], standings: ServicePositions): PotentialVictim[] {
  const found: PotentialVictim[] = [];
  for (const pod of pods) {
    const own = standings.of(pod);
    if (own !== undefined && !standings.isFresh(pod, own)) {
      found.push({ pod, standing: own, gone: 0 });
    }
  }
  return found;
}

function evictableByNode(
  home: Cluster['home'],
  { inScope, of }: Evictability,
  nodes: number,
  pods: number,
): readonly (readonly PodIndex[])[] {
  const byNode: PodIndex[][] = Array.from({ length: nodes }, () => []);
  for (let pod = 0; pod < pods; pod += 1) {
    const node = at(home, pod);
    if (node >= 0 && inScope[pod] === 1 && of(pod) === undefined) {
      itemAt(byNode, node).push(pod);
    }
  }
  return byNode;
}

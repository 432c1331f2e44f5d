import type { Cluster } from '../cluster.ts';
import type { Evictability } from '../evictability.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { once } from '../once.ts';
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

/** Pods on each node that no protection, class or ledger keeps there. */
export interface PotentialVictims {
  /** In the order of the pods, which has those of one request together. */
  readonly on: (node: NodeIndex) => readonly PotentialVictim[];
  /** In the order in which they make room (`compareVictims`). */
  readonly inTurn: (node: NodeIndex) => readonly PotentialVictim[];
}

/** Judges all pods when it is first asked. Sorts those of a node when it is first asked for their turns: of most nodes it never is. */
export function createPotentialVictims(
  cluster: Cluster,
  holds: Evictability,
  standings: ServicePositions,
): PotentialVictims {
  const byNode = once(() => victimsByNode(cluster, holds, standings));
  const sorted: (readonly PotentialVictim[] | undefined)[] = new Array(cluster.nodes.length);
  const on = (node: NodeIndex): readonly PotentialVictim[] => itemAt(byNode(), node);
  return {
    on,
    inTurn: (node) => {
      const residents = sorted[node] ?? on(node).toSorted(compareVictims);
      sorted[node] = residents;
      return residents;
    },
  };
}

function victimsByNode(
  { home, nodes }: Cluster,
  { inScope, of }: Evictability,
  standings: ServicePositions,
): readonly PotentialVictim[][] {
  const byNode = nodes.map((): PotentialVictim[] => []);
  home.forEach((node, pod) => {
    const isFree = node >= 0 && inScope[pod] === 1 && of(pod) === undefined;
    const standing = isFree ? standings.of(pod) : undefined;
    if (standing !== undefined && !standings.isFresh(pod, standing)) {
      itemAt(byNode, node).push({ pod, standing, gone: 0 });
    }
  });
  return byNode;
}

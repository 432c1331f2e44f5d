import type { ServiceLedger } from '../../model/service-level.ts';
import { addsReplicasUp } from '../../qos/time-to-violate.ts';
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

/** Running pods that no protection, class or ledger keeps where they are. */
export interface PotentialVictims {
  /** Idle ones first, then whoever can do longest without running. */
  readonly on: (node: NodeIndex) => readonly PotentialVictim[];
  /** Where those are that are judged otherwise once this one has gone; none where replicas are not added up. */
  readonly besides: (position: ServicePosition) => ReadonlySet<NodeIndex>;
}

/**
 * Judges all pods when it is first asked, in their order, which has those of one request together. Sorts the pods of a node when
 * they are first asked for.
 */
export function createPotentialVictims(
  cluster: Cluster,
  holds: Evictability,
  standings: ServicePositions,
): PotentialVictims {
  const byNode = once(() => victimsByNode(cluster, holds, standings));
  const byRequest = once(() => nodesByRequest(byNode()));
  const isSorted = new Uint8Array(cluster.nodes.length);
  return {
    on: (node) => {
      const residents = itemAt(byNode(), node);
      if (isSorted[node] === 0) {
        residents.sort(compareVictims);
        isSorted[node] = 1;
      }
      return residents;
    },
    besides: ({ request }) => byRequest().get(request) ?? NOWHERE,
  };
}

const NOWHERE: ReadonlySet<NodeIndex> = new Set();

function nodesByRequest(
  byNode: readonly (readonly PotentialVictim[])[],
): ReadonlyMap<ServiceLedger, ReadonlySet<NodeIndex>> {
  const found = new Map<ServiceLedger, Set<NodeIndex>>();
  for (const [node, victims] of byNode.entries()) {
    for (const { request, serviceClass } of victims.map(({ standing }) => standing)) {
      if (addsReplicasUp(serviceClass.mode)) {
        const nodes = found.get(request) ?? new Set<NodeIndex>();
        found.set(request, nodes.add(node as NodeIndex));
      }
    }
  }
  return found;
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

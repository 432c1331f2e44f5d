import type { Cluster } from '../cluster.ts';
import type { Holds } from '../holds.ts';
import { compareNumbers } from './rules.ts';
import type { Standing, Standings } from './standings.ts';

/** A running pod that may have to make room. */
export interface Resident {
  readonly pod: number;
  readonly standing: Standing;
}

/** Pods on each node that no protection, class or ledger keeps there, whoever can do longest without running first. */
export type ResidentsOf = (node: number) => readonly Resident[];

/** Sorts the pods of a node when they are first asked for. */
export function createResidents({ home, nodes, pods }: Cluster, holds: Holds, standings: Standings): ResidentsOf {
  const known: (readonly Resident[] | undefined)[] = new Array(nodes.length);
  let byNode: readonly (readonly number[])[] | undefined;
  const residentsOf = (node: number): readonly Resident[] =>
    standing(byNode?.[node] ?? [], standings).sort(
      (left, right) => compareNumbers(right.standing.metric, left.standing.metric) || left.pod - right.pod,
    );
  return (node) => {
    byNode ??= evictableByNode(home, holds, nodes.length, pods.length);
    const residents = known[node] ?? residentsOf(node);
    known[node] = residents;
    return residents;
  };
}

/** In the order of the pods. */
function standing(pods: readonly number[], standings: Standings): Resident[] {
  const found: Resident[] = [];
  for (const pod of pods) {
    const own = standings.of(pod);
    if (own !== undefined && !standings.isFresh(pod, own)) {
      found.push({ pod, standing: own });
    }
  }
  return found;
}

function evictableByNode(
  home: Int32Array,
  { inScope, of }: Holds,
  nodes: number,
  pods: number,
): readonly (readonly number[])[] {
  const byNode: number[][] = Array.from({ length: nodes }, () => []);
  for (let pod = 0; pod < pods; pod += 1) {
    const node = home[pod] ?? -1;
    if (node >= 0 && inScope[pod] === 1 && of(pod) === undefined) {
      byNode[node]?.push(pod);
    }
  }
  return byNode;
}

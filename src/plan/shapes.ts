import type { NodeInfo } from '../model/node.ts';
import type { PodInfo, SchedulingConstraints } from '../model/pod.ts';
import { staticRefusal } from './filters/index.ts';
import type { Subject } from './filters/refusal.ts';
import { compareText } from './order.ts';
import type { Owners } from './owners.ts';
import type { Room } from './room.ts';

/**
 * Pods that the filters cannot tell apart share a shape, and shapes that the static filters cannot tell apart share a
 * class: a few thousand templates ask for a handful of different node sets.
 */
export interface Shapes {
  readonly subjects: readonly Subject[];
  /** Place of the shape by place of the pod; -1 for pods that are not moved. */
  readonly ofPod: Int32Array;
  /** Class by place of the shape. */
  readonly classOf: Int32Array;
  readonly classes: number;
  /** Whether the static filters let pods of a class run on a node. Computed on first use, then remembered. */
  readonly allows: (shapeClass: number, node: number) => boolean;
}

const UNKNOWN = 0;
const ALLOWED = 1;
const REFUSED = 2;

/** Interns the shapes of the pods for which `movable` is 1, by identity of their constraints. */
export function internShapes(
  pods: readonly PodInfo[],
  movable: Uint8Array,
  owners: Owners,
  nodes: readonly NodeInfo[],
  rooms: readonly Room[],
): Shapes {
  const subjects: Subject[] = [];
  const ofPod = new Int32Array(pods.length).fill(-1);
  const unpinned = new Map<SchedulingConstraints, number>();
  pods.forEach(({ constraints }, place) => {
    if (movable[place] !== 1) {
      return;
    }
    const pinnedNode = owners.list[owners.ofPod[place] ?? -1]?.workload?.pinnedNode;
    const known = pinnedNode === undefined ? unpinned.get(constraints) : undefined;
    const shape = known ?? subjects.push({ constraints, pinnedNode }) - 1;
    if (pinnedNode === undefined && known === undefined) {
      unpinned.set(constraints, shape);
    }
    ofPod[place] = shape;
  });
  return { subjects, ofPod, ...classify(subjects, nodes, rooms) };
}

function classify(
  subjects: readonly Subject[],
  nodes: readonly NodeInfo[],
  rooms: readonly Room[],
): Pick<Shapes, 'classOf' | 'classes' | 'allows'> {
  const places = new Map<string, number>();
  const samples: Subject[] = [];
  const classOf = Int32Array.from(subjects, (subject) => {
    const key = staticKey(subject);
    const place = places.get(key) ?? samples.push(subject) - 1;
    places.set(key, place);
    return place;
  });
  const verdicts = samples.map(() => new Uint8Array(nodes.length));
  const decide = (shapeClass: number, node: number): number => {
    const subject = samples[shapeClass];
    const info = nodes[node];
    const room = rooms[node];
    const known = subject !== undefined && info !== undefined && room !== undefined;
    return known && staticRefusal(subject, info, room) === undefined ? ALLOWED : REFUSED;
  };
  return {
    classOf,
    classes: samples.length,
    allows: (shapeClass, node) => {
      const table = verdicts[shapeClass];
      let verdict = table?.[node] ?? REFUSED;
      if (verdict === UNKNOWN && table !== undefined) {
        verdict = decide(shapeClass, node);
        table[node] = verdict;
      }
      return verdict === ALLOWED;
    },
  };
}

/** Equal for subjects whom the static filters cannot tell apart: everything but requests and ports. */
function staticKey({ constraints, pinnedNode }: Subject): string {
  const { nodeSelector, nodeAffinity, tolerations } = constraints;
  const labels = [...nodeSelector].sort(([left], [right]) => compareText(left, right));
  return JSON.stringify([labels, nodeAffinity ?? null, tolerations, pinnedNode ?? null]);
}

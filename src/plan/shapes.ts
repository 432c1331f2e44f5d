import type { NodeInfo } from '../model/node.ts';
import type { PodInfo, SchedulingConstraints } from '../model/pod.ts';
import { staticRefusal } from './filters/index.ts';
import type { Subject } from './filters/refusal.ts';
import { compareText } from './order.ts';
import type { Owners } from './owners.ts';
import { FILTER_NAMES, type FilterName } from './rejection-codes.ts';
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
  /** The first static filter that does not; `undefined` when all do. */
  readonly refusedBy: (shapeClass: number, node: number) => FilterName | undefined;
}

/** A verdict above ALLOWED is the place of the filter that refuses, counted from there. */
const UNKNOWN = 0;
const ALLOWED = 1;

/**
 * Interns the shapes of the pods for which `movable` is 1. The projection lets pods of one template share their
 * constraints, so most pods are recognised by identity; templates that ask for the same share a shape all the same.
 */
export function internShapes(
  pods: readonly PodInfo[],
  movable: Uint8Array,
  owners: Owners,
  nodes: readonly NodeInfo[],
  rooms: readonly Room[],
): Shapes {
  const subjects: Subject[] = [];
  const byContent = new Map<string, number>();
  const byIdentity = new Map<SchedulingConstraints, number>();
  const ofPod = new Int32Array(pods.length).fill(-1);
  const intern = (subject: Subject): number => {
    const key = contentKey(subject);
    const shape = byContent.get(key) ?? subjects.push(subject) - 1;
    byContent.set(key, shape);
    return shape;
  };
  pods.forEach(({ constraints }, place) => {
    if (movable[place] === 1) {
      const pinnedNode = owners.list[owners.ofPod[place] ?? -1]?.workload?.pinnedNode;
      const known = pinnedNode === undefined ? byIdentity.get(constraints) : undefined;
      const shape = known ?? intern({ constraints, pinnedNode });
      if (pinnedNode === undefined) {
        byIdentity.set(constraints, shape);
      }
      ofPod[place] = shape;
    }
  });
  return { subjects, ofPod, ...classify(subjects, nodes, rooms) };
}

function classify(
  subjects: readonly Subject[],
  nodes: readonly NodeInfo[],
  rooms: readonly Room[],
): Omit<Shapes, 'subjects' | 'ofPod'> {
  const places = new Map<string, number>();
  const samples: Subject[] = [];
  const classOf = Int32Array.from(subjects, (subject) => {
    const key = staticKey(subject);
    const place = places.get(key) ?? samples.push(subject) - 1;
    places.set(key, place);
    return place;
  });
  const verdicts: (Uint8Array | undefined)[] = [];
  const decide = (shapeClass: number, node: number): number => {
    const subject = samples[shapeClass];
    const info = nodes[node];
    const room = rooms[node];
    if (subject === undefined || info === undefined || room === undefined) {
      throw new RangeError(`no class ${shapeClass}, or no node ${node}`);
    }
    const refusal = staticRefusal(subject, info, room);
    return refusal === undefined ? ALLOWED : ALLOWED + 1 + FILTER_NAMES.indexOf(refusal.filter);
  };
  const verdictOn = (shapeClass: number, node: number): number => {
    const table = verdicts[shapeClass] ?? new Uint8Array(nodes.length);
    verdicts[shapeClass] = table;
    let verdict = table[node] ?? UNKNOWN;
    if (verdict === UNKNOWN) {
      verdict = decide(shapeClass, node);
      table[node] = verdict;
    }
    return verdict;
  };
  return {
    classOf,
    classes: samples.length,
    allows: (shapeClass, node) => verdictOn(shapeClass, node) === ALLOWED,
    refusedBy: (shapeClass, node) => FILTER_NAMES[verdictOn(shapeClass, node) - ALLOWED - 1],
  };
}

/** Equal for subjects whom no filter can tell apart. */
function contentKey(subject: Subject): string {
  const { requests, hostPorts } = subject.constraints;
  const extended = requests.extended.size === 0 ? '' : JSON.stringify(sortedEntries(requests.extended));
  const ports = hostPorts.length === 0 ? '' : JSON.stringify(hostPorts);
  return `${requests.cpu} ${requests.memory} ${requests.ephemeralStorage} ${extended} ${ports} ${staticKey(subject)}`;
}

/** Equal for subjects whom the static filters cannot tell apart: everything but requests and ports. */
function staticKey({ constraints, pinnedNode }: Subject): string {
  const { nodeSelector, nodeAffinity, tolerations } = constraints;
  const isPlain = nodeSelector.size === 0 && nodeAffinity === undefined && tolerations.length === 0;
  if (isPlain && pinnedNode === undefined) {
    return '';
  }
  return JSON.stringify([sortedEntries(nodeSelector), nodeAffinity ?? null, tolerations, pinnedNode ?? null]);
}

function sortedEntries<Value>(map: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...map].sort(([left], [right]) => compareText(left, right));
}

import type { NodeInfo } from '../model/node.ts';
import type { StorageInfo } from '../model/storage.ts';
import { bytes, milliCpu } from '../model/units.ts';
import { targetRefusal } from './filters/index.ts';
import type { Subject } from './filters/refusal.ts';
import {
  at,
  type ClassIndex,
  type IndexTable,
  itemAt,
  type KindIndex,
  type NodeIndex,
  type PodIndex,
  type ShapeIndex,
  type SiteIndex,
  type SizeIndex,
  type TrackerIndex,
} from './indices.ts';
import type { IndexedNodes } from './node-index.ts';
import { sortedEntries } from './order.ts';
import { type Owners, ownerOf } from './owners.ts';
import type { PodKinds } from './pod-kinds.ts';
import { FILTER_NAMES, type FilterName } from './rejection-codes.ts';
import type { RepairGuard } from './repair/guard.ts';
import { NO_NEEDS, type TopologyNeeds } from './topology/needs.ts';
import { NO_VOLUMES } from './volume-needs.ts';

/**
 * Pods that the filters cannot tell apart share a shape, and shapes that the filters of nodes cannot tell apart share a
 * class: a few thousand templates ask for a handful of different node sets.
 */
export interface Shapes {
  readonly subjects: readonly Subject[];
  /** Place of the shape by place of the pod; -1 for pods that are not moved. */
  readonly ofPod: IndexTable<PodIndex, ShapeIndex>;
  /** Trackers that verdicts on a shape depend on, by place of the shape; where there are any, also on where the pod is. */
  readonly trackersOf: readonly IndexTable<number, TrackerIndex>[];
  /** Sizes of the shapes, each as a subject that requests no more than any of them (see sizeOf). */
  readonly sizes: readonly Subject[];
  /** Place in `sizes` by place of the shape: shapes of one size request the same to within a fifth. */
  readonly sizeOf: IndexTable<ShapeIndex, SizeIndex>;
  /** Class by place of the shape. */
  readonly classOf: IndexTable<ShapeIndex, ClassIndex>;
  /** Those of the pods that have a shape. */
  readonly classes: readonly ClassIndex[];
  /** Whether the filters that look at the node alone let pods of a class run on a node. Computed on first use, then remembered. */
  readonly allows: (shapeClass: ClassIndex, node: NodeIndex) => boolean;
  /** The first of these filters that does not; `undefined` when all do. */
  readonly refusedBy: (shapeClass: ClassIndex, node: NodeIndex) => FilterName | undefined;
}

/** A verdict above ALLOWED is the place of the filter that refuses, counted from there. */
const UNKNOWN = 0;
const ALLOWED = 1;

/** The shape of a pod. Throws RangeError for a pod without one, which is not moved. */
export function shapeOf({ ofPod }: Shapes, pod: PodIndex): ShapeIndex {
  const shape = at(ofPod, pod);
  if (shape < 0) {
    throw new RangeError(`no shape for pod ${pod}`);
  }
  return shape;
}

/** What the filters look at on the side of a pod that has a shape. */
export function subjectOf(shapes: Shapes, pod: PodIndex): Subject {
  return itemAt(shapes.subjects, shapeOf(shapes, pod));
}

/** The class of a pod that has a shape. */
export function classOf(shapes: Shapes, pod: PodIndex): ClassIndex {
  return at(shapes.classOf, shapeOf(shapes, pod));
}

/** The shapes of one plan. Its clusters share them, and what the filters of nodes say of them. */
export interface ShapeRegistry {
  /** Shapes of the pods with a 1 in `shaped`, over some of all nodes. */
  readonly shapesOf: (shaped: Uint8Array, siteOf: IndexTable<NodeIndex, SiteIndex>) => Shapes;
}

/** What shapes are interned from. Nodes and pods are named by their place. */
interface RegistryInput {
  readonly sites: IndexedNodes;
  readonly kinds: PodKinds;
  readonly owners: Owners;
  /** What else tells pods apart; `undefined`: nothing. */
  readonly guard: RepairGuard | undefined;
}

/**
 * Interns shapes when they are first asked for: once per kind, since pods of a kind differ in nothing but the claims that they
 * may mount; templates that ask for the same share a shape all the same.
 */
export function createShapeRegistry({ sites, kinds, owners, guard }: RegistryInput): ShapeRegistry {
  const { pods, nodes, storage } = sites;
  const shapes: Shape[] = [];
  const byContent = new Map<string, ShapeIndex>();
  const sizes = createSizes();
  const classes = createClasses(nodes, storage);
  const priorityMatters = sites.nominees.size > 0;
  const intern = (place: PodIndex): ShapeIndex => {
    const subject = sites.subjectOf(place, ownerOf(owners, place)?.workload?.pinnedNode);
    const { constraints, topology } = subject;
    const onNodes = nodeKey(subject);
    const ranked = guard?.looksBack(constraints) === true ? JSON.stringify(constraints.preferredNodeAffinity) : '';
    const key = `${priorityMatters ? pods[place]?.priority : ''} ${ranked} ${contentKey(subject)} ${onNodes}`;
    const known = byContent.get(key);
    if (known !== undefined) {
      return known;
    }
    const [size, shapeClass] = [sizes.of(subject), classes.of(subject, onNodes)];
    const shape = shapes.push({ subject, trackers: trackersIn(topology), size, shapeClass }) - 1;
    byContent.set(key, shape);
    return shape;
  };
  const ofKind = new Int32Array(kinds.list.length).fill(-1);
  const shapeOfPod = (kind: KindIndex, place: PodIndex): ShapeIndex => {
    if (kinds.list[kind]?.mounts === true) {
      return intern(place);
    }
    const known = at(ofKind, kind);
    const shape = known < 0 ? intern(place) : known;
    ofKind[kind] = shape;
    return shape;
  };
  return {
    shapesOf: (shaped, siteOf) => {
      const ofPod = kinds.ofPod.map((kind, place) => (shaped[place] === 1 ? shapeOfPod(kind, place) : -1));
      const classOf = Int32Array.from(shapes, ({ shapeClass }) => shapeClass);
      const isUsed = new Uint8Array(shapes.length);
      const classesInUse = new Set<ClassIndex>();
      for (let pod = 0; pod < ofPod.length; pod += 1) {
        const shape = at(ofPod, pod);
        if (shape >= 0 && isUsed[shape] === 0) {
          isUsed[shape] = 1;
          classesInUse.add(at(classOf, shape));
        }
      }
      return {
        subjects: shapes.map(({ subject }) => subject),
        ofPod,
        trackersOf: shapes.map(({ trackers }) => trackers),
        sizes: sizes.list.slice(),
        sizeOf: Int32Array.from(shapes, ({ size }) => size),
        classOf,
        classes: [...classesInUse],
        allows: (shapeClass, node) => classes.verdictOn(shapeClass, at(siteOf, node)) === ALLOWED,
        refusedBy: (shapeClass, node) => FILTER_NAMES[classes.verdictOn(shapeClass, at(siteOf, node)) - ALLOWED - 1],
      };
    },
  };
}

interface Shape {
  readonly subject: Subject;
  readonly trackers: IndexTable<number, TrackerIndex>;
  readonly size: SizeIndex;
  readonly shapeClass: ClassIndex;
}

interface Sizes {
  readonly list: readonly Subject[];
  readonly of: (subject: Subject) => SizeIndex;
}

function createSizes(): Sizes {
  const places = new Map<string, SizeIndex>();
  const list: Subject[] = [];
  return {
    list,
    of: (subject) => {
      const { cpu, memory, ephemeralStorage, extended } = subject.constraints.requests;
      const amounts = [roundDown(cpu), roundDown(memory), roundDown(ephemeralStorage)] as const;
      const key = `${amounts.join(' ')} ${extended.size === 0 ? '' : JSON.stringify(sortedEntries(extended))}`;
      const place = places.get(key) ?? list.push(withRequests(subject, ...amounts)) - 1;
      places.set(key, place);
      return place;
    },
  };
}

/** Four steps from one power of two to the next. */
function roundDown(amount: number): number {
  return amount > 0 ? Math.min(amount, 2 ** (Math.floor(4 * Math.log2(amount)) / 4)) : 0;
}

function withRequests(subject: Subject, cpu: number, memory: number, ephemeralStorage: number): Subject {
  const { constraints } = subject;
  const requests = {
    cpu: milliCpu(cpu),
    memory: bytes(memory),
    ephemeralStorage: bytes(ephemeralStorage),
    extended: constraints.requests.extended,
  };
  return { ...subject, constraints: { ...constraints, requests } };
}

function trackersIn(needs: TopologyNeeds): IndexTable<number, TrackerIndex> {
  const { affinity, antiAffinity, repelledBy, spread, kept, duplicates } = needs;
  const counted = duplicates === undefined ? kept : [...kept, duplicates];
  return Int32Array.from(
    new Set([...affinity, ...antiAffinity, ...repelledBy, ...spread, ...counted].map(({ tracker }) => tracker)),
  );
}

interface Classes {
  /** `onNodes` is the subject's nodeKey. */
  readonly of: (subject: Subject, onNodes: string) => ClassIndex;
  readonly verdictOn: (shapeClass: ClassIndex, site: SiteIndex) => number;
}

function createClasses(nodes: readonly NodeInfo[], storage: StorageInfo): Classes {
  const places = new Map<string, ClassIndex>();
  const samples: Subject[] = [];
  const verdicts: (Uint8Array | undefined)[] = [];
  const decide = (shapeClass: ClassIndex, site: SiteIndex): number => {
    const refusal = targetRefusal(itemAt(samples, shapeClass), itemAt(nodes, site), storage);
    return refusal === undefined ? ALLOWED : ALLOWED + 1 + FILTER_NAMES.indexOf(refusal.filter);
  };
  return {
    of: (subject, onNodes) => {
      const place = places.get(onNodes) ?? samples.push(subject) - 1;
      places.set(onNodes, place);
      return place;
    },
    verdictOn: (shapeClass, site) => {
      const table = verdicts[shapeClass] ?? new Uint8Array(nodes.length);
      verdicts[shapeClass] = table;
      let verdict = table[site] ?? UNKNOWN;
      if (verdict === UNKNOWN) {
        verdict = decide(shapeClass, site);
        table[site] = verdict;
      }
      return verdict;
    },
  };
}

/** Equal, together with the nodeKey, for subjects whom no filter can tell apart. */
function contentKey(subject: Subject): string {
  const { constraints, volumes, topology } = subject;
  const { requests, hostPorts } = constraints;
  const extended = requests.extended.size === 0 ? '' : JSON.stringify(sortedEntries(requests.extended));
  const ports = hostPorts.length === 0 ? '' : JSON.stringify(hostPorts);
  const needs = topology === NO_NEEDS ? '' : JSON.stringify(topology);
  const claims = volumes === NO_VOLUMES ? '' : JSON.stringify(volumes);
  return `${requests.cpu} ${requests.memory} ${requests.ephemeralStorage} ${extended} ${ports} ${needs} ${claims}`;
}

/** Equal for subjects whom the filters that look at the node alone cannot tell apart, by what those look at. */
export function nodeKey({ constraints, pinnedNode, volumes }: Subject): string {
  const { nodeSelector, nodeAffinity, tolerations } = constraints;
  const isPlain = nodeSelector.size === 0 && nodeAffinity === undefined && tolerations.length === 0;
  if (isPlain && pinnedNode === undefined && volumes === NO_VOLUMES) {
    return '';
  }
  const { reaches, zones, delayed, taken, problem } = volumes;
  const reached = [reaches.map(({ terms }) => terms), zones.map(({ key, values }) => [key, values])];
  const claims = [reached, delayed, taken !== undefined, problem !== undefined];
  return JSON.stringify([sortedEntries(nodeSelector), nodeAffinity ?? null, tolerations, pinnedNode ?? null, claims]);
}

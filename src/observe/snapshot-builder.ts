import { describe, isObject, type JsonObject, parseTimestamp } from '../model/json.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { EpochSeconds } from '../model/units.ts';
import { assembleSnapshot } from './assemble.ts';
import { createCollection } from './collection.ts';
import { expandLists, isList, TAKEN_AT_ANNOTATION } from './expand.ts';
import { createInterner } from './interner.ts';
import type { SnapshotKind } from './kind-table.ts';
import { nameForPeople } from './project/metadata.ts';
import { type Projected, readObject, snapshotKindOf } from './snapshot-kinds.ts';

/** Collects objects, page by page, without keeping the raw ones. */
export interface SnapshotBuilder {
  /** Adds an object of the kind that it names, or all items of a list. Kinds that plans do not need are ignored. */
  add(object: unknown): void;
  /** Adds an object of this kind, whatever it names: the items of a list from the API server name none. */
  addAs(kind: SnapshotKind, object: unknown): void;
  /** Adds what was made of an object before (see readObject); true when it replaces another of its name. */
  addProjected(projected: Projected | string): boolean;
  /** Forgets all objects of this kind, to read them anew. */
  forget(kind: SnapshotKind): void;
  /** Says that the Metrics API is there, even if it has no samples. */
  noteMetricsServed(): void;
  /** Adds a problem text. */
  report(problem: string): void;
  /**
   * The snapshot. `takenAt` is, in this order: the argument, the newest annotation `evenkeel.dev/taken-at` of a List, the
   * newest sample, the newest creation or readiness of a pod or node, 1970.
   */
  finish(takenAt?: EpochSeconds): ClusterSnapshot;
}

/** A builder without objects. */
export function createSnapshotBuilder(): SnapshotBuilder {
  const interner = createInterner();
  const collection = createCollection();
  const problems = new Set<string>();
  let annotated: EpochSeconds | undefined;

  function addAs(kind: SnapshotKind, object: unknown): void {
    if (addProjected(readObject(kind, object, interner))) {
      problems.add(`${kind} ${nameForPeople(object)}: there are several objects of this name: the last one counts`);
    }
  }

  function addProjected(projected: Projected | string): boolean {
    if (typeof projected !== 'string') {
      return collection.put(projected);
    }
    problems.add(projected);
    return false;
  }

  function addOne(object: unknown): void {
    if (!isObject(object) || typeof object.kind !== 'string') {
      const what = isObject(object) ? `${nameForPeople(object)} names no kind` : `${describe(object)} is not an object`;
      problems.add(`${what}: write apiVersion, kind and metadata as kubectl get -o yaml prints them`);
      return;
    }
    if (isList(object)) {
      noteList(object);
      return;
    }
    const kind = snapshotKindOf(object);
    if (kind !== undefined) {
      addAs(kind, object);
    }
  }

  function noteList(list: JsonObject): void {
    if (list.kind === 'NodeMetricsList' || list.kind === 'PodMetricsList') {
      collection.noteMetricsServed();
    }
    const annotations = isObject(list.metadata) && isObject(list.metadata.annotations) ? list.metadata.annotations : {};
    const text = Object.hasOwn(annotations, TAKEN_AT_ANNOTATION) ? annotations[TAKEN_AT_ANNOTATION] : undefined;
    if (text === undefined) {
      return;
    }
    const instant = parseTimestamp(typeof text === 'string' ? text : '');
    if (Number.isNaN(instant)) {
      problems.add(`annotation ${TAKEN_AT_ANNOTATION}: ${describe(text)} is not a time: write 2026-01-31T12:00:00Z`);
    } else {
      annotated = annotated === undefined || instant > annotated ? instant : annotated;
    }
  }

  return {
    add(object) {
      for (const each of expandLists(object)) {
        addOne(each);
      }
    },
    addAs,
    addProjected,
    forget: collection.forget,
    noteMetricsServed: collection.noteMetricsServed,
    report: (problem) => problems.add(problem),
    finish: (takenAt) => assembleSnapshot(collection, takenAt ?? annotated, problems),
  };
}

/** The snapshot of these objects, in any order and nesting of lists; see SnapshotBuilder.finish for `takenAt`. */
export function buildSnapshot(objects: Iterable<unknown>, takenAt?: EpochSeconds): ClusterSnapshot {
  const builder = createSnapshotBuilder();
  for (const object of objects) {
    builder.add(object);
  }
  return builder.finish(takenAt);
}

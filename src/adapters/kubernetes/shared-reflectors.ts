import type { SnapshotKind } from '../../observe/kind-table.ts';
import type { ReadingClient } from './list.ts';
import { Reflector } from './reflector.ts';
import { RESOURCES } from './resource.ts';

/** The reflectors of a process: one of each kind, whoever asks for it. */
export interface SharedReflectors {
  /** The reflector of this kind; it asks the server for nothing before one of its handlers runs. */
  of(kind: SnapshotKind): Reflector;
}

/** Reflectors that read whole objects. */
export function createSharedReflectors(client: ReadingClient): SharedReflectors {
  const made = new Map<SnapshotKind, Reflector>();
  return {
    of(kind) {
      const reflector = made.get(kind) ?? new Reflector(client, { target: RESOURCES[kind], metadataOnly: false });
      made.set(kind, reflector);
      return reflector;
    },
  };
}

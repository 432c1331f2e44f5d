import type { Interner } from './interner.ts';
import { MalformedField } from './json.ts';
import type { SnapshotKind } from './kinds.ts';
import { nameForPeople } from './project/metadata.ts';
import { type Projected, project } from './project/project.ts';

/** The planner's view of an object, or a problem text that says what is wrong with it; it then takes no part. */
export function readObject(kind: SnapshotKind, object: unknown, interner: Interner): Projected | string {
  try {
    return project(kind, object, interner);
  } catch (error) {
    if (!(error instanceof MalformedField)) {
      throw error;
    }
    return `${kind} ${nameForPeople(object)}: ${error.message}`;
  }
}

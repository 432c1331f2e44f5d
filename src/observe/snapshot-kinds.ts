import { asObject, type JsonObject, MalformedField } from '../model/json.ts';
import type { Interner } from './interner.ts';
import { KINDS, type KindRow, SNAPSHOT_KINDS, type SnapshotKind, type Values } from './kind-table.ts';
import { nameForPeople } from './project/metadata.ts';

/** What an object of one of these kinds is to the planner. */
export type Projected<Kind extends SnapshotKind = SnapshotKind> = {
  readonly [Each in Kind]: { readonly kind: Each; readonly value: Values[Each] };
}[Kind];

/** The table once more, so that the compiler knows which value goes with which row. */
const ROWS: { readonly [Kind in SnapshotKind]: KindRow<Values[Kind]> } = KINDS;

const BY_NAME: ReadonlyMap<string, SnapshotKind> = new Map(SNAPSHOT_KINDS.map((kind) => [kind, kind]));

/** The snapshot kind of an object; undefined for every other kind, and for the same word in another API group. */
export function snapshotKindOf({ apiVersion, kind }: JsonObject): SnapshotKind | undefined {
  const known = typeof kind === 'string' ? BY_NAME.get(kind) : undefined;
  return known !== undefined && groupOf(KINDS[known].apiVersion) === groupOf(apiVersion) ? known : undefined;
}

function groupOf(apiVersion: unknown): string | undefined {
  if (typeof apiVersion !== 'string') {
    return undefined;
  }
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

/** The planner's view of an object, or a problem text that says what is wrong with it; it then takes no part. */
export function readObject<Kind extends SnapshotKind>(
  kind: Kind,
  object: unknown,
  interner: Interner,
): Projected<Kind> | string {
  try {
    return { kind, value: ROWS[kind].project(asObject(object, 'the object'), interner) };
  } catch (error) {
    if (!(error instanceof MalformedField)) {
      throw error;
    }
    return `${kind} ${nameForPeople(object)}: ${error.message}`;
  }
}

/** The name under which a snapshot has an object: `name`, or `namespace/name`. */
export function keyOf<Kind extends SnapshotKind>({ kind, value }: Projected<Kind>): string {
  return ROWS[kind].keyOf(value);
}

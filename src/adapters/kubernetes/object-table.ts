import { isObject } from '../../model/json.ts';
import { compareVersions } from '../../model/resource-version.ts';
import { nameForPeople } from '../../observe/project/metadata.ts';

/** One object as the table holds it. */
export interface Entry<Value> {
  readonly uid: string;
  readonly resourceVersion: string;
  /** What is kept of the object. */
  readonly value: Value;
}

/** How many objects a list or an event changed; one that was made anew under its name counts as removed and as added. */
export interface Diff {
  readonly added: number;
  readonly updated: number;
  readonly removed: number;
}

/** A change that a watch reports. */
export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The objects of one resource as lists and watch events tell of them, by UID and resourceVersion. */
export interface ObjectTable<Value> {
  /** By `namespace/name`, which no two objects have at a time. */
  readonly entries: ReadonlyMap<string, Entry<Value>>;
  /** Takes an event. What is not newer than what is known of that name changes nothing: duplicates, and what comes late. */
  apply(type: ChangeType, object: unknown): Diff;
  /** Begins a list; the entries stay as they are until it is complete. */
  beginList(): ListDraft;
}

/** A list that is being read. */
export interface ListDraft {
  put(object: unknown): void;
  restart(): void;
  /** Makes the list, as of this resourceVersion, the content of the table, and says what that changed. */
  commit(resourceVersion: string): Diff;
}

/** Deletions that are remembered, so that an event from before one of them does not bring the object back. */
const MAX_TOMBSTONES = 10_000;

const NOTHING: Diff = { added: 0, updated: 0, removed: 0 };

/** Whether a diff changes anything. */
export function isEmpty({ added, updated, removed }: Diff): boolean {
  return added + updated + removed === 0;
}

/** For people: `1 added, 0 updated, 2 removed`. */
export function describeDiff({ added, updated, removed }: Diff): string {
  return `${added} added, ${updated} updated, ${removed} removed`;
}

/** An empty table. `read` makes of an object what is kept of it, and gets what was kept under its name before; it must not throw. */
export function createObjectTable<Value>(
  read: (object: unknown, before: Value | undefined) => Value,
): ObjectTable<Value> {
  let entries = new Map<string, Entry<Value>>();
  /** Of the last list: what it does not have was gone by then. */
  let listedAt = '0';
  const tombstones = new Map<string, string>();

  function set(object: unknown, identity: Identity): Diff {
    const known = entries.get(identity.name);
    const last = known?.resourceVersion ?? tombstones.get(identity.name) ?? listedAt;
    if (!isNewer(identity.resourceVersion, last)) {
      return NOTHING;
    }
    tombstones.delete(identity.name);
    entries.set(identity.name, entryOf(identity, read(object, known?.value)));
    return difference(known, identity);
  }

  function remove(identity: Identity): Diff {
    const known = entries.get(identity.name);
    if (known === undefined || !isGone(known, identity)) {
      return NOTHING;
    }
    entries.delete(identity.name);
    return { ...NOTHING, removed: 1 };
  }

  function bury({ name, resourceVersion }: Identity): void {
    if (entries.has(name) || !isNewer(resourceVersion, tombstones.get(name) ?? '0')) {
      return;
    }
    tombstones.delete(name);
    tombstones.set(name, resourceVersion);
    const [oldest] = tombstones.keys();
    if (tombstones.size > MAX_TOMBSTONES && oldest !== undefined) {
      tombstones.delete(oldest);
    }
  }

  return {
    get entries() {
      return entries;
    },
    apply(type, object) {
      const identity = identify(object);
      if (type !== 'DELETED') {
        return set(object, identity);
      }
      const diff = remove(identity);
      bury(identity);
      return diff;
    },
    beginList() {
      let listed = new Map<string, Entry<Value>>();
      return {
        put(object) {
          const identity = identify(object);
          const known = entries.get(identity.name);
          const same = known !== undefined && isSame(known, identity);
          listed.set(identity.name, same ? known : entryOf(identity, read(object, known?.value)));
        },
        restart() {
          listed = new Map();
        },
        commit(resourceVersion) {
          const diff = compare(entries, listed);
          entries = listed;
          listedAt = resourceVersion;
          tombstones.clear();
          return diff;
        },
      };
    },
  };
}

interface Identity {
  readonly name: string;
  /** Empty when the object has none, which a server never sends. */
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Total: even what is no object has a name under which it is reported. */
function identify(object: unknown): Identity {
  const metadata = isObject(object) && isObject(object.metadata) ? object.metadata : {};
  return {
    name: nameForPeople(object),
    uid: typeof metadata.uid === 'string' ? metadata.uid : '',
    resourceVersion: typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : '',
  };
}

function entryOf<Value>({ uid, resourceVersion }: Identity, value: Value): Entry<Value> {
  return { uid, resourceVersion, value };
}

/** Versions that cannot be compared are told apart only. */
function isNewer(version: string, last: string): boolean {
  const order = compareVersions(version, last);
  return version === '' || order === undefined || order > 0;
}

/** A name is free only when all incarnations before the deletion are gone, so the UID counts where versions do not tell. */
function isGone(known: Entry<unknown>, deleted: Identity): boolean {
  const order = compareVersions(deleted.resourceVersion, known.resourceVersion);
  return order === undefined ? known.uid === deleted.uid : order >= 0;
}

function isSame(known: Entry<unknown>, { uid, resourceVersion }: Identity): boolean {
  return known.uid === uid && known.resourceVersion === resourceVersion && resourceVersion !== '';
}

function difference(known: Entry<unknown> | undefined, { uid }: Identity): Diff {
  if (known === undefined) {
    return { ...NOTHING, added: 1 };
  }
  return known.uid === uid ? { ...NOTHING, updated: 1 } : { added: 1, updated: 0, removed: 1 };
}

function compare(before: ReadonlyMap<string, Entry<unknown>>, after: ReadonlyMap<string, Entry<unknown>>): Diff {
  let [added, updated, kept] = [0, 0, 0];
  for (const [name, entry] of after) {
    const known = before.get(name);
    if (known?.uid !== entry.uid) {
      added += 1;
    } else {
      kept += 1;
      updated += known === entry ? 0 : 1;
    }
  }
  return { added, updated, removed: before.size - kept };
}

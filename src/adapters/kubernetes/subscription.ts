import { type Part, queryOf } from '../../observe/kind-table.ts';
import type { ListListener } from './list.ts';
import { createObjectTable, type Diff, type Entry, isEmpty, type ListDraft, type ObjectTable } from './object-table.ts';
import type { WatchEvent } from './watch.ts';

/** One consumer of the objects of a resource. Its functions must not throw. */
export interface Handler<Value> {
  /** The part of the objects that it wants; all unless said otherwise. What leaves the part counts as deleted. */
  readonly part?: Part | undefined;
  /** What is kept of an object that was listed or watched, whatever the server sent; `before` is what is kept of it up to now. */
  read(object: unknown, before: Value | undefined): Value;
  /** Hears of an object that a watch says was deleted, in its last state. */
  readonly removed?: (object: unknown) => void;
  /** A list has replaced all that is kept, changed or not. */
  readonly replaced?: () => void;
  /** The first list is in, or objects have changed; `diff` says how many. */
  readonly changed: (diff: Diff) => void;
  /** A list or a watch failed; it is tried again. */
  readonly failed: (error: unknown) => void;
  /** An audit found that what is kept differs from the server at the same resourceVersion; it is put right. */
  readonly drifted: (diff: Diff) => void;
}

/** What a reflector keeps for one handler: a table of its own, so that each keeps only what it reads. */
export class Subscription<Value> {
  readonly handler: Handler<Value>;
  readonly #table: ObjectTable<Value>;
  #filled = Promise.withResolvers<void>();
  #isFilled = false;
  #isListed = false;

  constructor(handler: Handler<Value>) {
    this.handler = handler;
    this.#table = createObjectTable(handler.read);
  }

  /** The objects by `namespace/name`; a list replaces all of them at once. */
  get entries(): ReadonlyMap<string, Entry<Value>> {
    return this.#table.entries;
  }

  /** Whether a list has come in since the handler joined. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** Resolves when the first list is in, or the first one after a distrust. */
  get filled(): Promise<void> {
    return this.#filled.promise;
  }

  /** What is kept is known to be wrong until the next list. */
  distrusted(): void {
    if (this.#isFilled) {
      this.#isFilled = false;
      this.#filled = Promise.withResolvers<void>();
    }
  }

  /** The handler joins a reflector that may have run before: it knows nothing yet. */
  join(): void {
    this.#isListed = false;
  }

  /** Begins a list; what is kept stays as it is until `commit`. */
  beginList(): ListDraft {
    const draft = this.#table.beginList();
    return {
      ...draft,
      put: (object) => {
        if (this.#wants(object)) {
          draft.put(object);
        }
      },
      commit: (resourceVersion) => {
        const diff = draft.commit(resourceVersion);
        this.handler.replaced?.();
        return diff;
      },
    };
  }

  /** A list was committed and changed so much. The handler hears of its first one, and after a distrust, even if nothing changed. */
  listed(diff: Diff, wasDistrusted: boolean): void {
    const mustHear = wasDistrusted || !this.#isListed;
    this.#isListed = true;
    this.#isFilled = true;
    this.#filled.resolve();
    if (mustHear || !isEmpty(diff)) {
      this.handler.changed(diff);
    }
  }

  /** An audit was committed and changed so much. */
  audited(diff: Diff): void {
    if (!isEmpty(diff)) {
      this.handler.drifted(diff);
      this.handler.changed(diff);
    }
  }

  /** Takes an event of a watch. */
  take({ type, object }: Pick<WatchEvent, 'type' | 'object'>): void {
    if (type === 'BOOKMARK') {
      return;
    }
    if (type === 'DELETED') {
      this.handler.removed?.(object);
    }
    const diff = this.#table.apply(this.#wants(object) ? type : 'DELETED', object);
    if (!isEmpty(diff)) {
      this.handler.changed(diff);
    }
  }

  #wants(object: unknown): boolean {
    return this.handler.part?.has(object) ?? true;
  }
}

/** What a list changed for each handler. */
export type Diffs = readonly (readonly [Subscription<unknown>, Diff])[];

/** A list that is being read for several handlers. */
interface SharedDraft extends ListListener {
  /** Gives the list, as of this resourceVersion, to those handlers that are still running. */
  commit(resourceVersion: string): Diffs;
}

/** The handlers of a reflector that are running. */
export class Subscriptions {
  readonly #running = new Set<Subscription<unknown>>();

  /** Whether no handler is running. */
  get isEmpty(): boolean {
    return this.#running.size === 0;
  }

  /** Whether a handler waits for its first list. */
  get hasUnlisted(): boolean {
    return [...this.#running].some(({ isListed }) => !isListed);
  }

  /** The handler runs from now on. */
  add(subscription: Subscription<unknown>): void {
    subscription.join();
    this.#running.add(subscription);
  }

  /** The handler does not run any more. */
  delete(subscription: Subscription<unknown>): void {
    this.#running.delete(subscription);
  }

  /** Asks for a part only when all handlers want the same one. */
  query(): Readonly<Record<string, string>> {
    const parts = new Set([...this.#running].map(({ handler }) => handler.part));
    const [only] = parts;
    return queryOf(parts.size === 1 ? only : undefined);
  }

  /** Begins a list for those handlers that are running now. */
  beginList(): SharedDraft {
    const drafts = [...this.#running].map((each) => [each, each.beginList()] as const);
    return {
      item(object) {
        for (const [, draft] of drafts) {
          draft.put(object);
        }
      },
      restart() {
        for (const [, draft] of drafts) {
          draft.restart();
        }
      },
      commit: (resourceVersion) =>
        drafts
          .filter(([subscription]) => this.#running.has(subscription))
          .map(([subscription, draft]) => [subscription, draft.commit(resourceVersion)]),
    };
  }

  /** Takes an event of a watch. */
  take(event: WatchEvent): void {
    for (const subscription of this.#running) {
      subscription.take(event);
    }
  }

  /** What all handlers have is known to be wrong. */
  distrusted(): void {
    for (const subscription of this.#running) {
      subscription.distrusted();
    }
  }

  /** Tells all handlers that a list or a watch failed. */
  failed(error: unknown): void {
    for (const { handler } of this.#running) {
      handler.failed(error);
    }
  }
}

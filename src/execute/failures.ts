import { ConflictError, StaleCacheError } from '../ports.ts';

/** What failed for single objects, so that none of them stops the others. */
export interface Failures {
  /**
   * What `work` resolves to; undefined when it failed, which is remembered. Rejects when aborted, and with a ConflictError or
   * StaleCacheError, which are about everything.
   */
  attempt<Value>(what: string, work: () => Promise<Value>): Promise<Value | undefined>;
  /** Remembers that `what` failed. Throws when aborted. */
  add(what: string, error: unknown): void;
  /** Throws an AggregateError of all of them; does nothing when there are none. */
  throwIfAny(): void;
}

/** No failures yet; `signal` aborts the work. */
export function createFailures(signal: AbortSignal): Failures {
  const errors: Error[] = [];
  const add = (what: string, error: unknown): void => {
    signal.throwIfAborted();
    errors.push(new Error(`${what}: ${messageOf(error)}`, { cause: error }));
  };
  return {
    add,
    async attempt(what, work) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof ConflictError || error instanceof StaleCacheError) {
          throw error;
        }
        add(what, error);
        return undefined;
      }
    },
    throwIfAny() {
      const [first, ...others] = errors;
      if (first !== undefined) {
        const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
        throw new AggregateError(errors, `${first.message}${more}`, { cause: first });
      }
    },
  };
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

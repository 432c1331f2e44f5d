import type { ServiceLevels } from '../model/service-level.ts';
import type { Seconds } from '../model/units.ts';

/** Classes and ledgers as their keeper has them. */
export type KeptLevels = Pick<ServiceLevels, 'classes' | 'ledgers'>;

/** How the keeping of ledgers goes. */
export type LedgerHealth =
  /** The keeper has not looked yet. */
  | { readonly kind: 'Awaiting' }
  /** All changes are counted within seconds. */
  | { readonly kind: 'Kept' }
  /** No look has ended well for a while. */
  | { readonly kind: 'Failing'; readonly why: string };

/** The state of the ledgers: their loop reports it, the loop of the policies and the metrics read it. Times are of the monotonic clock. */
export interface LedgerNews {
  /** A look at everything has ended well; `levels` gives what the keeper has, whenever it is asked for. */
  looked(at: Seconds, levels: () => KeptLevels): void;
  /** A look has failed. */
  failed(at: Seconds, error: unknown): void;
  health(now: Seconds): LedgerHealth;
  /** Nothing before the first look. Ledgers that have ended are left out. */
  levels(): KeptLevels;
}

/** Time without a good look that a slow API server explains: looks are 30 s apart, and each request has a deadline. */
const PATIENCE = 120;

const NOTHING: KeptLevels = { classes: new Map(), ledgers: new Map() };

/** Before the first look. */
export function createLedgerNews(): LedgerNews {
  let levels: (() => KeptLevels) | undefined;
  let why = 'no look at them has ended';
  let goodSince: Seconds | undefined;
  return {
    looked(at, source) {
      goodSince = at;
      levels = source;
      why = 'no look at them has ended';
    },
    failed(at, error) {
      goodSince ??= at;
      why = describe(error);
    },
    health(now) {
      if (goodSince !== undefined && now - goodSince > PATIENCE) {
        return { kind: 'Failing', why };
      }
      return { kind: levels === undefined ? 'Awaiting' : 'Kept' };
    },
    levels: () => levels?.() ?? NOTHING,
  };
}

/** With its cause: an AggregateError only counts. */
function describe(error: unknown): string {
  const own = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${own}${cause}`;
}

import fc from 'fast-check';
import type { Passage } from './fake-leases.ts';
import type { VirtualProcess, VirtualTime } from './virtual-time.ts';

/** Disturbances begin before this instant; those that end have ended by twice of it. */
export const TROUBLED = 60;

/** What befalls one replica. */
export type Trouble =
  /** Stands still as by SIGSTOP. */
  | { readonly kind: 'pause'; readonly at: number; readonly span: number; readonly reversed: boolean }
  /** Requests, or only their answers, get lost. */
  | { readonly kind: 'cut'; readonly at: number; readonly span: number; readonly lost: 'there' | 'back' }
  /** Requests and answers take long; they overtake each other, and outlive the patience of whoever sent them. */
  | { readonly kind: 'slow'; readonly at: number; readonly span: number; readonly there: number; readonly back: number }
  | { readonly kind: 'stop'; readonly at: number };

/** Everything that chance decides about one replica. */
export interface Fate {
  readonly startsAt: number;
  /** Speed of its monotonic clock; the fastest may be up to half as fast again as the slowest. */
  readonly rate: number;
  readonly jitter: number;
  readonly troubles: readonly Trouble[];
}

/** Lets a trouble come over a process; `stop` is how it is asked to end. */
export function befall(time: VirtualTime, process: VirtualProcess, stop: AbortController, trouble: Trouble): void {
  if (trouble.kind === 'pause') {
    time.at(trouble.at, () => process.pause());
    time.at(trouble.at + trouble.span, () => process.resume(trouble.reversed));
  }
  if (trouble.kind === 'stop') {
    time.at(trouble.at, () => process.wake(trouble.at, () => stop.abort()));
  }
}

/** What becomes of a request or a word to a replica at this moment. */
export function passageAt({ troubles }: Fate, now: number): Passage {
  const passage = { there: 0.01, back: 0.01, lost: 'never' as Passage['lost'] };
  for (const trouble of troubles) {
    if ('span' in trouble && trouble.at <= now && now < trouble.at + trouble.span) {
      if (trouble.kind === 'slow') {
        passage.there += trouble.there;
        passage.back += trouble.back;
      } else if (trouble.kind === 'cut') {
        passage.lost = trouble.lost;
      }
    }
  }
  return passage;
}

/** Evenly spread, unlike fc.double, most of whose numbers are next to nothing. */
export const between = (min: number, max: number) =>
  fc.integer({ min: min * 1000, max: max * 1000 }).map((thousandths) => thousandths / 1000);
const instant = between(0, TROUBLED);
const span = fc.oneof(between(0, 30), between(0, TROUBLED));
const delay = fc.oneof(between(0, 6), between(0, 40));
const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  fc.record({ kind: fc.constant('pause' as const), at: instant, span, reversed: fc.boolean() }),
  fc.record({ kind: fc.constant('cut' as const), at: instant, span, lost: fc.constantFrom('there', 'back') }),
  fc.record({ kind: fc.constant('slow' as const), at: instant, span, there: delay, back: delay }),
);
/** Of one replica. */
export const fate: fc.Arbitrary<Fate> = fc.record({
  startsAt: between(0, 30),
  rate: between(0.82, 1.22),
  jitter: between(0, 0.999),
  troubles: fc
    .tuple(
      fc.array(trouble, { maxLength: 4 }),
      fc.oneof(
        { weight: 4, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.tuple(fc.record({ kind: fc.constant('stop' as const), at: instant })) },
      ),
    )
    .map(([troubles, stop]) => [...troubles, ...stop]),
});
/** Of two to four. */
export const fates: fc.Arbitrary<Fate[]> = fc.array(fate, { minLength: 2, maxLength: 4 });

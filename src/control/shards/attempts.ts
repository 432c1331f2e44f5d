import { type Seconds, seconds } from '../../model/units.ts';
import type { Clock } from '../../ports.ts';
import type { Shard } from './names.ts';

interface AttemptsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** How long a shard rests after what was tried for it has failed. */
  readonly rest: Seconds;
  readonly failed: (error: unknown) => void;
  /** Hears that what was begun for shards has ended. */
  readonly ended: () => void;
}

/** What is tried for shards, by requests that nobody waits for. */
export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #busy = new Set<Shard>();
  /** When a shard has rested, on the monotonic clock. */
  readonly #restedAt = new Map<Shard, Seconds>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /** Whether something is under way for the shard. */
  isBusy(shard: Shard): boolean {
    return this.#busy.has(shard);
  }

  /** How long the shard rests yet; not above 0 where it does not. */
  restOf(shard: Shard, now: Seconds): number {
    return (this.#restedAt.get(shard) ?? now) - now;
  }

  /** Begins work for shards, which are busy until it has ended. */
  begin(shards: readonly Shard[], work: () => Promise<void>, signal: AbortSignal): void {
    for (const shard of shards) {
      this.#busy.add(shard);
    }
    void this.run(shards, work, signal).then(() => {
      for (const shard of shards) {
        this.#busy.delete(shard);
      }
      this.#options.ended();
    });
  }

  /** Resolves when the work has ended. What fails before an abort is reported, and these shards rest. Never rejects. */
  run(shards: readonly Shard[], work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, rest, failed } = this.#options;
    const trying = work()
      .catch((error: unknown) => {
        if (!signal.aborted) {
          failed(error);
          for (const shard of shards) {
            this.#restedAt.set(shard, seconds(clock.monotonic() + rest));
          }
        }
      })
      .finally(() => this.#underWay.delete(trying));
    this.#underWay.add(trying);
    return trying;
  }

  /** Resolves when nothing is under way any more of what was begun until now. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}

import type { Leadership, Term } from '../../src/control/shards/leadership.ts';
import type { Shard } from '../../src/control/shards/names.ts';

/** Leadership of shards that a test gives and takes away. */
export class FakeLeadership implements Leadership {
  readonly replica = 'evenkeel-a';
  readonly #terms = new Map<Shard, { readonly term: Term; readonly lost: AbortController }>();
  readonly #listeners: (() => void)[] = [];
  readonly #ended: ((shard: Shard) => Promise<void>)[] = [];
  /** Shards that there are, as it was told last. */
  kept: ReadonlySet<Shard> = new Set();

  /** This replica leads the shard from now on. */
  give(shard: Shard, epoch: number): void {
    const lost = new AbortController();
    this.#terms.set(shard, { term: { epoch, signal: lost.signal }, lost });
    this.#tell();
  }

  /** Another replica has it. */
  lose(shard: Shard): void {
    const held = this.#terms.get(shard);
    this.#terms.delete(shard);
    held?.lost.abort(new Error('lost'));
    this.#tell();
  }

  /** Lets go of it; resolves when another replica may have it. */
  async handOver(shard: Shard): Promise<void> {
    this.#terms.delete(shard);
    this.#tell();
    await Promise.all(this.#ended.map((ended) => ended(shard)));
  }

  keep(shards: ReadonlySet<Shard>): void {
    this.kept = shards;
  }

  of(shard: Shard): Term | undefined {
    return this.#terms.get(shard)?.term;
  }

  onChange(changed: () => void): void {
    this.#listeners.push(changed);
  }

  onHandOver(ended: (shard: Shard) => Promise<void>): void {
    this.#ended.push(ended);
  }

  exclusive: Leadership['exclusive'] = (own) => own;

  async caughtUp(): Promise<void> {}

  #tell(): void {
    for (const changed of this.#listeners) {
      changed();
    }
  }
}

import type { Usage } from '../model/resources.ts';
import type { UsageSample } from '../model/snapshot.ts';
import { bytes, type EpochSeconds, elapsed, milliCpu, type Seconds } from '../model/units.ts';

/** Exponentially weighted means of usage, by key. */
export interface RunningMeans {
  /** Takes in a valid sample, which weighs as much as its window is long; one that is not newer than the last changes nothing. */
  readonly add: (key: string, sample: UsageSample) => void;
  /** Lets a key that is not known yet go on from where another one stands, if that is known. */
  readonly inherit: (key: string, from: RunningMeans, other: string) => void;
  /** `undefined`: there was no sample yet. */
  readonly of: (key: string) => Usage | undefined;
  readonly tally: (key: string) => Readonly<Tally> | undefined;
  /** Forgets keys whose last sample was taken before that. */
  readonly forgetBefore: (instant: EpochSeconds) => void;
  /** Forgets all other keys. */
  readonly keepOnly: (keys: ReadonlySet<string>) => void;
}

interface Tally {
  /** Sums of samples, and of their weights; each has faded since. */
  cpu: number;
  memory: number;
  weight: number;
  at: EpochSeconds;
}

/** No means yet. A sample counts for 1/e once it is `timeConstant` older than the newest. */
export function createRunningMeans(timeConstant: Seconds): RunningMeans {
  const tallies = new Map<string, Tally>();
  return {
    add: (key, { cpu, memory, timestamp, window }) => {
      const { at, ...faded } = tallies.get(key) ?? { cpu: 0, memory: 0, weight: 0, at: timestamp };
      if (faded.weight > 0 && timestamp <= at) {
        return;
      }
      const fading = Math.exp(-elapsed(at, timestamp) / timeConstant);
      const weight = window > 0 ? window : 1;
      tallies.set(key, {
        cpu: faded.cpu * fading + cpu * weight,
        memory: faded.memory * fading + memory * weight,
        weight: faded.weight * fading + weight,
        at: timestamp,
      });
    },
    inherit: (key, from, other) => {
      const tally = from.tally(other);
      if (tally !== undefined && !tallies.has(key)) {
        tallies.set(key, { ...tally });
      }
    },
    of: (key) => {
      const tally = tallies.get(key);
      return tally === undefined
        ? undefined
        : { cpu: milliCpu(tally.cpu / tally.weight), memory: bytes(tally.memory / tally.weight) };
    },
    tally: (key) => tallies.get(key),
    forgetBefore: (instant) => forgetIf(tallies, (_, { at }) => at < instant),
    keepOnly: (keys) => forgetIf(tallies, (key) => !keys.has(key)),
  };
}

function forgetIf(tallies: Map<string, Tally>, isGone: (key: string, tally: Tally) => boolean): void {
  for (const [key, tally] of tallies) {
    if (isGone(key, tally)) {
      tallies.delete(key);
    }
  }
}

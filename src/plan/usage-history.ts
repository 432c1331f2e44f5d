import { type PodInfo, podKey } from '../model/pod.ts';
import type { Usage } from '../model/resources.ts';
import type { ClusterSnapshot, UsageSample, UsageSamples } from '../model/snapshot.ts';
import { after, bytes, type EpochSeconds, elapsed, milliCpu, type Seconds, seconds } from '../model/units.ts';
import { sampleLimits, sampleProblem } from './metrics-gate.ts';

/** Seconds between two samples of the Metrics API (metrics-server's default resolution). */
const RESOLUTION = 15;
/** Looks at the metrics within one time constant, where their resolution allows it. */
const LOOKS = 20;
/** A controller without pods is forgotten after so many time constants. */
const MEMORY = 3;

/** What a history is made from. */
export type Measured = Pick<ClusterSnapshot, 'takenAt' | 'nodes' | 'pods' | 'usage'>;

/** What pods and nodes have used of late. */
export interface UsageHistory {
  /** Takes in the samples that count; those that it has already change nothing. */
  readonly add: (measured: Measured) => void;
  /** The snapshot with means in place of its samples, which are to be added before. */
  readonly smooth: <Snapshot extends Measured>(snapshot: Snapshot) => Snapshot;
}

/** Seconds between two looks at the metrics that a history with this time constant wants. */
export function samplingPeriod(smoothing: Seconds): Seconds {
  return seconds(Math.max(RESOLUTION, smoothing / LOOKS));
}

/**
 * A history that is empty: the first samples count as they are. Samples are weighted exponentially (algorithms.md 1,
 * smoothing) with `smoothing` as the time constant. A pod's mean goes with it; a new pod goes on from the mean of its
 * controller's pods, so that one that was moved weighs what its predecessor did. A node uses what the pods that it has now
 * use in the mean, and the mean of what was none of its pods'. Samples that do not count (metrics gate) leave means alone and
 * stand in the snapshot as they are, for the gate to refuse.
 */
export function createUsageHistory(smoothing: Seconds, maxAge: Seconds): UsageHistory {
  const means: Means = {
    pods: createRunningMeans(smoothing),
    owners: createRunningMeans(smoothing),
    rests: createRunningMeans(smoothing),
  };
  return {
    add: (measured) => {
      if (measured.usage !== undefined) {
        addSamples(measured, measured.usage, means, maxAge);
        means.pods.keepOnly(new Set(measured.pods.map(({ uid }) => uid)));
        means.rests.keepOnly(new Set(measured.nodes.map(({ name }) => name)));
        means.owners.forgetBefore(after(measured.takenAt, seconds(-MEMORY * smoothing)));
      }
    },
    smooth: (snapshot) =>
      snapshot.usage === undefined
        ? snapshot
        : { ...snapshot, usage: smoothed(snapshot, snapshot.usage, means, maxAge) },
  };
}

interface Means {
  /** By UID. */
  readonly pods: RunningMeans;
  /** Of one of its pods, by UID of the controller. */
  readonly owners: RunningMeans;
  /** What nodes use beyond their pods, by name. */
  readonly rests: RunningMeans;
}

function addSamples(measured: Measured, usage: UsageSamples, means: Means, maxAge: Seconds): void {
  const counts = createTest(measured, maxAge);
  const own = new Map<PodInfo, UsageSample>();
  for (const pod of measured.pods) {
    const sample = usage.pods.get(podKey(pod));
    if (sample !== undefined && sample.timestamp >= pod.createdAt && counts(sample, pod.nodeName)) {
      own.set(pod, sample);
    }
  }
  addPods(own, means);
  const used = sumByNode(measured.pods, (pod) => own.get(pod) ?? meanOf(pod, means));
  for (const [name, sample] of usage.nodes) {
    if (counts(sample, name)) {
      means.rests.add(name, { ...sample, ...restOf(sample, used.get(name)) });
    }
  }
}

/** Whether a sample of something on that node counts. */
function createTest(
  { nodes, takenAt }: Measured,
  maxAge: Seconds,
): (sample: UsageSample, node: string | undefined) => boolean {
  const all = sampleLimits(nodes);
  const limits = new Map(nodes.map(({ name }, place) => [name, all[place]]));
  return (sample, node) => {
    const limit = limits.get(node ?? '');
    return limit !== undefined && sampleProblem(sample, limit, takenAt, maxAge) === undefined;
  };
}

function addPods(own: ReadonlyMap<PodInfo, UsageSample>, { pods, owners }: Means): void {
  for (const [{ uid, owner }, sample] of own) {
    pods.inherit(uid, owners, owner?.uid ?? '');
    pods.add(uid, sample);
  }
  for (const [owner, siblings] of Map.groupBy(own, ([pod]) => pod.owner?.uid)) {
    if (owner !== undefined) {
      owners.add(owner, meanSample(siblings.map(([, sample]) => sample)));
    }
  }
}

/** The mean of samples, as new as the newest of them. */
function meanSample(samples: readonly UsageSample[]): UsageSample {
  const newest = samples.reduce((last, sample) => (sample.timestamp > last.timestamp ? sample : last));
  const mean = (resource: keyof Usage): number =>
    samples.reduce((sum, sample) => sum + sample[resource], 0) / samples.length;
  return { ...newest, cpu: milliCpu(mean('cpu')), memory: bytes(mean('memory')) };
}

/** What a pod that serves uses in the mean. */
function meanOf({ uid, owner, ready }: PodInfo, { pods, owners }: Means): Usage | undefined {
  return ready ? (pods.of(uid) ?? owners.of(owner?.uid ?? '')) : undefined;
}

function smoothed(measured: Measured, usage: UsageSamples, means: Means, maxAge: Seconds): UsageSamples {
  const counts = createTest(measured, maxAge);
  const known = new Map(measured.pods.map((pod) => [pod, means.pods.of(pod.uid) ?? meanOf(pod, means)]));
  const pods = new Map(usage.pods);
  for (const [pod, mean] of known) {
    const own = usage.pods.get(podKey(pod));
    // A pod that has none yet is as fresh as its node's.
    const sample = own ?? usage.nodes.get(pod.nodeName ?? '');
    if (mean !== undefined && sample !== undefined && counts(sample, pod.nodeName)) {
      pods.set(podKey(pod), { ...sample, ...mean });
    }
  }
  const used = sumByNode(measured.pods, (pod) => known.get(pod));
  const nodes = new Map(
    [...usage.nodes].map(([name, sample]) => {
      const rest = means.rests.of(name);
      const isSmooth = rest !== undefined && counts(sample, name);
      return [name, isSmooth ? { ...sample, ...plus(rest, used.get(name)) } : sample];
    }),
  );
  return { nodes, pods };
}

function sumByNode(pods: readonly PodInfo[], usageOf: (pod: PodInfo) => Usage | undefined): ReadonlyMap<string, Usage> {
  const sums = new Map<string, Usage>();
  for (const pod of pods) {
    const usage = usageOf(pod);
    if (pod.nodeName !== undefined && usage !== undefined) {
      sums.set(pod.nodeName, plus(usage, sums.get(pod.nodeName)));
    }
  }
  return sums;
}

function plus(left: Usage, right: Usage | undefined): Usage {
  return { cpu: milliCpu(left.cpu + (right?.cpu ?? 0)), memory: bytes(left.memory + (right?.memory ?? 0)) };
}

/** Windows of a node and its pods are not the same, so that they may come out above it. */
function restOf(node: Usage, pods: Usage | undefined): Usage {
  return {
    cpu: milliCpu(Math.max(0, node.cpu - (pods?.cpu ?? 0))),
    memory: bytes(Math.max(0, node.memory - (pods?.memory ?? 0))),
  };
}

/** Exponentially weighted means of usage, by key. */
interface RunningMeans {
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
function createRunningMeans(timeConstant: Seconds): RunningMeans {
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

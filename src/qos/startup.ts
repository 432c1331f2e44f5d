import type { NodeInfo } from '../model/node.ts';
import type { PodInfo } from '../model/pod.ts';
import type { ServiceClass, ServiceLedger, StartTime } from '../model/service-level.ts';
import { type Seconds, seconds } from '../model/units.ts';
import type { MeasuredStarts } from './ledger-state.ts';

/** Whether a node has the image of a pod; `undefined`: that is not known, or the node is not. */
export type ImageState = 'Present' | 'Absent' | undefined;

/**
 * Whether a node has all images of a pod. A kubelet lists the largest 50: one that it does not list may be there all the same. A node
 * that lists none does not say.
 */
export function imagesOn(
  { images }: Pick<NodeInfo, 'images'>,
  { constraints }: Pick<PodInfo, 'constraints'>,
): ImageState {
  if (images.size === 0) {
    return undefined;
  }
  return constraints.images.every((image) => images.has(image)) ? 'Present' : 'Absent';
}

/**
 * alpha: how long a replica takes to be of use again, in seconds. As measured of starts with the image on the node, or
 * without; where only the other was measured that, where it is not known which the longer, and what the class expects until
 * anything was measured. In mode Concurrent a replica is of use when all are: that takes the expected maximum of the starts
 * of all that do not run (T 7.2).
 */
export function expectedStartup(
  ledger: Pick<ServiceLedger, 'startup' | 'waiting'>,
  { expectedStartup: expected, mode }: Pick<ServiceClass, 'expectedStartup' | 'mode'>,
  replica: { readonly running: boolean },
  image?: ImageState,
): Seconds {
  const starts = mode === 'Concurrent' ? Math.max(1, ledger.waiting + Number(replica.running)) : 1;
  return measuredStartup(ledger, starts, image) ?? expected;
}

/** The longest of so many starts, as measured; `undefined`: nothing was. */
export function measuredStartup(
  { startup: { hot, cold } }: Pick<ServiceLedger, 'startup'>,
  starts = 1,
  image?: ImageState,
): Seconds | undefined {
  const times = { Present: [hot ?? cold], Absent: [cold ?? hot], Unknown: [hot, cold] }[image ?? 'Unknown'];
  const known = times.flatMap((time) => (time === undefined ? [] : [longestOf(time, starts)]));
  return known.length === 0 ? undefined : seconds(Math.max(...known));
}

/**
 * The expected maximum of so many starts, of which each takes at least some time, and the rest is exponential: the mean and
 * `1/2 + 1/3 + ...` standard deviations.
 */
function longestOf({ mean, deviation }: StartTime, starts: number): number {
  let sum = 0;
  for (let place = 2; place <= starts; place += 1) {
    sum += 1 / place;
  }
  return mean + deviation * sum;
}

/** Mean and standard deviation; `undefined` where nothing was measured. */
export function startTimeOf(starts: MeasuredStarts | undefined): StartTime | undefined {
  if (starts === undefined || starts.count === 0) {
    return undefined;
  }
  const { count, total, squares } = starts;
  const mean = total / count;
  return { mean: seconds(mean), deviation: seconds(Math.sqrt(Math.max(0, squares / count - mean ** 2))) };
}

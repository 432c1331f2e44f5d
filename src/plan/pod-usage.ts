import type { NodeInfo } from '../model/node.ts';
import { type PodInfo, podKey } from '../model/pod.ts';
import { isMeasured, type LoadResource, type MeasuredResource, requestedOf } from '../model/resources.ts';
import type { ClusterSnapshot, UsageSample } from '../model/snapshot.ts';
import { amountAt, at, type IndexTable, itemAt, type PodIndex, type SiteIndex } from './indices.ts';
import { sampleLimits, sampleProblem } from './metrics-gate.ts';
import type { PolicyOptions } from './options.ts';
import type { Owners } from './owners.ts';
import type { PodKinds } from './pod-kinds.ts';

/** What each pod uses of each resource of the policy, by place of the pod. */
export interface PodUsage {
  readonly resources: readonly LoadResource[];
  /** Per resource, in its unit. Never NaN, never negative. */
  readonly values: readonly Float64Array[];
  /** Of measured resources. 1: a valid sample of its own; 0: its siblings' mean, or its request. */
  readonly sampled: Uint8Array;
}

/** The pods in order, and what is known of their nodes and controllers. */
export interface Subjects {
  readonly pods: readonly PodInfo[];
  readonly nodes: readonly NodeInfo[];
  /** Place of each pod's node among `nodes`; -1 when it has none. */
  readonly located: IndexTable<PodIndex, SiteIndex>;
  readonly owners: Owners;
  readonly kinds: PodKinds;
}

/**
 * What every pod uses. Source Requests: its request. Source Measured: its sample; without a valid one the mean of the
 * valid samples of its controller's pods, else its request. A missing sample is never a zero (algorithms.md 1). Of what is not
 * measured, its request in any case.
 */
export function measurePods(
  { pods, nodes, located, owners }: Subjects,
  { usage, takenAt }: ClusterSnapshot,
  { load }: PolicyOptions,
): PodUsage {
  const tables = load.resources.map(({ name }) => ({ resource: name, values: new Float64Array(pods.length) }));
  const sampled = new Uint8Array(pods.length);
  if (load.source === 'Measured' && usage !== undefined) {
    const limits = sampleLimits(nodes);
    const sampleOf = sampleReader(usage.pods);
    pods.forEach((pod, place) => {
      const limit = limits[at(located, place)];
      const sample = limit === undefined ? undefined : sampleOf(pod);
      if (sample === undefined || limit === undefined || !isOwn(sample, pod)) {
        return;
      }
      if (sampleProblem(sample, limit, takenAt, load.maxAge) === undefined) {
        sampled[place] = 1;
        for (const { resource, values } of tables) {
          if (isMeasured(resource)) {
            values[place] = sample[resource];
          }
        }
      }
    });
  }
  for (const { resource, values } of tables) {
    if (isMeasured(resource)) {
      fillGaps(values, sampled, pods, owners, resource);
    } else {
      pods.forEach(({ constraints }, place) => {
        values[place] = requestedOf(constraints.requests, resource);
      });
    }
  }
  return { resources: tables.map(({ resource }) => resource), values: tables.map(({ values }) => values), sampled };
}

/**
 * Finds samples for pods that are asked for in the snapshot's order. That is nearly the order of the samples, so a walk
 * along them finds most without making and hashing the 150,000 keys of a large cluster; the rest are looked up.
 */
function sampleReader(samples: ReadonlyMap<string, UsageSample>): (pod: PodInfo) => UsageSample | undefined {
  const keys = [...samples.keys()];
  const values = [...samples.values()];
  let next = 0;
  return (pod) => {
    if (isKeyOf(keys[next] ?? '', pod)) {
      next += 1;
      return values[next - 1];
    }
    const key = podKey(pod);
    while (next < keys.length && (keys[next] ?? '') <= key) {
      next += 1;
    }
    return samples.get(key);
  };
}

/** Whether `key` is `namespace/name`, without making that text. */
function isKeyOf(key: string, { namespace, name }: PodInfo): boolean {
  const isLong = key.length === namespace.length + 1 + name.length;
  return isLong && key.endsWith(name) && key.startsWith(namespace) && key[namespace.length] === '/';
}

/** Samples are found by name; one that is older than the pod is about an earlier incarnation of that name. */
function isOwn(sample: UsageSample, pod: PodInfo): boolean {
  return !(sample.timestamp < pod.createdAt);
}

function fillGaps(
  table: Float64Array,
  sampled: Uint8Array,
  pods: readonly PodInfo[],
  owners: Owners,
  resource: MeasuredResource,
): void {
  const means = siblingMeans(table, sampled, owners);
  for (let place = 0; place < pods.length; place += 1) {
    if (sampled[place] === 0) {
      const mean = means[at(owners.ofPod, place)] ?? Number.NaN;
      table[place] = Number.isNaN(mean) ? itemAt(pods, place).constraints.requests[resource] : mean;
    }
  }
}

/** Mean sample per controller; NaN where none of its pods has one. */
function siblingMeans(table: Float64Array, sampled: Uint8Array, owners: Owners): Float64Array {
  const sums = new Float64Array(owners.list.length);
  const counts = new Float64Array(owners.list.length);
  sampled.forEach((isSampled, place) => {
    const owner = at(owners.ofPod, place);
    if (isSampled === 1 && owner >= 0) {
      sums[owner] = amountAt(sums, owner) + amountAt(table, place);
      counts[owner] = amountAt(counts, owner) + 1;
    }
  });
  return sums.map((sum, owner) => sum / amountAt(counts, owner));
}

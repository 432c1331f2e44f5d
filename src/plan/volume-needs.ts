import type { NodeSelectorTerm } from '../model/node.ts';
import type { PodClaim, PodInfo } from '../model/pod.ts';
import type { ClaimInfo, ClaimRequest, StorageInfo, VolumeInfo } from '../model/storage.ts';
import { at, itemAt } from './indices.ts';
import type { PodKinds } from './pod-kinds.ts';

/** A CSI volume that takes one of the places that a driver has on a node. */
export interface Attachment {
  readonly driver: string;
  /** Equal for pods that share the volume, which then takes one place. */
  readonly id: string;
}

/** Nodes that a bound volume can be reached from. */
export interface Reach {
  readonly volume: string;
  /** Terms are ORed. */
  readonly terms: readonly NodeSelectorTerm[];
}

/** Zones or regions that a volume is in. */
export interface ZoneNeed {
  readonly volume: string;
  readonly key: string;
  readonly values: readonly string[];
}

/** A claim that gets its volume when the scheduler has chosen a node. */
export interface DelayedClaim {
  readonly name: string;
  readonly request: ClaimRequest;
  /** `namespace/name` and uid, for volumes that are reserved for it. */
  readonly key: string;
  readonly uid: string | undefined;
}

/** What the volumes of one pod ask of a node. */
export interface VolumeNeeds {
  readonly reaches: readonly Reach[];
  readonly zones: readonly ZoneNeed[];
  /** The smallest first, the order in which the scheduler looks for volumes. */
  readonly delayed: readonly DelayedClaim[];
  readonly attachments: readonly Attachment[];
  /** A ReadWriteOncePod claim that another pod uses. */
  readonly taken: string | undefined;
  /** Why no node will do, in a clause about the pod. */
  readonly problem: string | undefined;
}

/** What a pod without claims needs. */
export const NO_VOLUMES: VolumeNeeds = {
  reaches: [],
  zones: [],
  delayed: [],
  attachments: [],
  taken: undefined,
  problem: undefined,
};

/** Works out what pods need; made for one snapshot. */
export interface VolumeIndex {
  readonly needsOf: (pod: PodInfo | undefined) => VolumeNeeds;
  /** Whether any node limits the volumes that it can attach; otherwise attachments need not be counted. */
  readonly isLimited: boolean;
}

/** An index over the volumes of a snapshot and the pods that use them. */
export function indexVolumes(storage: StorageInfo, pods: readonly PodInfo[], kinds: PodKinds): VolumeIndex {
  const users = countUsers(pods.filter((_, pod) => itemAt(kinds.list, at(kinds.ofPod, pod)).mounts));
  return {
    isLimited: storage.attachLimits.size > 0,
    needsOf: (pod) => (pod === undefined || pod.claims.length === 0 ? NO_VOLUMES : needsOf(pod, storage, users)),
  };
}

/** Pods with a node that use a claim, by `namespace/name`. */
function countUsers(pods: readonly PodInfo[]): ReadonlyMap<string, number> {
  const users = new Map<string, number>();
  for (const pod of pods) {
    for (const { name } of pod.nodeName === undefined ? [] : pod.claims) {
      const key = claimKey(pod, name);
      users.set(key, (users.get(key) ?? 0) + 1);
    }
  }
  return users;
}

function claimKey({ namespace }: Pick<PodInfo, 'namespace'>, name: string): string {
  return `${namespace}/${name}`;
}

function needsOf(pod: PodInfo, storage: StorageInfo, users: ReadonlyMap<string, number>): VolumeNeeds {
  const parts = pod.claims.map((claim) => needsOfClaim(pod, claim, storage, users));
  return {
    reaches: parts.flatMap(({ reaches }) => reaches),
    zones: parts.flatMap(({ zones }) => zones),
    delayed: parts.flatMap(({ delayed }) => delayed).sort((left, right) => left.request.size - right.request.size),
    attachments: parts.flatMap(({ attachments }) => attachments),
    taken: parts.find(({ taken }) => taken !== undefined)?.taken,
    problem: parts.find(({ problem }) => problem !== undefined)?.problem,
  };
}

/**
 * The ephemeral volume of a pod that has a node goes with the pod, and its replacement gets a new one, as does a pending pod
 * whose claim is not made yet (volumebinding.podHasPVCs waits for it); everything else is looked up as it is.
 */
function needsOfClaim(
  pod: PodInfo,
  { name, template }: PodClaim,
  storage: StorageInfo,
  users: ReadonlyMap<string, number>,
): VolumeNeeds {
  const key = claimKey(pod, name);
  const claim = storage.claims.get(key);
  if (template !== undefined && (pod.nodeName !== undefined || claim === undefined)) {
    return needsOfUnbound({ name, key, uid: undefined, request: template }, storage);
  }
  const problem = claimProblem(name, claim);
  if (claim === undefined || problem !== undefined) {
    return { ...NO_VOLUMES, problem };
  }
  const others = (users.get(key) ?? 0) - (pod.nodeName === undefined ? 0 : 1);
  const taken = claim.accessModes.includes('ReadWriteOncePod') && others > 0 ? name : undefined;
  const needs = claim.bound
    ? needsOfBound(claim, storage, template === undefined)
    : needsOfUnbound({ name, key, uid: claim.uid, request: claim }, storage, claim.volumeName);
  return { ...needs, taken };
}

/** volumebinding.podHasPVCs. */
function claimProblem(name: string, claim: ClaimInfo | undefined): string | undefined {
  if (claim === undefined) {
    return `its PersistentVolumeClaim ${name} does not exist`;
  }
  if (claim.lost) {
    return `its PersistentVolumeClaim ${name} has lost its volume`;
  }
  return claim.terminating ? `its PersistentVolumeClaim ${name} is being deleted` : undefined;
}

function needsOfBound({ name, volumeName }: ClaimInfo, { volumes }: StorageInfo, inZone: boolean): VolumeNeeds {
  const volume = volumes.get(volumeName ?? '');
  if (volume === undefined) {
    return { ...NO_VOLUMES, problem: `PersistentVolume ${volumeName} of its claim ${name} does not exist` };
  }
  const { nodeAffinity, csi } = volume;
  return {
    ...NO_VOLUMES,
    reaches: nodeAffinity === undefined ? [] : [{ volume: volume.name, terms: nodeAffinity }],
    zones: inZone ? zonesOf(volume) : [],
    attachments: csi === undefined ? [] : [{ driver: csi.driver, id: `${csi.driver}/${csi.handle}` }],
  };
}

/** Labels with which a volume names its zone or region, the beta ones included (volumezone.topologyLabels). */
const TOPOLOGY_LABELS = [
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
] as const;

/** The label of today for each of those labels. */
export const ZONE_LABELS: ReadonlyMap<string, string> = new Map(
  TOPOLOGY_LABELS.map((key) => [key, key.replace('failure-domain.beta', 'topology')]),
);

function zonesOf({ name, labels }: VolumeInfo): readonly ZoneNeed[] {
  return TOPOLOGY_LABELS.flatMap((key) => {
    const value = labels.get(key);
    return value === undefined ? [] : [{ volume: name, key, values: value.split('__') }];
  });
}

/** A claim without a volume waits for the scheduler only when its class says so and nobody has named a volume for it. */
function needsOfUnbound(claim: DelayedClaim, { classes }: StorageInfo, volumeName?: string): VolumeNeeds {
  const { name, key, request } = claim;
  const storageClass = classes.get(request.storageClass ?? '');
  if (storageClass?.waitForFirstConsumer !== true || volumeName !== undefined) {
    const why =
      storageClass === undefined && request.storageClass !== undefined
        ? `StorageClass ${request.storageClass} does not exist`
        : 'it is bound before a node is chosen';
    return { ...NO_VOLUMES, problem: `its PersistentVolumeClaim ${name} has no volume yet, and ${why}` };
  }
  const id = `${storageClass.name}-${key}`;
  return { ...NO_VOLUMES, delayed: [claim], attachments: [{ driver: storageClass.provisioner, id }] };
}

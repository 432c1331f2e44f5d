import type { NodeInfo } from '../../model/node.ts';
import { holds } from '../../model/selector.ts';
import type { ClaimRequest, StorageClassInfo, StorageInfo, VolumeInfo } from '../../model/storage.ts';
import type { DelayedClaim } from '../volume-needs.ts';
import { matchesTerm } from './node-affinity.ts';
import type { Refusal, Subject } from './refusal.ts';

/** StorageClasses that provision nothing: volumes are made by hand (component-helpers volume.NotSupportedProvisioner). */
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

/**
 * kube-scheduler's VolumeBinding: the node is within reach of every bound volume, and every claim that waits for a node
 * finds a free volume there, the smallest that will do, or can have one provisioned (volumebinding.FindPodVolumes).
 * A class whose driver publishes its capacity is refused, since the planner does not know that capacity.
 */
export function volumeBinding({ volumes }: Subject, node: NodeInfo, storage: StorageInfo): Refusal | undefined {
  if (volumes.problem !== undefined) {
    return { filter: 'VolumeBinding', detail: volumes.problem };
  }
  const beyond = volumes.reaches.find(({ terms }) => !terms.some((term) => matchesTerm(term, node)));
  if (beyond !== undefined) {
    return { filter: 'VolumeBinding', detail: `PersistentVolume ${beyond.volume} cannot be reached from there` };
  }
  const chosen = new Set<string>();
  for (const claim of volumes.delayed) {
    const volume = smallestFree(claim, node, storage, chosen);
    const problem = volume === undefined ? provisionProblem(claim, node, storage) : undefined;
    if (problem !== undefined) {
      return { filter: 'VolumeBinding', detail: problem };
    }
    chosen.add(volume?.name ?? '');
  }
  return undefined;
}

/** component-helpers volume.FindMatchingVolume: a volume that is reserved for the claim, else the smallest free one. */
function smallestFree(
  claim: DelayedClaim,
  node: NodeInfo,
  { volumes }: StorageInfo,
  chosen: ReadonlySet<string>,
): VolumeInfo | undefined {
  let best: VolumeInfo | undefined;
  for (const volume of volumes.values()) {
    if (chosen.has(volume.name) || !isLargeEnough(volume, claim.request)) {
      continue;
    }
    const isNear = volume.nodeAffinity?.some((term) => matchesTerm(term, node)) ?? true;
    if (isReservedFor(volume, claim)) {
      return isNear ? volume : undefined;
    }
    const isBetter = best === undefined || volume.size < best.size;
    if (volume.claim === undefined && isNear && isBetter && isMatch(volume, claim.request)) {
      best = volume;
    }
  }
  return best;
}

function isLargeEnough({ size, volumeMode }: VolumeInfo, request: ClaimRequest): boolean {
  return size >= request.size && volumeMode === request.volumeMode;
}

function isReservedFor({ claim }: VolumeInfo, { key, uid }: DelayedClaim): boolean {
  return claim !== undefined && `${claim.namespace}/${claim.name}` === key && (claim.uid ?? uid) === uid;
}

function isMatch(volume: VolumeInfo, { storageClass, accessModes, selector }: ClaimRequest): boolean {
  return (
    volume.available &&
    (volume.storageClass ?? '') === (storageClass ?? '') &&
    accessModes.every((mode) => volume.accessModes.includes(mode)) &&
    (selector === undefined || selector.requirements.every((requirement) => holds(requirement, volume.labels)))
  );
}

/** volumebinding.checkVolumeProvisions. */
function provisionProblem({ name, request }: DelayedClaim, node: NodeInfo, storage: StorageInfo): string | undefined {
  const storageClass = storage.classes.get(request.storageClass ?? '');
  if (storageClass === undefined || storageClass.provisioner === NO_PROVISIONER) {
    return `no free PersistentVolume for its claim ${name} can be reached from there`;
  }
  if (!allows(storageClass, node)) {
    return `StorageClass ${storageClass.name} of its claim ${name} provisions no volumes there`;
  }
  return storageClass.tracksCapacity
    ? `how much StorageClass ${storageClass.name} of its claim ${name} has left is not known to the planner`
    : undefined;
}

/** component-helpers v1helper.MatchTopologySelectorTerms. */
function allows({ allowedTopologies }: StorageClassInfo, node: NodeInfo): boolean {
  return (
    allowedTopologies.length === 0 ||
    allowedTopologies.some((term) => term.every((requirement) => holds(requirement, node.labels)))
  );
}

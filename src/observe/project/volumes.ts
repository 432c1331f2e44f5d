import { asText, describe, isObject, type JsonObject, objectAt, objectsAt } from '../../model/json.ts';
import type { PodClaim, UnsupportedConstraint } from '../../model/pod.ts';
import type { Interner } from '../interner.ts';
import { type ProjectedRequest, readClaimTemplate } from './claim.ts';

/** Sources that any node can provide, or that no scheduler plugin looks at when a pod has them without a claim. */
const ANYWHERE = new Set([
  ...['configMap', 'secret', 'projected', 'downwardAPI', 'image', 'csi', 'nfs'],
  ...['azureFile', 'cephfs', 'fc', 'flexVolume', 'flocker', 'glusterfs', 'photonPersistentDisk', 'quobyte', 'scaleIO'],
  ...['storageos', 'vsphereVolume'],
]);
/** Sources whose content stays behind on the node. */
const LOCAL = new Set(['emptyDir', 'hostPath', 'gitRepo']);
const CLAIMS = new Set(['persistentVolumeClaim', 'ephemeral']);
/** Disks that count against what a node can attach (nodevolumelimits checkAttachableInlineVolume). */
const ATTACHED = new Set(['azureDisk', 'cinder', 'portworxVolume']);

/** What the volumes of a pod mean to a plan. */
export interface PodVolumes {
  /** A move would lose data that a volume keeps on the node. */
  readonly localStorage: boolean;
  /** In the order of the volumes. */
  readonly claims: readonly PodClaim[];
  /** Names of those claims whose templates leave the class to the cluster's default. */
  readonly claimsWithoutClass: readonly string[];
  /** Volumes that two pods may not share, or whose number per node is limited, and those of an unknown kind. */
  readonly unsupported: readonly UnsupportedConstraint[];
}

/** Shared by all pods without volumes that matter. */
const NONE: PodVolumes = { localStorage: false, claims: [], claimsWithoutClass: [], unsupported: [] };

/** The volumes of the pod of this name. Throws MalformedField. */
export function readVolumes(spec: JsonObject, podName: string, interner: Interner): PodVolumes {
  const claims: PodClaim[] = [];
  const claimsWithoutClass: string[] = [];
  const unsupported: UnsupportedConstraint[] = [];
  let localStorage = false;
  objectsAt(spec, 'volumes', 'spec').forEach((volume, index) => {
    for (const source of sourcesOf(volume)) {
      if (LOCAL.has(source)) {
        localStorage = true;
      } else if (source === 'persistentVolumeClaim') {
        claims.push({ name: claimNameOf(volume, `spec.volumes[${index}]`), template: undefined });
      } else if (source === 'ephemeral') {
        const ephemeral = readEphemeral(volume, podName, `spec.volumes[${index}]`, interner);
        claims.push({ name: ephemeral.name, template: ephemeral.request });
        claimsWithoutClass.push(...(ephemeral.classUnknown ? [ephemeral.name] : []));
        unsupported.push(...(ephemeral.hasAttributesClass ? [withAttributesClass(volume)] : []));
      } else if (!ANYWHERE.has(source)) {
        unsupported.push({ filter: filterOf(source), detail: `volume ${describe(volume.name)} is a ${source}` });
      }
    }
  });
  const matters = localStorage || claims.length + unsupported.length > 0;
  return matters ? { localStorage, claims, claimsWithoutClass, unsupported } : NONE;
}

/** Only volumes of that VolumeAttributesClass go with such a claim, and the model does not have it. */
function withAttributesClass({ name }: JsonObject): UnsupportedConstraint {
  return { filter: 'VolumeBinding', detail: `volume ${describe(name)} asks for a VolumeAttributesClass` };
}

function claimNameOf(volume: JsonObject, field: string): string {
  const source = objectAt(volume, 'persistentVolumeClaim', field) ?? {};
  return asText(source.claimName, `${field}.persistentVolumeClaim.claimName`);
}

/** The claim that the ephemeral volume controller makes (ephemeral.VolumeClaimName). */
function readEphemeral(
  volume: JsonObject,
  podName: string,
  field: string,
  interner: Interner,
): ProjectedRequest & { readonly name: string } {
  const name = `${podName}-${asText(volume.name, `${field}.name`)}`;
  const source = objectAt(volume, 'ephemeral', field) ?? {};
  return { name, ...readClaimTemplate(source, `${field}.ephemeral`, interner) };
}

/** The volumes that matter to a plan, each with its name and the kind of its source; only claims keep their content. */
export function relevantVolumes(volumes: readonly unknown[]): readonly unknown[] {
  return volumes.flatMap((volume): readonly unknown[] => {
    if (!isObject(volume)) {
      return [volume];
    }
    const sources = sourcesOf(volume).filter((source) => !ANYWHERE.has(source));
    const kept = sources.map((source) => [source, CLAIMS.has(source) ? volume[source] : {}]);
    return sources.length === 0 ? [] : [Object.fromEntries([['name', volume.name], ...kept])];
  });
}

/** The source of a volume; one without any is an emptyDir (SetDefaults_Volume). */
function sourcesOf(volume: JsonObject): readonly string[] {
  const sources = Object.keys(volume).filter(
    (key) => key !== 'name' && volume[key] !== null && volume[key] !== undefined,
  );
  return sources.length === 0 ? ['emptyDir'] : sources;
}

function filterOf(source: string): string {
  return ATTACHED.has(source) ? 'NodeVolumeLimits' : 'VolumeRestrictions';
}

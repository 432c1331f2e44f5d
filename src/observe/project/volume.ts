import { type JsonObject, MalformedField, objectAt, textAt, textEntriesAt, textsAt } from '../../model/json.ts';
import type { NodeSelectorTerm } from '../../model/node.ts';
import type { VolumeInfo } from '../../model/storage.ts';
import { type FieldMask, withAnnotations } from '../fields.ts';
import type { Interner } from '../interner.ts';
import { CLASS_ANNOTATION, readClass, readVolumeMode } from './claim.ts';
import { MIGRATED_SOURCES, readMigrated } from './in-tree-volumes.ts';
import { type Metadata, readMetadata } from './metadata.ts';
import { readNodeSelectorTerms } from './node-affinity.ts';
import { readSize } from './resource-list.ts';

/** What plans read of a PersistentVolume. */
export const VOLUME_FIELDS: FieldMask = {
  metadata: withAnnotations([CLASS_ANNOTATION]),
  spec: {
    capacity: { storage: true },
    accessModes: true,
    storageClassName: true,
    volumeMode: true,
    volumeAttributesClassName: true,
    claimRef: { namespace: true, name: true, uid: true },
    nodeAffinity: true,
    csi: { driver: true, volumeHandle: true },
    ...Object.fromEntries(MIGRATED_SOURCES.map(({ source, handle }) => [source, { [handle]: true }])),
  },
  status: { phase: true },
};

/**
 * What a PersistentVolume says. It is available when no claim has it and one without a VolumeAttributesClass may take it:
 * claims with one are not planned for. A volume written by hand (no uid) that names no phase and no claim is available. A
 * disk of an earlier kind has the CSI driver that serves it; its topology is that of labels and node affinity as they are.
 * Throws MalformedField.
 */
export function projectVolume(object: JsonObject, interner: Interner): VolumeInfo {
  const metadata = readMetadata(object, 'PersistentVolume', 'Cluster');
  const spec = objectAt(object, 'spec', '') ?? {};
  const claim = readClaimRef(spec);
  const usable = !metadata.terminating && !textAt(spec, 'volumeAttributesClassName', 'spec');
  return {
    name: metadata.name,
    labels: interner.labels(textEntriesAt(metadata.object, 'labels', 'metadata')),
    storageClass: readClass(metadata.object, spec, '') || undefined,
    accessModes: textsAt(spec, 'accessModes', 'spec'),
    size: readSize(spec, 'capacity', 'spec', interner),
    volumeMode: readVolumeMode(spec, 'spec'),
    claim,
    available: usable && isAvailable(metadata, object, claim !== undefined),
    nodeAffinity: readAffinity(spec),
    csi: readCsi(spec),
  };
}

function isAvailable({ handWritten }: Metadata, object: JsonObject, claimed: boolean): boolean {
  const phase = textAt(objectAt(object, 'status', '') ?? {}, 'phase', 'status') || undefined;
  return phase === undefined ? handWritten && !claimed : phase === 'Available';
}

function readClaimRef(spec: JsonObject): VolumeInfo['claim'] {
  const reference = objectAt(spec, 'claimRef', 'spec');
  if (reference === undefined) {
    return undefined;
  }
  const name = textAt(reference, 'name', 'spec.claimRef') ?? '';
  if (name === '') {
    throw new MalformedField('spec.claimRef.name', 'is missing: name the claim');
  }
  return {
    namespace: textAt(reference, 'namespace', 'spec.claimRef') || 'default',
    name,
    uid: textAt(reference, 'uid', 'spec.claimRef') || undefined,
  };
}

/** Only labels of nodes are compared: fields say nothing, so a term of fields alone holds everywhere (CheckNodeAffinity). */
function readAffinity(spec: JsonObject): readonly NodeSelectorTerm[] | undefined {
  const affinity = objectAt(spec, 'nodeAffinity', 'spec') ?? {};
  const required = objectAt(affinity, 'required', 'spec.nodeAffinity');
  if (required === undefined) {
    return undefined;
  }
  const terms = readNodeSelectorTerms(required, 'spec.nodeAffinity.required');
  const everywhere = terms.some(({ expressions, fields }) => expressions.length === 0 && fields.length > 0);
  return everywhere ? undefined : terms.map(({ expressions }) => ({ expressions, fields: [] }));
}

function readCsi(spec: JsonObject): VolumeInfo['csi'] {
  const csi = objectAt(spec, 'csi', 'spec');
  if (csi === undefined) {
    return readMigrated(spec);
  }
  return { driver: textAt(csi, 'driver', 'spec.csi') ?? '', handle: textAt(csi, 'volumeHandle', 'spec.csi') ?? '' };
}

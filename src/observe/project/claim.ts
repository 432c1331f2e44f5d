import { describe, type JsonObject, MalformedField, objectAt, textAt, textsAt } from '../../model/json.ts';
import type { ClaimInfo, ClaimRequest } from '../../model/storage.ts';
import type { Bytes } from '../../model/units.ts';
import { type FieldMask, withAnnotations } from '../fields.ts';
import type { Interner } from '../interner.ts';
import { type Metadata, readMetadata } from './metadata.ts';
import { readSize } from './resource-list.ts';
import { readSelector } from './selector.ts';

/** Names the class of a claim or volume, and wins over the field (GetPersistentVolumeClaimClass). */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
/** The volume controller's mark on a claim that is bound. */
const BOUND_ANNOTATION = 'pv.kubernetes.io/bind-completed';

const CLAIM_SPEC_FIELDS = {
  accessModes: true,
  storageClassName: true,
  volumeMode: true,
  volumeAttributesClassName: true,
  selector: true,
  resources: { requests: { storage: true } },
} as const satisfies FieldMask;

/** What plans read of a PersistentVolumeClaim. */
export const CLAIM_FIELDS: FieldMask = {
  metadata: withAnnotations([CLASS_ANNOTATION, BOUND_ANNOTATION]),
  spec: { ...CLAIM_SPEC_FIELDS, volumeName: true },
  status: { phase: true },
};
/** What plans read of the sources of a pod's volumes that are claims. */
export const CLAIM_SOURCE_FIELDS: FieldMask = {
  persistentVolumeClaim: { claimName: true },
  ephemeral: {
    volumeClaimTemplate: { metadata: { annotations: { [CLASS_ANNOTATION]: true } }, spec: CLAIM_SPEC_FIELDS },
  },
};

/** What a claim asks for, before its class is known. */
export interface ProjectedRequest {
  readonly request: ClaimRequest;
  /** The class is not named: the cluster's default counts. `""` names one: none. */
  readonly classUnknown: boolean;
  /** Names a VolumeAttributesClass. */
  readonly hasAttributesClass: boolean;
}

/** A PersistentVolumeClaim, before its class is known. */
export interface ProjectedClaim {
  readonly claim: ClaimInfo;
  /** The claim is not bound and names no class: the cluster's default counts. */
  readonly classUnknown: boolean;
}

/**
 * What a PersistentVolumeClaim says. It is bound when it names a volume and carries the volume controller's annotation
 * (volumebinding isPVCFullyBound); one written by hand (no uid) without annotations is bound when it names a volume.
 * Throws MalformedField.
 */
export function projectClaim(object: JsonObject, interner: Interner): ProjectedClaim {
  const metadata = readMetadata(object, 'PersistentVolumeClaim', 'Namespaced');
  const spec = objectAt(object, 'spec', '') ?? {};
  const status = objectAt(object, 'status', '') ?? {};
  const { request, classUnknown } = readRequest(metadata.object, spec, '', interner);
  const volumeName = textAt(spec, 'volumeName', 'spec') || undefined;
  const bound = volumeName !== undefined && isBindCompleted(metadata);
  return {
    claim: {
      ...request,
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
      volumeName,
      bound,
      terminating: metadata.terminating,
      lost: textAt(status, 'phase', 'status') === 'Lost',
    },
    classUnknown: classUnknown && !bound,
  };
}

function isBindCompleted({ object, handWritten }: Metadata): boolean {
  const annotations = objectAt(object, 'annotations', 'metadata');
  return annotations === undefined ? handWritten : Object.hasOwn(annotations, BOUND_ANNOTATION);
}

/** The `volumeClaimTemplate` of a generic ephemeral volume at path `field`. Throws MalformedField, also without one. */
export function readClaimTemplate(ephemeral: JsonObject, field: string, interner: Interner): ProjectedRequest {
  const template = objectAt(ephemeral, 'volumeClaimTemplate', field);
  const path = `${field}.volumeClaimTemplate`;
  if (template === undefined) {
    throw new MalformedField(path, 'is missing: write what the claim asks for');
  }
  const metadata = objectAt(template, 'metadata', path) ?? {};
  return readRequest(metadata, objectAt(template, 'spec', path) ?? {}, path, interner);
}

/** `field` is the path of what has the spec; empty at the top. */
function readRequest(metadata: JsonObject, spec: JsonObject, field: string, interner: Interner): ProjectedRequest {
  const path = field === '' ? 'spec' : `${field}.spec`;
  const storageClass = readClass(metadata, spec, field);
  return {
    request: {
      storageClass: storageClass || undefined,
      accessModes: textsAt(spec, 'accessModes', path),
      size: readRequestedSize(spec, path, interner),
      selector: readSelector(spec, 'selector', path),
      volumeMode: readVolumeMode(spec, path),
    },
    classUnknown: storageClass === undefined,
    hasAttributesClass: Boolean(textAt(spec, 'volumeAttributesClassName', path)),
  };
}

function readRequestedSize(spec: JsonObject, path: string, interner: Interner): Bytes {
  const resources = objectAt(spec, 'resources', path) ?? {};
  return readSize(resources, 'requests', `${path}.resources`, interner);
}

/** The class of a claim or a volume; undefined when none is named. `field` is as in `readRequest`. Throws MalformedField. */
export function readClass(metadata: JsonObject, spec: JsonObject, field: string): string | undefined {
  const [metadataPath, specPath] = field === '' ? ['metadata', 'spec'] : [`${field}.metadata`, `${field}.spec`];
  const annotations = objectAt(metadata, 'annotations', metadataPath) ?? {};
  return (
    textAt(annotations, CLASS_ANNOTATION, `${metadataPath}.annotations`) ?? textAt(spec, 'storageClassName', specPath)
  );
}

const VOLUME_MODES = new Set(['Filesystem', 'Block']);

/** `spec.volumeMode` of a claim or a volume; Filesystem when absent. Throws MalformedField. */
export function readVolumeMode(spec: JsonObject, path: string): string {
  const mode = textAt(spec, 'volumeMode', path) || 'Filesystem';
  if (!VOLUME_MODES.has(mode)) {
    throw new MalformedField(`${path}.volumeMode`, `${describe(mode)} is not a mode: write Filesystem or Block`);
  }
  return mode;
}

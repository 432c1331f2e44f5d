import { type JsonObject, MalformedField, objectAt, objectsAt, textAt, textsAt } from '../../model/json.ts';
import type { Requirement } from '../../model/selector.ts';
import type { StorageClassInfo } from '../../model/storage.ts';
import type { EpochSeconds } from '../../model/units.ts';
import { type FieldMask, withAnnotations } from '../fields.ts';
import { driverOf } from './in-tree-volumes.ts';
import { readMetadata } from './metadata.ts';

/** Annotations of the class that claims without one get; the second is of earlier versions (IsDefaultAnnotation). */
const DEFAULT_CLASS_ANNOTATIONS: readonly string[] = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** What plans read of a StorageClass. */
export const STORAGE_CLASS_FIELDS: FieldMask = {
  metadata: withAnnotations(DEFAULT_CLASS_ANNOTATIONS),
  provisioner: true,
  volumeBindingMode: true,
  allowedTopologies: true,
};

/** A StorageClass, before it is known whether its driver tracks capacity. */
export interface ProjectedStorageClass {
  readonly storageClass: Omit<StorageClassInfo, 'tracksCapacity'>;
  /** As the object has it: that is the name of the CSIDriver. */
  readonly provisioner: string;
  readonly isDefault: boolean;
  readonly createdAt: EpochSeconds;
}

/**
 * What a StorageClass says; a provisioner of earlier versions is the CSI driver that stands for it. Binding is immediate
 * unless it says otherwise (SetDefaults_StorageClass). Throws MalformedField.
 */
export function projectStorageClass(object: JsonObject): ProjectedStorageClass {
  const { name, createdAt, object: metadata } = readMetadata(object, 'StorageClass', 'Cluster');
  const annotations = objectAt(metadata, 'annotations', 'metadata') ?? {};
  const provisioner = textAt(object, 'provisioner', '') ?? '';
  return {
    storageClass: {
      name,
      provisioner: driverOf(provisioner),
      waitForFirstConsumer: textAt(object, 'volumeBindingMode', '') === 'WaitForFirstConsumer',
      allowedTopologies: readTopologies(object),
    },
    provisioner,
    isDefault: DEFAULT_CLASS_ANNOTATIONS.some((key) => annotations[key] === 'true'),
    createdAt,
  };
}

/** A term without requirements matches no node (MatchTopologySelectorTerms), so it is left out where there are others. */
function readTopologies(object: JsonObject): readonly (readonly Requirement[])[] {
  const terms = objectsAt(object, 'allowedTopologies', '').map((term, index) =>
    readTopology(term, `allowedTopologies[${index}]`),
  );
  const kept = terms.filter(({ length }) => length > 0);
  if (terms.length > 0 && kept.length === 0) {
    throw new MalformedField('allowedTopologies', 'allows no node: leave it out, or write matchLabelExpressions');
  }
  return kept;
}

function readTopology(term: JsonObject, field: string): readonly Requirement[] {
  return objectsAt(term, 'matchLabelExpressions', field).map((item, index): Requirement => {
    const path = `${field}.matchLabelExpressions[${index}]`;
    return { key: textAt(item, 'key', path) ?? '', operator: 'In', values: textsAt(item, 'values', path) };
  });
}

import {
  booleanAt,
  describe,
  integerAt,
  type JsonObject,
  MalformedField,
  objectAt,
  objectsAt,
  textAt,
} from '../../model/json.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import { readMetadata } from './metadata.ts';

/** What plans read of a CSINode. */
export const CSI_NODE_FIELDS: FieldMask = {
  metadata: METADATA_FIELDS,
  spec: { drivers: [{ name: true, allocatable: { count: true } }] },
};

/** What plans read of a CSIDriver. */
export const CSI_DRIVER_FIELDS: FieldMask = {
  metadata: METADATA_FIELDS,
  spec: { storageCapacity: true, preventPodSchedulingIfMissing: true },
};

/** What the drivers of a node can attach. */
export interface ProjectedCsiNode {
  /** Of the node. */
  readonly name: string;
  /** Names of the drivers that are installed. */
  readonly drivers: ReadonlySet<string>;
  /** Number of volumes by driver; a driver without a limit is left out. */
  readonly limits: ReadonlyMap<string, number>;
}

/** What a CSINode says (nodevolumelimits getVolumeLimits). Throws MalformedField. */
export function projectCsiNode(object: JsonObject): ProjectedCsiNode {
  const { name } = readMetadata(object, 'CSINode', 'Cluster');
  const spec = objectAt(object, 'spec', '') ?? {};
  const drivers = new Set<string>();
  const limits = new Map<string, number>();
  objectsAt(spec, 'drivers', 'spec').forEach((driver, index) => {
    const field = `spec.drivers[${index}]`;
    const count = integerAt(objectAt(driver, 'allocatable', field) ?? {}, 'count', `${field}.allocatable`);
    if (count !== undefined && count < 0) {
      throw new MalformedField(`${field}.allocatable.count`, `${describe(count)} is negative`);
    }
    const driverName = textAt(driver, 'name', field) ?? '';
    drivers.add(driverName);
    if (count !== undefined) {
      limits.set(driverName, count);
    }
  });
  return { name, drivers, limits };
}

interface ProjectedCsiDriver {
  readonly name: string;
  /** It publishes how much storage is left where, and the scheduler looks (volumebinding hasEnoughCapacity). */
  readonly storageCapacity: boolean;
  /** Pods with its volumes may only run where it is installed (from 1.37; earlier API servers drop the field). */
  readonly mustBeInstalled: boolean;
}

/** What a CSIDriver says. Throws MalformedField. */
export function projectCsiDriver(object: JsonObject): ProjectedCsiDriver {
  const { name } = readMetadata(object, 'CSIDriver', 'Cluster');
  const spec = objectAt(object, 'spec', '') ?? {};
  return {
    name,
    storageCapacity: booleanAt(spec, 'storageCapacity', 'spec'),
    mustBeInstalled: booleanAt(spec, 'preventPodSchedulingIfMissing', 'spec'),
  };
}

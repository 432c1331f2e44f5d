import type { ClaimInfo, StorageClassInfo, VolumeInfo } from '../../../src/model/storage.ts';
import { bytes } from '../../../src/model/units.ts';

type Sized<Value> = Partial<Omit<Value, 'size'>> & { readonly size?: number };

/** A claim in namespace `shop` for one gibibyte, without a class and not bound. */
export function aClaim(name: string, { size = 2 ** 30, ...rest }: Sized<ClaimInfo> = {}): ClaimInfo {
  return {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    storageClass: undefined,
    accessModes: ['ReadWriteOnce'],
    size: bytes(size),
    selector: undefined,
    volumeMode: 'Filesystem',
    volumeName: undefined,
    bound: false,
    terminating: false,
    lost: false,
    ...rest,
  };
}

/** A free volume of one gibibyte that every node can reach. */
export function aVolume(name: string, { size = 2 ** 30, ...rest }: Sized<VolumeInfo> = {}): VolumeInfo {
  return {
    name,
    storageClass: undefined,
    accessModes: ['ReadWriteOnce', 'ReadWriteOncePod'],
    size: bytes(size),
    volumeMode: 'Filesystem',
    labels: new Map(),
    claim: undefined,
    available: true,
    nodeAffinity: undefined,
    csi: undefined,
    ...rest,
  };
}

/** A class that provisions anywhere once a node is chosen. */
export function aStorageClass(name: string, fields: Partial<StorageClassInfo> = {}): StorageClassInfo {
  return {
    name,
    provisioner: 'csi.x',
    waitForFirstConsumer: true,
    allowedTopologies: [],
    tracksCapacity: false,
    ...fields,
  };
}

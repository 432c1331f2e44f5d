import { type JsonObject, objectAt, textAt } from '../../model/json.ts';

/** A volume plugin of earlier versions whose volumes a CSI driver serves now (csi-translation-lib). */
interface MigratedPlugin {
  readonly provisioner: string;
  readonly driver: string;
  /** Its field in a PersistentVolume's spec. */
  readonly source: string;
  /** What names the volume there. */
  readonly handle: string;
}

/** Those whose volumes count against a node's limits (nodevolumelimits isCSIMigrationOn). */
const MIGRATED: readonly MigratedPlugin[] = [
  plugin('kubernetes.io/aws-ebs', 'ebs.csi.aws.com', 'awsElasticBlockStore', 'volumeID'),
  plugin('kubernetes.io/azure-disk', 'disk.csi.azure.com', 'azureDisk', 'diskURI'),
  plugin('kubernetes.io/cinder', 'cinder.csi.openstack.org', 'cinder', 'volumeID'),
  plugin('kubernetes.io/gce-pd', 'pd.csi.storage.gke.io', 'gcePersistentDisk', 'pdName'),
  plugin('kubernetes.io/portworx-volume', 'pxd.portworx.com', 'portworxVolume', 'volumeID'),
];

function plugin(provisioner: string, driver: string, source: string, handle: string): MigratedPlugin {
  return { provisioner, driver, source, handle };
}

/** Sources of a PersistentVolume that a CSI driver serves, each with the key that names the volume. */
export const MIGRATED_SOURCES: readonly { readonly source: string; readonly handle: string }[] = MIGRATED;

/** The CSI driver that serves the volumes of a provisioner: mostly itself. */
export function driverOf(provisioner: string): string {
  return MIGRATED.find((migrated) => migrated.provisioner === provisioner)?.driver ?? provisioner;
}

/** Driver and handle of a volume of an earlier kind; undefined when no driver serves it. Throws MalformedField. */
export function readMigrated(spec: JsonObject): { readonly driver: string; readonly handle: string } | undefined {
  for (const { driver, source, handle } of MIGRATED) {
    const content = objectAt(spec, source, 'spec');
    if (content !== undefined) {
      return { driver, handle: textAt(content, handle, `spec.${source}`) ?? '' };
    }
  }
  return undefined;
}

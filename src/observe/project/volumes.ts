import type { UnsupportedConstraint } from '../../model/pod.ts';
import { describe, isObject, type JsonObject, objectsAt } from '../json.ts';

/** Sources that any node can provide. */
const ANYWHERE = new Set(['configMap', 'secret', 'projected', 'downwardAPI', 'nfs', 'image']);
/** Sources whose content stays behind on the node. */
const LOCAL = new Set(['emptyDir', 'hostPath', 'gitRepo']);

/** Whether a move would lose data that a volume keeps on the node. Throws MalformedField. */
export function usesLocalStorage(spec: JsonObject): boolean {
  return objectsAt(spec, 'volumes', 'spec').some((volume) => sourcesOf(volume).some((source) => LOCAL.has(source)));
}

/** Volumes that may exist in some zones or on some nodes only, or whose number per node is limited. */
export function unsupportedVolumes(spec: JsonObject): readonly UnsupportedConstraint[] {
  return objectsAt(spec, 'volumes', 'spec').flatMap((volume) =>
    sourcesOf(volume)
      .filter((source) => !ANYWHERE.has(source) && !LOCAL.has(source))
      .map((source) => ({ filter: filterOf(source), detail: `volume ${describe(volume.name)} is a ${source}` })),
  );
}

/** The volumes that matter to a plan, each with its name and the kind of its source only. */
export function relevantVolumes(volumes: readonly unknown[]): readonly unknown[] {
  return volumes.flatMap((volume): readonly unknown[] => {
    if (!isObject(volume)) {
      return [volume];
    }
    const sources = sourcesOf(volume).filter((source) => !ANYWHERE.has(source));
    return sources.length === 0
      ? []
      : [Object.fromEntries([['name', volume.name], ...sources.map((source) => [source, {}])])];
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
  if (source === 'persistentVolumeClaim' || source === 'ephemeral') {
    return 'VolumeBinding';
  }
  return source === 'csi' ? 'NodeVolumeLimits' : 'VolumeRestrictions';
}

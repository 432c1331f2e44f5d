import type { PlacementHintSpec } from '../../api/v1alpha1/placement-hint.ts';
import { compareText } from '../../model/compare-text.ts';
import { isObject } from '../../model/json.ts';
import type { Placement } from '../../model/placement.ts';
import type { Seconds } from '../../model/units.ts';
import { placementOf } from '../../steer/pod-patch.ts';
import type { ReadingClient } from './list.ts';
import { Reflector } from './reflector.ts';
import { RESOURCES } from './resource.ts';

/** PlacementHints of the cluster, kept current by a watch: nothing is asked of the API server while a pod is created. */
export interface HintCache {
  /** Where the next pod of a controller is to run, one place for each hint, by name of the hint. */
  of(namespace: string, ownerUID: string): readonly Placement[];
  /** Seconds since the hints were last known to be current; undefined before the first list. */
  readonly age: Seconds | undefined;
  /** Keeps them current until aborted; then resolves. */
  run(signal: AbortSignal): Promise<void>;
}

/** An empty cache. `failed` hears why a list or a watch failed; it is tried again. */
export function createHintCache(client: ReadingClient, failed: (error: unknown) => void): HintCache {
  const reflector = new Reflector(client, { target: RESOURCES.PlacementHint, metadataOnly: false });
  let byOwner: ReadonlyMap<string, readonly Placement[]> = new Map();
  const reflection = reflector.handle<Hint | undefined>({
    read: readHint,
    changed: () => {
      byOwner = grouped(reflection.entries);
    },
    failed,
    drifted: () => undefined,
  });
  return {
    of: (namespace, ownerUID) => byOwner.get(`${namespace}/${ownerUID}`) ?? [],
    get age() {
      return reflection.age;
    },
    run: (signal) => reflection.run(signal),
  };
}

interface Hint {
  /** `namespace/UID` of the controller. */
  readonly owner: string;
  readonly placement: Placement;
}

/** The API server has checked the schema. */
function readHint(object: unknown): Hint | undefined {
  if (!isObject(object) || !isObject(object.metadata) || !isObject(object.spec)) {
    return undefined;
  }
  const spec = object.spec as PlacementHintSpec;
  return { owner: `${String(object.metadata.namespace)}/${spec.ownerUID}`, placement: placementOf(spec) };
}

function grouped(
  entries: ReadonlyMap<string, { readonly value: Hint | undefined }>,
): ReadonlyMap<string, readonly Placement[]> {
  const byName = [...entries].sort(([a], [b]) => compareText(a, b));
  const groups = new Map<string, Placement[]>();
  for (const [, { value }] of byName) {
    if (value !== undefined) {
      groups.set(value.owner, [...(groups.get(value.owner) ?? []), value.placement]);
    }
  }
  return groups;
}

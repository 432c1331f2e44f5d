import { describe, integerAt, type JsonObject, MalformedField, objectAt } from '../../model/json.ts';
import type { Selector } from '../../model/selector.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import { readMetadata } from './metadata.ts';
import { readSelector } from './selector.ts';

/** What plans read of a PodDisruptionBudget. */
export const PDB_FIELDS: FieldMask = {
  metadata: METADATA_FIELDS,
  spec: true,
  status: { observedGeneration: true, disruptionsAllowed: true, currentHealthy: true, desiredHealthy: true },
};

/** A limit of a PodDisruptionBudget: a number of pods, or a percentage that is rounded up. */
export type IntOrPercent = { readonly count: number } | { readonly percent: number };

/** What a budget has and asks for. */
export interface BudgetHealth {
  readonly healthy: number;
  /** Those that must stay healthy. */
  readonly needed: number;
}

/** A PodDisruptionBudget before it is known how many disruptions it allows. */
export interface ProjectedPdb {
  readonly namespace: string;
  readonly name: string;
  readonly selector: Selector | undefined;
  /** What the disruption controller wrote; undefined when the object has no status, as in a file written by hand. */
  readonly disruptionsAllowed: number | undefined;
  /** Pods as the disruption controller counted them; undefined without a status. */
  readonly health: BudgetHealth | undefined;
  /** `unhealthyPodEvictionPolicy` is AlwaysAllow. */
  readonly alwaysAllowsUnready: boolean;
  readonly minAvailable: IntOrPercent | undefined;
  readonly maxUnavailable: IntOrPercent | undefined;
}

/**
 * What a PodDisruptionBudget says. A status that is older than its spec allows nothing, as in the eviction API
 * (checkAndDecrement). Throws MalformedField.
 */
export function projectPdb(object: JsonObject): ProjectedPdb {
  const metadata = readMetadata(object, 'PodDisruptionBudget', 'Namespaced');
  const spec = objectAt(object, 'spec', '') ?? {};
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    selector: readSelector(spec, 'selector', 'spec'),
    disruptionsAllowed: readAllowed(metadata.object, object),
    health: readHealth(object),
    alwaysAllowsUnready: spec.unhealthyPodEvictionPolicy === 'AlwaysAllow',
    minAvailable: readIntOrPercent(spec, 'minAvailable'),
    maxUnavailable: readIntOrPercent(spec, 'maxUnavailable'),
  };
}

function readAllowed(metadata: JsonObject, object: JsonObject): number | undefined {
  const status = objectAt(object, 'status', '');
  if (status === undefined) {
    return undefined;
  }
  const generation = integerAt(metadata, 'generation', 'metadata') ?? 0;
  const observed = integerAt(status, 'observedGeneration', 'status') ?? 0;
  return observed < generation ? 0 : Math.max(0, integerAt(status, 'disruptionsAllowed', 'status') ?? 0);
}

function readHealth(object: JsonObject): BudgetHealth | undefined {
  const status = objectAt(object, 'status', '');
  return (
    status && {
      healthy: integerAt(status, 'currentHealthy', 'status') ?? 0,
      needed: integerAt(status, 'desiredHealthy', 'status') ?? 0,
    }
  );
}

function readIntOrPercent(spec: JsonObject, key: string): IntOrPercent | undefined {
  const value = spec[key];
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
    return { count: value };
  }
  if (typeof value === 'string' && /^\d{1,6}%$/.test(value)) {
    return { percent: Number(value.slice(0, -1)) };
  }
  throw new MalformedField(`spec.${key}`, `${describe(value)} is not a number of pods: write 1 or "25%"`);
}

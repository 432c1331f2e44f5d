import { integerAt, type JsonObject } from '../../model/json.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import { readMetadata } from './metadata.ts';

/** What plans read of a PriorityClass. */
export const PRIORITY_CLASS_FIELDS: FieldMask = { metadata: METADATA_FIELDS, value: true, globalDefault: true };

interface ProjectedPriorityClass {
  readonly name: string;
  readonly value: number;
  readonly globalDefault: boolean;
}

/** What a PriorityClass says. Throws MalformedField. */
export function projectPriorityClass(object: JsonObject): ProjectedPriorityClass {
  const { name } = readMetadata(object, 'PriorityClass', 'Cluster');
  return { name, value: integerAt(object, 'value', '') ?? 0, globalDefault: object.globalDefault === true };
}

/** Classes that every cluster has (kube-apiserver's scheduling types). */
const BUILT_IN: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
]);

/** The priority that admission would give a pod that names this class, or none; undefined for an unknown class. */
export function priorityOf(
  className: string | undefined,
  classes: ReadonlyMap<string, ProjectedPriorityClass>,
): number | undefined {
  if (className !== undefined) {
    return classes.get(className)?.value ?? BUILT_IN.get(className);
  }
  const defaults = [...classes.values()].filter(({ globalDefault }) => globalDefault).map(({ value }) => value);
  return defaults.length === 0 ? 0 : Math.min(...defaults);
}

import { integerAt, type JsonObject, textAt } from '../../model/json.ts';

/** Values of the PriorityClasses that every cluster has (k8s.io/kubernetes pkg/apis/scheduling). */
const BUILT_IN_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
]);
/** From which priority on the descheduler leaves pods alone unless it is told otherwise. */
const USUAL_THRESHOLD = 2_000_000_000;

/** A priority threshold as a number; `unknown` is the PriorityClass whose value only the cluster knows, for which 0 stands in. */
export function priorityOf(threshold: JsonObject, path: string): { readonly value: number; readonly unknown?: string } {
  const value = integerAt(threshold, 'value', path);
  const name = textAt(threshold, 'name', path);
  if (value !== undefined || name === undefined || name === '') {
    return { value: value ?? USUAL_THRESHOLD };
  }
  const builtIn = BUILT_IN_PRIORITIES.get(name);
  return builtIn === undefined ? { value: 0, unknown: name } : { value: builtIn };
}

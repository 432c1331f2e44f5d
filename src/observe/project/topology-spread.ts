import { describe, integerAt, type JsonObject, MalformedField, objectsAt, textAt, textsAt } from '../../model/json.ts';
import type { NodePolicy, SpreadConstraint, UnsupportedConstraint } from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import { mergeLabelKeys } from './label-keys.ts';
import { readTopologyKey } from './pod-affinity.ts';
import { readSelector } from './selector.ts';

const ACTIONS: ReadonlyMap<string, SpreadConstraint['whenUnsatisfiable']> = new Map([
  ['DoNotSchedule', 'DoNotSchedule'],
  ['ScheduleAnyway', 'ScheduleAnyway'],
]);
const POLICIES: ReadonlyMap<string, NodePolicy> = new Map([
  ['Honor', 'Honor'],
  ['Ignore', 'Ignore'],
]);

/**
 * The topology spread constraints of a pod, with the defaults of the API: DoNotSchedule, minDomains 1, nodeAffinityPolicy
 * Honor, nodeTaintsPolicy Ignore. `labels` are the pod's own, merged in for matchLabelKeys as by the scheduler
 * (podtopologyspread filterTopologySpreadConstraints). An action or a policy of an unknown name goes to `unsupported`.
 * Throws MalformedField.
 */
export function readSpread(
  spec: JsonObject,
  labels: Labels,
  unsupported: UnsupportedConstraint[],
): readonly SpreadConstraint[] {
  return objectsAt(spec, 'topologySpreadConstraints', 'spec').flatMap((item, index) => {
    const field = `spec.topologySpreadConstraints[${index}]`;
    const whenUnsatisfiable = choose(item, 'whenUnsatisfiable', 'DoNotSchedule', ACTIONS, field, unsupported);
    const nodeAffinityPolicy = choose(item, 'nodeAffinityPolicy', 'Honor', POLICIES, field, unsupported);
    const nodeTaintsPolicy = choose(item, 'nodeTaintsPolicy', 'Ignore', POLICIES, field, unsupported);
    if (whenUnsatisfiable === undefined || nodeAffinityPolicy === undefined || nodeTaintsPolicy === undefined) {
      return [];
    }
    const keys = textsAt(item, 'matchLabelKeys', field);
    return [
      {
        whenUnsatisfiable,
        maxSkew: atLeastOne(item, 'maxSkew', undefined, field),
        topologyKey: readTopologyKey(item, field),
        selector: mergeLabelKeys(readSelector(item, 'labelSelector', field), keys, 'In', labels),
        minDomains: atLeastOne(item, 'minDomains', 1, field),
        nodeAffinityPolicy,
        nodeTaintsPolicy,
      },
    ];
  });
}

/** The choice that the text at `key` names; undefined, and a word in `unsupported`, when it is none that we know. */
function choose<Choice extends string>(
  item: JsonObject,
  key: string,
  otherwise: Choice,
  choices: ReadonlyMap<string, Choice>,
  field: string,
  unsupported: UnsupportedConstraint[],
): Choice | undefined {
  const text = textAt(item, key, field) || otherwise;
  const choice = choices.get(text);
  if (choice === undefined) {
    unsupported.push({ filter: 'PodTopologySpread', detail: `${field}.${key} is ${describe(text)}` });
  }
  return choice;
}

function atLeastOne(item: JsonObject, key: string, otherwise: number | undefined, field: string): number {
  const count = integerAt(item, key, field) ?? otherwise;
  if (count === undefined || count < 1) {
    throw new MalformedField(`${field}.${key}`, `${describe(item[key])} is not a number of at least 1`);
  }
  return count;
}

import { REPAIR_NAMES, type RepairName } from '../api/v1alpha1/repair.ts';
import { EXCLUDED_NAMESPACES } from '../model/excluded-namespaces.ts';
import { NO_SERVICE_LEVELS } from '../model/service-level.ts';
import { planningInputOf } from '../plan/planning-input.ts';
import { violationsIn } from '../plan/repair/violations.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import type { ViolationsLeft } from '../report/simulation-result.ts';
import type { Scenario } from './scenario.ts';
import type { World } from './world.ts';

/** Pods that violate what any policy of the scenario repairs, whichever variant is played: so variants can be compared. */
export function violationsLeft({ variants }: Scenario, world: World): readonly ViolationsLeft[] {
  const specs = [...new Set(variants.flatMap(({ policies }) => policies.map(({ spec }) => spec)))];
  const repairing = specs.filter(({ repair }) => repair !== undefined);
  const snapshot = world.snapshot({ pastMoves: [], serviceLevels: NO_SERVICE_LEVELS, usage: undefined });
  const found = repairing.flatMap((spec) => {
    const options = resolveOptions(spec, EXCLUDED_NAMESPACES);
    return violationsIn(planningInputOf(snapshot, options), options);
  });
  const podsOf = (name: RepairName): number =>
    new Set(found.filter(({ rule }) => rule === name).map(({ pod }) => pod.uid)).size;
  return REPAIR_NAMES.filter((name) => repairing.some(({ repair = {} }) => isOn(repair, name))).map((rule) => ({
    rule,
    pods: podsOf(rule),
  }));
}

/** A rule is called after its field. */
function isOn(repair: object, name: RepairName): boolean {
  const field = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  const value: unknown = Object.entries(repair).find(([key]) => key === field)?.[1];
  return value !== undefined && value !== false;
}

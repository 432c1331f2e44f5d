import { isRecord } from '../api/json-schema.ts';
import { scenarioProblems } from '../simulate/resolve.ts';
import { type ScenarioResource, scenarioKind } from '../simulate/scenario-schema.ts';
import type { ExtraKinds } from './policy-file.ts';

/** Scenarios, which are in files beside policies but never on a cluster. */
export const SCENARIOS: ExtraKinds = {
  kinds: [scenarioKind],
  check: (value) =>
    isRecord(value) && value['kind'] === 'Scenario' ? scenarioProblems(value as unknown as ScenarioResource) : [],
};

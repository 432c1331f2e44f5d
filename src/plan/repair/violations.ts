import type { PodInfo } from '../../model/pod.ts';
import { itemAt, type PodIndex } from '../indices.ts';
import type { PolicyOptions } from '../options.ts';
import type { PlanningInput } from '../planning-input.ts';
import type { Finding } from './finding.ts';
import { failedSuspects } from './removals.ts';
import type { RepairRule, Scene } from './rule.ts';
import { podsOnHosts, rulesOf, sceneOf } from './rules.ts';

/** A pod with what is wrong with it. */
export interface Violation extends Finding {
  readonly pod: PodInfo;
}

/** What the rules of a policy say of single pods. */
export type FindingsOf = (pod: PodIndex) => readonly Finding[];

/** What is wrong with pods by the rules of `policy.repair`; nothing where it has none. */
export function findings(input: PlanningInput, { repair }: PolicyOptions): FindingsOf {
  const { guard } = input;
  if (repair === undefined || guard === undefined) {
    return () => [];
  }
  const rules = rulesOf(repair, input);
  const scene = sceneOf(input, guard);
  const judged = new Set(podsOnHosts(input));
  return (pod) => (judged.has(pod) ? broken(rules, scene, pod) : []);
}

function broken(rules: readonly RepairRule[], scene: Scene, pod: PodIndex): readonly Finding[] {
  return itemAt(scene.where.sites.pods, pod).terminating
    ? []
    : rules.flatMap((rule) => {
        const detail = rule.clauseOf(scene, pod);
        return detail === undefined ? [] : [{ rule: rule.name, detail }];
      });
}

/** All violations of the rules of `policy.repair` in its scope, in the order of the pods; failed pods come behind. */
export function violationsIn(input: PlanningInput, policy: PolicyOptions): readonly Violation[] {
  const findingsOf = findings(input, policy);
  const { repair } = policy;
  const placed = [...input.pods.keys()].flatMap((place) =>
    findingsOf(place).map((finding) => ({ pod: itemAt(input.pods, place), ...finding })),
  );
  const failed = repair === undefined ? [] : failedSuspects(input.snapshot, repair, policy);
  return [...placed, ...failed.flatMap(({ pod, findings: found }) => found.map((finding) => ({ pod, ...finding })))];
}

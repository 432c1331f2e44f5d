import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import type { RepairName } from '../api/v1alpha1/repair.ts';
import { compareText } from '../model/compare-text.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { seconds } from '../model/units.ts';
import type { RepairOptions } from '../plan/options.ts';
import { planningInputOf } from '../plan/planning-input.ts';
import { type Violation, violationsIn } from '../plan/repair/violations.ts';
import { resolveOptions } from '../plan/resolve-options.ts';

/** A rule that a pod violates. */
export interface TopViolation {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string | null;
  /** Controller of the pod. */
  readonly owner: { readonly kind: string; readonly name: string } | null;
  readonly rule: RepairName;
  /** What is wrong, with numbers. */
  readonly detail: string;
  /** Names of the policies that repair it. */
  readonly policies: readonly string[];
}

/** Every rule that needs no number of its own, for what refuses nodes. */
const EVERY_REPAIR: RepairOptions = {
  taints: { soft: false, includedTaints: undefined, excludedTaints: new Set() },
  nodeAffinity: 'Required',
  podAntiAffinity: true,
  topologySpread: { soft: false, tolerance: 0 },
  duplicates: true,
  restarts: undefined,
  maxLifetime: undefined,
  failed: {
    reasons: undefined,
    exitCodes: undefined,
    includingInit: false,
    minAge: seconds(0),
    excludedOwnerKinds: new Set(),
  },
};

/**
 * What is violated now in the scope of `base`, whether or not a policy repairs it, and what `policies` repair besides; of one
 * namespace or all. A suspended policy repairs nothing.
 */
export function topViolations(
  snapshot: ClusterSnapshot,
  base: RebalancePolicy,
  policies: readonly RebalancePolicy[],
  namespace?: string,
): readonly TopViolation[] {
  const found = new Map<string, { readonly violation: Violation; readonly policies: string[] }>();
  const add = (violation: Violation, policy: string | undefined): void => {
    const key = `${violation.pod.uid} ${violation.rule}`;
    const known = found.get(key) ?? { violation, policies: [] };
    if (policy !== undefined && !known.policies.includes(policy)) {
      known.policies.push(policy);
    }
    found.set(key, known);
  };
  for (const violation of violationsFor(snapshot, base, EVERY_REPAIR)) {
    add(violation, undefined);
  }
  for (const policy of policies.filter(({ spec }) => !spec.suspend)) {
    for (const violation of violationsFor(snapshot, policy)) {
      add(violation, policy.metadata.name);
    }
  }
  return [...found.values()]
    .filter(({ violation: { pod } }) => namespace === undefined || pod.namespace === namespace)
    .map(toRow);
}

/** By the rules of the policy, or by others in its scope. Repairs need no loads. */
function violationsFor(
  snapshot: ClusterSnapshot,
  { spec }: RebalancePolicy,
  repair?: RepairOptions,
): readonly Violation[] {
  const options = resolveOptions(spec);
  const asked = { ...options, strategy: { type: 'None' } as const, ...(repair && { repair }) };
  return asked.repair === undefined ? [] : violationsIn(planningInputOf(snapshot, asked), asked);
}

function toRow({ violation, policies }: { violation: Violation; policies: readonly string[] }): TopViolation {
  const { pod, rule, detail } = violation;
  const { namespace, name, nodeName, owner } = pod;
  return {
    namespace,
    pod: name,
    node: nodeName ?? null,
    owner: owner === undefined ? null : { kind: owner.kind, name: owner.name },
    rule,
    detail,
    policies: policies.toSorted(),
  };
}

/** Columns by which violations are sorted, the default first. */
export const VIOLATION_SORTS = ['name', 'node', 'rule'] as const;
/** Column by which violations are sorted. */
export type ViolationSort = (typeof VIOLATION_SORTS)[number];

/** The violations by a column, then by pod and rule. */
export function sortViolations(rows: readonly TopViolation[], by: ViolationSort): readonly TopViolation[] {
  const name = ({ namespace, pod, rule }: TopViolation): string => [namespace, pod, rule].join('\0');
  const key = (row: TopViolation): string => (by === 'node' ? (row.node ?? '') : by === 'rule' ? row.rule : '');
  return rows.toSorted((left, right) => compareText(key(left), key(right)) || compareText(name(left), name(right)));
}

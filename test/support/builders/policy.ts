import type { RebalancePolicy } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { API_VERSION } from '../../../src/api/v1alpha1/schema.ts';
import { formatProblem, validatePolicy } from '../../../src/api/validate.ts';

/** A valid policy with defaults filled in, as it would stand on a cluster. Throws for one that is not valid. */
export function aPolicy(name: string, spec: unknown = {}): RebalancePolicy {
  const metadata = { name, uid: `uid-${name}`, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };
  const { value, problems } = validatePolicy({ apiVersion: API_VERSION, kind: 'RebalancePolicy', metadata, spec });
  if (problems.length > 0) {
    throw new Error(problems.map(formatProblem).join('; '));
  }
  return value;
}

import type { ImbalanceStatus } from '../api/v1alpha1/rebalance-policy.ts';

/** Resources that a status has imbalance of, in its order. */
export function resourcesIn(imbalance: ImbalanceStatus | undefined = {}): readonly string[] {
  const { before, planned, actual } = imbalance;
  return [...new Set([before, planned, actual].flatMap((phase) => Object.keys(phase ?? {})))];
}

import type { RepairName } from '../../api/v1alpha1/repair.ts';

/** A rule of `spec.repair` that a pod breaks. */
export interface Finding {
  readonly rule: RepairName;
  /** A clause with its numbers. */
  readonly detail: string;
}

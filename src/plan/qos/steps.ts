import type { NodeIndex, PodIndex } from '../indices.ts';
import type { Preemptor } from './guesses.ts';
import type { ServicePosition } from './rules.ts';

/** A running pod makes room for another. */
export interface PreemptionStep {
  readonly kind: 'Preemption';
  readonly pod: PodIndex;
  readonly node: NodeIndex;
  readonly standing: ServicePosition;
  readonly beneficiary: Preemptor;
}

/** A pod that waited, at the gate or on a node that has failed, gets a node. */
export interface AdmissionStep {
  readonly kind: 'Admission';
  readonly pod: PodIndex;
  readonly node: NodeIndex;
  readonly standing: ServicePosition | undefined;
  /** Places in the sequence of the preemptions that make room for it; ascending. */
  readonly needs: readonly number[];
  /** 0 to 10. */
  readonly score: number;
}

/** What happens to one pod of those who wait, and of those whose places they take. */
export type PreemptionPassStep = PreemptionStep | AdmissionStep;

/** Our scheduling gate (KEP-3521): a pod that carries it is not scheduled until the operator removes it. */
export const SCHEDULING_GATE = 'evenkeel.dev/qos';

/** Annotation of a pod that was steered to a planned node: names it. */
export const STEERED_ANNOTATION = 'evenkeel.dev/steered-to';

/** Why a pod has no node yet, as far as steering is concerned. */
export interface Waiting {
  /** It carries our scheduling gate, alone or among others. */
  readonly gated: boolean;
  /** Planned node that it is kept to, alone or with alternatives. */
  readonly pinnedTo: string | undefined;
  /** kube-scheduler has looked and found no node for it (condition PodScheduled, reason Unschedulable). */
  readonly unschedulable: boolean;
}

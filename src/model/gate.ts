/** Our scheduling gate (KEP-3521): a pod that carries it is not scheduled until the operator removes it. */
export const SCHEDULING_GATE = 'evenkeel.dev/qos';

/** Annotation of a pod that was kept to a planned node, or to that and its alternatives: names the planned node. */
export const PIN_ANNOTATION = 'evenkeel.dev/pinned-to';

/** Why a pod has no node yet, as far as steering is concerned. */
export interface Waiting {
  /** It carries our scheduling gate, alone or among others. */
  readonly gated: boolean;
  /** Planned node that required affinity was narrowed to, alone or with its alternatives. */
  readonly pinnedTo: string | undefined;
  /** kube-scheduler has looked and found no node for it (condition PodScheduled, reason Unschedulable). */
  readonly unschedulable: boolean;
}

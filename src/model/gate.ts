/** Our scheduling gate (KEP-3521): a pod that carries it is not scheduled until the operator removes it. */
export const SCHEDULING_GATE = 'evenkeel.dev/qos';

/** Annotation of a pod that was tied to a node when its gate was opened: names the node. */
export const PIN_ANNOTATION = 'evenkeel.dev/pinned-to';

/** Why a pod has no node yet, as far as steering is concerned. */
export interface Waiting {
  /** It carries our scheduling gate, alone or among others. */
  readonly gated: boolean;
  /** Node that required affinity was narrowed to when its gate was opened. */
  readonly pinnedTo: string | undefined;
  /** kube-scheduler has looked and found no node for it (condition PodScheduled, reason Unschedulable). */
  readonly unschedulable: boolean;
}

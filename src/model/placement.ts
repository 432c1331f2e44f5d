/** Label by which alternatives are named. */
export const HOSTNAME_LABEL = 'kubernetes.io/hostname';

/** Weights of the preferences for the planned node and for those after it: a miss is to be a good move, too. */
export const PREFERENCE_WEIGHTS = [100, 50, 25] as const;

/** Most terms of a required node affinity that are narrowed; a pod with more gets the preferences alone. */
export const MAX_NARROWED_TERMS = 8;

/** Where a pod that is about to be created, or that waits at our gate, is to run. */
export interface Placement {
  /** Name of the planned node. */
  readonly target: string;
  /** Names of at most two nodes that are preferred next, the better one first. */
  readonly fallbacks: readonly string[];
  /**
   * Values of HOSTNAME_LABEL that the pod is kept to, that of the target first, so that the scheduler looks at all of them:
   * a preference counts only on nodes that it scores. `undefined`: it is kept to none.
   */
  readonly alternatives: readonly string[] | undefined;
}

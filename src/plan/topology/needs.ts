import type { TrackerIndex } from '../indices.ts';

/** A number of pods in the target's domain that a filter asks for. */
export interface Need {
  /** Place of the tracker. */
  readonly tracker: TrackerIndex;
  /** The tracker counts the pod itself, which must not stand in its own way. */
  readonly self: boolean;
}

/** A spread constraint as a filter needs it. */
export interface SpreadNeed extends Need {
  readonly maxSkew: number;
  readonly minDomains: number;
  /** 1 when the pod would count where it lands. */
  readonly adds: 0 | 1;
}

/** A spread constraint that no move of a plan may break, whoever carries it. */
export interface KeptSpread extends SpreadNeed {
  /** It only ranks nodes for kube-scheduler. */
  readonly soft: boolean;
}

/** What InterPodAffinity and PodTopologySpread ask for one kind of pod. */
export interface TopologyNeeds {
  /** Pods that match all terms must be in each of these domains, or nowhere at all while the pod matches its own terms. */
  readonly affinity: readonly Need[];
  readonly matchesItself: boolean;
  /** A required affinity term selects no pods. */
  readonly hopeless: boolean;
  /** None of these may be in the domain: pods that the pod's own terms match, and pods whose terms match the pod. */
  readonly antiAffinity: readonly Need[];
  readonly repelledBy: readonly Need[];
  readonly spread: readonly SpreadNeed[];
  /** Every spread constraint that counts the pod, or that it carries; empty unless the policy repairs spread. */
  readonly kept: readonly KeptSpread[];
  /** Counts the pods of its controller with its images, node by node; `undefined` unless the policy repairs duplicates. */
  readonly duplicates: Need | undefined;
}

/** What most pods need. */
export const NO_NEEDS: TopologyNeeds = {
  affinity: [],
  matchesItself: false,
  hopeless: false,
  antiAffinity: [],
  repelledBy: [],
  spread: [],
  kept: [],
  duplicates: undefined,
};

import type { ResourceVector } from './resources.ts';
import type { Labels, Requirement } from './selector.ts';
import type { Bytes, EpochSeconds } from './units.ts';

/** What a taint does to pods that do not tolerate it. */
export type TaintEffect = 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';

/** A node's taint. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: TaintEffect;
}

/** What a node can give to pods: allocatable, never capacity. */
export interface Allocatable extends ResourceVector {
  /** Pod slots. */
  readonly pods: number;
}

/** A node as the planner sees it. */
export interface NodeInfo {
  readonly name: string;
  readonly uid: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** `spec.unschedulable`: cordoned. */
  readonly unschedulable: boolean;
  /** `metadata.deletionTimestamp` is set: whoever made it is draining it, as Karpenter does behind its finalizer. */
  readonly terminating: boolean;
  /** Condition Ready is True. */
  readonly ready: boolean;
  readonly allocatable: Allocatable;
  /** Size in bytes of the images on the node that some pod of the snapshot runs, by each name that the pods use. */
  readonly images: ReadonlyMap<string, Bytes>;
  readonly createdAt: EpochSeconds;
}

/** One required node-affinity term; all of its requirements must hold. A term without any matches no node. */
export interface NodeSelectorTerm {
  readonly expressions: readonly Requirement[];
  /** Only `metadata.name` exists as a field. */
  readonly fields: readonly Requirement[];
}

/** A node-affinity term that nodes are ranked by. */
export interface PreferredNodeTerm {
  /** 1 to 100. */
  readonly weight: number;
  readonly term: NodeSelectorTerm;
}

import type { Selector } from './selector.ts';

/** Workloads that talk to each other, as an AppGraph of one namespace describes them. */
export interface AppGraphInfo {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Names are unique. */
  readonly members: readonly GraphMember[];
  /** Between members by name: given by hand, or learnt; empty until something was learnt. */
  readonly edges: readonly GraphEdge[];
}

/** A workload of an application: all pods of its controller, or all that its labels select. */
export type GraphMember = { readonly name: string } & (
  | { readonly workload: { readonly kind: string; readonly name: string } }
  | { readonly selector: Selector }
);

/** What flows from one member to another one. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** Bits per second, of all pods of both members together; 0 or more. */
  readonly bandwidth: number;
}

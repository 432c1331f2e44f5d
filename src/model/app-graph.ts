import type { Selector } from './selector.ts';
import type { EpochSeconds } from './units.ts';

/** Workloads that talk to each other, as an AppGraph of one namespace describes them. */
export interface AppGraphInfo {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Generation of the spec; 0 in files written by hand. */
  readonly generation: number;
  /** Names are unique. */
  readonly members: readonly GraphMember[];
  /** Between members by name: given by hand, or learnt; empty until something was learnt. */
  readonly edges: readonly GraphEdge[];
  /** What is asked for the edges; absent where they are given by hand. */
  readonly query?: TrafficQuery;
  /** What came of it last; absent where the edges are given by hand. */
  readonly learning?: Learning;
}

/** What a Prometheus server is asked for the traffic between workloads. */
export interface TrafficQuery {
  /** Name of the server. */
  readonly server: string;
  /** PromQL that gives bits per second by source_workload and destination_workload. */
  readonly promql: string;
}

/** What flows from one workload to another one, as a server has it. */
export interface TrafficSample {
  /** Names of their controllers; `undefined` where the sample has no such label. */
  readonly source: string | undefined;
  readonly destination: string | undefined;
  /** Bits per second; NaN and infinities as the server gives them. */
  readonly bandwidth: number;
}

/** What came of asking for traffic. */
export type Learning =
  /** The edges are what the server gave. */
  | {
      readonly kind: 'Learnt';
      readonly at: EpochSeconds;
      /** Samples that are not between two members. */
      readonly ignored: number;
    }
  /** Nothing is known of the traffic. `message` is for people, without a full stop. */
  | { readonly kind: 'Unknown'; readonly reason: UnknownTraffic; readonly message: string };

/** Why nothing is known of the traffic. */
export type UnknownTraffic = 'UnknownServer' | 'ServerFailed' | 'NoSamples' | 'NoLabels' | 'NoMembers';

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

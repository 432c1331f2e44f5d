import type { Application, ComponentIndex } from './application.ts';
import type { Hosts } from './hosts.ts';
import type { HostIndex, LinkLoads, Network } from './network.ts';

/** An application to be placed. */
export interface PlacementRequest {
  readonly application: Application;
  readonly hosts: Hosts;
  readonly network: Network;
  /** The traffic that is there already. */
  readonly loads: LinkLoads;
  /** Where each component runs today; -1 for nowhere. */
  readonly homes: readonly HostIndex[];
  /** What it counts, in the prices of an hour, to take a component from its home. */
  readonly movePrice: number;
  /** Components that few hosts may take. */
  readonly isPinned: (component: ComponentIndex) => boolean;
  readonly limits: SearchLimits;
}

/** How far a search goes. */
export interface SearchLimits {
  /** Hosts that are tried for a component, the best ones. */
  readonly candidates: number;
  /** Components for which hosts are compared until a first placement is found, each again after it was undone. */
  readonly steps: number;
  /** Up to so many ways to place the components, all are looked through for the cheapest one. */
  readonly ways: number;
}

/** PHARE keeps the ten best hosts; the others hold it to a millisecond per hundred hosts (test/bench/reproduce-phare.ts). */
export const SEARCH_LIMITS: SearchLimits = { candidates: 10, steps: 2_000, ways: 20_000 };

/** Costs that differ by a smaller share are one. */
export const SAME = 1e-9;

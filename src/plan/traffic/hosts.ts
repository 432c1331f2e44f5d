import type { ComponentIndex } from './application.ts';
import type { HostIndex } from './network.ts';

/** Host of a component that has none. */
export const NOWHERE: HostIndex = -1;

/** What components are placed on; changes as they are. */
export interface Hosts {
  readonly count: number;
  /** What is free of each resource, in the order of the components' demands. */
  readonly free: (host: HostIndex) => Float64Array;
  /** Whether anything runs there. */
  readonly isUsed: (host: HostIndex) => boolean;
  /** Whether the component may run there, beside all that does. */
  readonly takes: (component: ComponentIndex, host: HostIndex) => boolean;
  /** What the component costs there in an hour, without its traffic. */
  readonly price: (component: ComponentIndex, host: HostIndex) => number;
  readonly place: (component: ComponentIndex, host: HostIndex) => void;
  readonly lift: (component: ComponentIndex, host: HostIndex) => void;
}

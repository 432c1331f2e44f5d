import { type Seconds, seconds } from '../model/units.ts';

/** How soon a leader looks again. */
export interface Pace {
  /** At a plan under way. */
  readonly plans: Seconds;
  /** At policies, at the soonest: what nothing wakes never looks more often. */
  readonly policies: Seconds;
  /** At the gates, where no arrival wakes it: about the longest wait of a pod that no move waits for any more. */
  readonly gates: Seconds;
  /** At the gates, at the soonest, however many pods arrive. */
  readonly arrivals: Seconds;
  /** At what ledgers are kept by, after a change: changes that come together are written together. */
  readonly ledgers: Seconds;
  /** Ledgers written in one look, and so in a second: half of what the client may change, so that evictions need not wait. */
  readonly ledgerWrites: number;
  /** Wakes the looks at the gates when a pod has come to one. */
  readonly onArrival: (wake: () => void) => void;
  /** Wakes the looks at plans before their time. */
  readonly onChange: (wake: () => void) => void;
}

/** The pace of the operator on a cluster, where nothing wakes it early. */
export const OPERATOR_PACE: Pace = {
  plans: seconds(1),
  policies: seconds(1),
  gates: seconds(2),
  arrivals: seconds(1),
  ledgers: seconds(1),
  ledgerWrites: 5,
  onArrival: () => undefined,
  onChange: () => undefined,
};

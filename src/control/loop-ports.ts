import type { ExecutorPorts } from '../execute/executor.ts';
import { type Seconds, seconds } from '../model/units.ts';
import type { Log, PolicyStore, StartCron, UsageServers } from '../ports.ts';
import type { GateQueue } from './gate-queue.ts';
import type { LedgerNews } from './ledger-health.ts';
import type { RunPorts } from './run.ts';

/** Everything that the control loop acts through. */
export interface LoopPorts extends RunPorts, ExecutorPorts {
  readonly policies: PolicyStore;
  /** What waits at the gate: QoSDriven runs at every news of it, too. */
  readonly demand: GateQueue;
  /** What ledgers say, by who keeps them. */
  readonly ledgerNews: Pick<LedgerNews, 'health' | 'levels'>;
  /** Where policies may have load read other than from the Metrics API. */
  readonly usageServers: UsageServers;
  readonly startCron: StartCron;
  readonly log: Log;
  /** A run failed before it had a plan. */
  readonly runFailed: () => void;
}

/** How soon a leader looks again. */
export interface Pace {
  /** At a plan under way. */
  readonly plans: Seconds;
  /** At the gates: what a new pod that nobody moves waits at most, about. */
  readonly gates: Seconds;
  /** At what ledgers are kept by, after a change: changes that come together are written together. */
  readonly ledgers: Seconds;
  /** Wakes the looks at plans and gates before their time. */
  readonly onChange: (wake: () => void) => void;
}

/** The pace of the operator on a cluster: nothing wakes it early. */
export const OPERATOR_PACE: Pace = {
  plans: seconds(1),
  gates: seconds(2),
  ledgers: seconds(1),
  onChange: () => undefined,
};

/** Settings of the operator. */
export interface LoopSettings {
  /** kube-system and the operator's own namespace. */
  readonly excludedNamespaces: ReadonlySet<string>;
  readonly pace: Pace;
  /** Called after each pass that reached the API server. */
  readonly passed: () => void;
}

import type { PolicyStore, StartCron, UsageServers } from '../ports.ts';
import type { GateQueue } from './gate-queue.ts';
import type { LedgerNews } from './ledger-health.ts';
import type { Pace } from './pace.ts';
import type { RunPorts } from './run.ts';
import type { Leadership } from './shards/leadership.ts';

/** Everything that the control loop acts through. */
export interface LoopPorts extends RunPorts {
  readonly policies: PolicyStore;
  /** What waits at the gate: QoSDriven runs at every news of it, too. */
  readonly demand: GateQueue;
  /** The state of the ledgers. */
  readonly ledgerNews: Pick<LedgerNews, 'health' | 'levels'>;
  /** Where policies may have load read other than from the Metrics API. */
  readonly usageServers: UsageServers;
  readonly startCron: StartCron;
  /** The replica that this is, for people: the name of its pod. `undefined` without leader election. */
  readonly leader: string | undefined;
  /** A run failed before it had a plan. */
  readonly runFailed: () => void;
}

/** What the loop is given; it makes the rest itself, for as long as it runs or leads a policy. */
export interface GivenLoopPorts
  extends Omit<LoopPorts, 'firstLooks' | 'deciding' | 'recording' | 'leader' | 'leaderEpoch'> {
  /** Which policies this replica leads. */
  readonly leadership: Leadership;
}

/** Settings of the operator. */
export interface LoopSettings {
  /** kube-system and the operator's own namespace. */
  readonly excludedNamespaces: ReadonlySet<string>;
  /** Moves in flight at a time, of all policies. */
  readonly maxInFlight: number;
  readonly pace: Pace;
  /** Called after each pass that reached the API server. */
  readonly passed: () => void;
}

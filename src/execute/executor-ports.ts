import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { Mutex } from '../model/mutex.ts';
import type { PolicyOptions } from '../plan/options.ts';
import type {
  Clock,
  ClusterReader,
  EventSink,
  Evictor,
  Gates,
  Journals,
  Log,
  Steering,
  StoredPolicy,
  Telemetry,
} from '../ports.ts';
import type { FirstLooks } from './first-looks.ts';
import type { Limits } from './ready-moves.ts';
import type { StopRule } from './together.ts';

/** What the executor acts through. */
export interface ExecutorPorts {
  readonly reader: ClusterReader;
  readonly evictor: Evictor;
  readonly steering: Steering;
  readonly gates: Gates;
  readonly plans: Journals;
  readonly events: EventSink;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Log;
  readonly firstLooks: FirstLooks;
  /** Held from a look at the plans of all policies until the intents decided by it are stored, so that limits of all of them hold. */
  readonly recording: Mutex;
  /** `leaseTransitions` of the Lease under which this process leads; undefined without leader election. */
  readonly leaderEpoch: number | undefined;
}

/** The policy, for stop rules and the live check. */
export interface ExecutionPolicy extends Limits {
  /** As it stands when this is called; undefined when it was deleted. */
  readonly current: (signal: AbortSignal) => Promise<StoredPolicy | undefined>;
  /** Undefined when there is no policy to resolve. */
  readonly options: PolicyOptions | undefined;
  /**
   * What budgets, and the service that moves have cost, let begin while the plans of all policies stand like this. `undefined` for
   * moves without a budget.
   */
  readonly stop: ((plans: readonly RebalancePlan[], signal: AbortSignal) => Promise<StopRule>) | undefined;
}

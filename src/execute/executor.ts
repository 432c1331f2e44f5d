import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { beginIfMeasured } from './begin-moves.ts';
import { openMoves } from './committed.ts';
import type { ExecutionPolicy, ExecutorPorts } from './executor-ports.ts';
import { createFailures } from './failures.ts';
import { finishIfDone } from './finish-plan.ts';
import { followUp } from './follow-up.ts';
import type { MoveEvent } from './move.ts';
import type { Recorder } from './recorder.ts';
import { abortStopped, recordAndSettle } from './settle.ts';
import { stopReason } from './stop-rules.ts';
import { nextDisruption } from './together.ts';

/**
 * Takes a plan in phase Executing one step further: looks at the moves in flight, then begins as many as the budget
 * allows. Every intent is stored before its eviction is sent, and each eviction is checked again right before it is sent. What
 * was seen and answered is noted, and stored with the next intents or a little later. Resolves to the plan as it stands then.
 * Rejects with ConflictError when another client changed the plan, with ApiError when the server fails, and, after all else
 * was done, with an AggregateError of what failed for single moves; each time the journal says where to go on.
 */
export async function step(
  plan: RebalancePlan,
  policy: ExecutionPolicy,
  ports: ExecutorPorts,
  signal: AbortSignal,
): Promise<RebalancePlan> {
  const recorder: Recorder = { plan, ports, signal, failures: createFailures(signal) };
  await followUp(recorder);
  const nodes = await ports.reader.nodes(signal);
  const stop =
    stopReason(recorder.plan, await policy.current(signal), nodes) ??
    (await policy.stop?.(await ports.plans.list(signal), signal))?.(nextDisruption(recorder.plan));
  if (stop !== undefined) {
    await abortStopped(recorder, stop);
  }
  if (policy.options !== undefined) {
    await beginIfMeasured(recorder, { ...policy, options: policy.options }, nodes);
  }
  await finishIfDone(recorder);
  recorder.failures.throwIfAny();
  return recorder.plan;
}

/**
 * Ends the moves of a plan for which nothing was done yet: a later run made another plan. What has begun stays, and the plan
 * is carried on to its end. Resolves to the plan as it stands then. Rejects as `step` does.
 */
export async function giveWay(
  plan: RebalancePlan,
  why: string,
  ports: ExecutorPorts,
  signal: AbortSignal,
): Promise<RebalancePlan> {
  const recorder: Recorder = { plan, ports, signal, failures: createFailures(signal) };
  const event: MoveEvent = { kind: 'Abort', why };
  const events = new Map(openMoves(plan).pending.map(({ index }) => [index, event]));
  await recordAndSettle(recorder, events);
  await finishIfDone(recorder);
  recorder.failures.throwIfAny();
  return recorder.plan;
}

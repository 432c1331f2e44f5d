import type { MovePhase, PlanPhase, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { Cluster } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import { escapeText } from '../model/escape.ts';
import type { CommandResult } from './command.ts';
import type { Screen } from './screen.ts';
import { type Look, waitFor } from './wait.ts';

/** Phases that a plan does not leave. */
const ENDS: ReadonlySet<PlanPhase> = new Set(['Completed', 'Aborted', 'Superseded']);
/** Phases of moves that have not come to what was planned, or to what is as good. */
const FAILED: ReadonlySet<MovePhase> = new Set(['Failed', 'Aborted']);

/**
 * Waits until a plan has ended; prints how. Exit code 0 when it is Completed and no move has failed, else 1. Throws a Failure when
 * it has not ended after `timeout` seconds, or was deleted.
 */
export async function planEnd(
  name: string,
  { plans }: Pick<Cluster, 'plans'>,
  timeout: number,
  screen: Screen,
  signal: AbortSignal,
): Promise<CommandResult> {
  const wait = { otherwise: `plan ${name} has not ended`, timeout };
  return resultOf(await waitFor(wait, screen, signal, async () => lookAt(name, await plans.get(name, signal))));
}

function lookAt(name: string, plan: RebalancePlan | undefined): Look<RebalancePlan> {
  if (plan === undefined) {
    throw new Failure(`plan ${name} was deleted before it ended`);
  }
  const { phase = 'Proposed', summary } = plan.status ?? {};
  if (ENDS.has(phase)) {
    return { kind: 'Done', result: plan };
  }
  const progress = `${summary?.done ?? 0} of ${plan.spec.moves.length} moves are done`;
  return { kind: 'Waiting', why: phase === 'Executing' ? progress : `it is ${phase}: is the operator running?` };
}

function resultOf({ metadata, status }: RebalancePlan): CommandResult {
  const phases = (status?.moves ?? []).map(({ phase }) => phase);
  const counts = Map.groupBy(phases, (phase) => phase);
  const moves = [...counts].map(([phase, { length }]) => `${length} ${phase}`).join(', ');
  const isGood = status?.phase === 'Completed' && !phases.some((phase) => FAILED.has(phase));
  const why = isGood || status?.message === undefined ? '' : `${escapeText(status.message)}\n`;
  return {
    stdout: `rebalanceplan.evenkeel.dev/${escapeText(metadata.name)} ${status?.phase}: ${moves === '' ? 'no moves' : moves}\n`,
    stderr: why,
    exitCode: isGood ? 0 : 1,
  };
}

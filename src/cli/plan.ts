import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { parseDuration } from '../model/duration.ts';
import { resolveOptions } from '../plan/options.ts';
import type { Plan } from '../plan/plan.ts';
import { plan as computePlan } from '../plan/planner.ts';
import { toRebalancePlan } from '../report/plan-resource.ts';
import type { CommandResult } from './command.ts';
import { gateFails, parseGate } from './gate.ts';
import { type InputFlags, readInput } from './input.ts';
import { type Narrowing, narrow } from './narrow.ts';
import { renderPlan } from './output.ts';
import type { Output } from './output-formats.ts';

/** Flags of `evenkeel plan`. */
export interface PlanFlags extends InputFlags, Narrowing {
  readonly output: Output;
  readonly exitCode: boolean;
  readonly failOn: readonly string[];
}

/** Computes a plan and changes nothing. Throws Failure, InputError or ApiError for people to read. */
export async function planCommand(flags: PlanFlags, signal: AbortSignal): Promise<CommandResult> {
  const gates = flags.failOn.map(parseGate);
  const { snapshot, policy: whole } = await readInput(flags, signal);
  const policy = narrow(whole, flags);
  const plan = computePlan(snapshot, resolveOptions(policy.spec));
  const resource = toRebalancePlan(plan, policy, 1, snapshot);
  const failed = gates.flatMap((gate) => {
    const figure = gateFails(gate, plan, resource);
    return figure === undefined ? [] : [`--fail-on '${gate.text}': it is ${figure}`];
  });
  const notes = [...unsmoothed(policy), ...snapshot.problems.map((problem) => `warning: ${problem}`), ...failed];
  return {
    stdout: renderPlan(resource, flags.output),
    stderr: notes.map((note) => `${note}\n`).join(''),
    exitCode: exitCodeOf(plan, failed.length > 0, flags.exitCode),
  };
}

/** A single look has no history. */
function unsmoothed({ spec }: RebalancePolicy): readonly string[] {
  return parseDuration(spec.load.smoothing) === 0
    ? []
    : [
        `warning: spec.load.smoothing is ${spec.load.smoothing}, which only a running operator can do: this plan is made from the newest samples as they are`,
      ];
}

function exitCodeOf(plan: Plan, gateFailed: boolean, asked: boolean): number {
  const incomplete = plan.outcome.kind === 'MetricsUnavailable' || plan.outcome.kind === 'MetricsIncomplete';
  if (asked && incomplete) {
    return 4;
  }
  if (gateFailed) {
    return 3;
  }
  return asked && plan.moves.length > 0 ? 2 : 0;
}

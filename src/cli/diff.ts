import { plan } from '../plan/planner.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import { blindness } from '../report/checks.ts';
import { diffMarkdown, diffPlans, diffTable, type NamedPlan, type PlanDiff } from '../report/plan-diff.ts';
import type { CommandResult } from './command.ts';
import { type MeasuredFlags, type PolicyOnSnapshot, readPair } from './input.ts';
import { renderJson } from './output.ts';
import type { DiffOutput } from './output-formats.ts';
import { whilePlanning } from './progress.ts';
import type { Screen } from './screen.ts';

/** Flags of `evenkeel diff`. */
export interface DiffFlags extends MeasuredFlags {
  /** Files of policies, or names of ones on the cluster or in the snapshot: the old one and the new one. */
  readonly policies: readonly [string, string];
  readonly output: DiffOutput;
  /** Exit with 2 when the plans differ, with 4 when nothing can be planned from the input. */
  readonly exitCode: boolean;
}

/** Plans by two policies from one snapshot and compares. Throws Failure, InputError or ApiError for people to read. */
export async function diffCommand(flags: DiffFlags, screen: Screen, signal: AbortSignal): Promise<CommandResult> {
  const [old, renewed] = await readPair(flags.policies, flags, screen, signal);
  const planOf = ({ policy, snapshot }: PolicyOnSnapshot): NamedPlan => ({
    policy: policy.metadata.name,
    plan: whilePlanning(screen, snapshot, () => plan(snapshot, resolveOptions(policy.spec))),
  });
  const plans = [planOf(old), planOf(renewed)] as const;
  const diff = diffPlans(...plans);
  const unknown = plans.map((side) => blindness(side.plan)).find((reason) => reason !== undefined);
  const notes = [
    ...old.snapshot.problems.map((problem) => `warning: ${problem}`),
    ...(unknown === undefined ? [] : [`warning: this compares nothing: ${unknown}`]),
  ];
  return {
    stdout: render(diff, flags.output, screen),
    stderr: notes.map((note) => `${note}\n`).join(''),
    exitCode: flags.exitCode ? exitCodeOf(diff, unknown) : 0,
  };
}

function exitCodeOf({ moves }: PlanDiff, unknown: string | undefined): number {
  if (unknown !== undefined) {
    return 4;
  }
  return moves.length > 0 ? 2 : 0;
}

function render(diff: PlanDiff, output: DiffOutput, { look }: Screen): string {
  switch (output) {
    case 'table':
      return diffTable(diff, look);
    case 'json':
      return renderJson(diff);
    case 'markdown':
      return diffMarkdown(diff);
    default:
      return output satisfies never;
  }
}

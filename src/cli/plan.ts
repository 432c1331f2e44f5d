import { type LabelExpressions, LabelSelectorError, parseLabelSelector } from '../api/label-selector.ts';
import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import type { LabelSelectorField } from '../api/v1alpha1/schema.ts';
import { Failure } from '../app/failure.ts';
import { parseDuration } from '../model/duration.ts';
import type { Plan } from '../plan/plan.ts';
import { plan as computePlan } from '../plan/planner.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import { type Check, checksJunit, checksSarif, standingChecks } from '../report/checks.ts';
import { planMarkdown } from '../report/plan-markdown.ts';
import { toRebalancePlan } from '../report/plan-resource.ts';
import { planTable } from '../report/plan-text.ts';
import { VERSION } from '../version.ts';
import type { CommandResult } from './command.ts';
import { checkGate, parseGate } from './gate.ts';
import { type Input, type InputFlags, readInput } from './input.ts';
import { renderObject } from './output.ts';
import type { PlanOutput } from './output-formats.ts';
import { whilePlanning } from './progress.ts';
import type { Screen } from './screen.ts';
import { checkNamespace } from './suggestion.ts';

/** The namespace and label flags of kubectl. */
interface Narrowing {
  readonly namespace: string | undefined;
  /** Label selector as kubectl takes it, such as app=web,tier in (front, back). */
  readonly selector: string | undefined;
}

/** Flags of `evenkeel plan`. */
export interface PlanFlags extends InputFlags, Narrowing {
  readonly output: PlanOutput;
  readonly exitCode: boolean;
  readonly failOn: readonly string[];
}

/** A plan with what was asked of it. */
interface Judged {
  readonly plan: Plan;
  readonly resource: RebalancePlan;
  readonly checks: readonly Check[];
  readonly policyFile: string | undefined;
}

/** Computes a plan and changes nothing. Throws Failure, InputError or ApiError for people to read. */
export async function planCommand(flags: PlanFlags, screen: Screen, signal: AbortSignal): Promise<CommandResult> {
  const gates = flags.failOn.map(parseGate);
  const input = await readInput(flags, screen, signal);
  checkNamespace(flags.namespace, input.snapshot);
  const policy = narrow(input.policy, flags);
  const options = resolveOptions(policy.spec);
  const plan = whilePlanning(screen, input.snapshot, () => computePlan(input.snapshot, options));
  const resource = toRebalancePlan(plan, policy, 1, input.snapshot);
  const judged = gates.map((gate) => checkGate(gate, plan, input.snapshot, options));
  const isReport = flags.output === 'junit' || flags.output === 'sarif';
  const checks = [...(flags.exitCode || isReport ? standingChecks(plan) : []), ...judged];
  return {
    stdout: render({ plan, resource, checks, policyFile: input.policyFile }, flags.output, screen),
    stderr: notesOf(input, policy, judged),
    exitCode: exitCodeOf(checks, flags.exitCode),
  };
}

function render({ resource, checks, policyFile }: Judged, output: PlanOutput, { look }: Screen): string {
  switch (output) {
    case 'table':
    case 'wide':
      return planTable(resource, output === 'wide', look);
    case 'markdown':
      return planMarkdown(resource, checks);
    case 'junit':
      return checksJunit(resource, checks);
    case 'sarif':
      return checksSarif(
        VERSION,
        resource,
        checks,
        policyFile === undefined ? undefined : { file: policyFile, line: 1 },
      );
    default:
      return renderObject(resource, `rebalanceplan.evenkeel.dev/${resource.metadata.name}`, output);
  }
}

function notesOf({ snapshot }: Input, policy: RebalancePolicy, judged: readonly Check[]): string {
  const notes = [
    ...unsmoothed(policy),
    ...snapshot.problems.map((problem) => `warning: ${problem}`),
    ...judged.filter(({ result }) => result !== 'Passed').map(({ message }) => message),
  ];
  return notes.map((note) => `${note}\n`).join('');
}

/** A single look has no history. */
function unsmoothed({ spec }: RebalancePolicy): readonly string[] {
  return parseDuration(spec.load.smoothing) === 0
    ? []
    : [
        `warning: spec.load.smoothing is ${spec.load.smoothing}, which only a running operator can do: this plan is made from the newest samples as they are`,
      ];
}

/** 4 when a check is unknown, 3 when a gate failed, 2 when moves are needed and --exit-code asks. */
function exitCodeOf(checks: readonly Check[], asked: boolean): number {
  if (checks.some(({ result }) => result === 'Unknown')) {
    return 4;
  }
  const failed = checks.filter(({ result }) => result === 'Failed');
  if (failed.some(({ rule }) => rule === 'gate')) {
    return 3;
  }
  return asked && failed.length > 0 ? 2 : 0;
}

/** The policy about only part of its scope, as -n and -l ask. Throws a Failure for a selector that is not understood. */
function narrow(policy: RebalancePolicy, { namespace, selector }: Narrowing): RebalancePolicy {
  const { scope } = policy.spec;
  const namespaceSelector =
    namespace === undefined
      ? scope.namespaceSelector
      : require(scope.namespaceSelector, [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [namespace] }]);
  const podSelector = selector === undefined ? scope.podSelector : require(scope.podSelector, expressionsOf(selector));
  return { ...policy, spec: { ...policy.spec, scope: { ...scope, namespaceSelector, podSelector } } };
}

function require(field: LabelSelectorField, expressions: LabelExpressions): LabelSelectorField {
  return { ...field, matchExpressions: [...(field.matchExpressions ?? []), ...expressions] };
}

function expressionsOf(text: string): LabelExpressions {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    throw error instanceof LabelSelectorError ? new Failure(`-l "${text}": ${error.message}`) : error;
  }
}

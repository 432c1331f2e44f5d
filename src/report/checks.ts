import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { formatDecimal } from '../model/decimal.ts';
import { percent } from '../plan/format.ts';
import type { Plan } from '../plan/plan.ts';
import { junitXml, type TestCase } from './junit.ts';
import { type SarifPlace, type SarifResult, type SarifRule, sarifLog } from './sarif.ts';

/** One thing that a run in CI asks of a plan, and how it stands. */
export interface Check {
  /** What it is about: the input, whether moves are needed, or a --fail-on expression. */
  readonly rule: 'input' | 'moves' | 'gate';
  /** Such as `imbalance>0.2`. */
  readonly name: string;
  /** Unknown: the input does not tell; it passes no more than a check that failed. */
  readonly result: 'Passed' | 'Failed' | 'Unknown';
  /** One sentence with the numbers. */
  readonly message: string;
}

/** Why nothing can be said of the cluster that a plan was made from; `undefined`: it can. */
export function blindness({ outcome, coverage }: Plan): string | undefined {
  if (coverage.readyNodes === 0) {
    return 'no node is Ready';
  }
  return outcome.kind === 'MetricsUnavailable' || outcome.kind === 'MetricsIncomplete' ? outcome.message : undefined;
}

/** What --exit-code asks, and each report: that the input can be planned from, and that nothing has to move. */
export function standingChecks(plan: Plan): readonly Check[] {
  const { moves, coverage } = plan;
  const unknown = blindness(plan);
  return [
    {
      rule: 'input',
      name: 'metrics are complete and fresh',
      result: unknown === undefined ? 'Passed' : 'Unknown',
      message: unknown ?? `${coverage.sampledNodes} of ${coverage.readyNodes} Ready nodes have a valid sample`,
    },
    {
      rule: 'moves',
      name: 'no moves are needed',
      result: unknown === undefined ? (moves.length > 0 ? 'Failed' : 'Passed') : 'Unknown',
      message: unknown ?? (moves.length === 1 ? 'the plan has 1 move' : `the plan has ${moves.length} moves`),
    },
  ];
}

/** A figure that a --fail-on expression speaks of. */
export type GateReading =
  | { readonly name: string; readonly value: number; readonly isShare: boolean }
  /** With the reason. */
  | { readonly name: string; readonly unknown: string };

/** The check of one --fail-on expression with the figure that it looked at; it fails when it holds. */
export function gateCheck(text: string, reading: GateReading, holds: boolean): Check {
  const check = { rule: 'gate', name: `not ${text}` } as const;
  if ('unknown' in reading) {
    return {
      ...check,
      result: 'Unknown',
      message: `--fail-on '${text}': ${reading.name} is unknown: ${reading.unknown}`,
    };
  }
  const { name, value, isShare } = reading;
  const figure = isShare ? percent(value) : formatDecimal(value);
  return { ...check, result: holds ? 'Failed' : 'Passed', message: `--fail-on '${text}': ${name} is ${figure}` };
}

/** Checks as JUnit XML, one case for each, and one that there is a plan. */
export function checksJunit(plan: RebalancePlan, checks: readonly Check[]): string {
  const group = `evenkeel.plan.${plan.spec.policy.name}`;
  const summary = `${plan.spec.strategy}: ${plan.spec.message}`;
  const planned: TestCase = { group, name: 'the plan can be made', failure: undefined, output: summary };
  const cases = checks.map(
    ({ name, result, message }): TestCase => ({ group, name, failure: result === 'Passed' ? undefined : message }),
  );
  return junitXml(`evenkeel plan of ${plan.spec.policy.name}`, [planned, ...cases]);
}

const RULES: readonly (SarifRule & { readonly id: Check['rule'] })[] = [
  { id: 'input', description: 'The input of a plan has to be complete and fresh.' },
  { id: 'moves', description: 'The cluster is out of balance, and moves would help.' },
  { id: 'gate', description: 'A figure of the plan must not cross the bound of --fail-on.' },
];

/** Checks that did not pass as SARIF, at the place of the policy. */
export function checksSarif(
  version: string,
  plan: RebalancePlan,
  checks: readonly Check[],
  place: SarifPlace | undefined,
): string {
  const results = checks
    .filter(({ result }) => result !== 'Passed')
    .map(({ rule, message }): SarifResult => {
      const text = `${message}. ${plan.spec.strategy}: ${plan.spec.message}.`;
      return { rule, level: rule === 'moves' ? 'warning' : 'error', message: text, place };
    });
  return sarifLog(version, RULES, results);
}

import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { formatDecimal } from '../model/decimal.ts';
import type { Plan } from '../plan/plan.ts';
import { junitXml, type TestCase } from './junit.ts';
import { type SarifPlace, type SarifResult, type SarifRule, sarifLog } from './sarif.ts';

/** One thing that a run in CI asks of a plan, and how it stands. */
export interface Check {
  /** What it is about: the input, whether moves are needed, or a --fail-on expression. */
  readonly rule: 'input' | 'moves' | 'gate';
  /** Such as `imbalance>0.2`. */
  readonly name: string;
  readonly failed: boolean;
  /** One sentence with the numbers. */
  readonly message: string;
}

/** What --exit-code asks: that the input can be planned from, and that nothing has to move. */
export function standingChecks({ outcome, moves, coverage }: Plan): readonly Check[] {
  const incomplete = outcome.kind === 'MetricsUnavailable' || outcome.kind === 'MetricsIncomplete';
  return [
    {
      rule: 'input',
      name: 'metrics are complete and fresh',
      failed: incomplete,
      message: incomplete
        ? outcome.message
        : `${coverage.sampledNodes} of ${coverage.readyNodes} Ready nodes have a valid sample`,
    },
    {
      rule: 'moves',
      name: 'no moves are needed',
      failed: moves.length > 0,
      message: moves.length === 1 ? 'the plan has 1 move' : `the plan has ${moves.length} moves`,
    },
  ];
}

/** The check of one --fail-on expression with the figure that it looked at; it fails when it holds. */
export function gateCheck(text: string, figure: number, holds: boolean): Check {
  return {
    rule: 'gate',
    name: `not ${text}`,
    failed: holds,
    message: `--fail-on '${text}': it is ${formatDecimal(figure)}`,
  };
}

/** Checks as JUnit XML, one case for each; without any, that there is a plan is the one case. */
export function checksJunit(plan: RebalancePlan, checks: readonly Check[]): string {
  const group = `evenkeel.plan.${plan.spec.policy.name}`;
  const summary = `${plan.spec.strategy}: ${plan.spec.message}`;
  const planned: TestCase = { group, name: 'the plan can be made', failure: undefined, output: summary };
  const cases = checks.map(
    ({ name, failed, message }): TestCase => ({ group, name, failure: failed ? message : undefined }),
  );
  return junitXml(`evenkeel plan of ${plan.spec.policy.name}`, [planned, ...cases]);
}

const RULES: readonly (SarifRule & { readonly id: Check['rule'] })[] = [
  { id: 'input', description: 'The input of a plan has to be complete and fresh.' },
  { id: 'moves', description: 'The cluster is out of balance, and moves would help.' },
  { id: 'gate', description: 'A figure of the plan must not cross the bound of --fail-on.' },
];

/** Checks that failed as SARIF, at the place of the policy. */
export function checksSarif(
  version: string,
  plan: RebalancePlan,
  checks: readonly Check[],
  place: SarifPlace | undefined,
): string {
  const results = checks
    .filter(({ failed }) => failed)
    .map(({ rule, message }): SarifResult => {
      const text = `${message}. ${plan.spec.strategy}: ${plan.spec.message}.`;
      return { rule, level: rule === 'moves' ? 'warning' : 'error', message: text, place };
    });
  return sarifLog(version, RULES, results);
}

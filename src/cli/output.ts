import { stringify } from 'yaml';
import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { planMarkdown, planTable } from '../report/plan-text.ts';
import { Failure } from './failure.ts';

/** Formats of -o. */
export const OUTPUTS = ['table', 'wide', 'json', 'yaml', 'markdown', 'name'] as const;
/** A format of -o. */
export type Output = (typeof OUTPUTS)[number];

/** The format that -o names. Throws a Failure that lists the formats. */
export function parseOutput(text: string): Output {
  const known = OUTPUTS.find((output) => output === text);
  if (known === undefined) {
    throw new Failure(`-o ${text} is not a format: write one of ${OUTPUTS.join(', ')}`);
  }
  return known;
}

/** A plan in the format of -o, with a line end. */
export function renderPlan(plan: RebalancePlan, output: Output): string {
  switch (output) {
    case 'table':
    case 'wide':
      return planTable(plan, output === 'wide');
    case 'markdown':
      return planMarkdown(plan);
    default:
      return renderObject(plan, `rebalanceplan.evenkeel.dev/${plan.metadata.name}`, output);
  }
}

/** Any object as json, yaml or its name. */
export function renderObject(object: unknown, name: string, output: 'json' | 'yaml' | 'name'): string {
  switch (output) {
    case 'json':
      return `${JSON.stringify(object, null, 2)}\n`;
    case 'yaml':
      return stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });
    case 'name':
      return `${name}\n`;
    default:
      return output satisfies never;
  }
}

import { stringify } from 'yaml';
import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { planMarkdown, planTable } from '../report/plan-text.ts';
import type { Output } from './output-formats.ts';

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

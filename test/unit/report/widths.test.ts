import { describe, expect, it } from 'vitest';
import { defaultPolicy } from '../../../src/cli/input.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { explainPod } from '../../../src/plan/explain/pod.ts';
import { resolveOptions } from '../../../src/plan/options.ts';
import { plan } from '../../../src/plan/planner.ts';
import { podExplanationText } from '../../../src/report/explanation-text.ts';
import { historyText } from '../../../src/report/history-text.ts';
import { diffPlans, diffTable } from '../../../src/report/plan-diff.ts';
import { toRebalancePlan } from '../../../src/report/plan-resource.ts';
import { planTable } from '../../../src/report/plan-text.ts';
import type { Look } from '../../../src/report/table.ts';
import { topNodes, topWorkloads } from '../../../src/report/top.ts';
import { topNodesText, topWorkloadsText } from '../../../src/report/top-text.ts';
import { cloudCluster } from '../../cloud-cluster/objects.ts';

const DOMAIN = '.eu-central-1.compute.internal';
const snapshot = buildSnapshot([cloudCluster(8)]);
const policy = defaultPolicy();
const options = resolveOptions(policy.spec);
const made = plan(snapshot, options);
const resource = toRebalancePlan(made, policy, 1, snapshot);
const [move] = resource.spec.moves;
const lookOf = (columns: number): Look => ({ columns, paint: (_tone, text) => text });

/** Tables of each command; sentences above them are left out, since they end where the terminal ends them. */
const COMMANDS: Readonly<Record<string, (wide: boolean, look: Look) => string>> = {
  plan: (wide, look) => planTable(resource, wide, look),
  top: (wide, look) => topNodesText(topNodes(snapshot), wide, look),
  'top workloads': (wide, look) => topWorkloadsText(topWorkloads(snapshot, undefined), wide, look),
  explain: (wide, look) => {
    const pod = explainPod(snapshot, options, move?.pod.uid ?? '');
    return pod === undefined ? '' : podExplanationText(pod, wide, look).split('\n\n').slice(1).join('\n\n');
  },
  diff: (_wide, look) => {
    const sides = [
      { policy: 'old', plan: { ...made, moves: [] } },
      { policy: 'new', plan: made },
    ] as const;
    return diffTable(diffPlans(...sides), look)
      .split('\n\n')
      .slice(2)
      .join('\n\n');
  },
  history: (wide, look) => historyText([resource], wide, look),
};

/** Lines of tables, without the sentences around them. */
function tableLines(text: string): readonly string[] {
  return text.split('\n').filter((line) => !/[.:]$|^- |^RefineLB: |: /.test(line));
}

describe.each(Object.keys(COMMANDS))('%s of nodes that a cloud has named', (command) => {
  const render = COMMANDS[command] ?? (() => '');

  it.each([80, 100, 132])('fits into %i columns, with nothing cut off', (columns) => {
    const text = render(false, lookOf(columns));
    expect(text).not.toBe('');
    expect(text).not.toContain('…');
    expect(Math.max(...tableLines(text).map(({ length }) => length))).toBeLessThanOrEqual(columns);
    expect(text).not.toMatch(/^[A-Z][A-Z %]*: /m);
  });

  it('gives nodes their short names', () => {
    expect(render(false, lookOf(80))).not.toContain(DOMAIN);
  });
});

describe('the moves of a plan', () => {
  it.each([80, 100, 132])('have pod, from, to, load and gain at %i columns', (columns) => {
    const text = COMMANDS['plan']?.(false, lookOf(columns)) ?? '';
    expect(move).toBeDefined();
    const [from = '', to = ''] = [move?.from, move?.to].map((name) => name?.replace(DOMAIN, ''));
    const line = new RegExp(`^\\S+ +${from} +${to} +\\d+\\.\\d\\d % +\\d+\\.\\d\\d %$`, 'm');
    expect(text).toMatch(/^POD +FROM +TO +LOAD +GAIN$/m);
    expect(text).toMatch(line);
    expect(text.replaceAll(/\s+/g, '')).toContain(move?.pod.name.split('-').at(-1));
  });

  it('have the full names of nodes with -o wide', () => {
    expect(planTable(resource, true)).toContain(move?.from);
    expect(move?.from).toContain(DOMAIN);
  });
});

import { describe, expect, it } from 'vitest';
import { defaultPolicy } from '../../../src/cli/input.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { explainPod } from '../../../src/plan/explain/pod.ts';
import { explainWorkload, workloadsIn } from '../../../src/plan/explain/workload.ts';
import { plan } from '../../../src/plan/planner.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { podExplanationText } from '../../../src/report/explanation-text.ts';
import { historyText } from '../../../src/report/history-text.ts';
import { diffPlans, diffTable } from '../../../src/report/plan-diff.ts';
import { toRebalancePlan } from '../../../src/report/plan-resource.ts';
import { planTable } from '../../../src/report/plan-text.ts';
import type { Look } from '../../../src/report/table.ts';
import { topNodes, topWorkloads } from '../../../src/report/top.ts';
import { topNodesText, topWorkloadsText } from '../../../src/report/top-text.ts';
import { workloadExplanationText } from '../../../src/report/workload-explanation-text.ts';
import { wrap, wrapSentences } from '../../../src/report/wrap.ts';
import { cloudCluster } from '../../cloud-cluster/objects.ts';

const DOMAIN = '.eu-central-1.compute.internal';
const snapshot = buildSnapshot([cloudCluster(8)]);
const policy = defaultPolicy();
const options = resolveOptions(policy.spec);
const made = plan(snapshot, options);
const resource = toRebalancePlan(made, policy, 1, snapshot);
const [move] = resource.spec.moves;
const lookOf = (columns: number): Look => ({ columns, paint: (_tone, text) => text });

/** What each command prints. */
const COMMANDS: Readonly<Record<string, (wide: boolean, look: Look) => string>> = {
  plan: (wide, look) => planTable(resource, wide, look),
  top: (wide, look) => topNodesText(topNodes(snapshot), wide, look),
  'top workloads': (wide, look) => topWorkloadsText(topWorkloads(snapshot, undefined), wide, look),
  explain: (wide, look) => {
    const pod = explainPod(snapshot, options, move?.pod.uid ?? '');
    return pod === undefined ? '' : podExplanationText(pod, wide, look);
  },
  'explain deploy': (wide, look) => {
    const workload = workloadsIn(snapshot).find(({ name }) => name === 'checkout-api');
    return workload === undefined
      ? ''
      : workloadExplanationText(explainWorkload(snapshot, options, workload), wide, look);
  },
  diff: (_wide, look) => {
    const sides = [
      { policy: 'old', plan: { ...made, moves: [] } },
      { policy: 'new', plan: made },
    ] as const;
    return diffTable(diffPlans(...sides), look);
  },
  history: (wide, look) => historyText([resource], wide, look),
};

describe.each(Object.keys(COMMANDS))('%s of nodes that a cloud has named', (command) => {
  const render = COMMANDS[command] ?? (() => '');

  it.each([80, 100, 132])('fits into %i columns, with nothing cut off', (columns) => {
    const text = render(false, lookOf(columns));
    expect(text).not.toBe('');
    expect(text).not.toContain('…');
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(columns);
    expect(text).not.toMatch(/^[A-Z][A-Z %]*: /m);
  });

  it.each([80, 100, 132])('breaks no name of a node and no word in sentences at %i columns', (columns) => {
    const [whole, wrapped] = [render(false, lookOf(1000)), render(false, lookOf(columns))];
    const namesIn = (text: string) => (text.match(/ip-\d+-\d+-\d+-\d+/g) ?? []).length;
    expect(namesIn(wrapped)).toBe(namesIn(whole));
    const sentences = whole.split('\n').filter((line) => /[^ ] [^ ].*\.$|^- /.test(line));
    const inOneLine = wrapped.replaceAll(/\s*\n\s*/g, ' ');
    expect(sentences.filter((sentence) => !inOneLine.includes(sentence))).toEqual([]);
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

describe('a diff of two plans', () => {
  it('has a sentence for each policy, and the rest as a list', () => {
    const text = COMMANDS['diff']?.(false, lookOf(80)) ?? '';
    expect(text).toMatch(/^Old: old, RefineLB: .+\.$/m);
    expect(text).toMatch(/^New: new, RefineLB: .+ narrow the spread from \d+ % to \d+ %\.\n- /m);
  });
});

describe('lines of text', () => {
  it('end between words, and never before a percent sign', () => {
    expect(wrap('to 65 % of it', 6)).toEqual(['to', '65 %', 'of it']);
    expect(wrapSentences('- remains at 65 %', 14, '  ')).toBe('- remains at\n  65 %');
  });

  it('end inside of a word where it is longer than a line, and of sentences not even there', () => {
    expect(wrap('shop/web-1', 6)).toEqual(['shop/', 'web-1']);
    expect(wrap('abcdefgh', 3)).toEqual(['abc', 'def', 'gh']);
    expect(wrapSentences('a shop/web-1', 6)).toBe('a\nshop/web-1');
  });

  it('are as they were where there is room', () => {
    expect(wrap('', 5)).toEqual(['']);
    expect(wrap('web-1', 5)).toEqual(['web-1']);
    expect(wrapSentences('any number of words')).toBe('any number of words');
  });
});

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { renderObject } from '../../../src/cli/output.ts';
import { escapeJson } from '../../../src/model/escape.ts';
import { checksJunit, checksSarif } from '../../../src/report/checks.ts';
import { applyVerdicts } from '../../../src/report/conditions.ts';
import { nodeExplanationText, podExplanationText } from '../../../src/report/explanation-text.ts';
import { historyText, leaderText } from '../../../src/report/history-text.ts';
import { type DiffSide, diffMarkdown, diffTable, type PlanDiff } from '../../../src/report/plan-diff.ts';
import { planMarkdown } from '../../../src/report/plan-markdown.ts';
import { planTable } from '../../../src/report/plan-text.ts';
import { simulationHtml } from '../../../src/report/simulation-html.ts';
import type { SimulationResult } from '../../../src/report/simulation-result.ts';
import { simulationMarkdown, simulationTable } from '../../../src/report/simulation-text.ts';
import { topNodesText, topViolationsText, topWorkloadsText } from '../../../src/report/top-text.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPod, NOW } from '../../support/builders.ts';
import { HIDDEN, PAYLOADS } from '../../support/hostile-text.ts';

function planOf(text: string): RebalancePlan {
  const pod = aPod(text, { namespace: text, owner: text, nodeName: text });
  const base = aPlan(aPolicy('even'), [
    { ...aMove(pod, text), owner: { kind: text, name: text, uid: 'u' }, reason: text },
  ]);
  return {
    ...base,
    spec: {
      ...base.spec,
      policy: { ...base.spec.policy, name: text },
      message: text,
      rejections: [{ pod: { namespace: text, name: text, uid: 'u' }, code: 'MinPodAge', message: text, numbers: {} }],
      rejectionCounts: { [text]: 1 },
    },
    status: { phase: 'Aborted', message: text },
  };
}

function standingOf(text: string) {
  return {
    pod: { namespace: text, name: text, uid: 'u' },
    owner: { kind: text, name: text, uid: 'u' },
    node: text,
    failed: false,
    load: 0.1,
    movable: false,
    protections: [{ code: 'MinPodAge', message: text, numbers: {} }],
    violations: [{ rule: 'Taints', detail: text }],
    decision: { kind: 'Stays', code: 'MinPodAge', message: text, numbers: {} },
  } as const;
}

function diffOf(text: string): PlanDiff {
  const side: DiffSide = {
    policy: text,
    strategy: 'RefineLB',
    outcome: 'Moves',
    message: text,
    moves: 1,
    repairs: 0,
    spread: { before: '0', planned: '0' },
    cost: '0',
    imbalance: undefined,
  };
  const move = { change: 'appears', pod: text, from: text, old: null, new: text, repairs: [], reason: text } as const;
  return { old: side, new: side, same: 0, moves: [move] };
}

function simulationOf(text: string): SimulationResult {
  const balance = { mean: 0, ema: 0, stddev: 0, max: 0 };
  return {
    scenario: text,
    seed: 1,
    duration: 60,
    nodes: 1,
    workloads: 1,
    contention: [],
    variants: [
      {
        name: text,
        balance: { cpu: balance, memory: balance },
        moves: { transfers: 0, preemptions: 0, runs: 0, plans: 0, perRun: 0 },
        violations: [{ rule: 'Taints', pods: 1 }],
        requests: { total: 0, failed: 0, success: 1 },
        classes: [],
        windows: [],
        waits: { waiting: undefined, neverServed: 0, finished: 0, makespan: undefined, slowdown: undefined },
        series: { times: [0, 1], evictions: [0, 1], cpu: [0, 0], memory: [0, 0], availability: [] },
        events: 0,
      },
    ],
  } as unknown as SimulationResult;
}

const AMOUNTS = { cpu: 1, memory: 1 };

function topOf(text: string): string {
  const node = { name: text, ready: true, schedulable: true, pods: 1, usage: AMOUNTS, requests: AMOUNTS };
  const workload = { kind: text, namespace: text, name: text, pods: 1, ready: 1, usage: AMOUNTS, requests: AMOUNTS };
  const service = { slo: 1, availability: 1, availabilityOverWindow: 1, timeToViolate: 1, preemptions: 1 };
  return [
    topNodesText([{ ...node, allocatable: AMOUNTS }], true),
    topWorkloadsText([{ ...workload, serviceClass: text, ...service }], true),
    topViolationsText(
      [
        {
          namespace: text,
          pod: text,
          node: text,
          owner: { kind: text, name: text },
          rule: 'Taints',
          detail: text,
          policies: [text],
        },
      ],
      true,
    ),
  ].join('\n');
}

const CHECKS = [{ rule: 'input', name: 'x', result: 'Failed', message: '' }] as const;

function checksOf(text: string) {
  return CHECKS.map((check) => ({ ...check, message: text }));
}

const TERMINAL: readonly (readonly [string, (text: string) => string])[] = [
  ['plan', (text) => planTable(planOf(text), false)],
  ['plan -o wide', (text) => planTable(planOf(text), true)],
  ['history -o wide', (text) => historyText([planOf(text)], true)],
  ['history POLICY', (text) => leaderText(text, text)],
  ['diff', (text) => diffTable(diffOf(text))],
  ['explain pod', (text) => podExplanationText({ ...standingOf(text), nodes: [candidateNode(text)] }, true)],
  ['explain node', (text) => nodeExplanationText(nodeOf(text), true)],
  ['top', topOf],
  ['simulate', (text) => simulationTable(simulationOf(text))],
  ['conditions', (text) => conditionOf(text)],
  ['-o name', (text) => renderObject({}, text, 'name')],
];

function candidateNode(text: string) {
  const refusal = { filter: 'NodeAffinity', message: text, numbers: {} } as const;
  return {
    ...{ node: text, current: false, load: 0, fits: false, score: undefined, scores: {}, gain: undefined },
    ...{ rejections: [refusal], absent: text, budgets: [{ code: 'PerNode', message: text, numbers: {} }] },
  } as unknown as Parameters<typeof podExplanationText>[0]['nodes'][number];
}

function nodeOf(text: string) {
  return {
    node: text,
    absent: text,
    load: undefined,
    mean: undefined,
    resources: [{ name: text, allocatable: 1, requested: 1 }],
    pods: [standingOf(text)],
    candidates: [{ ...standingOf(text), fits: false, gain: undefined, rejections: [] }],
  } as unknown as Parameters<typeof nodeExplanationText>[0];
}

function conditionOf(text: string): string {
  const verdicts = { Degraded: { status: 'True', reason: 'ExecuteFailed', message: text } } as const;
  return applyVerdicts([], verdicts, 1, NOW)[0]?.message ?? '';
}

const MARKDOWN: readonly (readonly [string, (text: string) => string])[] = [
  ['plan', (text) => planMarkdown(planOf(text), checksOf(text))],
  ['diff', (text) => diffMarkdown(diffOf(text))],
  ['simulate', (text) => simulationMarkdown(simulationOf(text))],
];

const MARKUP: readonly (readonly [string, (text: string) => string])[] = [
  ['HTML of simulate', (text) => simulationHtml(simulationOf(text))],
  ['JUnit', (text) => checksJunit(planOf(text), checksOf(text))],
];

const each = (formats: readonly (readonly [string, (text: string) => string])[]) =>
  formats.flatMap(([format, render]) => PAYLOADS.map(([name, text]) => ({ format, render, name, text })));

const linesOf = (text: string): number => text.split('\n').length;

describe('text that tenants write', () => {
  it.each(each([...TERMINAL, ...MARKDOWN, ...MARKUP]))(
    'is shown in $format with nothing hidden and no line of its own: $name',
    ({ render, text }) => {
      const shown = render(text);
      expect(shown).not.toMatch(HIDDEN);
      expect(linesOf(shown)).toBe(linesOf(render('harmless')));
    },
  );

  it.each(each(MARKDOWN))('has no meaning in the Markdown of $format: $name', ({ render, text }) => {
    const shown = render(text);
    expect(shown).not.toMatch(/(?<!\\)(?:\\\\)*[[\]`*_~]\S*evil|<img|<!--|<\/details><|&lt;b&gt;/);
    expect(shown).not.toMatch(/@(?:everyone|org|evil)|#[12]\b|https?:\/\/|www\./);
    expect(shown).not.toContain('&#64;everyone');
    expect(shown).not.toMatch(/(?<!\\)`code|(?<!\\)\*\*bold|(?<!\\)_italic|(?<!\\)~~gone|(?<!\\)\] ?\(/);
  });

  it.each(each(MARKUP))('is no element and no entity in the $format: $name', ({ render, text }) => {
    expect(render(text)).not.toMatch(/<img|<!--|<\/details>|&lt;b&gt;|[^;]&#64;/);
  });

  it.each(PAYLOADS)('is no link and no mention in SARIF: %s', (_, text) => {
    const log = checksSarif('1.0.0', planOf(text), checksOf(text), undefined);
    expect(log).not.toMatch(HIDDEN);
    const { runs } = JSON.parse(log) as { runs: { results: { message: { text: string } }[] }[] };
    const message = runs[0]?.results[0]?.message.text ?? '';
    expect(message).not.toMatch(/(?<!\\)[[\]]|@(?:everyone|org|evil)|[\n\r]/);
  });

  it.each((['json', 'yaml'] as const).flatMap((format) => PAYLOADS.map(([name, text]) => ({ format, name, text }))))(
    'is what it was in $format, with nothing hidden: $name',
    ({ format, text }) => {
      const object = { [text]: text, list: [text] };
      const shown = renderObject(object, '', format);
      expect(shown).not.toMatch(HIDDEN);
      expect(format === 'json' ? JSON.parse(shown) : parse(shown)).toEqual(object);
    },
  );

  it.each(PAYLOADS)('is what it was in the log, on one line with nothing hidden: %s', (_, text) => {
    const line = escapeJson(JSON.stringify({ msg: text }));
    expect(line).not.toMatch(HIDDEN);
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toEqual({ msg: text });
  });
});

import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/execute/journal.ts';
import { labelsHash } from '../../../src/plan/hash.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { plan as computePlan } from '../../../src/plan/planner.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { planMarkdown } from '../../../src/report/plan-markdown.ts';
import { inPhase, outcomeMessage, planName, toRebalancePlan } from '../../../src/report/plan-resource.ts';
import { planTable } from '../../../src/report/plan-text.ts';
import { renderMarkdownTable, renderTable } from '../../../src/report/table.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { fakeCluster } from '../../support/fake-cluster.ts';
import { fakePlans } from '../../support/fake-stores.ts';
import { testClock } from '../../support/test-clock.ts';

const owners = ['web', 'api'].map((name) => aWorkload(name, { replicas: 3 }));
const pods = owners.flatMap((owner) => [1, 2].map((index) => aPodOf(owner, `${owner.name}-${index}`, 'a', 1_500)));
const cluster = fakeCluster(testClock(), [aNode('a', TEN_CORES), aNode('b', TEN_CORES)], owners, pods);
const snapshot = await cluster.reader.snapshot(new AbortController().signal);
const policy = aPolicy('even');
const plan = computePlan(snapshot, resolveOptions(policy.spec));
const resource = toRebalancePlan(plan, policy);

const many = Array.from({ length: 1_001 }, (_, index) => index);
const full: Plan = {
  ...plan,
  rejections: {
    pods: many.map((index) => ({ namespace: 'shop', name: `p${index}`, uid: `u${index}` })),
    reasons: many.map((index) => ({
      code: index % 2 === 0 ? 'TooLarge' : 'MinPodAge',
      message: 'x'.repeat(600),
      numbers: { age: 1 / 3 },
    })),
  },
};

describe('toRebalancePlan', () => {
  it('says what the plan says, with decimals and the hash', () => {
    expect(plan.moves).toHaveLength(2);
    expect(resource.spec).toMatchObject({
      policy: { name: 'even', uid: 'uid-even', generation: 1 },
      strategy: 'RefineLB',
      takenAt: '2026-01-01T12:00:00Z',
      outcome: 'Moves',
      hash: plan.hash,
      approved: false,
    });
    expect(plan.hash).toMatch(/^[0-9a-f]{64}$/);
    const [move] = resource.spec.moves;
    expect(move).toMatchObject({ from: 'a', to: 'b', load: '0.15', owner: { kind: 'ReplicaSet' } });
    expect(resource.spec.moves.map(({ gain }) => gain).every((gain) => /^0\.\d{1,6}$/.test(gain))).toBe(true);
    expect(resource.status?.imbalance?.before?.cpu).toEqual({
      mean: '0.3',
      ema: '0.3',
      stddev: '0.3',
      range: '0.6',
      max: '0.6',
    });
    expect(resource.status?.imbalance?.planned?.cpu?.range).toBe('0');
  });

  it('is named after policy and hash, and is labelled with the policy, which must not take it along when it is deleted', () => {
    expect(resource.metadata).toEqual({
      name: `even-${plan.hash.slice(0, 10)}`,
      labels: { 'evenkeel.dev/policy': 'even' },
    });
  });

  it('says which labels each pod had, so that one that has become another pod in all but name stays', () => {
    const { spec } = toRebalancePlan(plan, policy, 1, snapshot);
    const labelsOf = new Map(snapshot.pods.map(({ uid, labels }) => [uid, labels]));
    expect(spec.moves.map(({ labelsHash: hash }) => hash)).toEqual(
      spec.moves.map(({ pod }) => labelsHash(labelsOf.get(pod.uid) ?? new Map())),
    );
  });

  it('says which Deployment is above the controller of a pod, if one is', () => {
    const deployment = aWorkload('web-deployment', { replicas: 3, kind: 'Deployment' });
    const { kind, name, uid } = deployment;
    const workloads = new Map(snapshot.workloads).set(uid, deployment);
    for (const owner of owners.filter((each) => each.name === 'web')) {
      workloads.set(owner.uid, { ...owner, owner: { kind, name, uid } });
    }
    const { moves } = toRebalancePlan(plan, policy, 1, { ...snapshot, workloads }).spec;
    expect(moves.length).toBeGreaterThan(0);
    for (const { owner, workload } of moves) {
      expect(workload).toEqual(owner.name === 'web' ? { kind, name, uid } : undefined);
    }
  });

  it('belongs to nobody when the policy came from a file', () => {
    const fromFile = { ...policy, metadata: { name: 'even' } };
    const { metadata, spec } = toRebalancePlan(plan, fromFile);
    expect(metadata).toEqual({ name: `even-${plan.hash.slice(0, 10)}` });
    expect(spec.policy).toEqual({ name: 'even', uid: '', generation: 0 });
  });

  it('tells apart plans with equal moves, and keeps names and labels within what the API server takes', () => {
    expect(planName('even', 'abcdef0123456789', 1)).toBe('even-abcdef0123');
    expect(planName('even', 'abcdef0123456789', 12)).toBe('even-abcdef0123-12');
    const long = 'a'.repeat(62) + '.'.repeat(10) + 'b'.repeat(181);
    expect(planName(long, plan.hash, 999).length).toBeLessThanOrEqual(253);
    const labelled = toRebalancePlan(plan, { ...policy, metadata: { ...policy.metadata, name: long } });
    expect(labelled.metadata.labels?.['evenkeel.dev/policy']).toBe('a'.repeat(62));
  });

  it('lists fifty rejections, some of each code, and counts all of them by code', () => {
    const { spec } = toRebalancePlan(full, policy);
    expect(spec.rejections).toHaveLength(50);
    expect(spec.rejections[0]).toMatchObject({ code: 'TooLarge', numbers: { age: '0.333333' } });
    expect(Map.groupBy(spec.rejections, ({ code }) => code).get('MinPodAge')).toHaveLength(25);
    expect(Object.entries(spec.rejectionCounts)).toEqual([
      ['MinPodAge', 500],
      ['TooLarge', 501],
    ]);
  });

  it('is what the CRD accepts, however large', () => {
    const long = toRebalancePlan(
      { ...full, moves: plan.moves.map((move) => ({ ...move, reason: 'x'.repeat(2_000) })) },
      policy,
    );
    const open = inPhase(long, 'Executing', { moves: [...openJournal(long)] });
    expect(() => fakePlans().put(open)).not.toThrow();
    expect(open.status?.phase).toBe('Executing');
    expect(open.status?.imbalance).toEqual(long.status?.imbalance);
  });

  it('writes no exponents, trailing zeros or negative zeros', () => {
    const [move] = plan.moves;
    const tiny = { ...plan, moves: move === undefined ? [] : [{ ...move, load: 1e-9, gain: -1e-9 }] };
    expect(toRebalancePlan(tiny, policy).spec.moves[0]).toMatchObject({ load: '0', gain: '0' });
  });
});

describe('outcomeMessage', () => {
  it('has the numbers when there are moves, and the reason when there are none', () => {
    expect(outcomeMessage(plan)).toBe('2 moves narrow the spread from 60 % to 0 %');
    expect(outcomeMessage({ ...plan, outcome: { kind: 'Balanced', message: 'level enough' } })).toBe('level enough');
  });
});

describe('planTable', () => {
  it('shows imbalance and moves aligned', () => {
    const lines = planTable(resource, false).split('\n');
    expect(lines[0]).toBe('RefineLB: 2 moves narrow the spread from 60 % to 0 %.');
    expect(lines.slice(2, 5)).toEqual([
      'LOAD OF  WHEN        MEAN   STDDEV   SPREAD      MAX  MEAN ABS ERROR',
      'cpu      before   30.00 %  30.00 %  60.00 %  60.00 %         30.00 %',
      'cpu      planned  30.00 %   0.00 %   0.00 %  30.00 %          0.00 %',
    ]);
    expect(lines[6]).toBe('POD         FROM  TO     LOAD     GAIN');
    expect(lines[7]).toMatch(/^shop\/\w{3}-\d {2}a {5}b {3}15\.00 % {2}15\.00 %$/);
    expect(lines.at(-1)).toBe('');
    expect(lines.every((line) => line === line.trimEnd())).toBe(true);
  });

  it('adds owners, reasons and every listed rejection when wide', () => {
    const narrow = planTable(toRebalancePlan(full, policy), false);
    const wide = planTable(toRebalancePlan(full, policy), true);
    expect(narrow).toContain('STAYS BECAUSE OF  PODS\nMinPodAge          500');
    expect(narrow).not.toContain('shop/p0');
    expect(wide).toContain('shop/p0 ');
    expect(wide).toMatch(/ReplicaSet\/(web|api)/);
  });

  it('shows a plan without moves and without metrics', () => {
    const empty = {
      ...plan,
      moves: [],
      rejections: { pods: [], reasons: [] },
      imbalance: { before: {}, planned: {} },
      outcome: { kind: 'MetricsUnavailable', message: 'no Metrics API' },
    } as const;
    expect(planTable(toRebalancePlan(empty, policy), true)).toBe('RefineLB: no Metrics API.\n');
  });
});

describe('planMarkdown', () => {
  it('has a heading, a table of moves with reasons, and what stays', () => {
    const text = planMarkdown(toRebalancePlan(full, policy));
    expect(text).toMatch(
      /^## Rebalancing plan of even\n\n\*\*2 moves\*\* on the snapshot of .*\n\nRefineLB: 2 moves narrow/,
    );
    expect(text).toContain(
      '### Moves\n\n| POD | FROM | TO | LOAD | GAIN | COST | OWNER | REASON |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n| shop/',
    );
    expect(text).toContain('| TooLarge | 501 |');
  });

  it('folds away more moves than a reader wants to scroll past', () => {
    const moves = Array.from({ length: 6 }, () => full.moves).flat();
    const text = planMarkdown(toRebalancePlan({ ...full, moves }, policy));
    expect(text).toContain('<summary>All 12 moves, in the order in which they begin</summary>\n\n| POD | FROM |');
    expect(planMarkdown(toRebalancePlan(full, policy))).not.toContain('<summary>All');
  });

  it('leaves out what there is none of', () => {
    const text = planMarkdown(toRebalancePlan({ ...plan, moves: [], rejections: { pods: [], reasons: [] } }, policy));
    expect(text).not.toContain('###');
  });
});

describe('tables', () => {
  it('fits columns to their widest cell, numbers to the right, and leaves no blanks at line ends', () => {
    const text = renderTable(['NAME', 'LOAD'], [['a', '1'], ['longer', '10.5'], ['b']], new Set(['LOAD']));
    expect(text).toBe('NAME    LOAD\na          1\nlonger  10.5\nb');
  });

  it('shows a header without rows', () => {
    expect(renderTable(['NAME', 'LOAD'], [])).toBe('NAME  LOAD');
    expect(renderMarkdownTable(['NAME'], [])).toBe('| NAME |\n| --- |');
  });

  it('keeps pipes and line ends from breaking a Markdown table', () => {
    expect(renderMarkdownTable(['A'], [['x|y\nz']])).toBe('| A |\n| --- |\n| x\\|y\\\\nz |');
  });
});

import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { epochSeconds } from '../../../../src/model/units.ts';
import type { PolicyOptions } from '../../../../src/plan/options.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { listRejections } from '../../../../src/plan/rejections.ts';
import { aBudget } from '../../../support/builders/options.ts';
import { anAffinityTerm } from '../../../support/builders/scheduling.ts';
import { aServiceClass } from '../../../support/builders/service-levels.ts';
import { aNode, aPdb, NOW } from '../../../support/builders.ts';
import { aContest, aRequest, cpu, qosOptions } from '../../../support/gated.ts';

const CLASSES = [
  aServiceClass({ name: 'prod', slo: 1, importance: 1 }),
  aServiceClass({ name: 'batch', slo: 0.9, importance: 2 }),
  aServiceClass({ name: 'free', slo: 0.5, importance: 3 }),
];
const MIB = 2 ** 20;
const BOTH = ['None', 'Standard'] as const;

/** Moves as `pod: from > to`. */
function movesOf(snapshot: ClusterSnapshot, options: PolicyOptions = qosOptions()): readonly string[] {
  return plan(snapshot, options).moves.map(({ pod, from = '', to = '' }) => `${pod.name}: ${from} > ${to}`);
}

function codesOf(snapshot: ClusterSnapshot, options: PolicyOptions = qosOptions()): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listRejections(plan(snapshot, options).rejections).map(({ pod, code }) => [pod.name, code]),
  );
}

describe('QoSDriven', () => {
  it.each(BOTH)('evicts nobody while a host fits without (vector 9, refinements %s)', (refinements) => {
    const requests = [
      aRequest('rich', 'free', 'n1', { useful: 1000 }),
      aRequest('waits', 'prod', undefined, { pending: 60 }),
    ];
    expect(movesOf(aContest({ n1: 1, n2: 1 }, CLASSES, requests), qosOptions(refinements))).toEqual(['waits:  > n2']);
  });

  it.each(BOTH)(
    'takes the host with the highest allocation score among those that fit (refinements %s)',
    (refinements) => {
      const requests = [aRequest('rich', 'free', 'n1', { useful: 1000 }), aRequest('waits', 'free', undefined, {})];
      expect(movesOf(aContest({ n1: 2, n2: 2 }, CLASSES, requests), qosOptions(refinements))).toEqual(['waits:  > n2']);
    },
  );

  it.each(BOTH)('scores nodes as they are without the candidate itself (refinements %s)', (refinements) => {
    // 6.875 on n1 (vector 8) and 5.375 on n2; with the candidate n2 would be the more balanced one.
    const requests = [
      aRequest('half', 'free', 'n1', {}, { constraints: { requests: { cpu: 1000, memory: 4096 * MIB } } }),
      aRequest('most', 'free', 'n2', {}, { constraints: { requests: { cpu: 1000, memory: 5734 * MIB } } }),
      aRequest('waits', 'free', undefined, {}, { constraints: { requests: { cpu: 2000, memory: 0 } } }),
    ];
    const nodes = ['n1', 'n2'].map((name) => aNode(name, { allocatable: { cpu: 4000, memory: 8192 * MIB } }));
    const snapshot = aContest({}, CLASSES, requests, { nodes });
    expect(movesOf(snapshot, qosOptions(refinements))).toEqual(['waits:  > n1']);
    expect(plan(snapshot, qosOptions(refinements)).moves[0]?.reason).toMatch(/allocation score 6.875$/);
  });

  it.each(BOTH)('evicts whoever can do longest without for who is in danger (refinements %s)', (refinements) => {
    const requests = [
      aRequest('poor', 'free', 'n1', { useful: 700, pending: 700 }),
      aRequest('rich', 'free', 'n2', { useful: 1400 }),
      aRequest('waits', 'prod', undefined, { pending: 5 }),
    ];
    const snapshot = aContest({ n1: 1, n2: 1 }, CLASSES, requests);
    const { moves, outcome } = plan(snapshot, qosOptions(refinements));
    expect(movesOf(snapshot, qosOptions(refinements))).toEqual(['rich: n2 > ', 'waits:  > n2']);
    expect(moves.map(({ after }) => after)).toEqual([[], [0]]);
    expect(outcome.kind).toBe('Moves');
  });

  it.each(BOTH)(
    'evicts who ran longer although its availability is lower (vector 1, refinements %s)',
    (refinements) => {
      const requests = [
        aRequest('short', 'batch', 'n1', { useful: 600 }),
        aRequest('long', 'batch', 'n2', { useful: 58 * 60, pending: 120 }),
        aRequest('waits', 'prod', undefined, { pending: 5 }),
      ];
      expect(movesOf(aContest({ n1: 1, n2: 1 }, CLASSES, requests), qosOptions(refinements))).toEqual([
        'long: n2 > ',
        'waits:  > n2',
      ]);
    },
  );

  it.each(BOTH)('never evicts who was promised everything for an equal (refinements %s)', (refinements) => {
    const requests = [
      aRequest('runs', 'prod', 'n1', { useful: 3600 }),
      aRequest('waits', 'prod', undefined, { pending: 3600 }),
    ];
    const snapshot = aContest({ n1: 1 }, CLASSES, requests);
    expect(movesOf(snapshot, qosOptions(refinements))).toEqual([]);
    expect(codesOf(snapshot, qosOptions(refinements))).toEqual({ runs: 'NotNeeded', waits: 'NoEligibleVictim' });
  });

  it('changes places of equals at once as published, and only over a wide gap with our refinements', () => {
    const preemptionPass = (runs: number, useful: number, pending: number) =>
      aContest({ n1: 1 }, CLASSES, [
        aRequest('runs', 'free', 'n1', { useful: runs }),
        aRequest('waits', 'free', undefined, { useful, pending }),
      ]);
    const [narrow, wide] = [preemptionPass(2000, 1400, 600), preemptionPass(3000, 1800, 1200)];
    expect(movesOf(narrow, qosOptions('None'))).toHaveLength(2);
    expect(movesOf(narrow, qosOptions('Standard'))).toEqual([]);
    expect(codesOf(narrow, qosOptions('Standard')).waits).toBe('MayWait');
    expect(movesOf(wide, qosOptions('Standard'))).toEqual(['runs: n1 > ', 'waits:  > n1']);
  });

  it('changes places of equals that all fall short once one is worse off by a tenth of what they may lose', () => {
    const overcommitted = (useful: number, pending: number) =>
      aContest({ n1: 1 }, CLASSES, [
        aRequest('runs', 'free', 'n1', { useful: 2000, pending: 2000 }),
        aRequest('waits', 'free', undefined, { useful, pending }),
      ]);
    expect(movesOf(overcommitted(1900, 2100), qosOptions('Standard'))).toEqual([]);
    expect(movesOf(overcommitted(1700, 2300), qosOptions('Standard'))).toEqual(['runs: n1 > ', 'waits:  > n1']);
  });

  it('does not change places of young equals more often than of older ones', () => {
    const young = (useful: number, pending: number) =>
      aContest({ n1: 1 }, CLASSES, [
        aRequest('runs', 'free', 'n1', { useful: 200, pending: 200 }),
        aRequest('waits', 'free', undefined, { useful, pending }),
      ]);
    expect(movesOf(young(130, 270), qosOptions('Standard'))).toEqual([]);
    expect(movesOf(young(70, 330), qosOptions('Standard'))).toEqual(['runs: n1 > ', 'waits:  > n1']);
  });

  it('evicts nobody twice, and does not stop at one that cannot be placed', () => {
    const requests = [
      aRequest('rich', 'free', 'n1', { useful: 3000 }),
      aRequest('huge', 'prod', undefined, { pending: 9 }, { constraints: { requests: { cpu: 9000 } } }),
      aRequest('w1', 'prod', undefined, { pending: 8 }),
      aRequest('w2', 'prod', undefined, { pending: 7 }),
    ];
    const snapshot = aContest({ n1: 1 }, CLASSES, requests);
    expect(movesOf(snapshot)).toEqual(['rich: n1 > ', 'w1:  > n1']);
    expect(codesOf(snapshot)).toEqual({ huge: 'NoEligibleVictim', w2: 'NoEligibleVictim' });
  });

  it('lets a pod without a class in where there is room, after all others, and evicts nobody for it', () => {
    const requests = [
      aRequest('a-none', 'gone', undefined, {}),
      aRequest('b-free', 'free', undefined, { pending: 1 }),
      aRequest('rich', 'free', 'n1', { useful: 3000 }),
    ];
    expect(movesOf(aContest({ n1: 2 }, CLASSES, requests))).toEqual(['b-free:  > n1']);
    expect(codesOf(aContest({ n1: 2 }, CLASSES, requests))['a-none']).toBe('NoServiceClass');
    expect(movesOf(aContest({ n1: 3 }, CLASSES, requests))).toEqual(['b-free:  > n1', 'a-none:  > n1']);
  });

  it('says why a pod that runs on has no part in the contest: no class, or no ledger', () => {
    const unknown = aRequest('unknown', 'batch', 'n1', {});
    const requests = [aRequest('known', 'batch', 'n1', {}), aRequest('none', '', 'n1', {}), unknown];
    const { serviceLevels, ...snapshot } = aContest({ n1: 3 }, CLASSES, requests);
    const ledgers = new Map([...serviceLevels.ledgers].filter(([, each]) => each !== unknown.ledger));
    expect(codesOf({ ...snapshot, serviceLevels: { ...serviceLevels, ledgers } })).toEqual({
      known: 'NotNeeded',
      none: 'NoServiceClass',
      unknown: 'NoLedger',
    });
  });

  it('does not believe a ledger from the future', () => {
    const rich = aRequest('rich', 'free', 'n1', { useful: 3000 });
    const future = { ...rich, ledger: { ...rich.ledger, asOf: epochSeconds(NOW + 60) } };
    const waits = aRequest('waits', 'prod', undefined, { pending: 5 });
    expect(movesOf(aContest({ n1: 1 }, CLASSES, [rich, waits]))).toHaveLength(2);
    expect(movesOf(aContest({ n1: 1 }, CLASSES, [future, waits]))).toEqual([]);
    expect(codesOf(aContest({ n1: 1 }, CLASSES, [future, waits])).rich).toBe('NoLedger');
  });

  it('leaves a pod that has not run for minRunTime', () => {
    const classes = [...CLASSES.slice(0, 2), aServiceClass({ name: 'free', slo: 0.5, importance: 3, minRunTime: 60 })];
    const preemptionPass = (readySince: number) =>
      aContest({ n1: 1 }, classes, [
        aRequest('rich', 'free', 'n1', { useful: 3000 }, { readySince: epochSeconds(NOW - readySince) }),
        aRequest('waits', 'prod', undefined, { pending: 5 }),
      ]);
    expect(movesOf(preemptionPass(59))).toEqual([]);
    expect(movesOf(preemptionPass(60))).toHaveLength(2);
  });

  it('evicts only as many as it takes with our refinements', () => {
    const small = { constraints: { requests: { cpu: 500 } } };
    const requests = [
      aRequest('small', 'free', 'n1', { useful: 3100 }, small),
      aRequest('large', 'free', 'n1', { useful: 3000 }, { constraints: { requests: { cpu: 3000 } } }),
      aRequest('waits', 'prod', undefined, { pending: 5 }, { constraints: { requests: { cpu: 3500 } } }),
    ];
    const snapshot = aContest({ n1: 9 }, CLASSES, requests);
    expect(movesOf(snapshot, qosOptions('None')).length).toBe(3);
    expect(movesOf(snapshot, qosOptions('Standard'))).toEqual(['large: n1 > ', 'waits:  > n1']);
  });

  it('takes the node with the best score of those where evictions cost as little', () => {
    const classes = [...CLASSES, aServiceClass({ name: 'any', slo: 0, importance: 4 })];
    const requests = [
      aRequest('little', 'any', 'n1', {}, cpu(100)),
      aRequest('much', 'any', 'n1', {}, cpu(2000)),
      aRequest('middle', 'any', 'n2', {}, cpu(1000)),
      aRequest('rest', 'prod', 'n2', {}, cpu(1100)),
      aRequest('waits', 'prod', undefined, { pending: 5 }, cpu(1000)),
    ];
    const nodes = ['n1', 'n2'].map((name) => aNode(name, { allocatable: { cpu: 2100 } }));
    const snapshot = aContest({}, classes, requests, { nodes });
    expect(movesOf(snapshot, qosOptions('Standard'))).toEqual(['much: n1 > ', 'waits:  > n1']);
  });

  it('evicts nobody for one that can still wait, though it would for an older one of its class', () => {
    const classes = [
      aServiceClass({ name: 'batch', slo: 0.9, importance: 2, safetyMargin: 30, expectedStartup: 1 }),
      aServiceClass({ name: 'free', slo: 0.5, importance: 3 }),
    ];
    const requests = [
      aRequest('small', 'free', 'n1', { useful: 3000 }, cpu(10)),
      aRequest('large', 'free', 'n1', { useful: 1000 }, cpu(1000)),
      aRequest('middle', 'free', 'n2', { useful: 1400 }, cpu(1000)),
      // They can wait for 8 s and for 10 s; their margins are 18 s and 2 s.
      aRequest('old', 'batch', undefined, { useful: 3249, pending: 351 }, cpu(1000)),
      aRequest('young', 'batch', undefined, { useful: 280, pending: 20 }, cpu(1000)),
    ];
    const nodes = [aNode('n1', { allocatable: { cpu: 1010 } }), aNode('n2', { allocatable: { cpu: 1000 } })];
    const snapshot = aContest({}, classes, requests, { nodes });
    expect(movesOf(snapshot, qosOptions('Standard'))).toEqual(['middle: n2 > ', 'old:  > n2']);
    expect(codesOf(snapshot, qosOptions('Standard')).young).toBe('MayWait');
  });

  it('does not evict for one who can still wait whom it would have evicted for the one before', () => {
    const sized = (millicores: number) => cpu(millicores);
    const requests = [
      aRequest('better', 'free', 'n1', { useful: 9 }, sized(1000)),
      aRequest('good', 'free', 'n1', { useful: 8 }, sized(1000)),
      aRequest('worse', 'free', 'n2', { useful: 6 }, sized(2000)),
      // They can wait for 7 s and for 16 s, and their margin is 10 s.
      aRequest('first', 'gold', undefined, { useful: 90 }, sized(2000)),
      aRequest('second', 'gold', undefined, { useful: 171 }, sized(2000)),
    ];
    const classes = [...CLASSES, aServiceClass({ name: 'gold', slo: 0.9, importance: 1 })];
    const nodes = ['n1', 'n2'].map((name) => aNode(name, { allocatable: { cpu: 2000 } }));
    const snapshot = aContest({}, classes, requests, { nodes });
    expect(movesOf(snapshot)).toEqual(['worse: n2 > ', 'first:  > n2']);
    const urgent = requests.with(4, aRequest('second', 'gold', undefined, { useful: 100 }, sized(2000)));
    expect(movesOf(aContest({}, classes, urgent, { nodes }))).toHaveLength(5);
  });

  it('counts that a victim takes its anti-affinity with it', () => {
    const term = anAffinityTerm({ 'evenkeel.dev/service-class': 'free' }, { topologyKey: 'kubernetes.io/hostname' });
    const requests = [
      aRequest('rich', 'free', 'n1', { useful: 3000 }),
      aRequest('waits', 'prod', undefined, { pending: 5 }, { constraints: { podAntiAffinity: [term] } }),
    ];
    expect(movesOf(aContest({ n1: 9 }, CLASSES, requests))).toEqual(['rich: n1 > ', 'waits:  > n1']);
  });

  it.each(BOTH)('evicts nobody where pods that stay keep the one who waits away (refinements %s)', (refinements) => {
    const term = anAffinityTerm({ 'evenkeel.dev/service-class': 'prod' }, { topologyKey: 'kubernetes.io/hostname' });
    const requests = [
      aRequest('keeps', 'prod', 'n1', { useful: 3600 }),
      aRequest('richest', 'free', 'n1', { useful: 3400 }),
      aRequest('rich', 'free', 'n2', { useful: 3000 }),
      aRequest('waits', 'prod', undefined, { pending: 5 }, { constraints: { podAntiAffinity: [term] } }),
    ];
    const options = qosOptions(refinements);
    expect(movesOf(aContest({ n1: 2 }, CLASSES, requests.toSpliced(2, 1)), options)).toEqual([]);
    expect(movesOf(aContest({ n1: 2, n2: 1 }, CLASSES, requests), options)).toEqual(['rich: n2 > ', 'waits:  > n2']);
  });

  it('keeps the room of a pod whose gate was opened to a node', () => {
    const waiting = { gated: false, pinnedTo: 'n1', unschedulable: false };
    const requests = [
      aRequest('comes', 'free', undefined, {}, { waiting }),
      aRequest('waits', 'free', undefined, { pending: 5 }),
    ];
    expect(movesOf(aContest({ n1: 1 }, CLASSES, requests))).toEqual([]);
    expect(movesOf(aContest({ n1: 2 }, CLASSES, requests))).toEqual(['waits:  > n1']);
  });
});

describe('the budgets of QoSDriven', () => {
  const requests = [
    aRequest('r1', 'free', 'n1', { useful: 3000 }),
    aRequest('r2', 'free', 'n2', { useful: 2000 }),
    aRequest('w1', 'prod', undefined, { pending: 5 }),
    aRequest('w2', 'prod', undefined, { pending: 5 }),
    aRequest('w3', 'prod', undefined, { pending: 4 }),
  ];
  const preemptionPass = aContest({ n1: 1, n2: 1, n3: 1 }, CLASSES, requests);

  it('limit evictions, not admissions', () => {
    const options = qosOptions('None', { budgets: [aBudget({ maxMoves: 1 })] });
    expect(movesOf(preemptionPass, options)).toEqual(['w1:  > n3', 'r1: n1 > ', 'w2:  > n1']);
    expect(codesOf(preemptionPass, options).w3).toBe('MaxMoves');
  });

  it('are told when they allow no eviction at all', () => {
    const options = qosOptions('None', { budgets: [aBudget({ maxMoves: 0 })] });
    const { outcome, moves } = plan({ ...preemptionPass, nodes: preemptionPass.nodes.slice(0, 2) }, options);
    expect([outcome.kind, moves.length]).toEqual(['BudgetExhausted', 0]);
  });

  it('include PodDisruptionBudgets over the whole plan', () => {
    const pdbs = [aPdb('all', { disruptionsAllowed: 1 })];
    expect(movesOf({ ...preemptionPass, pdbs })).toEqual(['w1:  > n3', 'r1: n1 > ', 'w2:  > n1']);
  });
});

describe('the outcome of QoSDriven', () => {
  it('is balanced when nobody waits, without any metrics', () => {
    const { outcome } = plan(aContest({ n1: 1 }, CLASSES, [aRequest('r', 'free', 'n1', {})]), qosOptions());
    expect(outcome).toEqual({ kind: 'Balanced', message: 'no pod waits at the gate' });
  });

  it('is a stated one for a cluster without nodes or pods', () => {
    expect(plan(aContest({}, CLASSES, []), qosOptions()).outcome.kind).toBe('Balanced');
    const alone = [aRequest('w', 'prod', undefined, { pending: 5 })];
    expect(plan(aContest({}, CLASSES, alone), qosOptions()).outcome.kind).toBe('NoBeneficialMove');
    expect(codesOf(aContest({}, CLASSES, alone))).toEqual({ w: 'NoFeasibleNode' });
  });
});

import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import type { RepairOptions } from '../../../../src/plan/options.ts';
import type { Plan, PlanOutcome, Reason, Transfer } from '../../../../src/plan/plan.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { planningInputOf } from '../../../../src/plan/planning-input.ts';
import { withFurtherMoves, withRepairs } from '../../../../src/plan/repair/combine.ts';
import { type RepairStage, repairStage } from '../../../../src/plan/repair/stage.ts';
import { greedyLb, HARD_TAINTS, someOptions } from '../../../support/builders/options.ts';
import { anAffinityTerm, aSpread, aTaint, aToleration } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, NOW, type NodeFields, type PodFields } from '../../../support/builders.ts';

const TAINTS = { taints: HARD_TAINTS };
const LIFETIME = { maxLifetime: { age: seconds(7200), states: undefined, includingInit: false } };
/** Older than they may become. */
const OLD = { createdAt: epochSeconds(NOW - 9000) };
const OUTCOME: PlanOutcome = { kind: 'Moves', obstacle: undefined };
const STAYS: Reason = { code: 'NotHeavy', message: 'stays', numbers: {} };

/** The repairs of a snapshot, and an empty plan of a strategy to put behind them. */
function repairsOf(snapshot: ClusterSnapshot, repair: Partial<RepairOptions>) {
  const options = someOptions({ strategy: { type: 'None' }, repair, load: { source: 'Requests' } });
  const input = planningInputOf(snapshot, options);
  const stage = repairStage(input, options);
  if (stage === undefined) {
    throw new Error('the policy repairs nothing');
  }
  const empty = plan(aSnapshot(), someOptions());
  const found: Plan = { ...empty, outcome: OUTCOME, rejections: { pods: [], reasons: [] } };
  return { input, stage, found };
}

/** A move of a strategy. */
function aTransfer(name: string, to: string, fields: Partial<Transfer> = {}): Transfer {
  return {
    pod: { namespace: 'shop', name, uid: `uid-shop-${name}` },
    owner: { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' },
    from: 'somewhere',
    to,
    load: 0,
    gain: 0,
    fallbacks: [],
    cost: seconds(0),
    reason: 'balances',
    after: [],
    repairs: [],
    partner: undefined,
    ...fields,
  };
}

function movesOf(found: Plan | undefined) {
  return found?.moves.map(({ pod, from, to, repairs }) => [pod.name, from, to, ...repairs]);
}

const sized = (nodeName: string, cpu: number, fields: PodFields = {}): PodFields => ({
  nodeName,
  constraints: { requests: { cpu } },
  ...fields,
});

/** Of a, which is tainted, p is repaired to b and q to c; r and t run on b, s on c, nothing on d. */
function tainted(nodes: Readonly<Record<string, NodeFields>> = {}): ClusterSnapshot {
  return aSnapshot({
    usage: undefined,
    nodes: [
      aNode('a', { taints: [aTaint('old')] }),
      ...['b', 'c'].map((name) => aNode(name, nodes[name])),
      aNode('d', { allocatable: { cpu: 150, pods: 1 } }),
    ],
    pods: [
      aPod('p', sized('a', 200)),
      aPod('q', sized('a', 200)),
      aPod('r', sized('b', 600)),
      aPod('s', sized('c', 200)),
      aPod('t', sized('c', 500)),
    ],
  });
}

describe('pods that a strategy moves on from where repairs have put them', () => {
  function further(snapshot: ClusterSnapshot, moves: readonly Transfer[], repair: Partial<RepairOptions> = TAINTS) {
    const { input, stage, found } = repairsOf(snapshot, repair);
    return withFurtherMoves({ ...found, moves }, stage, input);
  }

  it('are repaired to where they should be, first to b and then to c', () => {
    expect(movesOf(further(tainted(), []))).toEqual([
      ['p', 'a', 'b', 'Taints'],
      ['q', 'a', 'c', 'Taints'],
    ]);
  });

  it('go to where they end up at once, behind the repairs that nothing is changed of, and before the rest', () => {
    const found = further(tainted(), [aTransfer('t', 'b'), aTransfer('p', 'c', { fallbacks: ['b', 'elsewhere'] })]);
    expect(movesOf(found)).toEqual([
      ['q', 'a', 'c', 'Taints'],
      ['p', 'a', 'c', 'Taints'],
      ['t', 'c', 'b'],
    ]);
    expect(found?.moves[1]).toMatchObject({
      fallbacks: ['b'],
      reason: expect.stringMatching(/^a has the taint old:NoSchedule, which the pod does not tolerate; adds 5.00 %/),
    });
    expect(found?.expectedHitRatio).toBeGreaterThan(0);
    expect(found?.moves[2]?.reason).toMatch(/^adds 12.50 % to its node/);
  });

  it('are left where repairs put them when the strategy moves only others', () => {
    const found = further(tainted(), [aTransfer('t', 'b', { from: 'c' })]);
    expect(movesOf(found)).toEqual([
      ['p', 'a', 'b', 'Taints'],
      ['q', 'a', 'c', 'Taints'],
      ['t', 'c', 'b'],
    ]);
  });

  it('wait for the pods whose room they get', () => {
    const slots = { c: { allocatable: { pods: 3 } } };
    const found = further(tainted(slots), [aTransfer('p', 'c'), aTransfer('s', 'b')]);
    expect(movesOf(found)).toEqual([
      ['q', 'a', 'c', 'Taints'],
      ['s', 'c', 'b'],
      ['p', 'a', 'c', 'Taints'],
    ]);
    expect(found?.moves.map(({ after }) => after)).toEqual([[], [], [1]]);
  });

  it.each([
    ['has no room at any time', [aTransfer('p', 'c')]],
    ['is none of the cluster', [aTransfer('p', 'elsewhere')]],
  ])('cannot be sent there at once when the node %s', (_, moves) => {
    expect(further(tainted({ c: { allocatable: { pods: 3 } } }), moves)).toBeUndefined();
  });

  it('cannot be sent there at once when another pod of the plan is none of the cluster', () => {
    expect(further(tainted(), [aTransfer('p', 'c'), aTransfer('unknown', 'b')])).toBeUndefined();
  });

  it('are bound to no other pod, while two others that go together stay so', () => {
    const pairs = further(tainted(), [
      aTransfer('p', 'c', { partner: 1 }),
      aTransfer('s', 'b', { partner: 0 }),
      aTransfer('t', 'b', { partner: 3 }),
      aTransfer('r', 'c', { partner: 2 }),
    ]);
    expect(pairs).toBeUndefined();
    const found = further(tainted(), [
      aTransfer('p', 'c', { partner: 1 }),
      aTransfer('t', 'b', { partner: 0 }),
      aTransfer('r', 'c', { partner: 3 }),
      aTransfer('s', 'b', { partner: 2 }),
    ]);
    expect(movesOf(found)).toEqual([
      ['q', 'a', 'c', 'Taints'],
      ['p', 'a', 'c', 'Taints'],
      ['t', 'c', 'b'],
      ['r', 'b', 'c'],
      ['s', 'c', 'b'],
    ]);
    expect(found?.moves.map(({ partner }) => partner)).toEqual([undefined, undefined, undefined, 4, 3]);
    // Together the higher of b and c falls from 27.50 % to 25.00 %.
    expect(found?.moves.slice(3).map(({ gain }) => gain)).toEqual([0.0125, 0.0125]);
  });

  it('stand behind two others that go together and come first in the plan', () => {
    const found = further(tainted(), [
      aTransfer('r', 'c', { partner: 1 }),
      aTransfer('s', 'b', { partner: 0 }),
      aTransfer('t', 'b'),
      aTransfer('p', 'c'),
    ]);
    expect(found?.moves.map(({ pod, partner }) => [pod.name, partner])).toEqual([
      ['q', undefined],
      ['p', undefined],
      ['t', undefined],
      ['r', 4],
      ['s', 3],
    ]);
  });

  it('go first where all wait for each other and nothing but a rule that ranks nodes stands in the way', () => {
    const web = {
      labels: { app: 'web' },
      constraints: { spread: [aSpread({ app: 'web' }, { whenUnsatisfiable: 'ScheduleAnyway' })] },
    };
    const zones = { a: 'x', b: 'y', c: 'y', d: 'x' };
    const snapshot = (effect: 'NoSchedule' | 'PreferNoSchedule') =>
      aSnapshot({
        usage: undefined,
        nodes: Object.entries(zones).map(([name, zone]) =>
          aNode(name, { labels: { zone }, taints: name === 'a' ? [aTaint('old', '', effect)] : [] }),
        ),
        pods: [aPod('p', { nodeName: 'a', ...web }), aPod('s', { nodeName: 'b', ...web })],
      });
    const repair = { taints: { ...TAINTS.taints, soft: true }, topologySpread: { soft: true, tolerance: 0 } };
    const moves = [aTransfer('s', 'd'), aTransfer('p', 'c')];
    expect(movesOf(further(snapshot('NoSchedule'), [], repair))).toEqual([['p', 'a', 'd', 'Taints']]);
    expect(movesOf(further(snapshot('NoSchedule'), moves, repair))).toEqual([
      ['p', 'a', 'c', 'Taints'],
      ['s', 'b', 'd'],
    ]);
    expect(further(snapshot('PreferNoSchedule'), moves, repair)).toBeUndefined();
  });

  it('leave nothing said of them as pods that stay, but of others', () => {
    const { input, stage, found } = repairsOf(tainted(), TAINTS);
    const [p, , r] = input.pods;
    const rejections = { pods: [p, r].flatMap((pod) => pod ?? []), reasons: [STAYS, { ...STAYS, message: 'r stays' }] };
    const both = withFurtherMoves({ ...found, rejections, moves: [aTransfer('p', 'c')] }, stage, input);
    expect(both?.rejections).toEqual({ pods: [r], reasons: [{ ...STAYS, message: 'r stays' }] });
  });

  describe('and who comes back to its node', () => {
    const apart = [anAffinityTerm({ app: 'web' }, { topologyKey: 'kubernetes.io/hostname' })];
    const repelling = aSnapshot({
      usage: undefined,
      nodes: ['a', 'b', 'c'].map((name) => aNode(name)),
      pods: ['p', 'q'].map((name) =>
        aPod(name, { nodeName: 'a', labels: { app: 'web' }, constraints: { podAntiAffinity: apart } }),
      ),
    });

    it('is not moved at all, and told that it may stay', () => {
      const moves = [aTransfer('q', 'c'), aTransfer('p', 'a')];
      const found = further(repelling, moves, { podAntiAffinity: true });
      expect(movesOf(found)).toEqual([['q', 'a', 'c']]);
      expect(found?.rejections.pods.map(({ name }) => name)).toEqual(['p']);
      expect(found?.rejections.reasons).toEqual([
        { code: 'NotNeeded', message: 'after the other moves of this plan it may stay on its node', numbers: {} },
      ]);
    });

    it('may not, where the repair is a new start', () => {
      const pods = repelling.pods.map((pod) => aPod(pod.name, { nodeName: 'a', ...OLD }));
      expect(further({ ...repelling, pods }, [aTransfer('p', 'a')], LIFETIME)).toBeUndefined();
      expect(further({ ...repelling, pods }, [aTransfer('p', 'a'), aTransfer('q', 'c')], LIFETIME)).toBeUndefined();
      expect(movesOf(further({ ...repelling, pods }, [aTransfer('p', 'c')], LIFETIME))).toEqual([
        ['q', 'a', 'c', 'MaxLifetime'],
        ['p', 'a', 'c', 'MaxLifetime'],
      ]);
    });
  });

  it('are found by a strategy that balances from where repairs have put pods', () => {
    const pods = [aPod('p', sized('a', 1000)), aPod('q', sized('a', 1000)), aPod('r', sized('a', 2000))];
    const nodes = [aNode('a', { taints: [aTaint('old')] }), aNode('b'), aNode('c')];
    const options = { repair: TAINTS, load: { source: 'Requests' } } as const;
    const snapshot = aSnapshot({ usage: undefined, nodes, pods });
    const repaired = plan(snapshot, someOptions({ ...options, strategy: { type: 'None' } }));
    expect(movesOf(repaired)).toEqual([
      ['p', 'a', 'b', 'Taints'],
      ['q', 'a', 'c', 'Taints'],
      ['r', 'a', 'b', 'Taints'],
    ]);
    const found = plan(snapshot, someOptions({ ...options, strategy: greedyLb() }));
    expect(movesOf(found)).toEqual([
      ['q', 'a', 'c', 'Taints'],
      ['r', 'a', 'b', 'Taints'],
      ['p', 'a', 'c', 'Taints'],
    ]);
  });
});

describe('the moves of a strategy behind repairs', () => {
  function behind(snapshot: ClusterSnapshot, moves: readonly Transfer[], repair: Partial<RepairOptions>) {
    const { input, stage, found } = repairsOf(snapshot, repair);
    return withRepairs({ ...found, moves }, stage, input);
  }

  it('have their places counted on from those of the repairs', () => {
    const found = behind(
      tainted(),
      [aTransfer('t', 'b', { partner: 1 }), aTransfer('s', 'b', { partner: 0, after: [0] })],
      TAINTS,
    );
    expect(found.moves.map(({ after, partner }) => [after, partner])).toEqual([
      [[], undefined],
      [[], undefined],
      [[], 3],
      [[2], 2],
    ]);
  });

  it('need the repairs that leave a node that is full at the start', () => {
    const needsOf = (slots: number) => {
      const nodes = [aNode('a', { allocatable: { pods: slots } }), aNode('b'), aNode('c')];
      const pods = [aPod('p', { nodeName: 'a', ...OLD }), aPod('q', { nodeName: 'c' })];
      const snapshot = aSnapshot({ usage: undefined, nodes, pods });
      return behind(snapshot, [aTransfer('q', 'a')], LIFETIME).moves.map(({ pod, after }) => [pod.name, after]);
    };
    expect(needsOf(1)).toEqual([
      ['p', []],
      ['q', [0]],
    ]);
    expect(needsOf(2)).toEqual([
      ['p', []],
      ['q', []],
    ]);
  });

  it('need the repairs of pods that they must not run near, and no others', () => {
    const zones = { a: 'x', b: 'x', c: 'y', d: 'z' };
    const snapshot = aSnapshot({
      usage: undefined,
      nodes: Object.entries(zones).map(([name, zone]) =>
        aNode(name, { labels: { zone }, taints: name === 'b' ? [aTaint('own')] : [] }),
      ),
      pods: [
        aPod('other', { nodeName: 'a', owner: 'db', ...OLD }),
        aPod('p', { nodeName: 'a', labels: { app: 'web' }, ...OLD }),
        aPod('q', {
          nodeName: 'd',
          constraints: {
            podAntiAffinity: [anAffinityTerm({ app: 'web' })],
            tolerations: [aToleration({ key: 'own' })],
          },
        }),
      ],
    });
    const found = behind(snapshot, [aTransfer('q', 'b')], LIFETIME);
    expect(found.moves.map(({ pod, to, after }) => [pod.name, to, after])).toEqual([
      ['other', 'c', []],
      ['p', 'c', []],
      ['q', 'b', [1]],
    ]);
  });

  it('hit their nodes as often as both do in the mean', () => {
    const { input, stage, found } = repairsOf(tainted(), TAINTS);
    const ratio = (ofRepairs: number | undefined, ofStrategy: number | undefined) =>
      withRepairs(
        { ...found, moves: [aTransfer('t', 'b')], expectedHitRatio: ofStrategy },
        { ...stage, expectedHitRatio: ofRepairs },
        input,
      ).expectedHitRatio;
    expect(ratio(0.5, 1)).toBeCloseTo(2 / 3);
    expect(ratio(0.5, undefined)).toBe(0.5);
    expect(ratio(undefined, 0.25)).toBe(0.25);
    expect(ratio(undefined, undefined)).toBeUndefined();
  });

  it('are the plan of the strategy; repairs without any are a plan of none where it would balance', () => {
    const { input, stage, found } = repairsOf(tainted(), TAINTS);
    const strategyOf = (fields: Partial<Plan>, own: RepairStage = stage) => {
      const { strategy, hash } = withRepairs({ ...found, ...fields }, own, input);
      return [strategy, hash === withRepairs({ ...found, ...fields, strategy: 'None' }, own, input).hash];
    };
    expect(strategyOf({})).toEqual(['None', true]);
    expect(strategyOf({ moves: [aTransfer('t', 'b')] })).toEqual(['RefineLB', false]);
    expect(strategyOf({}, { ...stage, moves: [] })).toEqual(['RefineLB', false]);
    expect(strategyOf({ strategy: 'Pack' })).toEqual(['Pack', false]);
  });
});

describe('the outcome of both stages', () => {
  const { input, stage, found } = repairsOf(tainted(), TAINTS);
  const [first, second] = input.pods;
  const because = (code: Reason['code'], message: string): Reason => ({ code, message, numbers: {} });

  function outcome(of: PlanOutcome, fields: Partial<RepairStage> = {}) {
    return withRepairs({ ...found, outcome: of }, { ...stage, ...fields }, input).outcome;
  }

  /** Pods that stay although something is wrong, by what there is to say of them. */
  function stuck(...reasons: readonly Reason[]): Pick<RepairStage, 'unrepaired'> {
    const pods = [first, second].flatMap((pod) => pod ?? []);
    return {
      unrepaired: new Map(reasons.flatMap((reason, place) => pods.slice(place, place + 1).map((pod) => [pod, reason]))),
    };
  }

  const idle = { moves: [] };
  const blocked: PlanOutcome = { kind: 'Blocked', message: 'all is protected' };

  it('is Moves with repairs, and says what kept the strategy from more unless nothing was to be done', () => {
    expect(outcome(blocked)).toEqual({ kind: 'Moves', obstacle: 'no move besides: all is protected' });
    for (const kind of ['NothingToRepair', 'NothingToPack', 'NothingToReroute', 'Balanced'] as const) {
      expect(outcome({ kind, message: 'fine' })).toEqual({ kind: 'Moves', obstacle: undefined });
    }
    expect(outcome({ kind: 'Moves', obstacle: 'b is high' })).toEqual({ kind: 'Moves', obstacle: 'b is high' });
  });

  it('says first which pods cannot be repaired, and how many', () => {
    const one = stuck(because('PersistentVolumeClaim', 'p has data'));
    const two = stuck(because('PersistentVolumeClaim', 'p has data'), because('MaxMoves', 'full'));
    expect(outcome({ kind: 'Moves', obstacle: 'b is high' }, one)).toEqual({
      kind: 'Moves',
      obstacle: '1 pod cannot be repaired; the first: p has data; b is high',
    });
    expect(outcome(OUTCOME, { ...two, ...idle })).toEqual({
      kind: 'Moves',
      obstacle: '2 pods cannot be repaired; the first: p has data',
    });
  });

  it('is that of the strategy without repairs, with what cannot be repaired behind it', () => {
    expect(outcome(blocked, idle)).toEqual(blocked);
    expect(outcome(blocked, { ...idle, ...stuck(because('PersistentVolumeClaim', 'p has data')) })).toEqual({
      kind: 'Blocked',
      message: 'all is protected; 1 pod cannot be repaired; the first: p has data',
    });
  });

  it('is BudgetExhausted where only repairs were asked for and a budget keeps one of them', () => {
    const nothing: PlanOutcome = { kind: 'NothingToRepair', message: 'nothing' };
    const held = because('PersistentVolumeClaim', 'p has data');
    expect(outcome(nothing, idle)).toEqual(nothing);
    expect(outcome(nothing, { ...idle, ...stuck(held) })).toEqual({
      kind: 'NoBeneficialMove',
      message: '1 pod cannot be repaired; the first: p has data',
    });
    expect(outcome(nothing, { ...idle, ...stuck(held, because('MaxMoves', 'full')) }).kind).toBe('BudgetExhausted');
  });

  it('counts failed pods that stay, and pinned pods that get no room', () => {
    const pods = [first, second].flatMap((pod) => pod ?? []);
    const reason = because('PerNode', 'a budget keeps it');
    const waiting = new Map(pods.map((pod) => [pod, reason]));
    expect(outcome(blocked, { ...idle, unremoved: { pods: pods.slice(1), reasons: [reason] } })).toMatchObject({
      message: 'all is protected; 1 pod cannot be repaired; the first: a budget keeps it',
    });
    const nothing: PlanOutcome = { kind: 'NothingToRepair', message: 'nothing' };
    expect(outcome(nothing, { ...idle, waiting, unserved: pods })).toEqual({
      kind: 'BudgetExhausted',
      message: '2 pinned pods without a node cannot be served; the first: shop/p a budget keeps it',
    });
    expect(outcome(nothing, { ...idle, waiting, unserved: pods.slice(0, 1), ...stuck(reason) })).toMatchObject({
      message:
        '1 pinned pod without a node cannot be served; the first: shop/p a budget keeps it; 1 pod cannot be repaired; the first: a budget keeps it',
    });
  });

  it('has the reasons of waiting and of unrepaired pods instead of those of the strategy, and failed pods last', () => {
    const pods = input.pods.slice(0, 3);
    const reasons = pods.map(() => STAYS);
    const [p, q, r] = pods.flatMap((pod) => pod ?? []);
    const [waits, wrong, failed] = [
      because('Pending', 'waits'),
      because('PersistentVolumeClaim', 'wrong'),
      because('MinPodAge', 'young'),
    ];
    const explained = (fields: Partial<RepairStage>) =>
      withRepairs({ ...found, rejections: { pods, reasons } }, { ...stage, ...fields }, input).rejections;
    expect(explained({})).toEqual({ pods, reasons });
    expect(explained({ waiting: new Map(p && [[p, waits]]) }).reasons).toEqual([waits, STAYS, STAYS]);
    expect(explained({ unrepaired: new Map(q && [[q, wrong]]) }).reasons).toEqual([STAYS, wrong, STAYS]);
    const unremoved = { pods: r === undefined ? [] : [r], reasons: [failed] };
    expect(explained({ unremoved })).toEqual({ pods: [...pods, r], reasons: [...reasons, failed] });
  });
});

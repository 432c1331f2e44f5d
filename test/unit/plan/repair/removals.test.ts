import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../../src/model/pod.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import type { FailedRepair, RepairOptions } from '../../../../src/plan/options.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { aBudget, HARD_TAINTS, refineLb, someOptions } from '../../../support/builders/options.ts';
import { aTaint } from '../../../support/builders/scheduling.ts';
import { aNode, aPdb, aPod, aSnapshot, NOW, type PodFields, type SnapshotFields } from '../../../support/builders.ts';

const ALL: FailedRepair = {
  reasons: undefined,
  exitCodes: undefined,
  includingInit: false,
  minAge: seconds(0),
  excludedOwnerKinds: new Set(),
};

/** A pod of ReplicaSet web on node a that has failed. */
const failed = (name: string, fields: PodFields = {}): PodInfo =>
  aPod(name, { nodeName: 'a', phase: 'Failed', ready: false, readySince: undefined, ...fields });
const ended = (reason: string, exitCode: number) => ({ reasons: [reason], exitCodes: [exitCode] });

function planned(
  failedPods: readonly PodInfo[],
  repair: Partial<RepairOptions>,
  options: Parameters<typeof someOptions>[0] = {},
  fields: SnapshotFields = {},
) {
  const snapshot = aSnapshot({ nodes: [aNode('a'), aNode('b')], usage: undefined, failedPods, ...fields });
  const found = plan(snapshot, someOptions({ strategy: { type: 'None' }, repair, ...options }));
  return {
    ...found,
    removed: found.moves.flatMap((move) => ('removal' in move ? [move.pod.name] : [])),
    kept: found.rejections.pods.map(({ name }, place) => [name, found.rejections.reasons[place]?.code]),
  };
}

describe('pods that have failed', () => {
  it('are removed beside pods that run, where no other repair is on', () => {
    const running = ['s', 't'].map((name) => aPod(name, { nodeName: 'b' }));
    expect(planned([failed('p')], { failed: ALL }, {}, { pods: running }).removed).toEqual(['p']);
  });

  it('are removed without a target, the oldest first, and say why they failed', () => {
    const old = { createdAt: epochSeconds(NOW - 7200) };
    const pods = [
      failed('p', { states: ended('Error', 137) }),
      failed('q', { ...old, reason: 'Evicted' }),
      failed('r'),
    ];
    const found = planned(pods, { failed: ALL });
    expect(found.removed).toEqual(['q', 'p', 'r']);
    expect(found.moves[0]).toEqual({
      pod: { namespace: 'shop', name: 'q', uid: 'uid-shop-q' },
      owner: { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' },
      from: 'a',
      to: undefined,
      removal: true,
      load: 0,
      gain: 0,
      fallbacks: [],
      cost: 0,
      reason: 'its phase is Failed (Evicted)',
      repairs: ['Failed'],
      after: [],
      partner: undefined,
    });
    expect(found.moves.map(({ reason }) => reason).slice(1)).toEqual([
      'its phase is Failed (Error, exit code 137)',
      'its phase is Failed',
    ]);
    expect(found.outcome).toEqual({ kind: 'Moves', obstacle: undefined });
  });

  it('stay where the policy does not ask for them', () => {
    expect(planned([failed('p')], { duplicates: true })).toMatchObject({ moves: [], kept: [] });
  });

  it.each<[string, Partial<FailedRepair>, readonly string[]]>([
    ['reasons of the pod and of its containers', { reasons: new Set(['Evicted', 'Error']) }, ['p', 'q']],
    ['reasons of init containers', { reasons: new Set(['OOMKilled']), includingInit: true }, ['s']],
    ['reasons of init containers, unless they count', { reasons: new Set(['OOMKilled']) }, []],
    ['exit codes', { exitCodes: new Set([1, 2]) }, ['q']],
    ['reasons and exit codes together', { reasons: new Set(['Evicted']), exitCodes: new Set([1]) }, []],
    ['age', { minAge: seconds(3600) }, ['p', 'q', 'r', 's']],
    ['age that nobody has', { minAge: seconds(3601) }, []],
    ['kind of the controller', { excludedOwnerKinds: new Set(['ReplicaSet']) }, ['r']],
  ])('are chosen by %s', (_, repair, names) => {
    const pods = [
      failed('p', { reason: 'Evicted' }),
      failed('q', { states: ended('Error', 1) }),
      failed('r', { owner: { kind: 'StatefulSet', name: 'db', uid: 'uid-db' } }),
      failed('s', { initStates: ended('OOMKilled', 2) }),
    ];
    expect(planned(pods, { failed: { ...ALL, ...repair } }).removed).toEqual(names);
  });

  it('stay with the reason where nobody made them, a Job has not counted them, or somebody wants them kept', () => {
    const job = { kind: 'Job', name: 'batch', uid: 'uid-batch' };
    const pods = [
      failed('counted', { owner: job }),
      failed('critical', { priority: 2_000_000_000 }),
      failed('ending', { terminating: true }),
      failed('kept', { annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' } }),
      failed('standalone', { owner: undefined }),
      failed('uncounted', { owner: job, uncounted: true }),
    ];
    const found = planned(pods, { failed: ALL });
    expect(found.removed).toEqual(['counted']);
    expect(found.kept).toEqual([
      ['critical', 'CriticalPriority'],
      ['ending', 'Terminating'],
      ['kept', 'DoNotEvict'],
      ['standalone', 'NoController'],
      ['uncounted', 'Job'],
    ]);
    expect(found.rejections.reasons[4]?.message).toBe(
      'its phase is Failed; its Job has not counted yet that it failed',
    );
    expect(found.outcome).toMatchObject({ obstacle: expect.stringContaining('5 pods cannot be repaired') });
  });

  it('are removed whatever protects the service of pods: they give none', () => {
    const young = { createdAt: epochSeconds(NOW - 1), localStorage: true };
    const options = { protections: { minReplicas: 100, withoutPDB: 'Protect' } } as const;
    const pdb = aPdb('none', { disruptionsAllowed: 0 });
    expect(planned([failed('p', young)], { failed: ALL }, options, { pdbs: [pdb] }).removed).toEqual(['p']);
  });

  it('stay outside of the scope without a word', () => {
    const found = planned([failed('p', { namespace: 'kube-system' }), failed('q', { nodeName: 'gone' })], {
      failed: ALL,
    });
    expect([found.moves, found.kept]).toEqual([[], []]);
  });

  it.each([
    [{ maxMoves: 1 }, 'MaxMoves'],
    [{ perNode: 1 }, 'PerNode'],
    [{ perNamespace: 1 }, 'PerNamespace'],
    [{ perOwner: { kind: 'Count', count: 1 } }, 'PerOwner'],
  ] as const)('count against %j, and cost no service', (limits, code) => {
    const budget = aBudget({ ...limits, overhead: { limit: seconds(0), window: seconds(3600) } });
    const found = planned([failed('p'), failed('q')], { failed: ALL }, { budgets: [budget] });
    expect(found.removed).toEqual(['p']);
    expect(found.kept).toEqual([['q', code]]);
    const [only] = planned([failed('q')], { failed: ALL }, { budgets: [aBudget({ ...limits, maxMoves: 0 })] }).kept;
    expect(only).toEqual(['q', 'MaxMoves']);
  });

  it('come after other repairs, and leave the strategy what is left of the budgets', () => {
    const heavy = { constraints: { requests: { cpu: 1000 } } };
    const nodes = [aNode('a', { taints: [aTaint('old')] }), aNode('b'), aNode('c')];
    const pods = [
      aPod('p', { nodeName: 'a' }),
      ...['q', 'r', 's'].map((name) => aPod(name, { nodeName: 'b', ...heavy })),
    ];
    const repair = {
      taints: HARD_TAINTS,
      failed: ALL,
    };
    const found = (maxMoves: number) =>
      planned(
        [failed('x')],
        repair,
        { strategy: refineLb(), load: { source: 'Requests' }, budgets: [aBudget({ maxMoves })] },
        { nodes, pods },
      ).moves.map(({ pod, repairs }) => [pod.name, ...repairs]);
    expect(found(1)).toEqual([['p', 'Taints']]);
    expect(found(2)).toEqual([
      ['p', 'Taints'],
      ['x', 'Failed'],
    ]);
    expect(found(3)).toEqual([['p', 'Taints'], ['x', 'Failed'], [expect.any(String)]]);
  });

  it('are no pods to anything else: neither load nor duplicates nor a reason to balance', () => {
    const failures = ['x', 'y', 'z'].map((name) => failed(name));
    const pods = [aPod('p', { nodeName: 'a' }), aPod('q', { nodeName: 'b' })];
    expect(
      planned(failures, { duplicates: true }, { strategy: refineLb() }, { pods, uses: { p: 100, q: 100 } }).moves,
    ).toEqual([]);
  });
});

describe('the lifetime of pods in certain states', () => {
  const age = (hours: number) => ({ createdAt: epochSeconds(NOW - hours * 3600) });
  const stuck = { ready: false, states: { reasons: ['CrashLoopBackOff'], exitCodes: [] } };
  const lifetime = (states: readonly string[] | undefined, includingInit = false) => ({
    maxLifetime: { age: seconds(7200), states: states && new Set(states), includingInit },
  });
  const pods = [
    aPod('init', { nodeName: 'a', ...age(3), ready: false, initStates: stuck.states }),
    aPod('loop', { nodeName: 'a', ...age(4), ...stuck }),
    aPod('well', { nodeName: 'a', ...age(5) }),
    aPod('young', { nodeName: 'a', ...age(1), ...stuck }),
  ];
  const names = (repair: Partial<RepairOptions>) => planned([], repair, {}, { pods }).moves.map(({ pod }) => pod.name);

  it('counts those alone, also while they are not Ready', () => {
    expect(names(lifetime(undefined))).toEqual(['well']);
    expect(names(lifetime(['CrashLoopBackOff', 'ImagePullBackOff']))).toEqual(['loop']);
    expect(names(lifetime(['CrashLoopBackOff'], true))).toEqual(['loop', 'init']);
    expect(names(lifetime(['Running']))).toEqual(['well', 'loop', 'init']);
    const [move] = planned([], lifetime(['CrashLoopBackOff']), {}, { pods }).moves;
    expect(move?.reason).toContain('14400 s old in state CrashLoopBackOff, repair.maxLifetime.age is 7200 s');
  });

  it('removes pods that have failed, if it names their state', () => {
    const dead = [failed('p', { ...age(3), reason: 'Evicted' }), failed('q', { ...age(1) })];
    expect(planned(dead, lifetime(['Failed'])).removed).toEqual(['p']);
    expect(planned(dead, lifetime(['Evicted'])).moves[0]?.repairs).toEqual(['MaxLifetime']);
    expect(planned(dead, { ...lifetime(['Evicted']), failed: ALL }).moves.map(({ repairs }) => repairs)).toEqual([
      ['Failed', 'MaxLifetime'],
      ['Failed'],
    ]);
    expect(planned(dead, lifetime(undefined)).removed).toEqual([]);
  });
});

describe('the restarts of pods in certain states', () => {
  it('count those alone', () => {
    const pods = [
      aPod('loop', {
        nodeName: 'a',
        restarts: 12,
        ready: false,
        states: { reasons: ['CrashLoopBackOff'], exitCodes: [] },
      }),
      aPod('init', {
        nodeName: 'a',
        restarts: 12,
        ready: false,
        phase: 'Pending',
        initStates: { reasons: ['CrashLoopBackOff'], exitCodes: [] },
      }),
      aPod('runs', { nodeName: 'a', restarts: 12 }),
    ];
    const moved = (states: readonly string[] | undefined, includingInit = false) =>
      planned([], { restarts: { atLeast: 10, includingInit, states: states && new Set(states) } }, {}, { pods })
        .moves.map(({ pod }) => pod.name)
        .sort();
    expect(moved(undefined)).toEqual(['init', 'loop', 'runs']);
    expect(moved(['Running'])).toEqual(['loop', 'runs']);
    expect(moved(['CrashLoopBackOff'])).toEqual(['loop']);
    expect(moved(['CrashLoopBackOff'], true)).toEqual(['init', 'loop']);
  });
});

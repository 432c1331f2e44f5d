import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { bytes, epochSeconds } from '../../../../src/model/units.ts';
import { explainPod } from '../../../../src/plan/explain/pod.ts';
import type { PolicyOptions } from '../../../../src/plan/options.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { listRejections } from '../../../../src/plan/rejections.ts';
import { aBudget, HARD_TAINTS } from '../../../support/builders/options.ts';
import { anAffinityTerm, aTaint } from '../../../support/builders/scheduling.ts';
import { aServiceClass, aStartTime } from '../../../support/builders/service-levels.ts';
import { aNode, aPastMove, aPdb, NOW, type SnapshotFields } from '../../../support/builders.ts';
import {
  aContest,
  anUnreadyRequest,
  aRequest,
  qosOptions,
  type Request,
  reliefOptions,
} from '../../../support/gated.ts';

/** Margins are 10 s, and policies run every 30 s: who can wait for less than 40 s must be moved now. */
const CLASSES = [
  aServiceClass({ name: 'prod', slo: 1, importance: 1 }),
  aServiceClass({ name: 'gold', slo: 0.9, importance: 1 }),
  aServiceClass({ name: 'batch', slo: 0.9, importance: 2 }),
  aServiceClass({ name: 'slow', slo: 0.9, importance: 2, minRunTime: 60 }),
  aServiceClass({ name: 'free', slo: 0, importance: 3 }),
];
/** With an SLO of 0.9 a start of 3 s leaves 360 / 0.9 - 360 - 10 - 3 = 27 s of waiting. */
const SHORT = { useful: 360, pending: 10 };
/** 5 s. */
const SHORTER = { useful: 72, pending: 0 };
/** 97 s. */
const AMPLE = { useful: 900, pending: 0 };
/** Already violated. */
const SPENT = { useful: 90, pending: 20 };

interface ClusterFields extends SnapshotFields {
  readonly slots?: Readonly<Record<string, number>>;
}

/** Requests on nodes of four cores, n1 to n3 unless it says otherwise. */
function cluster(
  requests: readonly Request[],
  uses: NonNullable<SnapshotFields['uses']>,
  { slots = { n1: 9, n2: 9, n3: 9 }, ...fields }: ClusterFields = {},
): ClusterSnapshot {
  return aContest(slots, CLASSES, requests, { uses, ...fields });
}

/** Moves as `pod: from > to`. */
function movesOf(snapshot: ClusterSnapshot, options: PolicyOptions = reliefOptions()): readonly string[] {
  return plan(snapshot, options).moves.map(({ pod, from = '', to = '' }) => `${pod.name}: ${from} > ${to}`);
}

function reasonsOf(snapshot: ClusterSnapshot, options: PolicyOptions = reliefOptions()) {
  return new Map(listRejections(plan(snapshot, options).rejections).map((each) => [each.pod.name, each]));
}

/** A node with this image. */
const having = (image: string) => ({ images: new Map([[image, bytes(9)]]) });

const stuck = anUnreadyRequest('stuck', 'batch', 'n1', SHORT, 60);
const hog = aRequest('hog', 'free', 'n1', {});
const LOADS = { stuck: 500, hog: 3500 };

describe('a pod on an overloaded node that is not Ready', () => {
  it('is moved to a node that is not, with the loads that were measured', () => {
    const snapshot = cluster([stuck, hog], LOADS, { slots: { n1: 9, n2: 9 } });
    const { moves, outcome } = plan(snapshot, reliefOptions());
    expect(moves).toMatchObject([
      { from: 'n1', to: 'n2', load: 0.125, gain: 0.125, cost: 3, after: [], pod: { name: 'stuck' } },
    ]);
    expect(moves[0]?.reason).toBe(
      'is not Ready and can wait 27 s (class batch); n1 is overloaded: 100.00 % -> 87.50 %, its limit is 90.00 %; n2 0.00 % -> 12.50 %, allocation score 10',
    );
    expect(outcome).toEqual({ kind: 'Moves', obstacle: undefined });
  });

  it('is moved when it has violated its SLO already, whatever that is', () => {
    const spent = anUnreadyRequest('stuck', 'batch', 'n1', SPENT, 60);
    const promised = anUnreadyRequest('stuck', 'prod', 'n1', SPENT, 60);
    expect(movesOf(cluster([spent, hog], LOADS))).toEqual(['stuck: n1 > n2']);
    expect(movesOf(cluster([promised, hog], LOADS))).toEqual(['stuck: n1 > n2']);
  });

  it('is moved when its containers have not started, either', () => {
    const pending = anUnreadyRequest('stuck', 'batch', 'n1', SHORT, 60, { phase: 'Pending' });
    expect(movesOf(cluster([pending, hog], LOADS))).toEqual(['stuck: n1 > n2']);
  });

  it('is left while it may just be starting', () => {
    const starting = (since: number) => cluster([anUnreadyRequest('stuck', 'batch', 'n1', SHORT, since), hog], LOADS);
    expect(movesOf(starting(3))).toEqual([]);
    expect(movesOf(starting(4))).toHaveLength(1);
    const silent = anUnreadyRequest('stuck', 'batch', 'n1', SHORT, 60, { readySince: undefined });
    expect(movesOf(cluster([silent, hog], LOADS))).toEqual([]);
  });

  it('is given the time that a start takes with the images that its node has', () => {
    const since = (age: number, image: string) => {
      const pod = anUnreadyRequest('stuck', 'batch', 'n1', SHORT, age, { constraints: { images: [image] } });
      const ledger = { ...pod.ledger, startup: { hot: aStartTime(2), cold: aStartTime(20) } };
      const nodes = ['n1', 'n2'].map((name) => aNode(name, having('here:1')));
      return movesOf(cluster([{ ...pod, ledger }, hog], LOADS, { nodes }));
    };
    expect(since(10, 'here:1')).toEqual(['stuck: n1 > n2']);
    expect(since(10, 'elsewhere:1')).toEqual([]);
    expect(since(21, 'elsewhere:1')).toEqual(['stuck: n1 > n2']);
  });

  it('is left while it can wait, and told apart from others that a protection holds', () => {
    const ample = anUnreadyRequest('stuck', 'batch', 'n1', AMPLE, 60);
    const wish = anUnreadyRequest('stuck', 'batch', 'n1', SHORT, 60, {
      annotations: { 'evenkeel.dev/do-not-evict': 'true' },
    });
    for (const request of [ample, wish]) {
      const snapshot = cluster([request, hog], LOADS);
      expect(movesOf(snapshot)).toEqual([]);
      expect(reasonsOf(snapshot).get('stuck')?.code).toBe('NotReady');
    }
  });

  it('is left when its node does not answer', () => {
    const lost = anUnreadyRequest('stuck', 'batch', 'n1', SHORT, 60, { phase: 'Unknown' });
    expect(movesOf(cluster([lost, hog], LOADS))).toEqual([]);
  });

  it('is moved beside what is repaired elsewhere', () => {
    const nodes = [aNode('n1'), aNode('n2'), aNode('old', { taints: [aTaint('old')] })];
    const snapshot = cluster([stuck, hog, aRequest('stray', 'free', 'old', {})], LOADS, { nodes });
    const repair = { taints: HARD_TAINTS };
    expect(movesOf(snapshot, reliefOptions({ repair }))).toEqual(['stray: old > n2', 'stuck: n1 > n2']);
  });

  it('is nobody whom others may evict', () => {
    const waits = aRequest('waits', 'prod', undefined, { pending: 5 });
    const idle = anUnreadyRequest('idle', 'batch', 'n1', AMPLE, 60);
    expect(movesOf(cluster([idle, waits], {}, { slots: { n1: 1 } }))).toEqual([]);
  });
});

describe('a Ready pod on an overloaded node', () => {
  const ready = (className: string, times: Request['ledger']['times'] | object, uses = 500) =>
    cluster([aRequest('pod', className, 'n1', times), hog], { pod: uses, hog: 3500 });

  it('is moved while it can still afford that, when it could not any more at the next run', () => {
    expect(movesOf(ready('batch', SHORT))).toEqual(['pod: n1 > n2']);
    expect(movesOf(ready('batch', AMPLE))).toEqual([]);
    expect(reasonsOf(ready('batch', AMPLE)).get('pod')?.code).toBe('NotNeeded');
  });

  it('is moved where it can afford a start: to a node that has its images', () => {
    const pod = aRequest('pod', 'batch', 'n1', SHORT, { constraints: { images: ['app:1'] } });
    const ledger = { ...pod.ledger, startup: { hot: aStartTime(3), cold: aStartTime(60) } };
    const snapshot = (image: string) => {
      const nodes = [aNode('n1'), aNode('n2', having('other:1')), aNode('n3', having(image))];
      return cluster([{ ...pod, ledger }, hog], { pod: 500, hog: 3500 }, { nodes });
    };
    const { moves } = plan(snapshot('app:1'), reliefOptions());
    expect(moves).toMatchObject([{ from: 'n1', to: 'n3', cost: 3 }]);
    expect(movesOf(snapshot('other:1'))).toEqual([]);
    expect(reasonsOf(snapshot('other:1')).get('pod')?.code).toBe('CannotAfford');
  });

  it('looks as far ahead as the next run may be away', () => {
    const runs = { schedule: '0 * * * *', timeZone: 'Etc/UTC' };
    const strategy = { type: 'QoSDriven', refinements: 'Standard', pressure: { overload: 0.9, runs } } as const;
    expect(movesOf(ready('batch', AMPLE), reliefOptions({ strategy }))).toEqual(['pod: n1 > n2']);
  });

  it('is never made to violate by the move', () => {
    for (const snapshot of [ready('batch', SPENT), ready('prod', AMPLE)]) {
      expect(movesOf(snapshot)).toEqual([]);
      expect(reasonsOf(snapshot).get('pod')).toMatchObject({ code: 'CannotAfford', numbers: { load: 1, limit: 0.9 } });
    }
  });

  it('is left when nothing was promised to it, or nobody knows what it got', () => {
    expect(movesOf(ready('free', SHORT))).toEqual([]);
    expect(movesOf(ready('unheard-of', SHORT))).toEqual([]);
    const { pod, ledger } = aRequest('pod', 'batch', 'n1', SHORT);
    const future = { pod, ledger: { ...ledger, asOf: epochSeconds(NOW + 60) } };
    expect(movesOf(cluster([future, hog], { pod: 500, hog: 3500 }))).toEqual([]);
  });

  it('is left until it has run for minRunTime, and says so', () => {
    const since = (age: number) => ({ readySince: epochSeconds(NOW - age) });
    const snapshot = (age: number) =>
      cluster([aRequest('pod', 'slow', 'n1', SHORT, since(age)), hog], { pod: 500, hog: 3500 });
    expect(reasonsOf(snapshot(59)).get('pod')?.code).toBe('MinRunTime');
    expect(movesOf(snapshot(60))).toEqual(['pod: n1 > n2']);
  });

  it('is moved only so often as its workload can afford, replicas together', () => {
    const replicas = ['a', 'b'].map((name) => {
      const { pod } = aRequest(name, 'batch', 'n1', {}, { owner: 'web' });
      return { pod, ledger: { ...aRequest('web', 'batch', 'n1', { useful: 45 }).ledger, running: 2 } };
    });
    const uses = { a: 600, b: 600, hog: 3400 };
    const snapshot = cluster([...replicas, hog], uses);
    expect(movesOf(snapshot)).toEqual(['a: n1 > n2']);
    expect(reasonsOf(snapshot).get('b')?.code).toBe('CannotAfford');
  });
});

describe('overload', () => {
  it('is what is measured above the limit, and nothing else', () => {
    expect(movesOf(cluster([stuck, hog], { stuck: 500, hog: 3100 }))).toEqual([]);
    expect(movesOf(cluster([stuck, hog], { stuck: 500, hog: 3101 }))).toHaveLength(1);
    expect(movesOf(cluster([stuck, hog], LOADS, { usage: undefined }))).toEqual([]);
    expect(movesOf(cluster([stuck, hog], LOADS), qosOptions('Standard'))).toEqual([]);
  });

  it('is not believed below minCoverage', () => {
    const snapshot = cluster([stuck, hog], LOADS);
    const [first] = snapshot.usage?.nodes ?? [];
    const nodes = new Map(first === undefined ? [] : [first]);
    const usage = { nodes, pods: snapshot.usage?.pods ?? new Map() };
    const other = aRequest('other', 'free', 'n2', {});
    const uncovered = { ...snapshot, pods: [...snapshot.pods, other.pod], usage };
    expect(movesOf(uncovered)).toEqual([]);
    expect(movesOf(uncovered, reliefOptions({ load: { minCoverage: 0.5 } }))).toEqual(['stuck: n1 > n3']);
  });

  it('is by the resources and the aggregate of the policy', () => {
    const GIB = 2 ** 30;
    const snapshot = cluster([stuck, hog], { stuck: [100, 5 * GIB], hog: [100, 10 * GIB] });
    const memory = { name: 'memory', weight: 1 } as const;
    expect(movesOf(snapshot)).toEqual([]);
    expect(movesOf(snapshot, reliefOptions({ load: { resources: [memory] } }))).toHaveLength(1);
    const both = [{ name: 'cpu', weight: 1 } as const, memory];
    expect(movesOf(snapshot, reliefOptions({ load: { resources: both } }))).toEqual([]);
    expect(movesOf(snapshot, reliefOptions({ load: { resources: both, aggregate: 'Dominant' } }))).toHaveLength(1);
  });

  it('is not known of nodes whose samples began before the last move from or to them had ended', () => {
    const moved = (endedAt: number | undefined, from = 'n1', to = 'n9') => {
      const ended = endedAt === undefined ? undefined : epochSeconds(NOW - endedAt);
      const move = aPastMove('old', { from, to, endedAt: ended, startedAt: epochSeconds(NOW - 300) });
      return cluster([stuck, hog], LOADS, { pastMoves: [move] });
    };
    expect(movesOf(moved(36))).toEqual(['stuck: n1 > n2']);
    expect(movesOf(moved(35))).toEqual([]);
    expect(movesOf(moved(undefined))).toEqual([]);
    expect(movesOf(moved(35, 'n9', 'n2'))).toEqual(['stuck: n1 > n3']);
  });

  it('is over when victims of the same plan have left', () => {
    const rich = aRequest('rich', 'batch', 'n1', { useful: 9000 });
    const waits = aRequest('waits', 'gold', undefined, { pending: 60 });
    const full = cluster([stuck, rich, waits], { stuck: 500, rich: 3500 }, { slots: { n1: 2 } });
    expect(movesOf(full)).toEqual(['rich: n1 > ', 'waits:  > n1']);
    expect(reasonsOf(full).get('stuck')?.code).toBe('NotReady');
  });
});

describe('the node that a pod goes to', () => {
  it('has room without evicting anybody, is not overloaded, and does not become so', () => {
    const others = ['n2', 'n3'].map((node) => aRequest(`on-${node}`, 'free', node, {}));
    const target = (uses: object, slots = { n1: 9, n2: 9, n3: 9 }) =>
      movesOf(cluster([stuck, hog, ...others], { ...LOADS, ...uses }, { slots }));
    expect(target({ 'on-n2': 3200, 'on-n3': 3100 })).toEqual(['stuck: n1 > n3']);
    expect(target({ 'on-n2': 3200, 'on-n3': 3101 })).toEqual([]);
    expect(target({ 'on-n2': 0, 'on-n3': 3100 }, { n1: 9, n2: 1, n3: 9 })).toEqual(['stuck: n1 > n3']);
  });

  it('does not become overloaded by several either', () => {
    const other = anUnreadyRequest('other', 'batch', 'n1', SHORT, 60);
    const snapshot = (daemon: number) =>
      cluster(
        [stuck, other, hog],
        { stuck: 800, other: 800, hog: 3000 },
        { slots: { n1: 9, n2: 9 }, daemons: { n2: daemon } },
      );
    expect(movesOf(snapshot(2000))).toEqual(['other: n1 > n2', 'stuck: n1 > n2']);
    expect(movesOf(snapshot(2001))).toEqual(['other: n1 > n2']);
    expect(reasonsOf(snapshot(2001)).get('stuck')).toMatchObject({
      code: 'NoFeasibleNode',
      numbers: { overloaded: 1, crowded: 1, refused: 0 },
    });
  });

  it('has the highest allocation score', () => {
    const others = [aRequest('on-n2', 'free', 'n2', {}, { constraints: { requests: { cpu: 2000 } } })];
    expect(movesOf(cluster([stuck, hog, ...others], { ...LOADS, 'on-n2': 0 }))).toEqual(['stuck: n1 > n3']);
  });

  it('may get its room by a preemption of the same plan, which the move then needs', () => {
    const sized = (cpu: number) => ({ constraints: { requests: { cpu } } });
    const requests = [
      anUnreadyRequest('stuck', 'batch', 'n1', SPENT, 60, sized(2000)),
      aRequest('rich', 'batch', 'n2', { useful: 9000 }, sized(3000)),
      aRequest('waits', 'gold', undefined, { pending: 60 }, sized(1500)),
    ];
    const load = { slots: { n1: 1, n2: 2 }, daemons: { n1: 3700 } };
    const { moves } = plan(cluster(requests, { stuck: 100, rich: 100 }, load), reliefOptions());
    expect(moves.map(({ pod, to }) => [pod.name, to])).toEqual([
      ['rich', undefined],
      ['waits', 'n2'],
      ['stuck', 'n2'],
    ]);
    expect(moves.map(({ after }) => after)).toEqual([[], [0], [0]]);
  });

  it('may suit it only behind the moves of pods that it must not run near, which the move then needs', () => {
    const zones = { n1: 'z', n2: 'x', n3: 'y', n4: 'x' };
    const nodes = Object.entries(zones).map(([name, zone]) => aNode(name, { labels: { zone } }));
    const within = (zone: string) => new Map([['zone', zone]]);
    const moved = (app: string) => {
      const requests = [
        aRequest('waits', 'free', undefined, {}),
        anUnreadyRequest('near', 'batch', 'n2', SHORTER, 60, {
          labels: { 'evenkeel.dev/service-class': 'batch', app },
          constraints: { nodeSelector: within('y') },
        }),
        anUnreadyRequest('tied', 'batch', 'n1', SHORT, 60, {
          constraints: { nodeSelector: within('x'), podAntiAffinity: [anAffinityTerm({ app: 'one' })] },
        }),
      ];
      const snapshot = cluster(requests, { near: 100, tied: 100 }, { nodes, daemons: { n1: 3800, n2: 3800 } });
      return plan(snapshot, reliefOptions()).moves.map(({ pod, to, after }) => [pod.name, to, after]);
    };
    expect(moved('one')).toEqual([
      ['waits', 'n3', []],
      ['near', 'n3', []],
      ['tied', 'n4', [1]],
    ]);
    expect(moved('other')).toEqual([
      ['waits', 'n3', []],
      ['near', 'n3', []],
      ['tied', 'n4', []],
    ]);
  });
});

describe('few moves', () => {
  const gold = aRequest('gold', 'gold', 'n1', SHORT);
  const batch = aRequest('batch', 'batch', 'n1', SHORT);
  const pod = (name: string, times = SHORT) => aRequest(name, 'batch', 'n1', times);

  it('are made until the node is overloaded no more, for the most urgent pods', () => {
    const shorter = pod('shorter', SHORTER);
    const snapshot = cluster([pod('short'), shorter, hog], { short: 400, shorter: 400, hog: 3200 });
    expect(movesOf(snapshot)).toEqual(['shorter: n1 > n2']);
    expect(reasonsOf(snapshot).get('short')).toMatchObject({ code: 'NotNeeded', numbers: { load: 0.9 } });
  });

  it('go by importance among those in danger', () => {
    const [a, b] = [aRequest('a', 'batch', 'n1', SHORTER), aRequest('b', 'gold', 'n1', SHORTER)];
    expect(movesOf(cluster([a, b, hog], { a: 400, b: 400, hog: 3200 }))).toEqual(['b: n1 > n2']);
  });

  it('relieve most among equals', () => {
    expect(movesOf(cluster([gold, batch, hog], { gold: 400, batch: 800, hog: 2800 }))).toEqual(['batch: n1 > n2']);
  });

  it('relieve most among equals, wherever these come in order', () => {
    const equals = ['a', 'b'].map((name) => pod(name));
    expect(movesOf(cluster([...equals, hog], { a: 400, b: 800, hog: 2800 }))).toEqual(['b: n1 > n2']);
    expect(movesOf(cluster([...equals, hog], { a: 800, b: 400, hog: 2800 }))).toEqual(['a: n1 > n2']);
    expect(movesOf(cluster([...equals, hog], { a: 600, b: 600, hog: 2800 }))).toEqual(['a: n1 > n2']);
  });

  it('spare whoever need not have left once another has', () => {
    const snapshot = cluster([pod('first', SHORTER), pod('second'), hog], { first: 100, second: 900, hog: 3000 });
    expect(movesOf(snapshot)).toEqual(['second: n1 > n3']);
    expect(reasonsOf(snapshot).get('first')?.code).toBe('NotNeeded');
  });

  it('spare nobody who does not serve where it is', () => {
    const first = anUnreadyRequest('first', 'batch', 'n1', SHORTER, 60);
    expect(movesOf(cluster([first, pod('second'), hog], { first: 100, second: 900, hog: 3000 }))).toHaveLength(2);
  });

  it('spare nobody whose move others may need', () => {
    const term = anAffinityTerm({ app: 'none' }, { topologyKey: 'kubernetes.io/hostname' });
    const first = aRequest('first', 'batch', 'n1', SHORTER, { constraints: { podAntiAffinity: [term] } });
    expect(movesOf(cluster([first, pod('second'), hog], { first: 100, second: 900, hog: 3000 }))).toHaveLength(2);
  });
});

describe('the budgets', () => {
  const two = [stuck, anUnreadyRequest('other', 'batch', 'n1', SHORT, 60), hog];
  const uses = { stuck: 300, other: 300, hog: 3500 };

  it('limit the moves', () => {
    const snapshot = cluster(two, uses);
    expect(movesOf(snapshot)).toHaveLength(2);
    const options = reliefOptions({ budgets: [aBudget({ perNode: 1 })] });
    expect(movesOf(snapshot, options)).toHaveLength(1);
    expect(reasonsOf(snapshot, options).get('stuck')?.code).toBe('PerNode');
    const { outcome } = plan(snapshot, options);
    expect(outcome.kind === 'Moves' && outcome.obstacle).toMatch(/^1 under pressure cannot be moved; the first: /);
  });

  it('are told when they allow nothing', () => {
    const { outcome } = plan(cluster(two, uses), reliefOptions({ budgets: [aBudget({ maxMoves: 0 })] }));
    expect(outcome.kind).toBe('BudgetExhausted');
  });

  it('leave no more than a plan can hold, those who were let in before included', () => {
    const waiting = Array.from({ length: 999 }, (_, place) =>
      aRequest(`w${place}`, 'free', undefined, {}, { constraints: { requests: {} } }),
    );
    const snapshot = cluster([...two, ...waiting], uses, { slots: { n1: 3, n2: 1200 } });
    const { moves } = plan(snapshot, reliefOptions());
    expect(moves).toHaveLength(1000);
    expect(moves.at(-1)?.pod.name).toBe('other');
    expect(reasonsOf(snapshot).get('stuck')).toMatchObject({ code: 'MaxMoves', numbers: { limit: 1000 } });
  });

  it('include PodDisruptionBudgets', () => {
    const snapshot = cluster(two, uses, { pdbs: [aPdb('all', { disruptionsAllowed: 1 })] });
    expect(movesOf(snapshot)).toHaveLength(1);
    expect([...reasonsOf(snapshot).values()].map(({ code }) => code)).toContain('PodDisruptionBudget');
  });

  it('are spent by evictions for those who wait first', () => {
    const sized = (cpu: number) => ({ constraints: { requests: { cpu } } });
    const requests = [
      anUnreadyRequest('stuck', 'batch', 'n1', SPENT, 60),
      aRequest('rich', 'batch', 'n2', { useful: 9000 }, sized(3000)),
      aRequest('waits', 'gold', undefined, { pending: 60 }, sized(3000)),
      aRequest('unpromised', 'none', 'n3', {}, sized(2000)),
    ];
    const snapshot = cluster(
      requests,
      { stuck: 300, rich: 100, unpromised: 100 },
      { slots: { n1: 1, n2: 1, n3: 2 }, daemons: { n1: 3500 } },
    );
    const within = (maxMoves: number) => movesOf(snapshot, reliefOptions({ budgets: [aBudget({ maxMoves })] }));
    expect(within(1)).toEqual(['rich: n2 > ', 'waits:  > n2']);
    expect(within(2)).toEqual(['rich: n2 > ', 'waits:  > n2', 'stuck: n1 > n3']);
  });
});

describe('explain', () => {
  it('says why a pod under pressure stays: no node can take it, and how many for which reason', () => {
    const others = ['n2', 'n3'].map((node) => aRequest(`on-${node}`, 'free', node, {}));
    const snapshot = cluster([stuck, hog, ...others], { ...LOADS, 'on-n2': 3300, 'on-n3': 3900 });
    const explained = explainPod(snapshot, reliefOptions(), stuck.pod.uid);
    expect(explained?.decision).toMatchObject({
      kind: 'Stays',
      code: 'NoFeasibleNode',
      numbers: { nodes: 3, overloaded: 2, crowded: 1, refused: 0 },
      message: expect.stringMatching(/^stays: it is not Ready and can wait 27 s, and n1 is overloaded \(100.00 %/),
    });
    expect(plan(snapshot, reliefOptions()).outcome).toMatchObject({ kind: 'NoBeneficialMove' });
  });

  it('says where it goes otherwise', () => {
    const explained = explainPod(cluster([stuck, hog], LOADS), reliefOptions(), stuck.pod.uid);
    expect(explained?.decision).toMatchObject({ kind: 'Moves', to: 'n2' });
  });
});

describe('the start-up time that counts', () => {
  it('is the one that was measured', () => {
    const { pod, ledger } = stuck;
    const slow = { pod, ledger: { ...ledger, startup: { hot: undefined, cold: aStartTime(60) } } };
    expect(movesOf(cluster([slow, hog], LOADS))).toEqual([]);
  });
});

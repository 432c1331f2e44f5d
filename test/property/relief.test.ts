import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import type { Move, Plan } from '../../src/plan/plan.ts';
import { plan } from '../../src/plan/planner.ts';
import { waitingTime } from '../../src/qos/waiting-time.ts';
import { aBudget } from '../support/builders/options.ts';
import { aServiceClass } from '../support/builders/service-levels.ts';
import { aContest, anUnreadyRequest, aRequest, qosOptions, type Request, reliefOptions } from '../support/gated.ts';

const RUNS = 1000;
const LIMIT = 0.9;
const PERIOD = 30;
const CLASSES = [1, 0.9, 0.9, 0.5, 0].map((slo, place) =>
  aServiceClass({ name: `class-${place}`, slo, importance: place + 1, safetyMargin: 30 }),
);
const NODES = ['n0', 'n1', 'n2', 'n3'] as const;
const MILLICORES = 4000;

interface Drawn {
  readonly node: (typeof NODES)[number] | undefined;
  readonly rank: number;
  readonly useful: number;
  readonly pending: number;
  readonly unready: number | undefined;
  readonly cpu: number;
  readonly use: number;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  node: fc.constantFrom('n0', 'n0', 'n0', ...NODES, undefined),
  rank: fc.nat({ max: CLASSES.length - 1 }),
  useful: fc.nat({ max: 1000 }),
  pending: fc.nat({ max: 100 }),
  unready: fc.constantFrom(undefined, undefined, 1, 60, 60),
  cpu: fc.constantFrom(100, 300, 900, 2500),
  use: fc.nat({ max: 1500 }),
});

const clusters = fc
  .record({
    slots: fc.integer({ min: 2, max: 6 }),
    requests: fc.array(drawn, { minLength: 4, maxLength: 20 }),
    daemons: fc.tuple(...NODES.map((name) => fc.constantFrom(0, 1000, name === 'n0' ? 3000 : 0))),
  })
  .map(({ slots, requests, daemons }): ClusterSnapshot => {
    const used = new Map<string, { readonly pods: number; readonly cpu: number }>();
    const built = requests.map((request, place) => {
      const { pods, cpu } = used.get(request.node ?? '') ?? { pods: 0, cpu: 0 };
      const fits = request.node !== undefined && pods < slots && cpu + request.cpu <= MILLICORES;
      if (fits) {
        used.set(request.node ?? '', { pods: pods + 1, cpu: cpu + request.cpu });
      }
      return build(`p${place}`, { ...request, node: fits ? request.node : undefined });
    });
    const bound = requests.flatMap(({ use }, place) =>
      built[place]?.pod.nodeName === undefined ? [] : [[`p${place}`, use] as const],
    );
    const load = {
      uses: Object.fromEntries(bound),
      daemons: Object.fromEntries(NODES.map((n, at) => [n, daemons[at] ?? 0])),
    };
    return aContest(Object.fromEntries(NODES.map((name) => [name, slots])), CLASSES, built, load);
  });

function build(name: string, { node, rank, useful, pending, unready, cpu }: Drawn): Request {
  const fields = { constraints: { requests: { cpu } } };
  return node === undefined || unready === undefined
    ? aRequest(name, `class-${rank}`, node, { useful, pending }, fields)
    : anUnreadyRequest(name, `class-${rank}`, node, { useful, pending }, unready, fields);
}

function isTransfer({ from, to }: Move): boolean {
  return from !== undefined && to !== undefined;
}

/** Loads of the nodes, as fractions, after so many moves; pods without a sample are taken to use what they request. */
function loadsAfter({ usage, pods, nodes }: ClusterSnapshot, moves: readonly Move[]): ReadonlyMap<string, number> {
  const loads = new Map<string, number>(nodes.map(({ name }) => [name, usage?.nodes.get(name)?.cpu ?? 0]));
  for (const { pod, from, to } of moves) {
    const request = pods.find(({ uid }) => uid === pod.uid)?.constraints.requests.cpu ?? 0;
    const use = usage?.pods.get(`${pod.namespace}/${pod.name}`)?.cpu ?? request;
    loads.set(from ?? '', (loads.get(from ?? '') ?? 0) - use);
    loads.set(to ?? '', (loads.get(to ?? '') ?? 0) + use);
  }
  return new Map([...loads].map(([name, load]) => [name, load / MILLICORES]));
}

/** How long a pod can wait, and the margin of its class. */
function metricOf({ serviceLevels, takenAt }: ClusterSnapshot, { pod }: Move, running: boolean) {
  const ledger = serviceLevels.ledgers.get(`uid-${pod.name}`);
  const promised = serviceLevels.classes.get(ledger?.className ?? '');
  if (ledger === undefined || promised === undefined) {
    throw new Error(`nothing is known of ${pod.name}`);
  }
  const replica = { running, instance: undefined };
  const metric = waitingTime(ledger, promised, replica, takenAt, promised.expectedStartup);
  return { metric, margin: promised.safetyMargin };
}

function overfull({ nodes, pods }: ClusterSnapshot, where: ReadonlyMap<string, string | undefined>): readonly string[] {
  return nodes.flatMap(({ name, allocatable }) => {
    const here = pods.filter((pod) => where.get(pod.uid) === name);
    const cpu = here.reduce((sum, { constraints }) => sum + constraints.requests.cpu, 0);
    return here.length > allocatable.pods || cpu > allocatable.cpu ? [name] : [];
  });
}

/** Makes the moves in this order; nodes that are overfull at any time. */
function overfullAt(snapshot: ClusterSnapshot, moves: readonly Move[]): readonly string[] {
  const where = new Map(snapshot.pods.map(({ uid, nodeName }) => [uid, nodeName]));
  return moves.flatMap(({ pod, to }) => {
    where.set(pod.uid, to);
    return overfull(snapshot, where);
  });
}

/** All that need nobody to leave first, then those who leave, then the rest. */
function hasty({ moves }: Plan): readonly Move[] {
  const leave = moves.filter(({ to }) => to === undefined);
  const others = moves.filter(({ to }) => to !== undefined);
  return [
    ...others.filter(({ after }) => after.length === 0),
    ...leave,
    ...others.filter(({ after }) => after.length > 0),
  ];
}

describe('relief of overloaded nodes', () => {
  it('takes from overloaded nodes only, and never makes or keeps one so by what comes', () => {
    fc.assert(
      fc.property(clusters, (snapshot) => {
        const { moves } = plan(snapshot, reliefOptions());
        const end = loadsAfter(snapshot, moves);
        for (const [place, { from = '', to = '' }] of moves.entries()) {
          if (isTransfer(moves[place] as Move)) {
            expect(loadsAfter(snapshot, moves.slice(0, place)).get(from)).toBeGreaterThan(LIMIT);
            expect(loadsAfter(snapshot, moves.slice(0, place + 1)).get(to)).toBeLessThanOrEqual(LIMIT);
            expect(end.get(to)).toBeLessThanOrEqual(LIMIT);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('evicts nobody more than without: those who wait are served first, and as they would be', () => {
    fc.assert(
      fc.property(clusters, (snapshot) => {
        const { moves } = plan(snapshot, reliefOptions());
        const preemptionPass = plan(snapshot, qosOptions('Standard')).moves;
        expect(moves.slice(0, preemptionPass.length)).toEqual(preemptionPass);
        expect(moves.slice(preemptionPass.length).every(isTransfer)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('moves no Ready pod that cannot afford it, and nobody who can wait for the next run', () => {
    fc.assert(
      fc.property(clusters, (snapshot) => {
        for (const move of plan(snapshot, reliefOptions()).moves.filter(isTransfer)) {
          const ready = snapshot.pods.find(({ uid }) => uid === move.pod.uid)?.ready === true;
          const { metric, margin } = metricOf(snapshot, move, ready);
          expect(metric).toBeLessThan(margin + PERIOD);
          expect(!ready || metric > 0).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('is feasible at every prefix, moves no pod twice, and says who has to leave first (1, 2)', () => {
    fc.assert(
      fc.property(clusters, (snapshot) => {
        const found = plan(snapshot, reliefOptions());
        expect(new Set(found.moves.map(({ pod }) => pod.uid)).size).toBe(found.moves.length);
        expect(overfullAt(snapshot, found.moves)).toEqual([]);
        expect(overfullAt(snapshot, hasty(found))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('keeps within the budgets together with evictions (3)', () => {
    fc.assert(
      fc.property(clusters, fc.nat({ max: 3 }), fc.nat({ max: 2 }), (snapshot, maxMoves, perNode) => {
        const { moves } = plan(snapshot, reliefOptions({ budgets: [aBudget({ maxMoves, perNode })] }));
        const left = moves.flatMap(({ from }) => from ?? []);
        expect(left.length).toBeLessThanOrEqual(maxMoves);
        expect(NODES.every((name) => left.filter((from) => from === name).length <= perNode)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('gives the same plan for the same input in any order, and changes nothing of it (6, 13)', () => {
    fc.assert(
      fc.property(clusters, (snapshot) => {
        const before = JSON.stringify([snapshot.pods, snapshot.nodes]);
        const first = JSON.stringify(plan(snapshot, reliefOptions()));
        const turned = { ...snapshot, pods: snapshot.pods.toReversed(), nodes: snapshot.nodes.toReversed() };
        expect(JSON.stringify(plan(turned, reliefOptions()))).toBe(first);
        expect(JSON.stringify([snapshot.pods, snapshot.nodes])).toBe(before);
      }),
      { numRuns: RUNS / 4 },
    );
  });

  it('is found in some of these clusters, with preemptions and without', () => {
    const found = fc.sample(clusters, { numRuns: RUNS, seed: 1 }).map((snapshot) => plan(snapshot, reliefOptions()));
    const moves = found.map((each) => each.moves).filter((each) => each.some(isTransfer));
    expect(moves.length).toBeGreaterThan(RUNS / 10);
    expect(moves.filter((each) => !each.every(isTransfer)).length).toBeGreaterThan(RUNS / 20);
  });
});

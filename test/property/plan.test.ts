import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { bytes, epochSeconds, milliCpu, seconds } from '../../src/model/units.ts';
import type { PolicyOptions } from '../../src/plan/options.ts';
import type { Plan, Transfer } from '../../src/plan/plan.ts';
import { plan } from '../../src/plan/planner.ts';
import { applyPlan, statesOf } from '../support/apply-plan.ts';
import { healthySnapshot, optionsArbitrary } from '../support/arbitraries.ts';
import { aBudget, greedyLb, refineLb, someOptions } from '../support/builders/options.ts';
import { aNode, aPastMove, aSample, NOW } from '../support/builders.ts';
import { isTolerated } from '../support/naive-scheduler.ts';
import { misplacedPods, type Picture, pictureOf, ROUNDING } from '../support/oracle.ts';
import { transfersOf, unitsOf } from '../support/transfers.ts';

const RUNS = { numRuns: 1000 };

/** Whether affinity and spread let the pod come to a node from where it is. */
function canCome(uid: string, to: string, state: ClusterSnapshot | undefined): boolean {
  const pod = state?.pods.find((each) => each.uid === uid);
  const node = state?.nodes.find(({ name }) => name === to);
  return state !== undefined && pod !== undefined && node !== undefined && isTolerated(pod, node, state);
}

function withoutPdbs(snapshot: ClusterSnapshot): ClusterSnapshot {
  return { ...snapshot, pdbs: [] };
}

function sortedLoads(picture: Picture | undefined): readonly number[] {
  return [...(picture?.loads.values() ?? [])].sort((left, right) => right - left);
}

/** Whether the first load that differs is lower, or none differs by more than rounding does. */
function isBelow(left: readonly number[], right: readonly number[]): boolean {
  const place = left.findIndex((load, index) => Math.abs(load - (right[index] ?? 0)) > ROUNDING);
  return place < 0 || (left[place] ?? 0) < (right[place] ?? 0);
}

/** A permutation of `items` that `keys` decides. */
function shuffled<Item>(items: readonly Item[], keys: readonly number[]): readonly Item[] {
  return items
    .map((item, index) => ({ item, key: keys[index % keys.length] ?? 0, index }))
    .sort((left, right) => left.key - right.key || right.index - left.index)
    .map(({ item }) => item);
}

function textOf(outcome: Plan['outcome']): string {
  return (outcome.kind === 'Moves' ? outcome.obstacle : outcome.message) ?? '';
}

describe('any plan', () => {
  it('is feasible at every prefix (invariant 1)', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, (snapshot, options) => {
        const found = plan(snapshot, options);
        const states = statesOf(snapshot, found);
        expect(states.flatMap(misplacedPods)).toEqual([]);
        expect(transfersOf(found).filter(({ pod, to }, index) => !canCome(pod.uid, to, states[index]))).toEqual([]);
      }),
      RUNS,
    );
  });

  it('moves a pod at most once, from its own node to another one (invariant 2)', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, (snapshot, options) => {
        const { moves } = plan(snapshot, options);
        expect(new Set(moves.map(({ pod }) => pod.uid)).size).toBe(moves.length);
        for (const { pod, from, to } of moves) {
          expect(snapshot.pods.find(({ uid }) => uid === pod.uid)?.nodeName).toBe(from);
          expect(to).not.toBe(from);
        }
      }),
      RUNS,
    );
  });

  it('never moves what is protected (invariant 2)', () => {
    const protections: readonly Partial<ClusterSnapshot['pods'][number]>[] = [
      { mirror: true },
      { owner: undefined },
      { owner: { kind: 'DaemonSet', name: 'd', uid: 'd' } },
      { owner: { kind: 'Job', name: 'j', uid: 'j' } },
      { terminating: true },
      { ready: false },
      { phase: 'Pending' },
      { localStorage: true },
      { priority: 2_000_000_000 },
      { annotations: new Map([['karpenter.sh/do-not-disrupt', 'true']]) },
    ];
    fc.assert(
      fc.property(
        healthySnapshot(),
        optionsArbitrary,
        fc.array(fc.nat(), { minLength: 1 }),
        (snapshot, options, choices) => {
          const isProtected = (index: number): boolean => (choices[index % choices.length] ?? 0) % 2 === 0;
          const pods = snapshot.pods.map((pod, index) => {
            const choice = choices[index % choices.length] ?? 0;
            return isProtected(index) ? { ...pod, ...protections[(choice >> 1) % protections.length] } : pod;
          });
          const { moves, rejections } = plan({ ...snapshot, pods }, options);
          const fixed = new Set(pods.filter((_, index) => isProtected(index)).map(({ uid }) => uid));
          expect(moves.filter(({ pod }) => fixed.has(pod.uid))).toEqual([]);
          expect(rejections.pods.length + moves.length).toBe(pods.length);
        },
      ),
      RUNS,
    );
  });

  it('keeps every budget at every prefix (invariant 3)', () => {
    const limits = fc.record({
      maxMoves: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
      perNode: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
      perNamespace: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
      share: fc.option(fc.constantFrom(0, 0.05, 0.2, 0.31), { nil: undefined }),
    });
    const strategies = [refineLb(), greedyLb(), refineLb({ refinements: 'None' }), greedyLb({ minimizeMoves: false })];
    fc.assert(
      fc.property(
        healthySnapshot(),
        fc.constantFrom(...strategies),
        fc.array(limits, { maxLength: 2 }),
        (snapshot, strategy, entries) => {
          const budgets = entries.map(({ share, ...rest }) =>
            aBudget({ ...rest, perOwner: share === undefined ? undefined : { kind: 'Share', share } }),
          );
          const moves = transfersOf(
            plan(snapshot, someOptions({ strategy, budgets, thresholds: { trigger: 0, minGain: 0 } })),
          );
          const most = (counts: Iterable<number>): number => Math.max(0, ...counts);
          const tally = (key: (move: Transfer) => string): number =>
            most([...Map.groupBy(moves, key).values()].map(({ length }) => length));
          for (const { maxMoves = 1000, perNode = 1000, perNamespace = 1000, share = 1000 } of entries) {
            expect(moves.length).toBeLessThanOrEqual(maxMoves);
            expect(tally(({ from }) => from)).toBeLessThanOrEqual(perNode);
            expect(tally(({ pod }) => pod.namespace)).toBeLessThanOrEqual(perNamespace);
            expect(tally(({ owner }) => owner.uid)).toBeLessThanOrEqual(Math.ceil(share * 10));
          }
          const allowed = snapshot.pdbs[0]?.disruptionsAllowed ?? 1000;
          expect(moves.filter(({ owner }) => owner.name === 'web').length).toBeLessThanOrEqual(allowed);
        },
      ),
      RUNS,
    );
  });

  it('keeps budgets in windows and over time at every prefix: those that are open, and only those (invariant 3)', () => {
    // It is 12:00 in UTC; the first window is open, the second is not.
    const windows = { open: '0 12 * * *', closed: '0 13 * * *' } as const;
    const startups: Readonly<Record<string, number>> = { web: 5, api: 20, db: 40 };
    const limits = fc.record({
      when: fc.constantFrom('always', 'open', 'closed'),
      maxMoves: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
      limit: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
      window: fc.constantFrom(60, 3600),
    });
    const losses = fc.record({ ago: fc.integer({ min: 0, max: 4000 }), lost: fc.integer({ min: 0, max: 90 }) });
    fc.assert(
      fc.property(
        healthySnapshot({ plain: true }),
        fc.constantFrom(refineLb({ overload: 1 }), greedyLb(), greedyLb({ minimizeMoves: false })),
        fc.array(limits, { maxLength: 3 }),
        fc.array(losses, { maxLength: 4 }),
        (snapshot, strategy, entries, past) => {
          const pods = snapshot.pods.map((pod) => {
            const startup = startups[pod.owner?.name ?? ''] ?? 0;
            return { ...pod, readySince: epochSeconds(pod.createdAt + startup) };
          });
          const pastMoves = past.map(({ ago, lost }, index) =>
            aPastMove(`gone-${index}`, {
              owner: { kind: 'ReplicaSet', name: 'gone', uid: 'gone' },
              startedAt: epochSeconds(NOW - ago),
              unavailable: seconds(lost),
            }),
          );
          const budgets = entries.map(({ when, maxMoves, limit, window }) =>
            aBudget({
              maxMoves,
              overhead: limit === undefined ? undefined : { limit: seconds(limit), window: seconds(window) },
              window:
                when === 'always'
                  ? undefined
                  : { schedule: windows[when], timeZone: 'Etc/UTC', duration: seconds(3600) },
            }),
          );
          const options = someOptions({ strategy, budgets, thresholds: { trigger: 0, minGain: 0 } });
          const { moves } = plan({ ...snapshot, pods, pastMoves }, options);
          const cost = moves.reduce((sum, { owner }) => sum + (startups[owner.name] ?? 0), 0);
          expect(moves.reduce((sum, move) => sum + move.cost, 0)).toBe(cost);
          for (const { maxMoves = 1000, limit = 1e9, window } of entries.filter(({ when }) => when !== 'closed')) {
            const inside = ({ ago, lost }: { ago: number; lost: number }): number =>
              Array.from({ length: lost }, (_, second) => second - ago).filter((second) => second >= -window).length;
            const lost = past.reduce((sum, each) => sum + inside(each), 0);
            expect(moves.length).toBeLessThanOrEqual(maxMoves);
            expect(moves.length === 0 || lost + cost <= limit).toBe(true);
          }
          if (entries.every(({ when }) => when === 'closed')) {
            expect(moves).toEqual(plan({ ...snapshot, pods }, { ...options, budgets: [] }).moves);
          }
        },
      ),
      RUNS,
    );
  });

  it('gains at least minGain with every move, or two that go together, and so lowers the loads, sorted from the highest (invariant 4)', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, (snapshot, options) => {
        const found = plan(snapshot, options);
        const pictures = statesOf(snapshot, found).map((state) => pictureOf(state, options));
        for (const { start, unit } of unitsOf(found)) {
          const [before, after] = [pictures[start], pictures[start + unit.length]];
          const highest = (picture: typeof before): number =>
            Math.max(...unit.flatMap(({ from, to }) => [picture?.loads.get(from) ?? 0, picture?.loads.get(to) ?? 0]));
          const gain = unit.reduce((sum, move) => sum + move.gain, 0);
          expect(gain).toBeGreaterThanOrEqual(unit.length * options.thresholds.minGain);
          expect(highest(before) - highest(after)).toBeCloseTo(gain, 6);
          expect(isBelow(sortedLoads(after), sortedLoads(before))).toBe(true);
        }
        const total = found.moves.reduce((sum, { gain }) => sum + gain, 0);
        expect(found.moves.length === 0 || total >= options.thresholds.minImprovement - ROUNDING).toBe(true);
      }),
      RUNS,
    );
  });

  it('gains at least minGain with every move, or two that go together, that names no other, also when no other is made', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, (snapshot, options) => {
        const found = plan(snapshot, options);
        const before = pictureOf(snapshot, options);
        for (const { unit } of unitsOf(found).filter(({ start }) => found.moves[start]?.after.length === 0)) {
          const after = pictureOf(applyPlan(snapshot, { ...found, moves: unit }), options);
          const highest = ({ loads }: Picture): number =>
            Math.max(...unit.flatMap(({ from, to }) => [loads.get(from) ?? 0, loads.get(to) ?? 0]));
          const minimum = unit.length * options.thresholds.minGain;
          expect(highest(before) - highest(after)).toBeGreaterThanOrEqual(minimum - ROUNDING);
        }
      }),
      RUNS,
    );
  });

  it('moves nothing for less than minReduction of the deviation, or the trigger on a node, when no budget holds it back', () => {
    fc.assert(
      fc.property(healthySnapshot().map(withoutPdbs), optionsArbitrary, (snapshot, some) => {
        const options = { ...some, budgets: [] };
        const { trigger, minReduction } = options.thresholds;
        const found = plan(snapshot, options);
        const [before, after] = [snapshot, applyPlan(snapshot, found)].map((state) => pictureOf(state, options));
        const falls = [...(before?.loads ?? [])].map(([node, load]) => load - (after?.loads.get(node) ?? 0));
        const reduction = 1 - Math.sqrt((after?.objective ?? 0) / (before?.objective ?? 0));
        const isWorthIt = Math.max(0, reduction) >= minReduction - ROUNDING || Math.max(...falls) >= trigger - ROUNDING;
        expect(found.moves.length === 0 || isWorthIt).toBe(true);
      }),
      RUNS,
    );
  });

  it('leaves nothing to the next plan (invariant 5)', () => {
    fc.assert(
      fc.property(healthySnapshot().map(withoutPdbs), optionsArbitrary, (snapshot, options) => {
        expect(plan(applyPlan(snapshot, plan(snapshot, options)), options).moves).toEqual([]);
      }),
      RUNS,
    );
  });

  it('holds these invariants when the load is that of the requests (1, 5)', () => {
    fc.assert(
      fc.property(healthySnapshot().map(withoutPdbs), optionsArbitrary, (snapshot, rest) => {
        const options: PolicyOptions = { ...rest, load: { ...rest.load, source: 'Requests' } };
        const found = plan({ ...snapshot, usage: undefined }, options);
        expect(statesOf(snapshot, found).flatMap(misplacedPods)).toEqual([]);
        expect(plan(applyPlan({ ...snapshot, usage: undefined }, found), options).moves).toEqual([]);
      }),
      RUNS,
    );
  });

  it('does not depend on the order of its input (invariant 6)', () => {
    fc.assert(
      fc.property(
        healthySnapshot(),
        optionsArbitrary,
        fc.array(fc.nat(), { minLength: 1 }),
        (snapshot, options, keys) => {
          const mixed: ClusterSnapshot = {
            ...snapshot,
            nodes: shuffled(snapshot.nodes, keys),
            pods: shuffled(snapshot.pods, keys),
            pdbs: shuffled(snapshot.pdbs, keys),
            workloads: new Map(shuffled([...snapshot.workloads], keys)),
            usage: snapshot.usage && {
              nodes: new Map(shuffled([...snapshot.usage.nodes], keys)),
              pods: new Map(shuffled([...snapshot.usage.pods], keys)),
            },
          };
          expect(JSON.stringify(plan(mixed, options))).toBe(JSON.stringify(plan(snapshot, options)));
        },
      ),
      RUNS,
    );
  });

  it('changes only names when everything is renamed in the same order (invariant 6)', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, (snapshot, options) => {
        const rename = (name: string): string => `x-${name}`;
        const renamed: ClusterSnapshot = {
          ...snapshot,
          nodes: snapshot.nodes.map((node) => ({ ...node, name: rename(node.name) })),
          pods: snapshot.pods.map((pod) => ({ ...pod, nodeName: rename(pod.nodeName ?? '') })),
          usage: snapshot.usage && {
            nodes: new Map([...snapshot.usage.nodes].map(([name, sample]) => [rename(name), sample])),
            pods: snapshot.usage.pods,
          },
        };
        const expected = transfersOf(plan(snapshot, options)).map((move) => [
          move.pod.uid,
          rename(move.from),
          rename(move.to),
          move.gain,
        ]);
        expect(plan(renamed, options).moves.map((move) => [move.pod.uid, move.from, move.to, move.gain])).toEqual(
          expected,
        );
      }),
      RUNS,
    );
  });

  it('does not change when loads and capacities are scaled (invariant 7)', () => {
    fc.assert(
      fc.property(
        healthySnapshot(),
        optionsArbitrary,
        fc.constantFrom(2, 3, 7, 10, 1000),
        (snapshot, options, factor) => {
          const { moves } = plan(snapshot, options);
          expect(plan(scaled(snapshot, factor), options).moves).toEqual(moves);
        },
      ),
      RUNS,
    );
  });

  it('does not change when a cordoned or NotReady node is added (invariant 9)', () => {
    const extra = fc.record({
      name: fc.constantFrom('a-first', 'node-1x', 'z-last'),
      unschedulable: fc.boolean(),
      load: fc.integer({ min: 0, max: 4000 }),
      sampled: fc.boolean(),
    });
    fc.assert(
      fc.property(
        healthySnapshot(),
        optionsArbitrary,
        extra,
        (snapshot, options, { name, unschedulable, load, sampled }) => {
          // Without labels: kube-scheduler spreads over the domains of nodes that take no pods as well.
          const node = { ...aNode(name, { unschedulable, ready: unschedulable }), labels: new Map() };
          const usage = snapshot.usage && {
            nodes: new Map([...snapshot.usage.nodes, ...(sampled ? [[name, aSample(load)] as const] : [])]),
            pods: snapshot.usage.pods,
          };
          // But for what kube-scheduler would do: it puts pods that tolerate that on a cordoned node. Overloaded nodes are named.
          const withoutLeftOut = (text: string): string => text.replace(/(; |^)[\w-]+ takes no part at .*/, '');
          const { expectedHitRatio: _, outcome: known, ...before } = plan(snapshot, options);
          const {
            expectedHitRatio: __,
            outcome,
            ...after
          } = plan({ ...snapshot, nodes: [node, ...snapshot.nodes], usage }, options);
          expect(after).toEqual(before);
          expect(outcome.kind).toBe(known.kind);
          expect(withoutLeftOut(textOf(outcome))).toBe(withoutLeftOut(textOf(known)));
        },
      ),
      RUNS,
    );
  });

  it('leaves its input as it was (invariant 13)', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, (snapshot, options) => {
        const before = structuredClone({ snapshot, options });
        plan(snapshot, options);
        expect({ snapshot, options }).toEqual(before);
      }),
      RUNS,
    );
  });

  it('has a rejection for every pod that stays, and for no other (invariant 8 and "say no with data")', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, (snapshot, options) => {
        const { moves, rejections } = plan(snapshot, options);
        const named = [...moves, ...rejections.pods.map((pod) => ({ pod }))].map(({ pod }) => pod.uid).sort();
        expect(named).toEqual(snapshot.pods.map(({ uid }) => uid).sort());
        for (const { message, numbers } of rejections.reasons) {
          expect(message).not.toMatch(/NaN|undefined|Infinity/);
          expect(Object.values(numbers).every(Number.isFinite)).toBe(true);
        }
      }),
      RUNS,
    );
  });
});

function scaled(snapshot: ClusterSnapshot, factor: number): ClusterSnapshot {
  const scale = <Amounts extends { cpu: number; memory: number }>(amounts: Amounts): Amounts => ({
    ...amounts,
    cpu: milliCpu(amounts.cpu * factor),
    memory: bytes(amounts.memory * factor),
  });
  const scaleAll = <Amounts extends { cpu: number; memory: number }>(samples: ReadonlyMap<string, Amounts>) =>
    new Map([...samples].map(([name, sample]) => [name, scale(sample)]));
  return {
    ...snapshot,
    nodes: snapshot.nodes.map((node) => ({ ...node, allocatable: scale(node.allocatable) })),
    pods: snapshot.pods.map((pod) => ({
      ...pod,
      constraints: { ...pod.constraints, requests: scale(pod.constraints.requests) },
    })),
    usage: snapshot.usage && { nodes: scaleAll(snapshot.usage.nodes), pods: scaleAll(snapshot.usage.pods) },
  };
}

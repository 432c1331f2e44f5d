import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Taint } from '../../src/model/node.ts';
import type { PodInfo, SpreadConstraint } from '../../src/model/pod.ts';
import { matches } from '../../src/model/selector.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { epochSeconds, seconds } from '../../src/model/units.ts';
import { tolerates } from '../../src/plan/filters/taint-toleration.ts';
import type { RepairOptions } from '../../src/plan/options.ts';
import { plan } from '../../src/plan/planner.ts';
import { applyPlan, statesOf } from '../support/apply-plan.ts';
import { healthySnapshot, isAtHome, optionsArbitrary } from '../support/arbitraries.ts';
import { ALL_REPAIRS, aBudget, someOptions } from '../support/builders/options.ts';
import { aTaint } from '../support/builders/scheduling.ts';
import { selecting } from '../support/builders.ts';
import { isTolerated } from '../support/naive-scheduler.ts';

const RUNS = { numRuns: 500 };
const FAILED: RepairOptions['failed'] = {
  reasons: undefined,
  exitCodes: undefined,
  includingInit: false,
  minAge: seconds(0),
  excludedOwnerKinds: new Set(),
};
const HARD: RepairOptions = {
  ...ALL_REPAIRS,
  taints: { soft: false, includedTaints: undefined, excludedTaints: new Set() },
  nodeAffinity: 'Required',
  topologySpread: { soft: false, tolerance: 0 },
};

/** A healthy cluster some of whose pods have been put on other nodes with a free slot, and some constraints only rank nodes. */
const misplaced = fc
  .record({
    snapshot: healthySnapshot(),
    targets: fc.array(fc.option(fc.nat(), { nil: undefined, freq: 2 }), { minLength: 24, maxLength: 24 }),
    soft: fc.boolean(),
  })
  .map(({ snapshot, targets, soft }): ClusterSnapshot => {
    const { nodes } = snapshot;
    const templates = new Map<PodInfo['constraints'], PodInfo['constraints']>();
    const softened = (constraints: PodInfo['constraints']): PodInfo['constraints'] => {
      const spread = constraints.spread.map((each) => ({ ...each, whenUnsatisfiable: 'ScheduleAnyway' as const }));
      const known = templates.get(constraints) ?? (soft ? { ...constraints, spread } : constraints);
      templates.set(constraints, known);
      return known;
    };
    const pods = snapshot.pods.map((pod) => ({ ...pod, constraints: softened(pod.constraints) }));
    pods.forEach((pod, place) => {
      const choice = targets[place];
      const node = choice === undefined ? undefined : nodes[choice % nodes.length];
      const beside = pods.filter(({ nodeName }) => nodeName === node?.name);
      if (node !== undefined && beside.length < node.allocatable.pods) {
        pods[place] = { ...pod, nodeName: node.name };
      }
    });
    return { ...snapshot, pods };
  });

/** The same where nodes have taints that only rank them, and pods prefer a zone. */
const ranked = fc
  .record({
    snapshot: misplaced,
    cold: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
    zones: fc.record({
      web: fc.constantFrom(undefined, 'a', 'b'),
      api: fc.constantFrom(undefined, 'a', 'b'),
      db: fc.constantFrom(undefined, 'a', 'b'),
    }),
  })
  .map(({ snapshot, cold, zones }): ClusterSnapshot => {
    const byOwner = new Map<string, string | undefined>(Object.entries(zones));
    const templates = new Map<string, Map<PodInfo['constraints'], PodInfo['constraints']>>();
    const preferring = (owner: string, constraints: PodInfo['constraints']): PodInfo['constraints'] => {
      const zone = byOwner.get(owner);
      const known = templates.get(owner) ?? new Map<PodInfo['constraints'], PodInfo['constraints']>();
      const expressions = zone === undefined ? undefined : selecting({ zone }).requirements;
      const preferredNodeAffinity = expressions ? [{ weight: 10, term: { expressions, fields: [] } }] : [];
      const own = known.get(constraints) ?? { ...constraints, preferredNodeAffinity };
      templates.set(owner, known.set(constraints, own));
      return own;
    };
    return {
      ...snapshot,
      nodes: snapshot.nodes.map((node, place) =>
        cold[place] === true ? { ...node, taints: [...node.taints, aTaint('cold', '', 'PreferNoSchedule')] } : node,
      ),
      pods: snapshot.pods.map((pod) => ({ ...pod, constraints: preferring(pod.owner?.name ?? '', pod.constraints) })),
    };
  });

/** Pods beyond what an even spread of their controller has on each node; apart from the code under test. */
function crowdedPods({ nodes, pods }: ClusterSnapshot): number {
  const mayRun = ({ constraints: { nodeSelector, requests, tolerations } }: PodInfo): number =>
    nodes.filter(
      ({ labels, taints, allocatable }) =>
        [...nodeSelector].every(([key, value]) => labels.get(key) === value) &&
        taints.every((each) => each.effect === 'PreferNoSchedule' || tolerations.some((one) => tolerates(one, each))) &&
        [...requests.extended].every(([name, amount]) => amount <= (allocatable.extended.get(name) ?? 0)) &&
        requests.cpu <= allocatable.cpu,
    ).length;
  return [...Map.groupBy(pods, ({ owner }) => owner?.uid).values()].reduce((sum, own) => {
    const most = Math.ceil(own.length / Math.max(1, ...own.map(mayRun)));
    const counts = [...Map.groupBy(own, ({ nodeName }) => nodeName).values()].map(({ length }) => length);
    return sum + counts.reduce((total, count) => total + Math.max(0, count - most), 0);
  }, 0);
}

/** Weights of preferred terms that pods miss on their nodes. */
function missedPreferences({ nodes, pods }: ClusterSnapshot): number {
  const labelsOf = (pod: PodInfo) => nodes.find(({ name }) => name === pod.nodeName)?.labels ?? new Map();
  return pods.reduce(
    (sum, pod) =>
      sum +
      pod.constraints.preferredNodeAffinity.reduce(
        (missed, { weight, term }) =>
          missed + (matches({ requirements: term.expressions }, labelsOf(pod)) ? 0 : weight),
        0,
      ),
    0,
  );
}

/** How much is wrong, by repair; apart from the code under test. */
function wrongIn(snapshot: ClusterSnapshot) {
  const { nodes, pods } = snapshot;
  const nodeOf = (pod: PodInfo) => nodes.find(({ name }) => name === pod.nodeName);
  const sum = (count: (pod: PodInfo) => number): number => pods.reduce((total, pod) => total + count(pod), 0);
  const excess = (kind: SpreadConstraint['whenUnsatisfiable']): number => {
    const carried = new Map<string, readonly [PodInfo, SpreadConstraint]>();
    for (const pod of pods) {
      for (const constraint of pod.constraints.spread.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === kind)) {
        carried.set(JSON.stringify([constraint, pod.constraints.spread, [...pod.constraints.nodeSelector]]), [
          pod,
          constraint,
        ]);
      }
    }
    return [...carried.values()].reduce((total, [pod, constraint]) => total + skewAbove(pod, constraint), 0);
  };
  const skewAbove = (pod: PodInfo, { topologyKey, selector, maxSkew, minDomains }: SpreadConstraint): number => {
    const keys = pod.constraints.spread.map((each) => each.topologyKey);
    const eligible = nodes.filter(
      ({ labels }) =>
        keys.every((key) => labels.has(key)) &&
        [...pod.constraints.nodeSelector].every(([key, value]) => labels.get(key) === value),
    );
    const counts = new Map(eligible.map(({ labels }) => [labels.get(topologyKey), 0]));
    for (const other of pods) {
      const node = eligible.find(({ name }) => name === other.nodeName);
      if (node !== undefined && selector !== undefined && matches(selector, other.labels)) {
        const value = node.labels.get(topologyKey);
        counts.set(value, (counts.get(value) ?? 0) + 1);
      }
    }
    const least = counts.size < minDomains ? 0 : Math.min(...counts.values());
    return counts.size === 0 ? 0 : Math.max(0, Math.max(...counts.values()) - least - maxSkew);
  };
  const untolerated = (wanted: Taint['effect']): number =>
    sum(
      (pod) =>
        (nodeOf(pod)?.taints ?? []).filter(
          (taint) => taint.effect === wanted && !pod.constraints.tolerations.some((each) => tolerates(each, taint)),
        ).length,
    );
  return {
    taints: untolerated('NoSchedule'),
    softTaints: untolerated('PreferNoSchedule'),
    preferences: missedPreferences(snapshot),
    duplicates: crowdedPods(snapshot),
    affinity: sum((pod) =>
      [...pod.constraints.nodeSelector].every(([key, value]) => nodeOf(pod)?.labels.get(key) === value) ? 0 : 1,
    ),
    antiAffinity: sum((pod) =>
      pod.constraints.podAntiAffinity.reduce(
        (total, { selector, topologyKey }) =>
          total +
          pods.filter((other) => {
            const value = nodeOf(pod)?.labels.get(topologyKey);
            const isNear = value !== undefined && nodeOf(other)?.labels.get(topologyKey) === value;
            return other !== pod && isNear && selector !== undefined && matches(selector, other.labels);
          }).length,
        0,
      ),
    ),
    hardSpread: excess('DoNotSchedule'),
    softSpread: excess('ScheduleAnyway'),
  };
}

/** By the naive scheduler, which knows no constraints that only rank nodes. */
function canCome(pod: PodInfo, node: ClusterSnapshot['nodes'][number], state: ClusterSnapshot): boolean {
  const spread = pod.constraints.spread.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
  return isTolerated({ ...pod, constraints: { ...pod.constraints, spread } }, node, state);
}

type Wrong = ReturnType<typeof wrongIn>;

/** What is more wrong than before; soft rules may give way to hard ones. */
function worse(before: Wrong, after: Wrong, repair: RepairOptions): readonly string[] {
  const hard = ['taints', 'affinity', 'antiAffinity', 'hardSpread'] as const;
  const isBetter = hard.some((name) => after[name] < before[name]);
  const soft = [
    ...(repair.topologySpread?.soft === true ? (['softSpread'] as const) : []),
    ...(repair.taints?.soft === true ? (['softTaints'] as const) : []),
    ...(repair.nodeAffinity === 'Preferred' ? (['preferences'] as const) : []),
    ...(repair.duplicates ? (['duplicates'] as const) : []),
  ];
  return [...hard, ...(isBetter ? [] : soft)].filter((name) => after[name] > before[name]);
}

describe('repairs', () => {
  it('are feasible at every prefix, and raise nothing that they repair', () => {
    fc.assert(
      fc.property(misplaced, fc.constantFrom(HARD, ALL_REPAIRS), (snapshot, repair) => {
        const found = plan(snapshot, someOptions({ strategy: { type: 'None' }, repair }));
        const states = statesOf(snapshot, found);
        found.moves.forEach(({ pod: { uid }, to }, place) => {
          const state = states[place] ?? snapshot;
          const pod = state.pods.find((each) => each.uid === uid);
          const node = state.nodes.find(({ name }) => name === to);
          const beside = state.pods.filter(({ nodeName }) => nodeName === to);
          expect(pod !== undefined && node !== undefined && isAtHome(pod, node, beside)).toBe(true);
          expect(pod !== undefined && node !== undefined && canCome(pod, node, state)).toBe(true);
          expect(worse(wrongIn(state), wrongIn(states[place + 1] ?? state), repair)).toEqual([]);
        });
      }),
      RUNS,
    );
  });

  it('leave nothing for a second plan', () => {
    fc.assert(
      fc.property(misplaced, fc.constantFrom(HARD, ALL_REPAIRS), (snapshot, repair) => {
        const options = someOptions({ strategy: { type: 'None' }, repair });
        const unlimited = { ...snapshot, pdbs: [] };
        const first = plan(unlimited, options);
        const again = plan(applyPlan(unlimited, first), options).moves;
        expect(again).toEqual([]);
      }),
      RUNS,
    );
  });

  it('leave next to nothing for a second plan with a strategy that moves pods on from where they put them', () => {
    const balancing = fc.tuple(misplaced, optionsArbitrary).filter(([, { strategy }]) => strategy.type !== 'None');
    const moving = fc.sample(balancing, { numRuns: 1000, seed: 11 }).flatMap(([snapshot, some]) => {
      const options = { ...some, repair: ALL_REPAIRS };
      const unlimited = { ...snapshot, pdbs: [] };
      const first = plan(unlimited, options);
      return first.moves.length === 0 ? [] : [plan(applyPlan(unlimited, first), options).moves.length];
    });
    expect(moving.length).toBeGreaterThan(500);
    // Pods that wait for each other to leave, and room that only the strategy makes for a repair.
    expect(moving.filter((again) => again > 0).length).toBeLessThan(0.01 * moving.length);
  });

  it('are feasible at every prefix with the moves of a strategy, no pod twice', () => {
    fc.assert(
      fc.property(misplaced, optionsArbitrary, fc.constantFrom(HARD, ALL_REPAIRS), (snapshot, options, repair) => {
        const found = plan(snapshot, { ...options, repair });
        const states = statesOf(snapshot, found);
        found.moves.forEach(({ pod: { uid }, to }, place) => {
          const state = states[place] ?? snapshot;
          const pod = state.pods.find((each) => each.uid === uid);
          const node = state.nodes.find(({ name }) => name === to);
          expect(pod !== undefined && node !== undefined && canCome(pod, node, state)).toBe(true);
        });
        expect(new Set(found.moves.map(({ pod }) => pod.uid)).size).toBe(found.moves.length);
      }),
      RUNS,
    );
  });

  it('are not undone by the strategy, nor what they would repair next made by it', () => {
    fc.assert(
      fc.property(ranked, optionsArbitrary, fc.constantFrom(HARD, ALL_REPAIRS), (snapshot, options, repair) => {
        const found = plan(snapshot, { ...options, repair });
        const last = found.moves.findLastIndex((move) => move.repairs.length > 0);
        const states = statesOf(snapshot, found)
          .slice(last + 1)
          .map(wrongIn);
        states.forEach((after, place) => {
          expect(worse(states[place - 1] ?? after, after, repair)).toEqual([]);
        });
      }),
      RUNS,
    );
  });

  it('leave no more wrong with a strategy than without one', () => {
    fc.assert(
      fc.property(ranked, optionsArbitrary, fc.constantFrom(HARD, ALL_REPAIRS), (snapshot, options, repair) => {
        const [alone, both] = [{ ...options, strategy: { type: 'None' } } as const, options].map((each) =>
          wrongIn(applyPlan(snapshot, plan(snapshot, { ...each, repair }))),
        );
        expect(alone && both && worse(alone, both, repair)).toEqual([]);
      }),
      RUNS,
    );
  });

  it('leave no pod without a move or a reason, also where the strategy brings a pod back', () => {
    fc.assert(
      fc.property(misplaced, optionsArbitrary, (snapshot, options) => {
        const { moves, rejections } = plan(snapshot, { ...options, repair: ALL_REPAIRS });
        const named = [...moves.map(({ pod }) => pod.uid), ...rejections.pods.map(({ uid }) => uid)];
        expect(named.sort()).toEqual(snapshot.pods.map(({ uid }) => uid).sort());
      }),
      // In one plan of two hundred a pod comes back.
      { numRuns: 1500 },
    );
  });

  it('remove each failed pod at most once within the budgets, change no other repair, and leave none behind', () => {
    const failures = fc.array(
      fc.record({ pod: fc.nat(), age: fc.integer({ min: 0, max: 7200 }), owned: fc.boolean() }),
    );
    fc.assert(
      fc.property(misplaced, failures, fc.integer({ min: 0, max: 30 }), (snapshot, failed, maxMoves) => {
        const failedPods = failed.flatMap(({ pod: place, age, owned }, index): readonly PodInfo[] => {
          const like = snapshot.pods[place % Math.max(1, snapshot.pods.length)];
          const createdAt = epochSeconds(snapshot.takenAt - age);
          const owner = owned ? like?.owner : undefined;
          return like === undefined
            ? []
            : [{ ...like, uid: `failed-${index}`, name: `failed-${index}`, phase: 'Failed', owner, createdAt }];
        });
        const repair = { ...HARD, failed: FAILED };
        const options = someOptions({ strategy: { type: 'None' }, repair, budgets: [aBudget({ maxMoves })] });
        const found = plan({ ...snapshot, failedPods }, options);
        const removed = new Set(found.moves.flatMap((move) => ('removal' in move ? [move.pod.uid] : [])));
        const others = found.moves.filter((move) => !('removal' in move));
        expect(others).toEqual(plan(snapshot, options).moves);
        expect(found.moves.length).toBe(others.length + removed.size);
        expect(found.moves.length).toBeLessThanOrEqual(maxMoves);
        const left = failedPods.filter(({ uid }) => !removed.has(uid));
        const mayStay = found.moves.length === maxMoves;
        expect(left.every(({ owner }) => mayStay || owner === undefined)).toBe(true);
        const stays = new Set(found.rejections.pods.map(({ uid }) => uid));
        expect(failedPods.every(({ uid }) => removed.has(uid) !== stays.has(uid))).toBe(true);
      }),
      RUNS,
    );
  });
});

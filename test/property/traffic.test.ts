import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AppGraphInfo } from '../../src/model/app-graph.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { plan } from '../../src/plan/planner.ts';
import { applyPlan, statesOf } from '../support/apply-plan.ts';
import { healthySnapshot, isAtHome } from '../support/arbitraries.ts';
import { aBudget, someOptions, trafficAware } from '../support/builders/options.ts';
import { isTolerated } from '../support/naive-scheduler.ts';

const RUNS = { numRuns: 1000 };
const MINIMUM_SAVING = 1e6;

/** One AppGraph for all controllers of a namespace, each of which sends to the next. */
function graphsOf({ pods }: ClusterSnapshot, bandwidth: number): readonly AppGraphInfo[] {
  const owned = pods.filter(({ owner }) => owner !== undefined);
  return [...Map.groupBy(owned, ({ namespace }) => namespace)].map(([namespace, all]): AppGraphInfo => {
    const owners = new Map(all.flatMap(({ owner }) => (owner === undefined ? [] : [[owner.uid, owner] as const])));
    const members = [...owners.values()].map(({ kind, name, uid }) => ({ name: uid, workload: { kind, name } }));
    const edges = members
      .slice(1)
      .map(({ name }, place) => ({ from: members[place]?.name ?? '', to: name, bandwidth }));
    return { namespace, name: 'all', uid: `uid-${namespace}`, generation: 1, members, edges };
  });
}

const snapshots = fc
  .tuple(healthySnapshot(), fc.constantFrom(5e6, 50e6, 500e6))
  .map(([snapshot, bandwidth]) => ({ ...snapshot, appGraphs: graphsOf(snapshot, bandwidth) }));
const domains = fc.constantFrom('kubernetes.io/hostname', 'zone', 'topology.kubernetes.io/zone');
const budgets = fc.constantFrom([], [aBudget({ maxMoves: 2 })], [aBudget({ perNode: 1 })]);

describe('TrafficAware', () => {
  it('is feasible at every prefix, moves each pod once, and saves what its moves have to save', () => {
    let moved = 0;
    fc.assert(
      fc.property(snapshots, domains, budgets, (snapshot, domain, entries) => {
        const strategy = trafficAware({ domain, minSaving: MINIMUM_SAVING });
        const found = plan(snapshot, someOptions({ strategy, budgets: entries }));
        const states = statesOf(snapshot, found);
        found.moves.forEach(({ pod: { uid }, to }, place) => {
          const state = states[place] ?? snapshot;
          const pod = state.pods.find((each) => each.uid === uid);
          const node = state.nodes.find(({ name }) => name === to);
          const beside = state.pods.filter(({ nodeName }) => nodeName === to);
          expect(pod && node && isAtHome(pod, node, beside) && isTolerated(pod, node, state)).toBe(true);
        });
        expect(new Set(found.moves.map(({ pod }) => pod.uid)).size).toBe(found.moves.length);
        const { before, planned } = found.traffic ?? { before: { bandwidth: 0 }, planned: { bandwidth: 0 } };
        expect(before.bandwidth - planned.bandwidth).toBeGreaterThanOrEqual(
          0.999 * MINIMUM_SAVING * found.moves.length,
        );
        moved += found.moves.length;
      }),
      RUNS,
    );
    expect(moved).toBeGreaterThan(200);
  });

  it('plans the same whatever the order of nodes, pods and graphs', () => {
    fc.assert(
      fc.property(snapshots, domains, (snapshot, domain) => {
        const options = someOptions({ strategy: trafficAware({ domain }) });
        const other = {
          ...snapshot,
          nodes: snapshot.nodes.toReversed(),
          pods: snapshot.pods.toReversed(),
          appGraphs: snapshot.appGraphs.toReversed(),
        };
        expect(plan(other, options).moves).toEqual(plan(snapshot, options).moves);
      }),
      RUNS,
    );
  });

  it('says what passes between domains before a plan as it does after the one before', () => {
    fc.assert(
      fc.property(snapshots, domains, (snapshot, domain) => {
        const options = someOptions({ strategy: trafficAware({ domain }) });
        const found = plan(snapshot, options);
        const next = plan(applyPlan(snapshot, found), options);
        expect(next.traffic?.before.bandwidth ?? 0).toBeCloseTo(found.traffic?.planned.bandwidth ?? 0, 3);
      }),
      RUNS,
    );
  });
});

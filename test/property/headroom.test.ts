import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { seconds } from '../../src/model/units.ts';
import type { HeadroomOptions } from '../../src/plan/options.ts';
import type { Plan, Transfer } from '../../src/plan/plan.ts';
import { plan } from '../../src/plan/planner.ts';
import { statesOf } from '../support/apply-plan.ts';
import { healthySnapshot } from '../support/arbitraries.ts';
import { ALL_REPAIRS, aBudget, greedyLb, pack, refineLb, someOptions } from '../support/builders/options.ts';
import { transfersOf } from '../support/transfers.ts';

const strategies = fc.constantFrom(
  refineLb(),
  greedyLb(),
  greedyLb({ minimizeMoves: false }),
  pack({ headroom: 0, minNodeAge: seconds(0) }),
  { type: 'None' } as const,
);

const RESOURCES = ['cpu', 'memory'] as const;
type Resource = (typeof RESOURCES)[number];

/** What is free of requests on a node. */
function freeOn({ nodes, pods }: ClusterSnapshot, name: string, resource: Resource): number {
  const { allocatable } = nodes.find((node) => node.name === name) ?? {};
  const own = pods.filter(({ nodeName, phase }) => nodeName === name && phase !== 'Failed' && phase !== 'Succeeded');
  return own.reduce((sum, { constraints }) => sum - constraints.requests[resource], allocatable?.[resource] ?? 0);
}

/** Moves after which less than a share of a resource that the pod requests is free on the target. */
function overfilling(snapshot: ClusterSnapshot, found: Plan, share: number): readonly Transfer[] {
  const states = statesOf(snapshot, found);
  return transfersOf(found).filter(({ pod, to }, place) => {
    const { requests } = snapshot.pods.find(({ uid }) => uid === pod.uid)?.constraints ?? {};
    const { allocatable } = snapshot.nodes.find(({ name }) => name === to) ?? {};
    return RESOURCES.some((resource) => {
      const least = share * (allocatable?.[resource] ?? 0);
      return (requests?.[resource] ?? 0) > 0 && freeOn(states[place + 1] ?? snapshot, to, resource) < least - 1e-6;
    });
  });
}

it('no move of any strategy or repair leaves less than the headroom on its target', () => {
  const counts = { moves: 0, without: 0 };
  const shares = fc.constantFrom(0.3, 0.6, 0.8, 0.95);
  fc.assert(
    fc.property(healthySnapshot(), strategies, shares, fc.boolean(), (snapshot, strategy, share, repairs) => {
      const planned = (headroom: HeadroomOptions[]): Plan => {
        const thresholds = { trigger: 0, minGain: 0, headroom };
        const repair = repairs ? { repair: ALL_REPAIRS } : {};
        return plan(snapshot, someOptions({ strategy, budgets: [aBudget({})], thresholds, ...repair }));
      };
      const amount = { kind: 'Share', share } as const;
      const found = planned([{ nodeSelector: new Map(), cpu: amount, memory: amount }]);
      expect(overfilling(snapshot, found, share)).toEqual([]);
      counts.moves += found.moves.length;
      counts.without += overfilling(snapshot, planned([]), share).length;
    }),
    { numRuns: 1000 },
  );
  // Much is moved all the same, and much would fill its target.
  expect(counts.moves).toBeGreaterThan(200);
  expect(counts.without).toBeGreaterThan(100);
});

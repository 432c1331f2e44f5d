import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeInfo } from '../../src/model/node.ts';
import type { PodInfo } from '../../src/model/pod.ts';
import { offeredOf, requestedOf } from '../../src/model/resources.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { seconds } from '../../src/model/units.ts';
import type { PackingOptions } from '../../src/plan/options.ts';
import { plan } from '../../src/plan/planner.ts';
import { applyPlan, statesOf } from '../support/apply-plan.ts';
import { healthySnapshot, isAtHome } from '../support/arbitraries.ts';
import { ALL_REPAIRS, aBudget, pack, someOptions } from '../support/builders/options.ts';
import { isTolerated } from '../support/naive-scheduler.ts';

const RUNS = { numRuns: 500 };
/** Pods of one controller have different constraints here, and so different limits of how many may share a node. */
const REPAIRS = { ...ALL_REPAIRS, duplicates: false };

const strategies = fc
  .record({
    below: fc.constantFrom(0.3, 0.5, 0.8, 1),
    headroom: fc.constantFrom(0, 0.1, 0.3),
    resources: fc.constantFrom(['cpu'], ['cpu', 'memory'], ['pods'], ['cpu', 'nvidia.com/gpu']),
  })
  .map(({ below, headroom, resources }) =>
    pack({ resources: resources.map((name) => ({ name, below })), headroom, minNodeAge: seconds(0) }),
  );

const podsOn = ({ pods }: ClusterSnapshot, name: string): readonly PodInfo[] =>
  pods.filter(({ nodeName }) => nodeName === name);

/** Of the resources that some pod of the node requests, the first whose headroom is used. */
function overfull({ allocatable }: NodeInfo, pods: readonly PodInfo[], { resources, headroom }: PackingOptions) {
  return resources.find(({ name }) => {
    const requested = pods.reduce((sum, { constraints }) => sum + requestedOf(constraints.requests, name), 0);
    return requested > (1 - headroom) * offeredOf(allocatable, name) + 1e-6;
  });
}

/** Those resources that the pod requests. */
function takenBy({ constraints }: PodInfo, strategy: PackingOptions): PackingOptions {
  const resources = strategy.resources.filter(({ name }) => requestedOf(constraints.requests, name) > 0);
  return { ...strategy, resources };
}

describe('Pack', () => {
  it('drains whole nodes or none, and moves nothing to an empty one', () => {
    fc.assert(
      fc.property(healthySnapshot(), strategies, fc.nat({ max: 12 }), (snapshot, strategy, maxMoves) => {
        const found = plan(snapshot, someOptions({ strategy, budgets: [aBudget({ maxMoves })] }));
        const after = applyPlan(snapshot, found);
        const left = new Set(found.moves.map(({ from }) => from));
        expect([...left].sort()).toEqual([...(found.packing?.emptied ?? [])].sort());
        for (const name of left) {
          expect(podsOn(after, name ?? '')).toEqual([]);
        }
        for (const { to } of found.moves) {
          expect(podsOn(snapshot, to ?? '')).not.toEqual([]);
        }
        expect(found.moves.length).toBeLessThanOrEqual(maxMoves);
      }),
      RUNS,
    );
  });

  it('is feasible at every prefix, and takes no headroom', () => {
    fc.assert(
      fc.property(healthySnapshot(), strategies, (snapshot, strategy) => {
        const found = plan(snapshot, someOptions({ strategy }));
        const states = statesOf(snapshot, found);
        found.moves.forEach(({ pod: { uid }, to }, place) => {
          const state = states[place] ?? snapshot;
          const pod = state.pods.find((each) => each.uid === uid);
          const node = state.nodes.find(({ name }) => name === to);
          const beside = podsOn(state, to ?? '');
          if (pod === undefined || node === undefined) {
            throw new Error('a move names a pod or node that there is not');
          }
          expect(isAtHome(pod, node, beside) && isTolerated(pod, node, state)).toBe(true);
          expect(overfull(node, [...beside, pod], takenBy(pod, strategy))).toBeUndefined();
        });
      }),
      RUNS,
    );
  });

  it('leaves nothing for a second plan, with repairs and without', () => {
    fc.assert(
      fc.property(healthySnapshot(), strategies, fc.boolean(), (snapshot, strategy, repairs) => {
        const options = someOptions({ strategy, ...(repairs ? { repair: REPAIRS } : {}) });
        const found = plan({ ...snapshot, pdbs: [] }, options);
        expect(plan(applyPlan({ ...snapshot, pdbs: [] }, found), options).moves).toEqual([]);
      }),
      RUNS,
    );
  });

  it('says why every pod stays, and of every node below the thresholds why it is not emptied', () => {
    fc.assert(
      fc.property(healthySnapshot(), strategies, (snapshot, strategy) => {
        const found = plan(snapshot, someOptions({ strategy }));
        const moved = new Set(found.moves.map(({ pod }) => pod.uid));
        expect(found.rejections.pods.map(({ uid }) => uid).sort()).toEqual(
          snapshot.pods.flatMap(({ uid }) => (moved.has(uid) ? [] : uid)).sort(),
        );
        const { emptied = [], removable = [], kept = [] } = found.packing ?? {};
        expect(new Set(kept.map(({ node }) => node)).size).toBe(kept.length);
        expect(kept.filter(({ node }) => emptied.includes(node) || removable.includes(node))).toEqual([]);
        expect(emptied.filter((name) => !removable.includes(name))).toEqual([]);
      }),
      RUNS,
    );
  });

  it('empties nearly as many nodes as can be emptied at all', () => {
    let [ours, most] = [0, 0];
    fc.assert(
      fc.property(
        healthySnapshot({ maxNodes: 4, maxPods: 7, plain: true }),
        fc.constantFrom(0, 0.1),
        (snapshot, headroom) => {
          const strategy = pack({ resources: [{ name: 'cpu', below: 1 }], headroom, minNodeAge: seconds(0) });
          const found = plan(snapshot, someOptions({ strategy, protections: { minReplicas: 1 } }));
          ours += found.packing?.emptied.length ?? 0;
          most += mostEmptied(snapshot, strategy);
        },
      ),
      { numRuns: 300 },
    );
    expect(ours / most).toBeGreaterThanOrEqual(0.97);
    expect(ours).toBeLessThanOrEqual(most);
  });
});

/** Over all ways to put the pods on nodes that run some: the most nodes of them that are then empty. */
function mostEmptied(snapshot: ClusterSnapshot, strategy: PackingOptions): number {
  const used = snapshot.nodes.filter(({ name }) => podsOn(snapshot, name).length > 0);
  const isMovable = (node: NodeInfo): boolean =>
    overfull(node, podsOn(snapshot, node.name), { ...strategy, headroom: 0 }) === undefined &&
    podsOn(snapshot, node.name).reduce((sum, { constraints }) => sum + constraints.requests.cpu, 0) <
      node.allocatable.cpu;
  let most = 0;
  for (let choice = 0; choice < 2 ** used.length; choice += 1) {
    const emptied = used.filter((_, place) => (choice >> place) & 1);
    if (emptied.length > most && emptied.every(isMovable)) {
      const others = used.filter((node) => !emptied.includes(node));
      const pods = emptied.flatMap(({ name }) => podsOn(snapshot, name));
      const contents = new Map(others.map((node) => [node, podsOn(snapshot, node.name)]));
      most = canPlace(pods, contents, strategy) ? emptied.length : most;
    }
  }
  return most;
}

function canPlace(
  pods: readonly PodInfo[],
  contents: ReadonlyMap<NodeInfo, readonly PodInfo[]>,
  strategy: PackingOptions,
): boolean {
  const [pod, ...rest] = pods;
  return (
    pod === undefined ||
    [...contents].some(([node, beside]) => {
      const then = [...beside, pod];
      const fits = isAtHome(pod, node, beside) && overfull(node, then, takenBy(pod, strategy)) === undefined;
      return fits && canPlace(rest, new Map([...contents, [node, then]]), strategy);
    })
  );
}

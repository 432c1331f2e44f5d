import { describe, expect, it } from 'vitest';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { cooldowns } from '../../../src/plan/budgets/cooldown.ts';
import { pdbLookup } from '../../../src/plan/budgets/pod-disruption-budget.ts';
import { assessEvictability } from '../../../src/plan/evictability.ts';
import { locatePods, sortNodes, sortPods } from '../../../src/plan/order.ts';
import { indexOwners } from '../../../src/plan/owners.ts';
import { sortIntoKinds } from '../../../src/plan/pod-kinds.ts';
import { type OptionFields, someOptions } from '../../support/builders/options.ts';
import {
  aNode,
  aPastMove,
  aPdb,
  aPod,
  aSnapshot,
  aWorkload,
  NOW,
  type PodFields,
  type SnapshotFields,
  selecting,
} from '../../support/builders.ts';

/** What is said of pods by name, on node a of pool `red` unless they say otherwise, next to node b of pool `blue`. */
function assessed(pods: Readonly<Record<string, PodFields>>, fields: SnapshotFields = {}, given: OptionFields = {}) {
  const snapshot = aSnapshot({
    nodes: [aNode('a', { labels: { pool: 'red' } }), aNode('b', { labels: { pool: 'blue' } })],
    pods: Object.entries(pods).map(([name, each]) => aPod(name, { nodeName: 'a', ...each })),
    ...fields,
  });
  const options = someOptions(given);
  const nodes = sortNodes(snapshot.nodes);
  const sorted = sortPods(snapshot.pods);
  const kinds = sortIntoKinds(sorted);
  const owners = indexOwners(kinds, snapshot.workloads);
  const subjects = { pods: sorted, nodes, kinds, owners, located: locatePods(sorted, nodes) };
  const rests = cooldowns(snapshot, seconds(600));
  const { inScope, of, all } = assessEvictability(snapshot, subjects, pdbLookup(snapshot.pdbs), options, rests);
  const placed = sorted.map(({ name }, place) => [name, place] as const);
  return {
    inScope: placed.flatMap(([name, place]) => (inScope[place] === 1 ? [name] : [])),
    first: Object.fromEntries(placed.map(([name, place]) => [name, of(place)?.code])),
    all: Object.fromEntries(placed.map(([name, place]) => [name, all(place).map(({ code }) => code)])),
    messages: Object.fromEntries(placed.map(([name, place]) => [name, all(place).map(({ message }) => message)])),
    beyond: all(sorted.length),
  };
}

describe('what keeps a pod where it is', () => {
  it('is nothing of an ordinary pod', () => {
    expect(assessed({ p: {} })).toEqual({
      inScope: ['p'],
      first: { p: undefined },
      all: { p: [] },
      messages: { p: [] },
      beyond: [],
    });
  });

  it('is a protection before a PodDisruptionBudget, and every one where all are asked for', () => {
    const pdbs = [aPdb('web', { disruptionsAllowed: 0 })];
    const found = assessed({ held: {}, local: { localStorage: true, ready: false } }, { pdbs });
    expect(found.first).toEqual({ held: 'PodDisruptionBudget', local: 'NotReady' });
    expect(found.all).toEqual({
      held: ['PodDisruptionBudget'],
      local: ['NotReady', 'LocalStorage', 'PodDisruptionBudget'],
    });
    expect(found.inScope).toEqual(['held', 'local']);
  });

  it('is for a pod out of scope that it is, and what else holds it only where all is asked for', () => {
    const nodeSelector = selecting({ pool: 'red' });
    const pods = {
      other: { nodeName: 'b', localStorage: true },
      own: {},
      unknown: { nodeName: 'gone' },
      waiting: { nodeName: undefined, phase: 'Pending' as const },
    };
    const found = assessed(pods, {}, { scope: { nodeSelector } });
    expect(found.inScope).toEqual(['own', 'waiting']);
    expect(found.first).toEqual({ other: undefined, own: undefined, unknown: undefined, waiting: 'Pending' });
    expect(found.all).toEqual({
      other: ['OutOfScope', 'LocalStorage'],
      own: [],
      unknown: ['OutOfScope'],
      waiting: ['Pending'],
    });
    expect(found.messages['other']?.[0]).toBe('scope.nodeSelector does not select its node');
  });

  it('is a pod on an unknown node also for a policy that is about all nodes', () => {
    expect(assessed({ unknown: { nodeName: 'gone' } }).inScope).toEqual([]);
  });

  it('is that no budget selects it, where that is asked for', () => {
    const pdbs = [aPdb('web', { selector: selecting({ app: 'web' }) })];
    const found = assessed(
      { covered: { labels: { app: 'web' } }, bare: {} },
      { pdbs },
      { protections: { withoutPDB: 'Protect' } },
    );
    expect(found.first).toEqual({ covered: undefined, bare: 'NoPodDisruptionBudget' });
  });

  it('is how its controller is doing, and what was moved before', () => {
    const workloads = [
      aWorkload('fresh', { changedAt: epochSeconds(NOW - 60) }),
      aWorkload('moved'),
      aWorkload('single', { replicas: 1 }),
    ];
    const past = aPastMove('before', {
      owner: { kind: 'ReplicaSet', name: 'moved', uid: 'uid-moved' },
      from: 'b',
      to: 'a',
      replacement: { uid: 'uid-new', node: 'a' },
      startedAt: epochSeconds(NOW - 60),
    });
    const found = assessed(
      { fresh: { owner: 'fresh' }, moved: { owner: 'moved' }, single: { owner: 'single' } },
      { workloads, pastMoves: [past] },
    );
    expect(found.first).toEqual({ fresh: 'Rollout', moved: 'Cooldown', single: 'MinReplicas' });
    expect(found.all).toEqual({ fresh: ['Rollout'], moved: ['Cooldown'], single: ['MinReplicas'] });
  });
});

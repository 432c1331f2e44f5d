import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { withoutRemoved } from '../../../src/execute/commitments.ts';
import { movesUnderWay } from '../../../src/execute/committed.ts';
import { step } from '../../../src/execute/executor.ts';
import type { ExecutionPolicy } from '../../../src/execute/executor-ports.ts';
import { entries } from '../../../src/execute/journal.ts';
import { stoppedMoves } from '../../../src/execute/stop-rules.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { pastMovesOf } from '../../../src/observe/project/past-moves.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { aMove, aPlan, aRemoval } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive, NOON } from '../../support/test-clock.ts';

const forever = new AbortController().signal;
const policy = aPolicy('tidy');
/** Its controller replaced the pods when they failed, and makes none for those that are removed. */
const web = aWorkload('web', { replicas: 1 });
const FAILED = ['web-1', 'web-2', 'web-3'].map(
  (name): PodInfo => ({ ...aPodOf(web, name, 'a'), phase: 'Failed', ready: false, readySince: undefined }),
);
const PLAN = 'tidy-0123456789';
const EXECUTION: ExecutionPolicy = {
  current: async () => ({ policy, invalid: [] }),
  options: resolveOptions(policy.spec),
  maxConcurrent: 1,
  maxInFlight: 100,
  stop: undefined,
};

function aWorld(pods: readonly PodInfo[] = FAILED): World {
  const w = world([aNode('a', TEN_CORES), aNode('b', TEN_CORES)], [], pods);
  w.plans.put(aPlan(policy, pods.map(aRemoval), { steering: 'AdmissionPolicy' }));
  return w;
}

async function run(w: World): Promise<readonly string[]> {
  for (let count = 0; count < 2_000; count += 1) {
    const { status } = await drive(w.clock, step(w.plans.of(PLAN), EXECUTION, w.ports, forever));
    if (status?.phase !== 'Executing') {
      return (status?.moves ?? []).map(({ phase }) => phase);
    }
    await w.clock.advance(1);
  }
  throw new Error('the plan did not end');
}

describe('a plan that removes failed pods', () => {
  it('evicts each once, all of a controller beside each other, and waits for no replacement', async () => {
    const w = aWorld();
    const before = w.clock.now();
    expect(await run(w)).toEqual(['Vacated', 'Vacated', 'Vacated']);
    expect(w.cluster.accepted).toEqual(FAILED.map(({ uid }) => uid));
    expect(w.clock.now() - before).toBeLessThan(15);
    expect(w.plans.of(PLAN).status).toMatchObject({ phase: 'Completed', message: '3 of 3 failed pods removed' });
    expect(w.plans.of(PLAN).status?.moves?.[0]).toMatchObject({ outcome: 'removed' });
    expect(w.plans.of(PLAN).status?.moves?.[0]).not.toHaveProperty('unavailableSeconds');
  });

  it('of one pod tells of nothing but that', async () => {
    const w = aWorld(FAILED.slice(0, 1));
    await run(w);
    expect(w.plans.of(PLAN).status?.message).toBe('1 of 1 failed pods removed');
  });

  it.each([
    [1, '1 of 1 replacements landed as planned, 1 of 1 failed pods removed'],
    [2, '2 of 2 replacements landed as planned, 1 of 1 failed pods removed'],
  ])('and moves pods besides tells of both: %d', async (count, message) => {
    const running = ['db-1', 'db-2'].slice(0, count).map((name) => aPodOf(aWorkload(name), name, 'a'));
    const failed = FAILED.slice(0, 1);
    const w = world(
      [aNode('a', TEN_CORES), aNode('b', TEN_CORES)],
      running.map(({ owner }) => aWorkload(owner?.name ?? '')),
      [...running, ...failed],
    );
    w.cluster.bindTo = () => 'b';
    w.plans.put(aPlan(policy, [...running.map((pod) => aMove(pod, 'b')), ...failed.map(aRemoval)]));
    await run(w);
    expect(w.plans.of(PLAN).status?.message).toBe(message);
  });

  it('places and removes no hint, and says in an event that the pod has failed', async () => {
    const w = aWorld();
    await run(w);
    expect(w.calls.filter((call) => call.startsWith('steering.'))).toEqual([]);
    expect(w.events.map(({ reason, note }) => [reason, note])).toContainEqual([
      'MoveStarted',
      `evicted from a since it has failed (plan ${PLAN}): a test wants it so`,
    ]);
  });

  it.each(['before', 'after'] as const)('goes on where it was killed right %s an eviction', async (moment) => {
    const w = aWorld();
    let kills = 0;
    w.tap = (when, name, args) => {
      const isDryRun = JSON.stringify(args).includes('"dryRun":true');
      if (when === moment && name === 'evictor.evict' && !isDryRun && kills < 1) {
        kills += 1;
        throw new Error('killed');
      }
    };
    await expect(run(w)).rejects.toThrow('killed');
    expect(await run(w)).toEqual(['Vacated', 'Vacated', 'Vacated']);
    expect([...w.cluster.accepted].sort()).toEqual(FAILED.map(({ uid }) => uid));
  });

  it('is done with a pod that is gone meanwhile', async () => {
    const w = aWorld();
    w.cluster.vanish('pod', FAILED[1]?.uid ?? '');
    expect(await run(w)).toEqual(['Vacated', 'Skipped', 'Vacated']);
  });

  it('tries again after 429, and gives up after five tries', async () => {
    const w = aWorld(FAILED.slice(0, 1));
    let refusals = 0;
    w.cluster.script = () => {
      refusals += 1;
      return refusals <= 2 ? { kind: 'TryLater', retryAfter: seconds(1), message: 'too many requests' } : undefined;
    };
    expect(await run(w)).toEqual(['Vacated']);
    const never = aWorld(FAILED.slice(0, 1));
    never.cluster.script = () => ({ kind: 'TryLater', retryAfter: seconds(1), message: 'too many requests' });
    expect(await run(never)).toEqual(['Skipped']);
    expect(never.cluster.accepted).toEqual([]);
  });

  it.each<[string, Partial<PodInfo>]>([
    ['runs', { phase: 'Running' }],
    ['has another controller', { owner: undefined }],
    ['is to be kept', { annotations: new Map([['cluster-autoscaler.kubernetes.io/safe-to-evict', 'false']]) }],
    ['is of a Job that has not counted it', { uncounted: true }],
  ])('leaves a pod that %s', async (_, change) => {
    const w = aWorld(FAILED.slice(0, 1));
    w.cluster.putPod({ ...(FAILED[0] as PodInfo), ...change });
    expect(await run(w)).toEqual(['Skipped']);
    expect(w.cluster.accepted).toEqual([]);
  });

  it('takes no turn from moves of the same controller', async () => {
    const runs = aPodOf(web, 'web-9', 'a');
    const w = world([aNode('a', TEN_CORES), aNode('b', TEN_CORES)], [], [runs, ...FAILED]);
    const plan = aPlan(policy, [...FAILED.map(aRemoval), aMove(runs, 'b')]);
    w.plans.put(plan);
    await drive(w.clock, step(w.plans.of(PLAN), EXECUTION, w.ports, forever));
    expect(w.calls.filter((call) => call.startsWith('dry-run'))).toHaveLength(4);
  });
});

describe('a removal that has begun', () => {
  const plan = (phase: 'Evicting' | 'Vacated'): RebalancePlan =>
    aPlan(policy, FAILED.map(aRemoval), {
      moves: FAILED.map(({ uid }) => ({ podUID: uid, phase, attempt: 0, startedAt: '2026-01-01T12:00:00Z' })),
    });

  it('counts against the budgets of the next plan, and costs no service', () => {
    expect(movesUnderWay([plan('Evicting')])).toHaveLength(3);
    expect(pastMovesOf([plan('Vacated')])).toEqual([]);
  });

  it('is not planned again while caches still have its pod', () => {
    const now = epochSeconds(NOON);
    expect(withoutRemoved(FAILED, [], now)).toEqual(FAILED);
    expect(withoutRemoved(FAILED, [plan('Evicting')], now)).toEqual([]);
    expect(withoutRemoved(FAILED, [plan('Vacated')], now)).toEqual([]);
  });

  it('is kept from beginning when a budget comes into force, but not by what guards service', () => {
    const journal = entries(aPlan(policy, FAILED.map(aRemoval)));
    expect(stoppedMoves(journal, 'Budgeted')).toHaveLength(3);
    expect(stoppedMoves(journal, 'Evictions')).toHaveLength(3);
    expect(stoppedMoves(journal, 'Disruptions')).toEqual([]);
  });
});

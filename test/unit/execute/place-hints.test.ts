import { describe, expect, it } from 'vitest';
import type { PlacementHintSpec } from '../../../src/api/v1alpha1/placement-hint.ts';
import type { SteeringMode } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { entries } from '../../../src/execute/journal.ts';
import type { JournalEntry, PlannedMove } from '../../../src/execute/move.ts';
import { HINT_PROPAGATION, placeHints, placesHints } from '../../../src/execute/place-hints.ts';
import { aFailover, aMove, anAdmission, aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aNode, resources, TEN_CORES } from '../../support/builders.ts';
import { API_1, api, aWorld, DB_0, forever, PLAN, policy, WEB_1, WEB_2, web } from '../../support/execution.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive, NOON } from '../../support/test-clock.ts';

interface Setting {
  readonly steering?: SteeringMode;
  readonly inFlight?: readonly JournalEntry[];
  /** Calls for a pod with this UID fail. */
  readonly failing?: string;
  readonly error?: Error;
}

/** Places the hints of these moves; what was placed and where, what failed, and how long it took. */
async function placed(w: World, moves: readonly PlannedMove[], setting: Setting = {}) {
  const { steering = 'AdmissionPolicy', inFlight = [], failing, error } = setting;
  const plan = aPlan(policy, moves, { steering });
  const hints: [string, PlacementHintSpec][] = [];
  const place: World['ports']['steering']['place'] = async (namespace, hint) => {
    if (hint.podUID === failing) {
      throw error ?? new Error('no');
    }
    hints.push([namespace, hint]);
  };
  const ports = { ...w.ports, steering: { ...w.ports.steering, place } };
  const failed = await drive(w.clock, placeHints(plan, entries(plan), inFlight, ports, forever));
  return { hints, failed: [...failed], took: w.clock.now() - NOON };
}

describe('hints', () => {
  it.each<[SteeringMode | undefined, boolean]>([
    ['AdmissionPolicy', true],
    ['Webhook', true],
    ['Gate', false],
    ['None', false],
    [undefined, false],
  ])('are read under %s: %s', (steering, isRead) => {
    expect(placesHints(aPlan(policy, [], steering === undefined ? {} : { steering }))).toBe(isRead);
  });

  it('say whose next pod is to prefer which node, for which plan', async () => {
    const move = { ...aMove(WEB_1, 'b'), fallbacks: ['c', 'd'] };
    const { hints, failed, took } = await placed(aWorld(), [move]);
    expect(hints).toEqual([
      ['shop', { ownerUID: 'uid-web', nodeName: 'b', fallbacks: ['c', 'd'], plan: PLAN, podUID: WEB_1.uid }],
    ]);
    expect(failed).toEqual([]);
    expect(took).toBe(HINT_PROPAGATION);
  });

  it('name no nodes to prefer next where the plan has none', async () => {
    const { hints } = await placed(aWorld(), [aMove(WEB_1, 'b')]);
    expect(hints[0]?.[1]).not.toHaveProperty('fallbacks');
    expect(hints[0]?.[1]).not.toHaveProperty('alternatives');
  });

  it('are placed for moves between two nodes, and for no other', async () => {
    const moves = [anAdmission(WEB_2, 'c'), aMove(WEB_1, 'b'), aPreemption(DB_0), aFailover(API_1, 'd')];
    const { hints } = await placed(aWorld(), moves);
    expect(hints.map(([, { podUID, nodeName }]) => [podUID, nodeName])).toEqual([
      [WEB_1.uid, 'b'],
      [API_1.uid, 'd'],
    ]);
  });

  it.each<[string, readonly PlannedMove[], SteeringMode]>([
    ['nobody reads them', [aMove(WEB_1, 'b')], 'Gate'],
    ['no move takes a pod to a node', [aPreemption(WEB_1)], 'AdmissionPolicy'],
    ['all moves are admissions', [anAdmission(WEB_1, 'b')], 'AdmissionPolicy'],
  ])('cost no time and no request where %s', async (_, moves, steering) => {
    const w = aWorld();
    expect(await placed(w, moves, { steering })).toEqual({ hints: [], failed: [], took: 0 });
    expect(w.calls).not.toContain('reader.placements');
  });

  it('that cannot be placed are told by the index of their move, and keep no other from its place', async () => {
    const error = new Error('the quota is used up');
    const moves = [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'd')];
    const { hints, failed } = await placed(aWorld(), moves, { failing: API_1.uid, error });
    expect(failed).toEqual([[1, error]]);
    expect(hints.map(([, { podUID }]) => podUID)).toEqual([WEB_1.uid, DB_0.uid]);
  });

  it('are placed no further once the work is aborted', async () => {
    const w = aWorld();
    const stop = new AbortController();
    const tried: string[] = [];
    const place: World['ports']['steering']['place'] = async (_, { podUID }) => {
      tried.push(podUID);
      stop.abort(new Error('the lease is lost'));
      throw new Error('cut off');
    };
    const plan = aPlan(policy, [aMove(WEB_1, 'b'), aMove(API_1, 'c')], { steering: 'Webhook' });
    const ports = { ...w.ports, steering: { ...w.ports.steering, place } };
    const placing = drive(w.clock, placeHints(plan, entries(plan), [], ports, stop.signal));
    await expect(placing).rejects.toThrow('the lease is lost');
    expect(tried).toEqual([WEB_1.uid]);
  });

  it('name alternatives where the preference alone would not decide, but no node that moves under way will fill', async () => {
    const whole = { ...API_1, constraints: { ...API_1.constraints, requests: resources({ cpu: 10_000 }) } };
    const nodes = Array.from({ length: 110 }, (_, index) => aNode(`n${index}`, TEN_CORES));
    const pods = [WEB_1, whole].map((pod) => ({ ...pod, nodeName: 'n0' }));
    const alternatives = async (inFlight: readonly JournalEntry[]) => {
      const move = { ...aMove(WEB_1, 'n9'), from: 'n0', fallbacks: ['n5', 'n7'] };
      const { hints } = await placed(world(nodes, [web, api], pods), [move], { inFlight });
      return hints[0]?.[1].alternatives;
    };
    const run = { podUID: API_1.uid, phase: 'Evicting', attempt: 0 } as const;
    const filling = { index: 0, move: { ...aMove(API_1, 'n5'), from: 'n0' }, run };
    expect((await alternatives([]))?.slice(0, 3)).toEqual(['n9', 'n5', 'n7']);
    expect((await alternatives([filling]))?.slice(0, 2)).toEqual(['n9', 'n7']);
  });
});

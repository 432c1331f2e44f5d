import { describe, expect, it } from 'vitest';
import { createFailures } from '../../../src/execute/failures.ts';
import { entries } from '../../../src/execute/journal.ts';
import type { PlannedMove } from '../../../src/execute/move.ts';
import { type EvictionTerms, sendEvictions } from '../../../src/execute/send-evictions.ts';
import { recordSiblings } from '../../../src/execute/siblings.ts';
import type { StopReason } from '../../../src/execute/stop-rules.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { StaleCacheError } from '../../../src/ports.ts';
import { aFailover, aMove, aPlan } from '../../support/builders/plan.ts';
import { anAffinityTerm } from '../../support/builders/scheduling.ts';
import { aNode, labels, TEN_CORES } from '../../support/builders.ts';
import { API_1, aWorld, DB_0, forever, PODS, policy, WEB_1, WEB_2 } from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';
import { drive } from '../../support/test-clock.ts';

const STOP: StopReason = { reason: 'BudgetExhausted', message: 'nothing is left', stops: 'Disruptions' };

/** Sends the evictions of these moves, whose intents are stored: what came of them, which were announced, and what failed. */
async function sent(w: World, moves: readonly PlannedMove[], terms: Partial<EvictionTerms> = {}) {
  const runs = moves.map(({ pod: { uid } }) => ({ podUID: uid, phase: 'Intent', attempt: 0 }) as const);
  const plan = aPlan(policy, moves, { steering: 'AdmissionPolicy', moves: runs });
  const failures = createFailures(forever);
  const started: [string, readonly string[]][] = [];
  const sending = sendEvictions(
    plan,
    entries(plan),
    {
      options: resolveOptions(policy.spec),
      current: async () => ({ policy, invalid: [] }),
      inFlight: [],
      stopFor: async () => undefined,
      ...terms,
    },
    w.ports,
    async ({ move: { pod } }) => void started.push([pod.name, [...w.cluster.accepted]]),
    failures,
    forever,
  );
  const { events, stop } = await drive(w.clock, sending);
  return { events, kinds: [...events].map(([index, { kind }]) => [index, kind]), stop, started, failures };
}

describe('evictions whose intents are stored', () => {
  it('are sent one after the other, each announced right before', async () => {
    const w = aWorld();
    const { kinds, stop, started, failures } = await sent(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    expect(kinds).toEqual([
      [0, 'Answer'],
      [1, 'Answer'],
    ]);
    expect(stop).toBeUndefined();
    expect(started).toEqual([
      ['web-1', []],
      ['api-1', [WEB_1.uid]],
    ]);
    expect(w.cluster.accepted).toEqual([WEB_1.uid, API_1.uid]);
    expect(failures.throwIfAny).not.toThrow();
  });

  it('leave behind when the server had them, and which pods their owners had', async () => {
    const w = aWorld();
    const { events } = await sent(w, [aMove(WEB_1, 'b')]);
    expect(events.get(0)).toEqual({
      kind: 'Answer',
      answer: { kind: 'Accepted' },
      at: (await w.ports.reader.pod(WEB_1, forever)).serverTime,
      siblings: recordSiblings([WEB_1, WEB_2]),
    });
  });

  it('are not sent for moves that the live check refuses by now', async () => {
    const w = aWorld();
    w.cluster.vanish('node', 'b');
    const { events, started } = await sent(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    expect(events.get(0)).toEqual({ kind: 'Skip', why: 'b is gone' });
    expect(started.map(([name]) => name)).toEqual(['api-1']);
    expect(w.cluster.accepted).toEqual([API_1.uid]);
  });

  it('are each asked about with those that are not sent yet', async () => {
    const asked: [string, readonly string[]][] = [];
    const stopFor: EvictionTerms['stopFor'] = async ({ move }, unsent) => {
      asked.push([move.pod.name, unsent.map((entry) => entry.move.pod.name)]);
      return undefined;
    };
    await sent(aWorld(), [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'd')], { stopFor });
    expect(asked).toEqual([
      ['web-1', ['web-1', 'api-1', 'db-0']],
      ['api-1', ['api-1', 'db-0']],
      ['db-0', ['db-0']],
    ]);
  });

  it('are not sent once a limit is reached, save those that it does not stop, and nobody asks again', async () => {
    const w = aWorld();
    const asked: string[] = [];
    const stopFor: EvictionTerms['stopFor'] = async ({ move }) => {
      asked.push(move.pod.name);
      return move.pod.name === 'api-1' ? STOP : undefined;
    };
    const moves = [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'd')];
    const { events, kinds, stop } = await sent(w, moves, { stopFor });
    expect(kinds).toEqual([
      [0, 'Answer'],
      [1, 'Abort'],
      [2, 'Abort'],
    ]);
    expect(events.get(2)).toEqual({ kind: 'Abort', why: 'nothing is left' });
    expect(stop).toEqual(STOP);
    expect(asked).toEqual(['web-1', 'api-1']);
    expect(w.cluster.accepted).toEqual([WEB_1.uid]);
  });

  it('from failed nodes go on to their own check after a limit that is not about them', async () => {
    const moves = [aMove(WEB_1, 'b'), aFailover(API_1, 'c')];
    const { events } = await sent(aWorld(), moves, { stopFor: async () => STOP });
    expect(events.get(0)?.kind).toBe('Abort');
    // Its node is Ready, so that it is not moved after all.
    expect(events.get(1)?.kind).toBe('Skip');
  });

  it('are stopped by the policy, whatever a limit says besides', async () => {
    const suspended = { ...policy, spec: { ...policy.spec, suspend: true } };
    const current = async () => ({ policy: suspended, invalid: [] });
    const { stop } = await sent(aWorld(), [aMove(WEB_1, 'b')], { current, stopFor: async () => STOP });
    expect(stop?.reason).toBe('Suspended');
    const w = aWorld();
    const deleted = await sent(w, [aMove(WEB_1, 'b')], { current: async () => undefined });
    expect(deleted.stop?.reason).toBe('PolicyChanged');
    expect(w.cluster.accepted).toEqual([]);
  });

  it('are stopped when too many nodes are not Ready by now', async () => {
    const w = aWorld();
    w.cluster.putNode(aNode('d', { ...TEN_CORES, ready: false }));
    const { stop, kinds } = await sent(w, [aMove(WEB_1, 'b')]);
    expect(stop?.reason).toBe('ClusterUnhealthy');
    expect(kinds).toEqual([[0, 'Abort']]);
  });

  it('are sent no further once the server forbids one', async () => {
    const w = aWorld();
    w.cluster.script = () => ({ kind: 'Forbidden', message: 'no right to evict' });
    const { events, stop } = await sent(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    expect(events.get(0)).toMatchObject({ kind: 'Answer', answer: { kind: 'Forbidden' } });
    expect(events.get(1)).toEqual({ kind: 'Abort', why: 'no right to evict' });
    expect(stop?.reason).toBe('EvictionForbidden');
    expect(w.calls.filter((call) => call.startsWith('evict '))).toEqual(['evict web-1']);
  });

  it('keep later ones from nodes that their replacements are coming to', async () => {
    const away = anAffinityTerm({ app: 'web' }, { topologyKey: 'kubernetes.io/hostname' });
    const shy: PodInfo = { ...API_1, constraints: { ...API_1.constraints, podAntiAffinity: [away] } };
    const feared = { ...WEB_1, labels: labels({ app: 'web' }) };
    const eventFor = async (to: string) => {
      const w = aWorld([feared, ...PODS.slice(1, 2), { ...shy, nodeName: 'd' }]);
      const moves = [aMove(feared, to), { ...aMove(shy, 'b'), from: 'd' }];
      return (await sent(w, moves)).events.get(1);
    };
    expect(await eventFor('b')).toMatchObject({ kind: 'Skip', why: expect.stringContaining('anti-affinity') });
    expect(await eventFor('c')).toMatchObject({ kind: 'Answer' });
  });

  it('whose hint could not be placed are held back by themselves', async () => {
    const w = aWorld();
    const place: World['ports']['steering']['place'] = async (namespace, hint, plan, signal) => {
      if (hint.podUID === WEB_1.uid) {
        throw new Error('the quota is used up');
      }
      await w.ports.steering.place(namespace, hint, plan, signal);
    };
    const ports = { ...w.ports, steering: { ...w.ports.steering, place } };
    const { events, failures } = await sent({ ...w, ports }, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    expect(events.get(0)).toEqual({ kind: 'Hold', why: 'the move could not begin: the quota is used up' });
    expect(failures.throwIfAny).toThrow(/^move of shop\/web-1: the quota is used up$/);
    expect(w.cluster.accepted).toEqual([API_1.uid]);
  });

  it('are all held back while the caches are behind, by which hints are chosen', async () => {
    const w = aWorld();
    w.tap = (when, call) => {
      if (when === 'before' && call === 'reader.placements') {
        throw new StaleCacheError('pods not listed yet');
      }
    };
    const { kinds } = await sent(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    expect(kinds).toEqual([
      [0, 'Hold'],
      [1, 'Hold'],
    ]);
    expect(w.cluster.accepted).toEqual([]);
  });
});

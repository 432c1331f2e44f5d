import { describe, expect, it } from 'vitest';
import type { MoveStatus, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { advance } from '../../../src/execute/advance.ts';
import { step } from '../../../src/execute/executor.ts';
import type { ExecutionPolicy } from '../../../src/execute/executor-ports.ts';
import type { MoveEffect, Replacement } from '../../../src/execute/move.ts';
import { STUCK_PATIENCE } from '../../../src/execute/verify.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import { epochSeconds, type Seconds, seconds } from '../../../src/model/units.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { anAffinityTerm } from '../../support/builders/scheduling.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { noted } from '../../support/execution.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive, NOON } from '../../support/test-clock.ts';

const forever = new AbortController().signal;
const policy = aPolicy('even', { steering: { mode: 'Gate' } });
const web = aWorkload('web', { replicas: 3 });
const WEB_1 = aPodOf(web, 'web-1', 'a');
const PLAN = 'even-0123456789';
const EXECUTION: ExecutionPolicy = {
  current: async () => ({ policy, invalid: [] }),
  options: resolveOptions(policy.spec),
  maxConcurrent: 1,
  maxInFlight: 100,
  stop: undefined,
};

/** A plan that moves web-1 from a to b; the scheduler by itself would put everything on c. */
function aWorld(steering: 'Gate' | 'None' = 'Gate'): World {
  const w = world([aNode('a', TEN_CORES), aNode('b', TEN_CORES), aNode('c', TEN_CORES)], [web], [WEB_1]);
  w.cluster.gated.add(web.uid);
  w.cluster.bindTo = () => 'c';
  w.plans.put(aPlan(policy, [aMove(WEB_1, 'b')], { steering }));
  return w;
}

async function stepOnce(w: World): Promise<RebalancePlan> {
  return drive(w.clock, step(await noted(w), EXECUTION, w.ports, forever));
}

const LANDED = { phase: 'Landed', replacement: { node: 'b' } };
const MISSED = { phase: 'Missed', replacement: { node: 'c' } };

/** A step a second until the plan has ended; resolves to what became of its move. */
async function run(w: World): Promise<MoveStatus | undefined> {
  for (let count = 0; count < 2_000; count += 1) {
    const { status } = await stepOnce(w);
    if (status?.phase !== 'Executing') {
      return status?.moves?.[0];
    }
    await w.clock.advance(1);
  }
  throw new Error('the plan did not end');
}

/** A step a second until the replacement is at the gate, which the operator does not live to open. */
async function runToTheGate(w: World): Promise<void> {
  w.tap = (when, call) => {
    if (when === 'before' && call === 'gates.open') {
      throw new Error('killed');
    }
  };
  await expect(run(w)).rejects.toThrow('killed');
  w.tap = () => undefined;
}

describe('a plan under Gate', () => {
  it('lands where it says and the scheduler would not, and places no hint', async () => {
    const w = aWorld();
    expect(await run(w)).toMatchObject(LANDED);
    expect(w.gateActions).toEqual(['OpenedToTarget']);
    expect(w.steered).toEqual(['Gate hit']);
    expect(w.calls).not.toContain('steering.place');
  });

  it('knows the replacement again that a process has let through which was killed right after', async () => {
    const w = aWorld();
    w.tap = (when, call) => {
      if (when === 'after' && call === 'gates.open') {
        throw new Error('killed');
      }
    };
    await expect(run(w)).rejects.toThrow('killed');
    w.tap = () => undefined;
    expect(w.plans.of(PLAN).status?.moves?.[0]?.replacement).toBeUndefined();
    expect(await run({ ...w, ports: w.newProcess() })).toMatchObject({
      ...LANDED,
      replacement: { name: 'web-00001', node: 'b' },
    });
  });

  it('opens the gate to the planned node although it was killed right before', async () => {
    const w = aWorld();
    await runToTheGate(w);
    await w.clock.advance(120);
    expect(await run(w)).toMatchObject(LANDED);
  });

  it('lets the replacement go anywhere when its node is no longer fit, and says why', async () => {
    const w = aWorld();
    await runToTheGate(w);
    w.cluster.putNode(aNode('b', { ...TEN_CORES, unschedulable: true }));
    expect(await run(w)).toMatchObject(MISSED);
    expect(w.gateActions).toEqual(['OpenedToAny']);
    expect(w.events.find(({ reason }) => reason === 'TargetGivenUp')?.note).toMatch(/^may run anywhere, since b /);
  });

  it('is made anew, and may run anywhere, when the scheduler finds no room on the planned node after all', async () => {
    const w = aWorld();
    w.cluster.full.add('b');
    expect(await run(w)).toMatchObject({ phase: 'Missed', miss: { reason: 'TargetRefused' } });
    expect(w.gateActions).toEqual(['OpenedToTarget', 'Released', 'OpenedToAny']);
    expect(w.lines.map(({ line, fields: { pod, to, action } }) => [line, pod, to, action])).toEqual([
      ['pod evicted', 'shop/web-1', 'b', undefined],
      ['gate opened', 'shop/web-00001', 'b', 'OpenedToTarget'],
      ['pod released', 'shop/web-00001', 'b', undefined],
      ['gate opened', 'shop/web-00002', 'b', 'OpenedToAny'],
      ['move missed', 'shop/web-1', 'b', undefined],
      ['plan finished', undefined, undefined, undefined],
    ]);
    expect(w.lines.find(({ line }) => line === 'gate opened')?.fields.result).toBe('it may be scheduled');
  });

  it('has stored why before the replacement is removed, since nothing on the cluster would tell it again', async () => {
    const w = aWorld();
    w.cluster.full.add('b');
    let stored: MoveStatus | undefined;
    w.tap = (when, call) => {
      stored = when === 'before' && call === 'gates.release' ? w.plans.of(PLAN).status?.moves?.[0] : stored;
    };
    await run(w);
    expect(stored).toMatchObject({ phase: 'Verifying', miss: { reason: 'TargetRefused' } });
  });

  it('opens the gate without a node when another steering is in force', async () => {
    const w = aWorld('None');
    expect(await run(w)).toMatchObject(MISSED);
    expect(w.gateActions).toEqual(['OpenedToAny']);
    expect(w.events.map(({ reason }) => reason)).not.toContain('TargetGivenUp');
  });

  it.each<[string, boolean, string]>([
    ['to its planned node', false, 'OpenedToTarget'],
    ['anywhere where another plan brings there what it keeps away from', true, 'OpenedToAny'],
  ])('lets a replacement go %s, whatever other moves of the plan do meanwhile', async (_, isComing, action) => {
    const [api, other] = ['api', 'other'].map((name) => aWorkload(name, { replicas: 3 })) as [typeof web, typeof web];
    const away = anAffinityTerm({ app: 'other' }, { topologyKey: 'kubernetes.io/hostname' });
    const picky = { ...WEB_1, constraints: { ...WEB_1.constraints, podAntiAffinity: [away] } };
    const plain = aPodOf(api, 'api-1', 'a');
    const going = { ...aPodOf(other, 'other-1', 'c'), terminating: true };
    const nodes = ['a', 'b', 'c', 'd'].map((name) => aNode(name, TEN_CORES));
    const w = world(nodes, [web, api, other], [picky, plain, going]);
    w.cluster.gated.add(web.uid);
    w.cluster.bindTo = () => 'c';
    w.cluster.delays.ready = 60;
    w.plans.put(aPlan(policy, [aMove(plain, 'd'), aMove(picky, 'b')], { steering: 'Gate' }));
    w.tap = (when, call, args) => {
      const isSent = call === 'evictor.evict' && JSON.stringify(args).includes('"dryRun":false');
      if (isComing && when === 'after' && isSent) {
        const moves = [{ podUID: going.uid, phase: 'AwaitingReplacement', attempt: 0 } as const];
        w.plans.put(aPlan(aPolicy('other'), [aMove(going, 'b')], { moves }));
      }
    };
    const how = { ...EXECUTION, maxConcurrent: 2 };
    for (let count = 0; count < 30 && w.gateActions.length === 0; count += 1) {
      await drive(w.clock, step(await noted(w), how, w.ports, forever));
      await w.clock.advance(1);
    }
    expect(w.gateActions).toEqual([action]);
    expect((await noted(w)).status?.moves?.map(({ phase }) => phase)).toEqual(['Verifying', 'Verifying']);
  });

  it('goes on when the replacement is deleted at the gate', async () => {
    const w = aWorld();
    w.cluster.delays.recreate = 5;
    await runToTheGate(w);
    const [old] = [...w.cluster.pods.values()];
    await w.cluster.gates.release(old ?? WEB_1, forever);
    expect(await run(w)).toMatchObject(LANDED);
  });
});

describe('advance', () => {
  const verifying = { podUID: 'old', phase: 'Verifying', attempt: 0, startedAt: formatInstant(NOON) } as const;
  const known = { ...verifying, replacement: { name: 'new', uid: 'new' } };

  function seen(waiting: Partial<NonNullable<Replacement['waiting']>>, age: Seconds) {
    const state = { gated: false, pinnedTo: undefined, unschedulable: false, ...waiting };
    const replacement = {
      name: 'new',
      uid: 'new',
      node: undefined,
      available: false,
      readySince: undefined,
      age,
      waiting: state,
      miss: undefined,
    };
    const serverTime = epochSeconds(NOON + age);
    const event = {
      kind: 'Observed',
      pod: 'Gone',
      deletion: undefined,
      replacement,
      awaited: true,
      serverTime,
      withoutEffect: seconds(0),
    } as const;
    return advance(known, event, aMove(WEB_1, 'b'), epochSeconds(NOON + age));
  }

  it('lets a replacement through as often as it is seen at the gate', () => {
    const effects: readonly MoveEffect[] = ['OpenGate'];
    expect(seen({ gated: true }, seconds(1))).toEqual({ run: known, effects });
    expect(seen({ gated: true }, seconds(500)).effects).toEqual(effects);
    expect(seen({}, seconds(1)).effects).toEqual([]);
  });

  it('is patient with a node that has no room yet, then has the pod made anew, unless it is kept to none', () => {
    const late = seconds(STUCK_PATIENCE + 1);
    expect(seen({ pinnedTo: 'b', unschedulable: true }, STUCK_PATIENCE)).toEqual({ run: known, effects: [] });
    expect(seen({ pinnedTo: 'b', unschedulable: true }, late)).toEqual({
      run: known,
      effects: ['RemoveHint', 'Release'],
    });
    expect(seen({ pinnedTo: 'b' }, late).effects).toEqual([]);
    expect(seen({ unschedulable: true }, late).effects).toEqual([]);
  });
});

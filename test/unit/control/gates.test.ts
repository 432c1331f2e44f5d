import { describe, expect, it } from 'vitest';
import type { MoveStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { keepGates } from '../../../src/control/gates.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import { recordSiblings } from '../../../src/execute/siblings.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { NO_SERVICE_LEVELS } from '../../../src/model/service-level.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { type Gates, StaleCacheError, type StoredPolicy } from '../../../src/ports.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aServiceClass } from '../../support/builders/service-levels.ts';
import { aNode, aPodOf, atGate, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive, NOON } from '../../support/test-clock.ts';

const web = aWorkload('web', { replicas: 3 });
const api = aWorkload('api', { replicas: 3 });
const OLD = aPodOf(web, 'web-1', 'a');

/** A pod at the gate, created `age` seconds before noon. */
function gatedPod(name: string, changes: Partial<PodInfo> = {}, age = 1): PodInfo {
  return {
    ...atGate(aPodOf(web, name, 'a')),
    createdAt: epochSeconds(NOON - age),
    ...changes,
  };
}

function pinnedPod(name: string, changes: Partial<PodInfo> = {}): PodInfo {
  return gatedPod(name, { waiting: { gated: false, pinnedTo: 'b', unschedulable: true }, ...changes });
}

function aWorld(pods: readonly PodInfo[], journal?: Partial<MoveStatus>): World {
  const w = world([aNode('a', TEN_CORES), aNode('b', TEN_CORES)], [web, api], pods);
  w.cluster.delays.bind = Number.POSITIVE_INFINITY;
  if (journal !== undefined) {
    const startedAt = formatInstant(epochSeconds(NOON - 10));
    const siblings = recordSiblings([OLD, ...pods.filter(({ createdAt }) => createdAt < NOON - 10)]);
    const begun = { podUID: OLD.uid, attempt: 0, startedAt, siblings };
    const run: MoveStatus = { ...begun, phase: 'AwaitingReplacement', ...journal };
    w.plans.put(aPlan(aPolicy('even'), [aMove(OLD, 'b')], { steering: 'Gate', moves: [run] }));
  }
  return w;
}

/** Looks after the gates for `span` seconds. */
async function keep(w: World, span = 1, pace = OPERATOR_PACE): Promise<void> {
  const stop = new AbortController();
  w.clock.at(w.clock.now() + span, () => stop.abort());
  await drive(w.clock, keepGates(w.ports, { excludedNamespaces: new Set(), pace }, stop.signal));
}

/** The same, where a pod arrives so many seconds after the beginning, each time; resolves to when the gates were looked at. */
async function looksAfter(arrivals: readonly number[], span: number): Promise<readonly number[]> {
  const w = aWorld([]);
  const looks: number[] = [];
  w.tap = (when, call) => {
    if (when === 'before' && call === 'gates.list') {
      looks.push(Math.round(10 * (w.clock.now() - NOON)) / 10);
    }
  };
  let wake = (): void => undefined;
  for (const [place, second] of arrivals.entries()) {
    w.clock.at(NOON + second, () => {
      w.cluster.putPod(gatedPod(`new-${place}`));
      wake();
    });
  }
  const onArrival = (arrived: () => void): void => {
    wake = arrived;
  };
  await keep(w, span, { ...OPERATOR_PACE, onArrival });
  return looks;
}

/** Names of the pods that still are at the gate. */
function atTheGate(w: World): readonly string[] {
  return [...w.cluster.pods.values()].filter(({ waiting }) => waiting?.gated === true).map(({ name }) => name);
}

describe('keepGates', () => {
  it('opens the gate of a pod that no move waits for, at once and tied to no node', async () => {
    const w = aWorld([gatedPod('scaled-up')]);
    await keep(w);
    expect(atTheGate(w)).toEqual([]);
    expect(w.cluster.pods.get('uid-scaled-up')?.waiting?.pinnedTo).toBeUndefined();
    expect(w.gateActions).toEqual(['OpenedUnplanned']);
    expect(w.lines).toEqual([
      {
        line: 'gate opened',
        fields: {
          pod: 'shop/scaled-up',
          podUID: 'uid-scaled-up',
          action: 'OpenedUnplanned',
          result: 'no move waits for the pod',
        },
      },
    ]);
  });

  it.each<[string, Partial<MoveStatus>]>([
    ['may be evicted any moment', { phase: 'Intent' }],
    ['was evicted', { phase: 'Evicting' }],
    ['has no replacement yet', { phase: 'AwaitingReplacement' }],
    ['has this one as its replacement', { phase: 'Verifying', replacement: { name: 'r', uid: 'uid-r' } }],
    ['lost the replacement that it had', { phase: 'Verifying', replacement: { name: 'x', uid: 'uid-x' } }],
  ])('leaves a pod to the move of its controller whose pod %s', async (_, journal) => {
    const w = aWorld([gatedPod('r')], journal);
    await keep(w, 60);
    expect(atTheGate(w)).toEqual(['r']);
  });

  it.each<[string, PodInfo, Partial<MoveStatus>]>([
    ['was there before the intent', gatedPod('r', {}, 11), {}],
    ['belongs to another controller', gatedPod('r', { owner: { kind: 'ReplicaSet', name: 'api', uid: api.uid } }), {}],
    ['belongs to no controller', gatedPod('r', { owner: undefined }), {}],
    [
      'comes beside a replacement that is bound',
      gatedPod('r'),
      { phase: 'Verifying', replacement: { name: 'x', uid: 'uid-x', node: 'b' } },
    ],
    ['belongs to a move that has ended', gatedPod('r'), { phase: 'Failed', replacement: { name: 'r', uid: 'uid-r' } }],
    ['belongs to a move that has not begun', gatedPod('r'), { phase: 'Planned' }],
  ])('opens the gate of a pod that %s', async (_, pod, journal) => {
    const w = aWorld([pod], journal);
    await keep(w);
    expect(atTheGate(w)).toEqual([]);
  });

  it('opens the gate of a pod beside a replacement that is at the gate itself', async () => {
    const w = aWorld([gatedPod('r'), gatedPod('scaled-up')], {
      phase: 'Verifying',
      replacement: { name: 'r', uid: 'uid-r' },
    });
    await keep(w);
    expect(atTheGate(w)).toEqual(['r']);
  });

  const QOS = { strategy: { type: 'QoSDriven' }, mode: 'Automatic' };
  it.each<[string, readonly string[], Record<string, unknown>, Record<string, string>]>([
    ['leaves a pod with a class to QoSDriven', ['r'], QOS, { 'evenkeel.dev/service-class': 'batch' }],
    ['lets in a pod without a class', [], QOS, {}],
    ['lets in a pod of a class that nobody made', [], QOS, { 'evenkeel.dev/service-class': 'gold' }],
    ...['DryRun', 'Approve'].map(
      (mode): [string, readonly string[], Record<string, unknown>, Record<string, string>] => [
        `lets in all while QoSDriven is in mode ${mode}`,
        [],
        { ...QOS, mode },
        { 'evenkeel.dev/service-class': 'batch' },
      ],
    ),
    ['lets in all while it is suspended', [], { ...QOS, suspend: true }, { 'evenkeel.dev/service-class': 'batch' }],
    [
      'lets in what is out of its scope',
      [],
      { ...QOS, scope: { podSelector: { matchLabels: { app: 'other' } } } },
      { 'evenkeel.dev/service-class': 'batch' },
    ],
    [
      'lets in all when the other strategies balance',
      [],
      { mode: 'Automatic' },
      { 'evenkeel.dev/service-class': 'batch' },
    ],
  ])('%s', async (_, left, spec, labels) => {
    const w = aWorld([gatedPod('r', { labels: new Map(Object.entries({ app: 'web', ...labels })) })]);
    const batch = aServiceClass();
    w.cluster.serviceLevels = { ...NO_SERVICE_LEVELS, classes: new Map([[batch.name, batch]]) };
    w.policies.apply('qos', spec);
    await keep(w, 10);
    expect(atTheGate(w)).toEqual(left);
  });

  it('lists pods before plans: what is evicted in between is no business of this look', async () => {
    const w = aWorld([gatedPod('scaled-up')]);
    await keep(w);
    expect(w.calls.slice(0, 5)).toEqual([
      'gates.available',
      'gates.list',
      'journals.list',
      'plans.list',
      'policies.list',
    ]);
  });

  it('catches up with what other replicas have recorded before it lets a pod go, and looks at the plans again', async () => {
    const w = aWorld([gatedPod('r')]);
    const startedAt = formatInstant(epochSeconds(NOON - 10));
    const run: MoveStatus = {
      phase: 'AwaitingReplacement',
      podUID: OLD.uid,
      attempt: 0,
      startedAt,
      siblings: recordSiblings([OLD]),
    };
    // The intent of another replica is seen here only once this one has caught up.
    const caughtUp = async (): Promise<void> => {
      w.calls.push('caught up');
      w.plans.put(aPlan(aPolicy('even'), [aMove(OLD, 'b')], { steering: 'Gate', moves: [run] }));
    };
    await keep({ ...w, ports: { ...w.ports, leadership: { ...w.ports.leadership, caughtUp } } }, 10);
    expect(atTheGate(w)).toEqual(['r']);
    expect(w.calls.filter((call) => call === 'caught up')).toHaveLength(1);
    expect(w.calls.slice(w.calls.indexOf('caught up') + 1)).toContain('plans.list');
  });

  it('lets no pod go while it cannot catch up, and tries again', async () => {
    const w = aWorld([gatedPod('scaled-up')]);
    let failures = 2;
    const caughtUp = async (): Promise<void> => {
      if (failures > 0) {
        failures -= 1;
        expect(atTheGate(w)).toEqual(['scaled-up']);
        throw new StaleCacheError('cut off');
      }
    };
    await keep({ ...w, ports: { ...w.ports, leadership: { ...w.ports.leadership, caughtUp } } }, 11);
    expect(w.failures()).toBe(2);
    expect(atTheGate(w)).toEqual([]);
  });

  it.each<[string, boolean, readonly string[]]>([
    ['lets a pod at the gate, and one that is stuck, go', false, ['open at-the-gate', 'release stuck']],
    ['leaves both while they are being deleted', true, []],
  ])('%s', async (_, terminating, done) => {
    const w = aWorld([]);
    const waiting = { gated: false, pinnedTo: 'b', unschedulable: true };
    const pods = [gatedPod('at-the-gate', { terminating }), gatedPod('stuck', { terminating, waiting }, 600)];
    const calls: string[] = [];
    const gates: Gates = {
      ...w.ports.gates,
      list: async () => pods,
      open: async ({ name }) => {
        calls.push(`open ${name}`);
        return 'Done';
      },
      release: async ({ name }) => {
        calls.push(`release ${name}`);
        return 'Done';
      },
    };
    await keep({ ...w, ports: { ...w.ports, gates } });
    expect(calls).toEqual(done);
  });

  it('asks other replicas nothing while no pod is to be let go', async () => {
    const w = aWorld([gatedPod('r')], {});
    const caughtUp = async (): Promise<void> => expect.fail('it has asked');
    await keep({ ...w, ports: { ...w.ports, leadership: { ...w.ports.leadership, caughtUp } } }, 60);
    expect(w.failures()).toBe(0);
  });

  it('makes a pod anew that is tied to a node without room, and opens the gate of the new one', async () => {
    const w = aWorld([pinnedPod('stuck')]);
    w.cluster.gated.add(web.uid);
    w.cluster.full.add('b');
    await keep(w, 28);
    expect(w.gateActions).toEqual([]);
    await keep(w, 10);
    expect([...w.cluster.pods.keys()]).toEqual(['uid-web-00001']);
    expect(atTheGate(w)).toEqual([]);
    expect(w.gateActions).toEqual(['Released', 'OpenedUnplanned']);
  });

  it('removes pods of one controller at growing intervals, though each is made anew as stuck as the last', async () => {
    const w = aWorld([pinnedPod('stuck')]);
    w.cluster.full.add('b');
    const removed: number[] = [];
    const release: Gates['release'] = async () => {
      removed.push(w.clock.now() - NOON);
      return 'Done';
    };
    await keep({ ...w, ports: { ...w.ports, gates: { ...w.ports.gates, release } } }, 600);
    expect(removed).toHaveLength(4);
  });

  it('makes one anew, too, where nobody may open gates: a stale hint has steered it', async () => {
    const w = aWorld([pinnedPod('stuck')]);
    w.cluster.opensGates = false;
    w.cluster.full.add('b');
    await keep(w, 70);
    expect(w.cluster.pods.has('uid-stuck')).toBe(false);
    expect(w.gateActions).toEqual(['Released']);
  });

  it.each<[string, PodInfo]>([
    [
      'the scheduler has not looked at',
      pinnedPod('p', { waiting: { gated: false, pinnedTo: 'b', unschedulable: false } }),
    ],
    ['others are preempted for', pinnedPod('p', { nominatedNode: 'b' })],
    ['is being deleted', pinnedPod('p', { terminating: true })],
  ])('leaves a tied pod that %s', async (_, pod) => {
    const w = aWorld([pinnedPod('p')]);
    w.cluster.putPod(pod);
    await keep(w, 10);
    expect([...w.cluster.pods.keys()]).toEqual(['uid-p']);
  });

  it('leaves a tied pod to its move', async () => {
    const w = aWorld([pinnedPod('r')], { phase: 'Verifying', replacement: { name: 'r', uid: 'uid-r' } });
    await keep(w, 30);
    expect([...w.cluster.pods.keys()]).toEqual(['uid-r']);
  });

  it('asks no more than twice a minute where gates may not be opened, and begins when they may', async () => {
    const w = aWorld([gatedPod('scaled-up')]);
    w.cluster.opensGates = false;
    await keep(w, 59);
    expect(w.calls).toEqual(['gates.available', 'gates.list', 'gates.available', 'gates.list']);
    w.cluster.opensGates = true;
    await keep(w);
    expect(atTheGate(w)).toEqual([]);
  });

  it('asks twice a minute whether gates may be opened, where they may', async () => {
    const w = aWorld([]);
    const asked: number[] = [];
    w.tap = (when, call) => {
      if (when === 'before' && call === 'gates.available') {
        asked.push(w.clock.now() - NOON);
      }
    };
    await keep(w, 61);
    expect(asked).toEqual([0, 30, 60]);
    w.cluster.opensGates = false;
    await keep(w, 61);
    expect(asked.slice(3)).toEqual([61, 91, 121]);
  });

  it('opens no gate from the first time on that it hears that it may not', async () => {
    const w = aWorld([]);
    w.clock.at(NOON + 10, () => {
      w.cluster.opensGates = false;
    });
    w.clock.at(NOON + 20, () => w.cluster.putPod(gatedPod('before')));
    w.clock.at(NOON + 29, () => w.cluster.putPod(gatedPod('after')));
    await keep(w, 55);
    expect(atTheGate(w)).toEqual(['after']);
  });

  it('keeps no pod waiting because another one cannot be changed', async () => {
    const w = aWorld([gatedPod('odd'), gatedPod('scaled-up')]);
    w.tap = (when, call, [pod]) => {
      if (when === 'before' && call === 'gates.open' && (pod as PodInfo).name === 'odd') {
        throw new Error('admission webhook denied the request');
      }
    };
    await keep(w);
    expect(atTheGate(w)).toEqual(['odd']);
    expect(w.failures()).toBe(1);
  });

  it.each<[string, readonly number[], readonly number[]]>([
    ['every two seconds while no pod arrives', [], [0, 2, 4]],
    ['at once when a pod arrives', [3.4], [0, 2, 3.4, 5.4]],
    ['once a second when many arrive', [2.2, 2.3, 2.5, 2.9, 3.1], [0, 2, 3, 4]],
  ])('looks %s', async (_, arrivals, looks) => {
    expect(await looksAfter(arrivals, 5.5)).toEqual(looks);
  });

  it('says how many pods could not be let go, and why the first one could not', async () => {
    const w = aWorld([gatedPod('odd'), gatedPod('strange'), gatedPod('scaled-up')]);
    w.tap = (when, call, [pod]) => {
      if (when === 'before' && call === 'gates.open' && (pod as PodInfo).name !== 'scaled-up') {
        throw new Error(`${(pod as PodInfo).name} is refused`);
      }
    };
    await keep(w);
    expect(atTheGate(w)).toEqual(['odd', 'strange']);
    const [{ fields: { err = undefined } = {} } = {}] = w.lines.filter(({ line }) => line === 'gates failed');
    expect(err).toMatchObject({
      message: '2 pods could not be let through the gate',
      cause: { message: 'odd is refused' },
      errors: [{ message: 'odd is refused' }, { message: 'strange is refused' }],
    });
  });

  it('says which pod it has removed, and the node that could not take it', async () => {
    const w = aWorld([pinnedPod('stuck', {})]);
    w.cluster.full.add('b');
    await keep(w, 40);
    expect(w.lines.find(({ line }) => line === 'pod released')?.fields).toEqual({
      pod: 'shop/stuck',
      podUID: 'uid-stuck',
      to: 'b',
      result: 'b cannot take it',
    });
  });

  it.each(['Gone', 'Changed'] as const)('says and counts nothing of pods that are %s meanwhile', async (outcome) => {
    const w = aWorld([gatedPod('at-the-gate'), pinnedPod('stuck', { createdAt: epochSeconds(NOON - 600) })]);
    const asked: string[] = [];
    const answer = async ({ name }: { readonly name: string }) => {
      asked.push(name);
      return outcome;
    };
    const gates: Gates = { ...w.ports.gates, open: answer, release: answer };
    await keep({ ...w, ports: { ...w.ports, gates } });
    expect(asked).toEqual(['at-the-gate', 'stuck']);
    expect([w.lines, w.gateActions, w.failures()]).toEqual([[], [], 0]);
  });

  it('counts a failure and tries again', async () => {
    const w = aWorld([gatedPod('scaled-up')]);
    let failures = 2;
    w.tap = (when, call) => {
      if (when === 'before' && call === 'plans.list' && failures > 0) {
        failures -= 1;
        throw new Error('503');
      }
    };
    await keep(w, 11);
    expect(w.failures()).toBe(2);
    expect(atTheGate(w)).toEqual([]);
  });
});

describe('pods that QoSDriven lets in when their turn comes', () => {
  const labels = new Map([['evenkeel.dev/service-class', 'batch']]);
  const POLICY = { strategy: { type: 'QoSDriven' }, mode: 'Automatic' };

  function aQueue(pods: readonly PodInfo[], spec: Record<string, unknown> = POLICY): World {
    const w = aWorld(pods);
    const batch = aServiceClass();
    w.cluster.serviceLevels = { ...NO_SERVICE_LEVELS, classes: new Map([[batch.name, batch]]) };
    w.policies.apply('qos', spec);
    return w;
  }

  /** Looks after the gates, and resolves to what others heard of those that wait, each time. */
  async function heard(w: World, span: number) {
    const demanded: (readonly unknown[])[] = [];
    const measured: (readonly unknown[])[] = [];
    const ports = {
      ...w.ports,
      demand: { ...w.ports.demand, tell: (queue: readonly unknown[]) => void demanded.push(queue) },
      telemetry: {
        ...w.ports.telemetry,
        waiting: (pods: readonly unknown[], now: number) => void measured.push([...pods, now - NOON]),
      },
    };
    await keep({ ...w, ports }, span);
    return { demanded, measured };
  }

  it('are told of at each look, with their controller, class and age, until none is left', async () => {
    const [r, bare] = [gatedPod('r', { labels }, 7), gatedPod('bare', { labels, owner: undefined })];
    const w = aQueue([gatedPod('no-class')]);
    const { list } = w.ports.gates;
    const waiting = async (signal: AbortSignal): Promise<readonly PodInfo[]> => {
      const second = w.clock.now() - NOON;
      const others = await list(signal);
      return second < 1 ? [r, bare, ...others] : second < 2 ? [r, ...others] : others;
    };
    const { demanded, measured } = await heard(
      { ...w, ports: { ...w.ports, gates: { ...w.ports.gates, list: waiting } } },
      2.5,
    );
    const queued = { uid: 'uid-r', owner: web.uid };
    expect(demanded).toEqual([[queued, { uid: 'uid-bare', owner: undefined }], [queued], []]);
    const waits = { uid: 'uid-r', createdAt: NOON - 7, className: 'batch' };
    expect(measured).toEqual([
      [waits, { uid: 'uid-bare', createdAt: NOON - 1, className: 'batch' }, 0],
      [waits, 1],
      [2],
    ]);
    expect(w.gateActions).toEqual(['OpenedUnplanned']);
  });

  it('are none that wait for the scheduler, though they have a class', async () => {
    const w = aQueue([pinnedPod('stuck', { labels, createdAt: epochSeconds(NOON - 600) })]);
    expect((await heard(w, 0.5)).demanded).toEqual([[]]);
    expect(w.gateActions).toEqual(['Released']);
  });

  it.each([
    [1, [0, 1, 2, 3, 4]],
    [3, [0, 2, 4]],
  ])('are looked at as often as plans, where that is sooner: every %d s', async (plans, looks) => {
    const w = aQueue([gatedPod('r', { labels })]);
    const seen: number[] = [];
    w.tap = (when, call) => {
      if (when === 'before' && call === 'gates.list') {
        seen.push(w.clock.now() - NOON);
      }
    };
    await keep(w, 4.5, { ...OPERATOR_PACE, plans: seconds(plans) });
    expect(seen).toEqual(looks);
  });

  it.each<[string, Partial<StoredPolicy>, Record<string, unknown>]>([
    ['is not valid', { invalid: ['spec.mode: wrong'] }, {}],
    ['has a schedule that cannot be used', {}, { schedule: '0 3 1 * 1' }],
  ])('are let in at once where the policy %s', async (_, changes, spec) => {
    const w = aQueue([gatedPod('r', { labels })]);
    const stored: StoredPolicy = { policy: aPolicy('qos', { ...POLICY, ...spec }), invalid: [], ...changes };
    await keep({ ...w, ports: { ...w.ports, policies: { ...w.ports.policies, list: async () => [stored] } } });
    expect(atTheGate(w)).toEqual([]);
  });

  it('wait as long as one of several policies lets them in, and are asked for no promises where none does', async () => {
    const w = aQueue([gatedPod('r', { labels })], { ...POLICY, scope: { namespaceSelector: { names: ['other'] } } });
    w.policies.apply('qos-of-all', POLICY);
    await keep(w);
    expect(atTheGate(w)).toEqual(['r']);
    expect(w.calls).toContain('reader.promises');
    const balanced = aQueue([gatedPod('r', { labels })], { mode: 'Automatic' });
    await keep(balanced);
    expect(atTheGate(balanced)).toEqual([]);
    expect(balanced.calls).not.toContain('reader.promises');
  });
});

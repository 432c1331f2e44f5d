import { describe, expect, it } from 'vitest';
import { keepGates } from '../../../src/control/gates.ts';
import { runLoop } from '../../../src/control/loop.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import type { NodeInfo } from '../../../src/model/node.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { epochSeconds, milliCpu, seconds } from '../../../src/model/units.ts';
import { anAdmission, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aLedger, aServiceClass } from '../../support/builders/service-levels.ts';
import { aNode, aPodOf, atGate, aWorkload, ownerOf, TEN_CORES } from '../../support/builders.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive, NOON } from '../../support/test-clock.ts';

const POLICY = {
  mode: 'Automatic',
  interval: '1h',
  strategy: { type: 'QoSDriven', qosDriven: { refinements: 'None' } },
  protections: { minReplicas: 1 },
  budgets: [{ maxMoves: 10, maxConcurrent: 1 }],
};
const SETTINGS = {
  excludedNamespaces: new Set<string>(),
  maxInFlight: 100,
  pace: OPERATOR_PACE,
  passed: () => undefined,
};
/** Two looks at the gates are two seconds apart. */
const SOON = 3;
const GRACE = 300;

function labelled(pod: PodInfo, className: string): PodInfo {
  return { ...pod, labels: new Map([['evenkeel.dev/service-class', className]]) };
}

/** A best-effort pod that fills its node. */
function running(name: string, node: string, cpu = 9_000): PodInfo {
  return labelled(aPodOf(aWorkload(name, { replicas: 1 }), `${name}-1`, node, cpu), 'free');
}

/** A pod that waits at the gate, and may wait for nobody. */
function waiting(name: string, at: number, cpu = 9_000): PodInfo {
  return {
    ...atGate(labelled(aPodOf(aWorkload(name, { replicas: 1 }), `${name}-1`, '', cpu), 'prod')),
    createdAt: epochSeconds(NOON + at),
  };
}

interface Arrival {
  readonly at: number;
  readonly pod: PodInfo;
}

/** Nodes full of best-effort pods that were served for an hour, whose deletion takes long, and requests that come. */
function aCluster(nodes: readonly NodeInfo[], victims: readonly PodInfo[], arrivals: readonly Arrival[]): World {
  const workloadOf = (pod: PodInfo) => aWorkload(pod.owner?.name ?? '', { replicas: 1 });
  const all = [...victims, ...arrivals.map(({ pod }) => pod)];
  const w = world(nodes, all.map(workloadOf), victims);
  w.cluster.delays.grace = GRACE;
  const classes = [
    aServiceClass({ name: 'prod', slo: 1, importance: 1 }),
    aServiceClass({ name: 'free', slo: 0.5, importance: 3 }),
  ];
  const asOf = epochSeconds(NOON);
  const ledgers = all.map((pod) => {
    const runs = pod.nodeName !== undefined;
    const times = { useful: seconds(runs ? 3600 : 0), discarded: seconds(0), pending: seconds(0) };
    const className = runs ? 'free' : 'prod';
    const counts = runs ? { running: 1, waiting: 0 } : { running: 0, waiting: 1 };
    const owner = ownerOf(workloadOf(pod));
    return {
      ...aLedger({ owner, className, admittedAt: asOf, asOf, times: { useful: 0, pending: 0 } }),
      times,
      ...counts,
    };
  });
  w.cluster.serviceLevels = {
    classes: new Map(classes.map((each) => [each.name, each])),
    ledgers: new Map(ledgers.map((ledger) => [ledger.owner.uid, ledger])),
    byPriorityClass: new Map(),
    byDefault: undefined,
  };
  for (const pod of all) {
    w.cluster.gated.add(pod.owner?.uid ?? '');
  }
  for (const { at, pod } of arrivals) {
    w.clock.at(NOON + at, () => w.cluster.putPod(pod));
  }
  w.policies.apply('qos', POLICY);
  return w;
}

async function play(w: World, span: number): Promise<void> {
  const stop = new AbortController();
  w.clock.at(w.clock.now() + span, () => stop.abort());
  const work = [runLoop(w.ports, SETTINGS, stop.signal), keepGates(w.ports, SETTINGS, stop.signal)];
  await drive(w.clock, Promise.all(work));
}

function nodeOf(w: World, { owner }: PodInfo): string | undefined {
  return [...w.cluster.pods.values()].find((pod) => pod.owner?.uid === owner?.uid && !pod.terminating)?.nodeName;
}

const summary = (w: World) =>
  [...w.plans.stored.values()]
    .toSorted((left, right) => left.spec.takenAt.localeCompare(right.spec.takenAt))
    .map(({ status }) => [status?.phase, ...(status?.moves ?? []).map(({ phase }) => phase)]);

const [FREE_A, FREE_B] = [running('free-a', 'a'), running('free-b', 'b')];
const [FIRST, SECOND] = [waiting('first', 10), waiting('second', 60)];
const empty = (name: string): NodeInfo => aNode(name, TEN_CORES);

describe('while a victim takes its grace', () => {
  it('a request that comes then is let in where there is room, at once', async () => {
    const w = aCluster(
      [empty('a')],
      [FREE_A],
      [
        { at: 10, pod: FIRST },
        { at: 60, pod: SECOND },
      ],
    );
    w.clock.at(NOON + 30, () => w.cluster.putNode(empty('b')));
    await play(w, 60 + SOON);
    expect(nodeOf(w, SECOND)).toBe('b');
    expect(nodeOf(w, FIRST)).toBeUndefined();
  });

  it('the room of the victim stays promised to the one that it was taken for, and nobody is evicted twice for it', async () => {
    const w = aCluster(
      [empty('a')],
      [FREE_A],
      [
        { at: 10, pod: FIRST },
        { at: 60, pod: SECOND },
      ],
    );
    await play(w, 10 + GRACE + 30);
    expect(w.cluster.accepted).toEqual([FREE_A.uid]);
    expect(nodeOf(w, FIRST)).toBe('a');
    expect(nodeOf(w, SECOND)).toBeUndefined();
  });

  it('what has not begun gives way when room appears: who waits for it takes that, and its victim runs on', async () => {
    const other = waiting('other', 10);
    const w = aCluster(
      [empty('a'), empty('b')],
      [FREE_A, FREE_B],
      [
        { at: 10, pod: FIRST },
        { at: 10, pod: other },
      ],
    );
    w.clock.at(NOON + 60, () => {
      w.cluster.putNode(empty('c'));
      w.turnover = { room: 1, requests: 1, stranded: [] };
    });
    await play(w, 60 + SOON);
    expect(w.cluster.accepted).toEqual([FREE_A.uid]);
    expect([nodeOf(w, FIRST), nodeOf(w, other)].sort()).toEqual(['c', undefined]);
    expect(summary(w)).toEqual([
      ['Executing', 'AwaitingReplacement', 'Planned', 'Aborted', 'Aborted'],
      ['Completed', 'Landed'],
    ]);
    await play(w, GRACE);
    expect(w.cluster.accepted).toEqual([FREE_A.uid]);
    expect([nodeOf(w, FIRST), nodeOf(w, other)].sort()).toEqual(['a', 'c']);
    expect(summary(w)).toEqual([
      ['Superseded', 'Vacated', 'Landed', 'Aborted', 'Aborted'],
      ['Completed', 'Landed'],
    ]);
  });

  it('news that change nothing store no plan, and write nothing', async () => {
    const other = waiting('other', 10);
    const w = aCluster(
      [empty('a'), empty('b')],
      [FREE_A, FREE_B],
      [
        { at: 10, pod: FIRST },
        { at: 10, pod: other },
      ],
    );
    let [written, plans] = [0, ''];
    const state = () => JSON.stringify([...w.plans.stored.values()]);
    w.clock.at(NOON + 90, () => {
      [written, plans] = [w.policies.writes(), state()];
      w.calls.length = 0;
    });
    for (let at = 91; at < 150; at += 5) {
      w.clock.at(NOON + at, () => {
        w.turnover = { room: at, requests: at, stranded: [] };
      });
    }
    await play(w, 150);
    expect(w.calls.filter((call) => call === 'reader.snapshot').length).toBeGreaterThan(9);
    expect(w.calls.filter((call) => call === 'reader.snapshot').length).toBeLessThan(14);
    expect(w.policies.writes()).toBe(written);
    expect(state()).toBe(plans);
  });

  it('a new leader goes on with all that the last one has begun', async () => {
    const w = aCluster(
      [empty('a')],
      [FREE_A],
      [
        { at: 10, pod: FIRST },
        { at: 60, pod: SECOND },
      ],
    );
    await play(w, 70);
    const successor = { ...w, ports: w.newProcess() };
    w.clock.at(NOON + 80, () => {
      w.cluster.putNode(empty('b'));
      w.turnover = { room: 1, requests: 1, stranded: [] };
    });
    await play(successor, GRACE);
    expect(w.cluster.accepted).toEqual([FREE_A.uid]);
    expect([nodeOf(w, FIRST), nodeOf(w, SECOND)]).toEqual(['a', 'b']);
  });

  it('a smaller request gets what the node has left, now and after', async () => {
    const small = waiting('small', 60, 1_000);
    const w = aCluster(
      [empty('a')],
      [FREE_A],
      [
        { at: 10, pod: FIRST },
        { at: 60, pod: small },
      ],
    );
    await play(w, 60 + SOON);
    expect(nodeOf(w, small)).toBe('a');
    await play(w, GRACE);
    expect(nodeOf(w, FIRST)).toBe('a');
  });

  it('a larger one does not take the room that is being made', async () => {
    const first = {
      ...FIRST,
      constraints: { ...FIRST.constraints, requests: { ...FIRST.constraints.requests, cpu: milliCpu(10_000) } },
    };
    const small = waiting('small', 60, 1_000);
    const w = aCluster(
      [empty('a')],
      [FREE_A],
      [
        { at: 10, pod: first },
        { at: 60, pod: small },
      ],
    );
    await play(w, GRACE + 30);
    expect(nodeOf(w, small)).toBeUndefined();
    expect(nodeOf(w, first)).toBe('a');
  });
});

describe('a request whose ledger is not kept yet', () => {
  it.each(['30s', '5m'])(
    'gets the room of another as soon as it is, without any other news, at an interval of %s',
    async (interval) => {
      const w = aCluster([empty('a')], [FREE_A], [{ at: 10, pod: FIRST }]);
      w.policies.apply('qos', { ...POLICY, interval });
      const { ledgers } = w.cluster.serviceLevels;
      const without = new Map([...ledgers].filter(([uid]) => uid !== FIRST.owner?.uid));
      w.cluster.serviceLevels = { ...w.cluster.serviceLevels, ledgers: without };
      w.clock.at(NOON + 20, () => {
        w.cluster.serviceLevels = { ...w.cluster.serviceLevels, ledgers };
      });
      await play(w, 28);
      expect(w.cluster.accepted).toEqual([FREE_A.uid]);
    },
  );
});

describe('a policy that carries out a plan', () => {
  it('says which plan it carries out, and how many older ones finish', async () => {
    const w = aCluster(
      [empty('a'), empty('b')],
      [FREE_A, FREE_B],
      [
        { at: 10, pod: FIRST },
        { at: 60, pod: SECOND },
      ],
    );
    w.policies.apply('qos', { ...POLICY, budgets: [{ maxConcurrent: 2 }] });
    await play(w, 90);
    const { status } = w.policies.stored.get('qos')?.policy ?? {};
    const executing = status?.conditions?.find(({ type }) => type === 'Executing');
    expect(executing?.message).toMatch(
      /^plan qos-\w{10}: 0 of 2 moves ended; 1 older plan still finishes what has begun$/,
    );
    const [, newest] = [...w.plans.stored.values()].toSorted((a, b) => a.spec.takenAt.localeCompare(b.spec.takenAt));
    expect(status?.plan?.name).toBe(newest?.metadata.name);
  });

  it('keeps its limit of evictions at a time over all its plans', async () => {
    const w = aCluster(
      [empty('a'), empty('b')],
      [FREE_A, FREE_B],
      [
        { at: 10, pod: FIRST },
        { at: 60, pod: SECOND },
      ],
    );
    await play(w, GRACE);
    expect(w.cluster.accepted).toHaveLength(1);
    await play(w, GRACE + 60);
    expect(w.cluster.accepted).toHaveLength(2);
    expect([nodeOf(w, FIRST), nodeOf(w, SECOND)].sort()).toEqual(['a', 'b']);
  });

  it('counts what older plans have begun against the moves that a plan may have', async () => {
    const arrivals = [
      { at: 10, pod: FIRST },
      { at: 60, pod: SECOND },
    ];
    const w = aCluster([empty('a'), empty('b')], [FREE_A, FREE_B], arrivals);
    w.policies.apply('qos', { ...POLICY, budgets: [{ maxMoves: 1, maxConcurrent: 5 }] });
    await play(w, GRACE);
    expect(w.cluster.accepted).toHaveLength(1);
    expect(w.policies.stored.get('qos')?.policy.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'PlanReady', reason: 'BudgetExhausted' }),
    );
    await play(w, 60);
    expect(w.cluster.accepted).toHaveLength(2);
  });

  it('stops all its plans when it is suspended', async () => {
    const w = aCluster(
      [empty('a'), empty('b')],
      [FREE_A, FREE_B],
      [
        { at: 10, pod: FIRST },
        { at: 60, pod: SECOND },
      ],
    );
    w.policies.apply('qos', { ...POLICY, budgets: [{ maxConcurrent: 2 }] });
    w.clock.at(NOON + 90, () => w.policies.apply('qos', { ...POLICY, suspend: true }));
    await play(w, 2 * GRACE);
    expect(summary(w).map(([phase]) => phase)).toEqual(['Aborted', 'Aborted']);
  });
});

describe('on a cluster with failing nodes', () => {
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
  const nodes = names.map((name, index) => aNode(name, { ...TEN_CORES, ready: index >= 3 }));
  const victims = names.slice(3, 10).map((name) => running(`free-${name}`, name));
  const arrivals = Array.from({ length: 10 }, (_, index) => ({
    at: 10 + index,
    pod: waiting(`prod-${index}`, 10 + index),
  }));

  it('nobody waits who fits, whoever else does not, and nobody is evicted', async () => {
    const tooMany = { at: 25, pod: waiting('prod-last', 25) };
    const w = aCluster(nodes, victims, [...arrivals, tooMany]);
    for (let at = 30; at < 60; at += 5) {
      w.clock.at(NOON + at, () => {
        w.turnover = { room: at, requests: at, stranded: [] };
      });
    }
    await play(w, 60);
    expect(summary(w).filter(([phase]) => phase === 'Aborted')).toHaveLength(1);
    expect(arrivals.map(({ pod }) => nodeOf(w, pod)).sort()).toEqual(names.slice(10).sort());
    expect(nodeOf(w, tooMany.pod)).toBeUndefined();
    expect(w.cluster.accepted).toEqual([]);
    const { status } = w.policies.stored.get('qos')?.policy ?? {};
    expect(status?.conditions?.find(({ type }) => type === 'Degraded')?.reason).toBe('ClusterUnhealthy');
  });

  it('a node that takes a pod by all filters and then does not is not tried for ever', async () => {
    const w = aCluster([empty('b'), empty('c')], [waiting('first', 0)], []);
    w.cluster.full.add('b');
    for (let at = 30; at < 1_200; at += 10) {
      w.clock.at(NOON + at, () => {
        w.turnover = { room: at, requests: at, stranded: [] };
      });
    }
    await play(w, 200);
    expect(nodeOf(w, FIRST)).toBe('c');
    const targets = [...w.plans.stored.values()].flatMap(({ spec }) => spec.moves.map(({ to }) => to));
    expect(targets).toEqual(['b', 'c']);
  });

  it('it is tried again where there is no other, but less and less often', async () => {
    const w = aCluster([empty('b')], [waiting('first', 0)], []);
    w.cluster.full.add('b');
    for (let at = 30; at < 1_200; at += 10) {
      w.clock.at(NOON + at, () => {
        w.turnover = { room: at, requests: at, stranded: [] };
      });
    }
    await play(w, 1_200);
    const starts = [...w.plans.stored.values()].map(({ spec }) => Date.parse(spec.takenAt) / 1000 - NOON);
    const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
    expect(starts.length).toBeGreaterThan(2);
    expect(gaps.slice(1).every((gap, index) => gap > (gaps[index] ?? 0))).toBe(true);
  });

  it('they are let in also by a plan that evictions belong to, when nodes fail in the middle of it', async () => {
    const other = waiting('other', 10);
    const healthy = names.slice(0, 3).map(empty);
    const w = aCluster(
      healthy,
      [running('free-n0', 'n0'), running('free-n1', 'n1')],
      [
        { at: 10, pod: FIRST },
        { at: 10, pod: other },
        { at: 10, pod: SECOND },
      ],
    );
    w.tap = (when, call) => {
      if (when === 'after' && call === 'plans.create') {
        w.cluster.putNode(aNode('n1', { ...TEN_CORES, ready: false }));
      }
    };
    await play(w, 60);
    expect(w.cluster.accepted).toEqual([]);
    expect([FIRST, other, SECOND].map((pod) => nodeOf(w, pod)).sort()).toEqual(['n2', undefined, undefined]);
  });
});

describe('on a node that did not take it a while ago', () => {
  it('a request is let in as soon as that node may be tried again', async () => {
    const w = aCluster([empty('a')], [], [{ at: 10, pod: FIRST }]);
    const failed = {
      podUID: FIRST.uid,
      phase: 'Failed',
      attempt: 0,
      startedAt: formatInstant(epochSeconds(NOON - 90)),
      finishedAt: formatInstant(epochSeconds(NOON - 20)),
    } as const;
    const end = { phase: 'Completed', finishedAt: failed.finishedAt } as const;
    w.plans.put(aPlan(aPolicy('qos', POLICY), [anAdmission(FIRST, 'a')], { ...end, moves: [failed] }));
    await play(w, 39);
    expect(nodeOf(w, FIRST)).toBeUndefined();
    await play(w, 1 + SOON);
    expect(nodeOf(w, FIRST)).toBe('a');
  });
});

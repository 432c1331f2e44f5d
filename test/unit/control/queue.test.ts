import { describe, expect, it } from 'vitest';
import { keepGates } from '../../../src/control/gates.ts';
import { runLoop } from '../../../src/control/loop.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import type { ServiceLedger } from '../../../src/model/service-level.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { aLedger, aServiceClass } from '../../support/builders/service-levels.ts';
import { aNode, aPodOf, atGate, aWorkload, ownerOf, TEN_CORES } from '../../support/builders.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive, NOON } from '../../support/test-clock.ts';

const free = aWorkload('free', { replicas: 1 });
const prod = aWorkload('prod', { replicas: 1 });
const POLICY = {
  mode: 'Automatic',
  interval: '1h',
  strategy: { type: 'QoSDriven', qosDriven: { refinements: 'None' } },
  protections: { minReplicas: 1 },
};
const SETTINGS = {
  excludedNamespaces: new Set<string>(),
  maxInFlight: 100,
  pace: OPERATOR_PACE,
  passed: () => undefined,
};

function labelled(pod: PodInfo, className: string): PodInfo {
  return { ...pod, labels: new Map([['evenkeel.dev/service-class', className]]) };
}

const RUNNING = labelled(aPodOf(free, 'free-1', 'a', 9_000), 'free');
const WAITING: PodInfo = {
  ...atGate(labelled(aPodOf(prod, 'prod-1', '', 9_000), 'prod')),
  createdAt: epochSeconds(NOON),
};

function ledgerOf(workload: typeof free, className: string, fields: Partial<ServiceLedger>): [string, ServiceLedger] {
  const times = { useful: 0, pending: 0 };
  const asOf = epochSeconds(NOON);
  const ledger = aLedger({ owner: ownerOf(workload), className, admittedAt: asOf, asOf, times });
  return [workload.uid, { ...ledger, ...fields }];
}

/** One node that is full with a best-effort request, which has been served for an hour. */
function aWorld(): World {
  const w = world([aNode('a', TEN_CORES)], [free, prod], [RUNNING]);
  w.cluster.gated.add(free.uid).add(prod.uid);
  const classes = [
    aServiceClass({ name: 'prod', slo: 1, importance: 1 }),
    aServiceClass({ name: 'free', slo: 0.5, importance: 3 }),
  ];
  w.cluster.serviceLevels = {
    classes: new Map(classes.map((each) => [each.name, each])),
    ledgers: new Map([
      ledgerOf(free, 'free', { times: { useful: seconds(3600), discarded: seconds(0), pending: seconds(0) } }),
      ledgerOf(prod, 'prod', { running: 0, waiting: 1 }),
    ]),
    byPriorityClass: new Map(),
    byDefault: undefined,
  };
  w.policies.apply('qos', POLICY);
  return w;
}

async function play(w: World, span: number): Promise<void> {
  const stop = new AbortController();
  w.clock.at(w.clock.now() + span, () => stop.abort());
  const running = [runLoop(w.ports, SETTINGS, stop.signal), keepGates(w.ports, SETTINGS, stop.signal)];
  await drive(w.clock, Promise.all(running));
}

function nodeOf(w: World, owner: string): string | undefined {
  return [...w.cluster.pods.values()].find((pod) => pod.owner?.uid === owner)?.nodeName;
}

describe('a request that comes to a full cluster', () => {
  it('gets the place of another long before the interval of the policy is over', async () => {
    const w = aWorld();
    w.clock.at(NOON + 60, () => w.cluster.putPod(WAITING));
    await play(w, 900);
    expect(nodeOf(w, prod.uid)).toBe('a');
    expect(w.cluster.accepted).toEqual([RUNNING.uid]);
  });

  it('keeps it: the one that made room waits at the gate', async () => {
    const w = aWorld();
    w.clock.at(NOON + 60, () => w.cluster.putPod(WAITING));
    await play(w, 900);
    expect(nodeOf(w, free.uid)).toBeUndefined();
    expect(w.cluster.accepted).toHaveLength(1);
    expect(w.failures()).toBe(0);
  });

  it('is left to the scheduler while the policy is suspended', async () => {
    const w = aWorld();
    w.policies.apply('qos', { ...POLICY, suspend: true });
    w.cluster.full.add('a');
    w.clock.at(NOON + 60, () => w.cluster.putPod(WAITING));
    await play(w, 900);
    expect(w.gateActions).toEqual(['OpenedUnplanned']);
    expect(w.cluster.accepted).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../../src/model/pod.ts';
import type { InstanceLedger } from '../../../../src/model/service-level.ts';
import { epochSeconds } from '../../../../src/model/units.ts';
import { planningInputOf } from '../../../../src/plan/planning-input.ts';
import { createServicePositions } from '../../../../src/plan/qos/service-position.ts';
import { STANDARD } from '../../../../src/plan/qos/standard.ts';
import { anInstance, aServiceClass, times } from '../../../support/builders/service-levels.ts';
import { aNode, aWorkload, NOW, type PodFields } from '../../../support/builders.ts';
import { aContest, aRequest, qosOptions } from '../../../support/gated.ts';

const CLASSES = [
  aServiceClass({ name: 'team', slo: 0.9, mode: 'Concurrent', minRunTime: 60 }),
  aServiceClass({ name: 'free', slo: 0.5 }),
  aServiceClass({ name: 'own', slo: 0.5, mode: 'Independent' }),
];

/** The positions of two replicas of one request; the second is as given, and the first if it says how. */
function positionsOf(
  className: string,
  second: PodFields,
  { first, instances = [] }: { readonly first?: PodFields; readonly instances?: readonly InstanceLedger[] } = {},
) {
  const requests = [first, second].map((fields, index) =>
    aRequest(`pair-${index}`, className, 'n1', { useful: 1000, pending: 100 }, { owner: 'pair', ...fields }),
  );
  const owner = { kind: 'ReplicaSet', name: 'pair', uid: 'uid-pair' };
  const same = requests.map(({ pod, ledger }) => ({
    pod,
    ledger: { ...ledger, owner, instances, running: 2, waiting: 0 },
  }));
  const nodes = [aNode('n1'), aNode('n2')];
  const workloads = [aWorkload('pair', { gated: true, replicas: 2 })];
  const snapshot = aContest({}, CLASSES, same, { nodes, workloads });
  const input = planningInputOf(snapshot, qosOptions('Standard'));
  const place = (name: string) => input.pods.findIndex((pod: PodInfo) => pod.name === name);
  const positions = createServicePositions(input, STANDARD);
  return { positions, first: place('pair-0'), second: place('pair-1') };
}

const PENDING: PodFields = { nodeName: undefined, phase: 'Pending', ready: false, readySince: undefined };
const promised = { gated: false, pinnedTo: 'n2', unschedulable: false };

describe('how many replicas of a Concurrent request lack a node', () => {
  const lacking = (fields: PodFields, className = 'team') => {
    const { positions, first } = positionsOf(className, fields);
    return positions.of(first)?.lacking;
  };

  it('is how many have none and were promised none', () => {
    expect(lacking({ nodeName: 'n2' })).toBe(0);
    expect(lacking({ ...PENDING, waiting: promised })).toBe(0);
    expect(lacking({ ...PENDING, waiting: { ...promised, gated: true } })).toBe(1);
    expect(lacking({ ...PENDING, waiting: { ...promised, pinnedTo: undefined } })).toBe(1);
    expect(lacking({ ...PENDING, waiting: undefined })).toBe(1);
  });

  it('counts one that is being deleted among those that lack a node', () => {
    expect(lacking({ nodeName: 'n2', terminating: true })).toBe(1);
  });

  it('is of no matter where replicas run for themselves', () => {
    expect(lacking({ ...PENDING, waiting: undefined }, 'free')).toBe(0);
  });
});

describe('whether a pod may not be evicted yet', () => {
  const isFresh = (className: string, ready: number | undefined) => {
    const readySince = ready === undefined ? undefined : epochSeconds(NOW - ready);
    const { positions, second } = positionsOf(className, { readySince });
    const standing = positions.of(second);
    return standing && positions.isFresh(second, standing);
  };

  it('depends on how long it has run, where its class asks for that', () => {
    expect([isFresh('team', 59), isFresh('team', 60), isFresh('team', undefined)]).toEqual([true, false, true]);
    expect([isFresh('free', 1), isFresh('free', undefined)]).toEqual([false, false]);
  });
});

describe('what is known of a pod', () => {
  it('is its class and whether it runs, as far as it has a node and is Ready', () => {
    const runs = (fields: PodFields) => {
      const { positions, second } = positionsOf('free', fields);
      return [positions.isKnown(second), positions.classOf(second)?.name, positions.of(second)?.running];
    };
    expect(runs({})).toEqual([true, 'free', true]);
    expect(runs({ ready: false })).toEqual([true, 'free', false]);
    expect(runs({ ...PENDING, waiting: promised })).toEqual([true, 'free', false]);
  });
});

describe('replicas that have accounts of their own', () => {
  const account = (pod: string, useful: number) => anInstance({ pod, running: true, ...times({ useful }) });
  const metrics = (instances: readonly InstanceLedger[], firstPod?: PodFields) => {
    const { positions, first, second } = positionsOf('own', {}, { instances, ...(firstPod && { first: firstPod }) });
    return [positions.of(first)?.metric, positions.of(second)?.metric];
  };

  it('are each judged by its own', () => {
    const [first, second] = metrics([account('uid-shop-pair-0', 1000), account('uid-shop-pair-1', 100)]);
    expect(first).toBe(997);
    expect(second).toBe(97);
  });

  it('have that of a pod that is leaving when they are new, and of none that stays', () => {
    const known = [account('uid-shop-pair-0', 1000)];
    expect(metrics(known)[1]).not.toBe(997);
    expect(metrics(known, { terminating: true })[1]).toBe(997);
  });
});

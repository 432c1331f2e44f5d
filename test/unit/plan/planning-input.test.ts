import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../src/model/pod.ts';
import type { PolicyOptions } from '../../../src/plan/options.ts';
import { metricsProblem, type PlanningInput, planningInputOf } from '../../../src/plan/planning-input.ts';
import { ALL_REPAIRS, pack, someOptions, trafficAware } from '../../support/builders/options.ts';
import { aTaint, aToleration } from '../../support/builders/scheduling.ts';
import { aServiceClass, aStartTime, serviceLevels } from '../../support/builders/service-levels.ts';
import {
  aNode,
  aPod,
  aSnapshot,
  aWorkload,
  type NodeFields,
  type PodFields,
  type SnapshotFields,
  selecting,
} from '../../support/builders.ts';
import { aContest, anUnreadyRequest, aRequest, qosOptions, type Request, reliefOptions } from '../../support/gated.ts';

const CLASSES = [aServiceClass({ name: 'batch', slo: 0.9 })];
const NO_LEDGERS: SnapshotFields = { serviceLevels: serviceLevels(CLASSES) };
const OUT_OF_SCOPE: PodFields = { namespace: 'kube-system' };

/** Names of the pods of one list. */
function listed(
  list: 'queue' | 'mobile' | 'stranded',
  request: Request,
  fields: SnapshotFields = {},
  options: PolicyOptions = qosOptions(),
): readonly string[] {
  const nodes = [aNode('n1'), aNode('down', { ready: false })];
  const input = planningInputOf(aContest({}, CLASSES, [request], { nodes, ...fields }), options);
  return input[list].map((place) => input.pods[place]?.name ?? '');
}

describe('pods that wait at the gate', () => {
  const waits = (fields: PodFields = {}) => aRequest('p', 'batch', undefined, {}, fields);

  it('are those in scope whose controller makes others, and that nothing else keeps waiting', () => {
    expect(listed('queue', waits())).toEqual(['p']);
    expect(listed('queue', waits(), NO_LEDGERS)).toEqual(['p']);
    expect(listed('queue', waits(), {}, someOptions())).toEqual([]);
    const open = { gated: false, pinnedTo: undefined, unschedulable: false };
    const others: readonly PodFields[] = [
      { nodeName: 'n1' },
      { waiting: open },
      { waiting: undefined },
      { terminating: true },
      { owner: undefined },
      { constraints: { unsupported: [{ filter: 'Something', detail: 'something' }] } },
      OUT_OF_SCOPE,
    ];
    expect(others.map((fields) => listed('queue', waits(fields)))).toEqual(others.map(() => []));
  });
});

describe('pods that may be moved off overloaded nodes', () => {
  const runs = (fields: PodFields = {}) => aRequest('p', 'batch', 'n1', {}, fields);
  const unready = (fields: PodFields = {}) => anUnreadyRequest('p', 'batch', 'n1', {}, 60, fields);
  const mobile = (request: Request, fields: SnapshotFields = {}, options = reliefOptions()) =>
    listed('mobile', request, { uses: { p: 100 }, ...fields }, options);

  it('are those that nothing holds, or nothing but that they are not Ready', () => {
    expect([mobile(runs()), mobile(unready())]).toEqual([['p'], ['p']]);
    for (const fields of [{ localStorage: true }, OUT_OF_SCOPE, { terminating: true }]) {
      expect([mobile(runs(fields)), mobile(unready(fields))]).toEqual([[], []]);
    }
    expect(mobile(aRequest('p', 'batch', undefined, {}))).toEqual([]);
  });

  it('are none where overload is not measured, or nothing is known of what pods got', () => {
    expect(mobile(runs(), { usage: undefined })).toEqual([]);
    expect(mobile(runs(), NO_LEDGERS)).toEqual([]);
    expect(mobile(runs(), {}, qosOptions())).toEqual([]);
    expect(mobile(runs(), {}, someOptions({ protections: { minReplicas: 1 } }))).toEqual([]);
  });
});

describe('pods that are down with their nodes', () => {
  const down = (fields: PodFields = {}) => anUnreadyRequest('p', 'batch', 'down', {}, 60, fields);
  const workload = (replacesTerminating: boolean) => ({
    workloads: [aWorkload('p', { replicas: 1, gated: true, replacesTerminating })],
  });

  it('are those in scope that their controllers replace at once, and that only protections of service hold', () => {
    expect(listed('stranded', down())).toEqual(['p']);
    expect(listed('stranded', down(), workload(true))).toEqual(['p']);
    expect(listed('stranded', down(), workload(false))).toEqual([]);
    expect(listed('stranded', down(OUT_OF_SCOPE))).toEqual([]);
    expect(listed('stranded', down({ localStorage: true }))).toEqual([]);
    expect(listed('stranded', down({ nodeName: 'n1' }))).toEqual([]);
  });

  it('are none where no node has failed, nothing is known of what pods got, or pods that wait are not let in', () => {
    expect(listed('stranded', down(), { nodes: [aNode('n1'), aNode('down')] })).toEqual([]);
    expect(listed('stranded', down(), NO_LEDGERS)).toEqual([]);
    expect(listed('stranded', down(), {}, someOptions())).toEqual([]);
  });

  it('are not moved off overloaded nodes as well', () => {
    const options = reliefOptions();
    expect(listed('stranded', down(), { uses: { p: 100 } }, options)).toEqual(['p']);
    expect(listed('mobile', down(), { uses: { p: 100 } }, options)).toEqual([]);
  });
});

describe('nodes', () => {
  function surveyed(fields: NodeFields, pods: readonly PodInfo[] = [], options = someOptions()): PlanningInput {
    return planningInputOf(aSnapshot({ nodes: [aNode('a'), aNode('b', fields)], pods, uses: {} }), options);
  }

  it('are hosts when they are Ready, stay, and are in scope', () => {
    const hosts = (fields: NodeFields) => surveyed(fields).hosts.map(({ name }) => name);
    expect(hosts({})).toEqual(['a', 'b']);
    expect(hosts({ unschedulable: true })).toEqual(['a', 'b']);
    expect(hosts({ ready: false })).toEqual(['a']);
    expect(hosts({ terminating: true })).toEqual(['a']);
    expect(hosts({ taints: [aTaint('karpenter.sh/disrupted')] })).toEqual(['a']);
    const scope = { nodeSelector: selecting({ pool: 'x' }) };
    expect(surveyed({ labels: { pool: 'x' } }, [], someOptions({ scope })).hosts.map(({ name }) => name)).toEqual([
      'b',
    ]);
  });

  it('take part when a pod tolerates their taints that may be moved, whatever others do', () => {
    const constraints = { tolerations: [aToleration({ key: 'pool' })] };
    const absent = (fields: PodFields) => {
      const pods = [aPod('p', { nodeName: 'a', constraints, ...fields }), aPod('q', { nodeName: 'a' })];
      return [...surveyed({ taints: [aTaint('pool')] }, pods).participation.absent];
    };
    expect(absent({})).toEqual([]);
    for (const fields of [{ localStorage: true }, OUT_OF_SCOPE]) {
      expect(absent(fields)).toEqual([['b', 'no pod that may be moved tolerates its taints']]);
    }
  });
});

describe('an overloaded node that is cordoned', () => {
  it('takes part as a source where loads are balanced, and not where service or packing is what a plan is for', () => {
    const nodes = [aNode('a'), aNode('b', { unschedulable: true })];
    const snapshot = aSnapshot({ nodes, pods: [aPod('p', { nodeName: 'b' })], uses: { p: 2000 } });
    const parts = (options: PolicyOptions) =>
      planningInputOf(snapshot, options).participation.participants.map(({ node }) => node.name);
    expect(parts(someOptions())).toEqual(['a', 'b']);
    expect(parts(someOptions({ strategy: trafficAware() }))).toEqual(['a', 'b']);
    expect([parts(qosOptions()), parts(someOptions({ strategy: pack() }))]).toEqual([['a'], ['a']]);
  });
});

describe('what a plan keeps of repairs', () => {
  it('is there for policies that repair or make room, and for no others', () => {
    const guardOf = (options: PolicyOptions) => planningInputOf(aSnapshot(), options).guard;
    expect(guardOf(someOptions())).toBeUndefined();
    expect(guardOf(someOptions({ makesRoom: true }))).toBeDefined();
    expect(guardOf(someOptions({ repair: ALL_REPAIRS }))).toBeDefined();
  });
});

describe('whether metrics suffice', () => {
  const problem = (fields: SnapshotFields, options = someOptions()) => {
    const snapshot = aSnapshot({ usage: undefined, ...fields });
    return metricsProblem(planningInputOf(snapshot, options), options)?.kind;
  };

  it('is asked where there are nodes and loads are measured', () => {
    const nodes = [aNode('a')];
    expect(problem({ nodes })).toBe('MetricsUnavailable');
    expect(problem({ nodes }, someOptions({ load: { source: 'Requests' } }))).toBeUndefined();
    expect(problem({})).toBeUndefined();
  });
});

describe('what was seen before', () => {
  const { pod, ledger } = aRequest('p', 'batch', 'n1', {});
  const snapshot = (fields: SnapshotFields = {}) =>
    aContest(
      { n1: 9 },
      CLASSES,
      [{ pod, ledger: { ...ledger, startup: { hot: aStartTime(7), cold: aStartTime(7) } } }],
      fields,
    );

  it('has the starts that ledgers have measured', () => {
    const startOf = (fields: SnapshotFields) =>
      planningInputOf(snapshot(fields), someOptions()).history.startup.of('uid-p');
    expect(startOf({})).toBe(7);
    expect(startOf(NO_LEDGERS)).not.toBe(7);
  });

  it('has what services were promised where loads are balanced, and something was promised', () => {
    const levelOf = (options: PolicyOptions, fields: SnapshotFields = {}) =>
      planningInputOf(snapshot(fields), options).history.serviceLevel();
    expect(levelOf(someOptions())).toBeDefined();
    expect(levelOf(someOptions(), NO_LEDGERS)).toBeUndefined();
    expect(levelOf(qosOptions())).toBeUndefined();
  });
});

import type { PodInfo } from '../../src/model/pod.ts';
import type { ServiceClass, ServiceLedger } from '../../src/model/service-level.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { epochSeconds, seconds } from '../../src/model/units.ts';
import { type PolicyOptions, planningOptions } from '../../src/plan/options.ts';
import { CLASS_LABEL } from '../../src/qos/class-of.ts';
import { type OptionFields, someOptions } from './builders/options.ts';
import { aLedger, type LedgerFields, serviceLevels } from './builders/service-levels.ts';
import { aNode, aPod, aSnapshot, aWorkload, NOW, type PodFields, type SnapshotFields } from './builders.ts';

/** A request with one replica: its pod, and what it got. */
export interface Request {
  readonly pod: PodInfo;
  readonly ledger: ServiceLedger;
}

/** A request of a class that runs on `node`, or waits at the gate without one; `times` up to NOW. */
export function aRequest(
  name: string,
  className: string,
  node: string | undefined,
  times: NonNullable<LedgerFields['times']>,
  fields: PodFields = {},
): Request {
  const waits = node === undefined;
  const pod = aPod(name, {
    owner: name,
    labels: { [CLASS_LABEL]: className },
    nodeName: node,
    ...(waits
      ? {
          phase: 'Pending',
          ready: false,
          readySince: undefined,
          waiting: { gated: true, pinnedTo: undefined, unschedulable: false },
        }
      : {}),
    ...fields,
  });
  const owner = { kind: 'ReplicaSet', name, uid: `uid-${name}` };
  const ledger = aLedger({ owner, className, times, running: waits ? 0 : 1, waiting: waits ? 1 : 0 });
  return { pod, ledger };
}

/** Fields of a pod that requests so many millicores. */
export function cpu(millicores: number) {
  return { constraints: { requests: { cpu: millicores } } };
}

/** A request that has a node and has not been Ready for `seconds`. */
export function anUnreadyRequest(
  name: string,
  className: string,
  node: string,
  times: NonNullable<LedgerFields['times']>,
  seconds: number,
  fields: PodFields = {},
): Request {
  const state = { ready: false, readySince: epochSeconds(NOW - seconds) };
  const { pod, ledger } = aRequest(name, className, node, times, { ...state, ...fields });
  return { pod, ledger: { ...ledger, running: 0, waiting: 1 } };
}

/** Nodes of so many pod slots with these requests, each a ReplicaSet of one; without metrics unless it says what pods use. */
export function aContest(
  slots: Readonly<Record<string, number>>,
  classes: readonly ServiceClass[],
  requests: readonly Request[],
  fields: SnapshotFields = {},
): ClusterSnapshot {
  return aSnapshot({
    nodes: Object.entries(slots).map(([name, pods]) => aNode(name, { allocatable: { pods } })),
    pods: requests.map(({ pod }) => pod),
    workloads: requests.map(({ pod }) => aWorkload(pod.name, { replicas: 1, gated: true })),
    ...(fields.uses === undefined ? { usage: undefined } : {}),
    serviceLevels: serviceLevels(
      classes,
      requests.map(({ ledger }) => ledger),
    ),
    ...fields,
  });
}

/** Options of QoSDriven, as qosOptions has them, that run every 30 s and move pods off nodes above a load of 0.9. */
export function reliefOptions(fields: OptionFields = {}): PolicyOptions {
  const pressure = { overload: 0.9, runs: { interval: seconds(30) } };
  return qosOptions('Standard', { strategy: { type: 'QoSDriven', refinements: 'Standard', pressure }, ...fields });
}

/** Options of QoSDriven that protect nothing, without budgets. */
export function qosOptions(refinements: 'Standard' | 'None' = 'None', fields: OptionFields = {}): PolicyOptions {
  return planningOptions(
    someOptions({
      strategy: { type: 'QoSDriven', refinements, pressure: undefined },
      ...fields,
      protections: { minReplicas: 1, ...fields.protections },
    }),
  );
}

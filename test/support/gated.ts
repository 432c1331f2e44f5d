import type { PodInfo } from '../../src/model/pod.ts';
import type { ServiceClass, ServiceLedger } from '../../src/model/service-level.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { type PolicyOptions, planningOptions } from '../../src/plan/options.ts';
import { CLASS_LABEL } from '../../src/qos/class-of.ts';
import {
  aNode,
  aPod,
  aSnapshot,
  aWorkload,
  type OptionFields,
  type PodFields,
  type SnapshotFields,
  someOptions,
} from './builders.ts';
import { aLedger, type LedgerFields, serviceLevels } from './service-levels.ts';

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

/** Nodes of so many pod slots with these requests, each a ReplicaSet of one. */
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
    usage: undefined,
    serviceLevels: serviceLevels(
      classes,
      requests.map(({ ledger }) => ledger),
    ),
    ...fields,
  });
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

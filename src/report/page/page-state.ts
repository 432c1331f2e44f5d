import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import { formatInstant } from '../../model/instant.ts';
import type { NodeInfo } from '../../model/node.ts';
import type { PodInfo } from '../../model/pod.ts';
import { EVERYTHING } from '../../model/selector.ts';
import type { ServiceClass, ServiceLedger, ServiceLevels } from '../../model/service-level.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import type { EpochSeconds } from '../../model/units.ts';
import type { ScopeOptions } from '../../plan/options.ts';
import { type ClassReport, type ServiceReport, serviceReport } from '../../plan/service-report.ts';
import type { StoredPolicy } from '../../ports.ts';
import { isFulfilled } from '../../qos/fulfilment.ts';
import { serviceLevelAt } from '../../qos/service-level.ts';
import { nodeGroups } from './node-groups.ts';
import { policyRow } from './policies.ts';
import { roundedLoads } from './shifts.ts';
import {
  type ClassRow,
  emptyState,
  type Loads,
  type NodeRow,
  type PageRole,
  type PageState,
  type ServiceRow,
} from './state.ts';

interface PageFacts {
  readonly title: string;
  readonly role: PageRole;
  /** `undefined` before the first could be made. */
  readonly snapshot: ClusterSnapshot | undefined;
  readonly policies: readonly StoredPolicy[];
  /** Of all policies. */
  readonly plans: readonly RebalancePlan[];
  /** Why any of this is old or missing. */
  readonly trouble: string | undefined;
}

/** What the page shows. Pure; equal facts give an equal state. */
export function pageState({ title, role, snapshot, policies, plans, trouble }: PageFacts): PageState {
  const rows = policies.map((stored) => [stored.policy.metadata.name, policyRow(stored, plans, snapshot)]);
  const observed =
    snapshot === undefined
      ? {}
      : {
          takenAt: formatInstant(snapshot.takenAt),
          basis: snapshot.usage === undefined ? ('Requests' as const) : ('Usage' as const),
          pods: snapshot.pods.length,
          nodes: nodeRows(snapshot),
          services: serviceRows(snapshot.serviceLevels, snapshot.takenAt),
          classes: classRows(snapshot),
        };
  return {
    ...emptyState(title, role),
    ...observed,
    ...(trouble === undefined ? {} : { trouble }),
    policies: Object.fromEntries(rows),
  };
}

/** Every workload with a class and a ledger, extrapolated to `now`. */
function serviceRows({ classes, ledgers }: ServiceLevels, now: EpochSeconds): Readonly<Record<string, ServiceRow>> {
  return Object.fromEntries(
    [...ledgers.values()].flatMap((ledger) => {
      const serviceClass = classes.get(ledger.className);
      const { namespace, owner } = ledger;
      return serviceClass === undefined
        ? []
        : [[`${namespace}/${owner.kind}/${owner.name}`, rowOf(ledger, serviceClass, now)]];
    }),
  );
}

function rowOf(ledger: ServiceLedger, serviceClass: ServiceClass, now: EpochSeconds): ServiceRow {
  const level = serviceLevelAt(ledger, serviceClass, now);
  const { slo, importance, safetyMargin, mode, name } = serviceClass;
  const judged = mode === 'Independent' ? level.availability : level.availabilityOverWindow;
  const isKept = judged === undefined || isFulfilled(judged, slo);
  const calm = level.timeToViolate >= safetyMargin ? 'Kept' : 'InDanger';
  return {
    className: name,
    importance,
    slo,
    ...(judged === undefined ? {} : { availability: fraction(judged) }),
    ...(level.availability === undefined ? {} : { sinceAdmission: fraction(level.availability) }),
    ...(Number.isFinite(level.timeToViolate) ? { timeToViolate: Math.round(level.timeToViolate) } : {}),
    standing: isKept ? calm : 'Missed',
    running: ledger.running,
    waiting: ledger.waiting,
    preemptions: ledger.preemptions,
  };
}

/** Every pod there is. */
const EVERYWHERE: ScopeOptions = {
  namespaceSelector: EVERYTHING,
  podSelector: EVERYTHING,
  nodeSelector: EVERYTHING,
  excludedNamespaces: new Set(),
  foreignPods: new Set(),
};

function classRows(snapshot: ClusterSnapshot): Readonly<Record<string, ClassRow>> {
  const { classes } = snapshot.serviceLevels.classes.size === 0 ? NOTHING : serviceReport(snapshot, EVERYWHERE);
  return Object.fromEntries(classes.map((report) => [report.serviceClass.name, classRow(report)]));
}

const NOTHING: Pick<ServiceReport, 'classes'> = { classes: [] };

function classRow({
  serviceClass,
  requests,
  missed,
  least,
  gini,
  penalty,
  waiting,
  longestWait,
}: ClassReport): ClassRow {
  return {
    importance: serviceClass.importance,
    slo: serviceClass.slo,
    workloads: requests,
    missed,
    ...(least === undefined ? {} : { least: fraction(least) }),
    gini: fraction(gini),
    penalty: Math.round(penalty),
    waiting,
    longestWait: Math.round(longestWait),
  };
}

function fraction(value: number): number {
  return Math.round(value * 100_000) / 100_000;
}

/** Every node with its loads of now: measured, or what its pods request where the snapshot has no metrics. */
function nodeRows({ nodes, pods, usage }: ClusterSnapshot): Readonly<Record<string, NodeRow>> {
  const totals = new Map(nodes.map(({ name }) => [name, { pods: 0, cpu: 0, memory: 0 }]));
  for (const pod of pods) {
    count(totals.get(pod.nodeName ?? ''), pod);
  }
  return Object.fromEntries(
    nodes.map((node) => {
      const total = totals.get(node.name) ?? { pods: 0, cpu: 0, memory: 0 };
      const used = usage === undefined ? total : usage.nodes.get(node.name);
      const now = loadsOf(node, { ...used, pods: total.pods });
      return [node.name, { status: statusOf(node), pods: total.pods, now, ...nodeGroups(node.labels) }];
    }),
  );
}

function count(total: { pods: number; cpu: number; memory: number } | undefined, { constraints }: PodInfo): void {
  if (total !== undefined) {
    total.pods += 1;
    total.cpu += constraints.requests.cpu;
    total.memory += constraints.requests.memory;
  }
}

function loadsOf({ allocatable }: NodeInfo, used: Loads): Loads {
  const share = (amount: number | undefined, capacity: number): number =>
    amount === undefined || amount < 0 || capacity <= 0 ? Number.NaN : amount / capacity;
  return roundedLoads({
    cpu: share(used.cpu, allocatable.cpu),
    memory: share(used.memory, allocatable.memory),
    pods: share(used.pods, allocatable.pods),
  });
}

function statusOf({ ready, unschedulable, terminating }: NodeInfo): NodeRow['status'] {
  if (terminating) {
    return 'Terminating';
  }
  if (!ready) {
    return 'NotReady';
  }
  return unschedulable ? 'Cordoned' : 'Ready';
}

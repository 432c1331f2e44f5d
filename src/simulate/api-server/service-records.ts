import type { OwnerRef } from '../../model/pod.ts';
import { NO_SERVICE_LEVELS } from '../../model/service-level.ts';
import { type EpochSeconds, epochSeconds } from '../../model/units.ts';
import type { ClassedRequest, ServiceRecords, ServiceView } from '../../ports.ts';
import { classNameOf } from '../../qos/class-of.ts';
import { withSighting } from '../../qos/ledger-history.ts';
import type { PodEnd, PodRecord, Promised, ReadyMark, RequestRecord } from '../../qos/ledger-record.ts';
import type { SimulatedPod, SimulatedWorkload, World } from '../world.ts';

/** A request: the workloads below one controller at the top. */
interface Recorded {
  readonly owner: OwnerRef;
  readonly namespace: string;
  readonly className: string | undefined;
  readonly createdAt: EpochSeconds;
  readonly workloads: Set<SimulatedWorkload>;
  readonly pods: Map<SimulatedPod, PodRecord>;
  /** Pods whose end a ledger has counted. */
  readonly counted: WeakSet<SimulatedPod>;
  completedAt: EpochSeconds | undefined;
  /** As it was last asked for; `undefined` since something has changed. */
  record: RequestRecord | undefined;
}

/** What the API server of a world records of service from now on. */
export function recordService(world: World): Omit<ServiceRecords, 'watch'> {
  const requests = new Map<string, Recorded>();
  const createdAt = world.serverTime();
  const classes = new Map(
    world.scenario.classes.map((terms): [string, Promised] => [terms.name, { terms, createdAt }]),
  );
  const watchers = new Set<() => void>();
  const requestOf = (workload: SimulatedWorkload): Recorded => {
    const uid = topOf(workload).uid;
    const request = requests.get(uid) ?? newRequest(workload, world);
    request.workloads.add(workload);
    requests.set(uid, request);
    return request;
  };

  world.observe((pod) => {
    const request = requestOf(pod.workload);
    if (!request.counted.has(pod)) {
      request.pods.set(pod, sighted(request.pods.get(pod), pod, world));
    }
    request.completedAt ??= hasCompleted(pod.workload) ? world.serverTime() : undefined;
    request.record = undefined;
    for (const watcher of watchers) {
      watcher();
    }
  });

  return {
    follow(changed, signal) {
      watchers.add(changed);
      signal.addEventListener('abort', () => watchers.delete(changed), { once: true });
      changed();
    },
    view: () => ({
      classes,
      requests: [...requests.values()].flatMap(classed),
      recordOf: ({ namespace, owner }) => {
        const request = requests.get(owner.uid);
        return request === undefined || isGone(request) ? goneRecord(namespace, owner) : recordOf(request);
      },
      problems: [],
    }),
    counted({ owner, pods }) {
      const request = requests.get(owner.uid);
      const ended = new Set(pods.flatMap(({ uid, end }) => (end === undefined ? [] : uid)));
      for (const pod of ended.size === 0 ? [] : (request?.pods.keys() ?? [])) {
        if (ended.has(pod.info.uid)) {
          request?.pods.delete(pod);
          request?.counted.add(pod);
        }
      }
    },
  };
}

function newRequest(workload: SimulatedWorkload, { scenario }: World): Recorded {
  const { info, spec } = workload;
  return {
    owner: topOf(workload),
    namespace: info.namespace,
    className: classNameOf(spec.template, NO_SERVICE_LEVELS, scenario.namespaces),
    createdAt: info.changedAt,
    workloads: new Set(),
    pods: new Map(),
    counted: new WeakSet(),
    completedAt: undefined,
    record: undefined,
  };
}

function topOf({ info: { owner, kind, name, uid } }: SimulatedWorkload): OwnerRef {
  return owner ?? { kind, name, uid };
}

/** Its Job is done; other workloads that have ended are gone. */
function hasCompleted({ completed, replicas }: SimulatedWorkload): boolean {
  return completed.size > 0 && completed.size >= replicas;
}

function isGone({ workloads }: Recorded): boolean {
  for (const workload of workloads) {
    if (!workload.ended || hasCompleted(workload)) {
      return false;
    }
  }
  return true;
}

function classed(request: Recorded): readonly ClassedRequest[] {
  const { className } = request;
  return className === undefined || isGone(request) ? [] : [{ record: recordOf(request), className }];
}

/** The very same record while nothing has changed. */
function recordOf(request: Recorded): RequestRecord {
  const { namespace, owner, createdAt, completedAt, workloads, pods } = request;
  let desired = 0;
  for (const { ended, replicas, completed } of workloads) {
    desired += ended ? 0 : replicas - completed.size;
  }
  request.record ??= { namespace, owner, createdAt, desired, completedAt, pods: [...pods.values()] };
  return request.record;
}

function goneRecord(namespace: string, owner: OwnerRef): ReturnType<ServiceView['recordOf']> {
  return { namespace, owner, createdAt: epochSeconds(0), desired: 0, completedAt: undefined, pods: [] };
}

/** The record of a pod after a change of it. */
function sighted(known: PodRecord | undefined, pod: SimulatedPod, world: World): PodRecord {
  const { uid, createdAt, nodeName, ready, readySince } = pod.info;
  const now = world.serverTime();
  const mark: ReadyMark | undefined =
    readySince === undefined ? undefined : { ready, since: readySince, startedAt: undefined, stoppedAt: undefined };
  return withSighting(known, {
    uid,
    createdAt,
    scheduledAt: nodeName === undefined ? undefined : (known?.scheduledAt ?? now),
    mark,
    end: endOf(pod, now),
    hot: known?.hot ?? (ready ? undefined : isHot(pod, world)),
  });
}

function endOf({ info, exists, workload, instance }: SimulatedPod, now: EpochSeconds): PodEnd | undefined {
  if (!exists && workload.completed.has(instance) && !info.terminating) {
    return { at: now, how: 'Succeeded' };
  }
  return exists && !info.terminating ? undefined : { at: now, how: 'Deleted' };
}

function isHot({ info: { nodeName, constraints } }: SimulatedPod, { nodes }: World): boolean | undefined {
  const node = nodes.get(nodeName ?? '');
  return node && constraints.images.every((image) => node.info.images.has(image));
}

import { type JsonObject, objectAt, objectsAt } from '../../model/json.ts';
import type { ResourceVector } from '../../model/resources.ts';
import type { Interner } from '../interner.ts';
import { readCondition } from './metadata.ts';
import { type Amounts, addAmounts, isHugePages, raiseAmounts, readAmounts, toResourceVector } from './resource-list.ts';

/**
 * What a pod takes of its node: component-helpers resource.PodRequests with the options of the 1.36 scheduler's
 * PodInfo.CalculateResource (UseStatusResources, pod-level resources and their in-place resize).
 * Requests that only exist as limits are defaulted as by the API server (SetDefaults_Pod). Throws MalformedField.
 */
export function podRequests(spec: JsonObject, status: JsonObject, interner: Interner): ResourceVector {
  const resize = readResize(status, interner);
  const total = aggregate(spec, resize, (container, field) => readRequests(container, field, interner));
  applyPodLevel(total, spec, status, resize, interner);
  addAmounts(total, readAmounts(spec, 'overhead', 'spec', interner));
  return toResourceVector(total);
}

/** Reads what one container asks for; `field` is its path. */
type Read = (container: JsonObject, field: string) => Amounts;

/** Over all containers: the sum of those that run together, and at least what any init container needs in its turn. */
function aggregate(spec: JsonObject, resize: Resize, read: Read): Amounts {
  const total: Amounts = new Map();
  objectsAt(spec, 'containers', 'spec').forEach((container, index) => {
    addAmounts(total, resize.effective(container, read(container, `spec.containers[${index}]`)));
  });
  const sidecars: Amounts = new Map();
  const initial: Amounts = new Map();
  objectsAt(spec, 'initContainers', 'spec').forEach((container, index) => {
    const requests = read(container, `spec.initContainers[${index}]`);
    if (container.restartPolicy === 'Always') {
      const effective = resize.effective(container, requests);
      addAmounts(total, effective);
      addAmounts(sidecars, effective);
      raiseAmounts(initial, sidecars);
    } else {
      addAmounts(requests, sidecars);
      raiseAmounts(initial, requests);
    }
  });
  raiseAmounts(total, initial);
  return total;
}

/** Pod-level requests replace those of the containers (KEP-2837). */
function applyPodLevel(total: Amounts, spec: JsonObject, status: JsonObject, resize: Resize, interner: Interner): void {
  const resources = objectAt(spec, 'resources', 'spec');
  if (resources === undefined) {
    return;
  }
  const declared = podLevelRequests(spec, resources, interner);
  const actual = objectAt(status, 'resources', 'status');
  const effective =
    actual === undefined
      ? declared
      : resize.largest(declared, [
          readAmounts(actual, 'requests', 'status.resources', interner),
          readAmounts(status, 'allocatedResources', 'status', interner),
        ]);
  for (const name of declared.keys()) {
    total.set(name, effective.get(name) ?? 0n);
  }
}

/**
 * Requests in `spec.resources`, defaulted as by defaultHugePagePodLimits and defaultPodRequests: from what the containers
 * request, else from the pod's limits. Only cpu, memory and huge pages count there.
 */
function podLevelRequests(spec: JsonObject, resources: JsonObject, interner: Interner): Amounts {
  const requests = readAmounts(resources, 'requests', 'spec.resources', interner);
  const limits = readAmounts(resources, 'limits', 'spec.resources', interner);
  if (requests.size + limits.size > 0) {
    const limited = aggregate(spec, NO_RESIZE, (container, field) => readLimits(container, field, interner));
    addMissing(limits, new Map([...limited].filter(([name]) => isHugePages(name) && !requests.has(name))));
    if (limits.size > 0) {
      const requested = aggregate(spec, NO_RESIZE, (container, field) => readRequests(container, field, interner));
      addMissing(requests, new Map([...requested].filter(([name]) => !isHugePages(name))));
      addMissing(requests, limits);
    }
  }
  return new Map([...requests].filter(([name]) => name === 'cpu' || name === 'memory' || isHugePages(name)));
}

function addMissing(amounts: Amounts, defaults: Amounts): void {
  for (const [name, amount] of defaults) {
    if (!amounts.has(name)) {
      amounts.set(name, amount);
    }
  }
}

/** `resources.requests` of a container; a resource that has only a limit requests that. */
function readRequests(container: JsonObject, field: string, interner: Interner): Amounts {
  const resources = objectAt(container, 'resources', field);
  const requests =
    resources === undefined ? new Map() : readAmounts(resources, 'requests', `${field}.resources`, interner);
  addMissing(requests, readLimits(container, field, interner));
  return requests;
}

function readLimits(container: JsonObject, field: string, interner: Interner): Amounts {
  const resources = objectAt(container, 'resources', field);
  return resources === undefined ? new Map() : readAmounts(resources, 'limits', `${field}.resources`, interner);
}

/** In-place resize (KEP-1287): what the kubelet has allocated and actuated counts beside what the spec asks. */
interface Resize {
  /** Requests of one container: as in the spec, unless status knows more. */
  effective(container: JsonObject, requests: Amounts): Amounts;
  /** determineEffectiveRequests: the largest of all; the spec does not count while a resize is infeasible. */
  largest(spec: Amounts, reported: readonly Amounts[]): Amounts;
}

/** Only the spec counts. */
const NO_RESIZE: Resize = {
  effective: (_, requests) => requests,
  largest: (spec) => spec,
};

function readResize(status: JsonObject, interner: Interner): Resize {
  const statuses = containerStatuses(status);
  const infeasible = readCondition(status, 'PodResizePending')?.reason === 'Infeasible';

  function largest(spec: Amounts, reported: readonly Amounts[]): Amounts {
    const result: Amounts = infeasible ? new Map() : new Map(spec);
    for (const amounts of reported) {
      raiseAmounts(result, amounts);
    }
    return result;
  }

  function effective(container: JsonObject, requests: Amounts): Amounts {
    const known = typeof container.name === 'string' ? statuses.get(container.name) : undefined;
    const actual = known === undefined ? undefined : objectAt(known.status, 'resources', known.field);
    if (known === undefined || actual === undefined) {
      return requests;
    }
    return largest(requests, [
      readAmounts(actual, 'requests', `${known.field}.resources`, interner),
      readAmounts(known.status, 'allocatedResources', known.field, interner),
    ]);
  }

  return { effective, largest };
}

interface ContainerStatus {
  readonly status: JsonObject;
  readonly field: string;
}

function containerStatuses(status: JsonObject): ReadonlyMap<string, ContainerStatus> {
  const statuses = new Map<string, ContainerStatus>();
  for (const list of ['containerStatuses', 'initContainerStatuses']) {
    objectsAt(status, list, 'status').forEach((container, index) => {
      if (typeof container.name === 'string') {
        statuses.set(container.name, { status: container, field: `status.${list}[${index}]` });
      }
    });
  }
  return statuses;
}

import { SCHEDULING_GATE } from '../../model/gate.ts';
import type { PodInfo } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { mayBeEvicted, STAY_ANNOTATIONS } from '../../model/stay-annotations.ts';
import type { EpochSeconds } from '../../model/units.ts';
import { count } from '../format.ts';
import type { PolicyOptions } from '../options.ts';
import type { Owner } from '../owners.ts';
import type { ProtectionName } from '../rejection-codes.ts';
import type { Cooldowns } from './cooldown.ts';

/** Why a pod is not moved whatever the plan. */
export interface Protection {
  readonly code: ProtectionName;
  readonly message: string;
  /** `remaining`: seconds until it is over, of one that ends by itself. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** What the protections are judged by, next to the pod. */
export interface ProtectionContext {
  readonly options: PolicyOptions['protections'];
  readonly now: EpochSeconds;
  /** Why a controller is left alone, whichever of its pods it is about. */
  readonly rollout: (owner: Owner) => Protection | undefined;
  readonly cooldowns: Cooldowns;
  readonly guards: Guards;
}

/** What protects pods besides what they are themselves. */
export interface Guards {
  readonly storage: Pick<ClusterSnapshot['storage'], 'claims'>;
  /** Whether a PodDisruptionBudget selects the pod. */
  readonly isCovered: (pod: PodInfo) => boolean;
}

/** scheduling.SystemCriticalPriority: nothing that users define is that important. */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;
const CRITICAL_CLASSES: ReadonlySet<string> = new Set(['system-cluster-critical', 'system-node-critical']);

type Rule = (pod: PodInfo, owner: Owner | undefined, context: ProtectionContext) => Protection | undefined;

/**
 * Every protection but OutOfScope, in the order in which they are reported: what a pod is comes before how it is doing,
 * and that before how its controller is doing.
 */
const RULES: readonly Rule[] = [
  kindOfPod,
  importance,
  stateOfPod,
  age,
  replicas,
  dataOnNode,
  dataElsewhere,
  coverage,
  jobOf,
  wish,
  unsupported,
  rollout,
  cooldown,
];

/**
 * The first rule that applies to a pod (execution.md, what is never moved); `undefined` when it may be moved.
 * `owner` is the pod's controller as the snapshot knows it.
 */
export function protectionOf(
  pod: PodInfo,
  owner: Owner | undefined,
  context: ProtectionContext,
): Protection | undefined {
  for (const rule of RULES) {
    const protection = rule(pod, owner, context);
    if (protection !== undefined && !isWaived(protection, pod)) {
      return protection;
    }
  }
  return undefined;
}

/** Every rule that applies to a pod, in the order in which they are reported. */
export function protectionsOf(
  pod: PodInfo,
  owner: Owner | undefined,
  context: ProtectionContext,
): readonly Protection[] {
  return RULES.flatMap((rule) => rule(pod, owner, context) ?? []).filter((each) => !isWaived(each, pod));
}

/** What holds a pod that has failed: what it is and what its owner asks for. It serves nobody, and its emptyDir volumes are gone. */
const RULES_OF_FAILED: readonly Rule[] = [kindOfPod, importance, ended, dataElsewhere, wish];

/**
 * Every rule that forbids to remove a pod in phase Failed, in the order in which they are reported; `owner` as above.
 */
export function failedPodProtections(
  pod: PodInfo,
  owner: Owner | undefined,
  context: ProtectionContext,
): readonly Protection[] {
  return RULES_OF_FAILED.flatMap((rule) => rule(pod, owner, context) ?? []).filter((each) => !isWaived(each, pod));
}

/** What a pod's owner waives by allowing its eviction: what the policy is careful with, and not what would break. */
const WAIVED: ReadonlySet<ProtectionName> = new Set([
  'PriorityThreshold',
  'MinPodAge',
  'MinReplicas',
  'LocalStorage',
  'PersistentVolumeClaim',
  'NoPodDisruptionBudget',
]);

function isWaived({ code }: Protection, { annotations }: PodInfo): boolean {
  return annotations.size > 0 && WAIVED.has(code) && mayBeEvicted(annotations);
}

/**
 * Whether all that a protection says is that a pod with a node does not serve. Who moves pods in order to balance leaves such
 * pods alone; who moves them because they do not serve does not.
 */
export function isForReadiness({ code }: { readonly code: string }, { nodeName, phase }: PodInfo): boolean {
  const isOnNode = nodeName !== undefined && (phase === 'Pending' || phase === 'Running');
  return isOnNode && (code === 'Pending' || code === 'NotReady');
}

/**
 * Whether all that a protection guards is service, which a pod on a node that has failed does not give: that it does not run, and
 * how many replicas its workload has. What its owner has asked for and what would be lost with it hold all the same.
 */
export function isForService(protection: { readonly code: string }, pod: PodInfo): boolean {
  return protection.code === 'MinReplicas' || isForReadiness(protection, pod);
}

const MIRROR = refuse('MirrorPod', 'a static pod: its kubelet runs it, and would again');
const DAEMON = refuse('DaemonSetPod', 'a DaemonSet runs one pod on every node: it would come back to the same node');
const ORPHAN = refuse('NoController', 'has no controller that would replace it');

function kindOfPod({ mirror, owner }: PodInfo): Protection | undefined {
  if (mirror || owner?.kind === 'Node') {
    return MIRROR;
  }
  if (owner === undefined) {
    return ORPHAN;
  }
  return owner.kind === 'DaemonSet' ? DAEMON : undefined;
}

function importance(
  { priority, priorityClassName }: PodInfo,
  _owner: Owner | undefined,
  { options }: ProtectionContext,
): Protection | undefined {
  if (priority >= SYSTEM_CRITICAL_PRIORITY || CRITICAL_CLASSES.has(priorityClassName ?? '')) {
    return refuse('CriticalPriority', `priority ${priority} is system-critical`, { priority });
  }
  const { priorityThreshold } = options;
  if (priority < priorityThreshold) {
    return undefined;
  }
  return refuse(
    'PriorityThreshold',
    `priority ${priority} is not below protections.priorityThreshold ${priorityThreshold}`,
    {
      priority,
      priorityThreshold,
    },
  );
}

const TERMINATING = refuse('Terminating', 'is being deleted');
const UNBOUND = refuse('Pending', 'is pending: it has no node yet');
const PENDING = refuse('Pending', 'is pending: its containers have not started');
const UNKNOWN = refuse('NotReady', 'phase is Unknown: its kubelet does not answer');
const UNREADY = refuse('NotReady', 'condition Ready is not True');

function stateOfPod({ terminating, nodeName, phase, ready }: PodInfo): Protection | undefined {
  if (terminating) {
    return TERMINATING;
  }
  if (nodeName === undefined) {
    return UNBOUND;
  }
  if (phase === 'Pending') {
    return PENDING;
  }
  if (phase !== 'Running') {
    return UNKNOWN;
  }
  return ready ? undefined : UNREADY;
}

const UNCOUNTED = refuse('Job', 'its Job has not counted yet that it failed');

/** An eviction adds the condition DisruptionTarget, by which the podFailurePolicy of a Job may ignore how a pod failed. */
function ended({ terminating, uncounted }: PodInfo): Protection | undefined {
  if (terminating) {
    return TERMINATING;
  }
  return uncounted ? UNCOUNTED : undefined;
}

function age(
  { createdAt }: PodInfo,
  _owner: Owner | undefined,
  { options, now }: ProtectionContext,
): Protection | undefined {
  const { minPodAge } = options;
  const seconds = now - createdAt;
  if (seconds >= minPodAge) {
    return undefined;
  }
  // NaN, for a pod that names no creation time, ends up here as well.
  const known = Number.isFinite(seconds) ? Math.round(seconds) : 0;
  const numbers = { age: known, minPodAge, remaining: Math.ceil(minPodAge - known) };
  return refuse('MinPodAge', `${known} s old, protections.minPodAge is ${minPodAge} s`, numbers);
}

function replicas(_pod: PodInfo, owner: Owner | undefined, { options }: ProtectionContext): Protection | undefined {
  const { minReplicas } = options;
  if (owner === undefined || owner.replicas >= minReplicas) {
    return undefined;
  }
  const text = `${owner.ref.kind} ${owner.ref.name} has ${count(owner.replicas, 'replica')}`;
  return refuse('MinReplicas', `${text}, protections.minReplicas is ${minReplicas}`, {
    replicas: owner.replicas,
    minReplicas,
  });
}

const LOCAL = refuse('LocalStorage', 'keeps data in an emptyDir or hostPath volume, which a move would lose');
const JOB = refuse(
  'Job',
  'its Job has no podFailurePolicy that ignores DisruptionTarget: an eviction counts as a failure',
);

function dataOnNode(
  { localStorage }: PodInfo,
  _owner: Owner | undefined,
  { options }: ProtectionContext,
): Protection | undefined {
  return localStorage && options.localStorage === 'Protect' ? LOCAL : undefined;
}

const CLAIMED = refuse('PersistentVolumeClaim', 'has a PersistentVolumeClaim, and protections.pvc is Protect');

function dataElsewhere(
  { namespace, claims }: PodInfo,
  _owner: Owner | undefined,
  { options, guards }: ProtectionContext,
): Protection | undefined {
  if (claims.length === 0 || options.pvc === 'Protect') {
    return claims.length === 0 ? undefined : CLAIMED;
  }
  for (const { name, template } of options.protectedStorageClasses.size === 0 ? [] : claims) {
    const { storageClass = '' } = guards.storage.claims.get(`${namespace}/${name}`) ?? template ?? {};
    if (options.protectedStorageClasses.has(storageClass)) {
      const message = `PersistentVolumeClaim ${name} has the class ${storageClass}, which protections.protectedStorageClasses names`;
      return refuse('PersistentVolumeClaim', message);
    }
  }
  return undefined;
}

const UNCOVERED = refuse(
  'NoPodDisruptionBudget',
  'no PodDisruptionBudget selects it, and protections.withoutPDB is Protect',
);

function coverage(
  pod: PodInfo,
  _owner: Owner | undefined,
  { options, guards }: ProtectionContext,
): Protection | undefined {
  return options.withoutPDB === 'Allow' || guards.isCovered(pod) ? undefined : UNCOVERED;
}

function jobOf({ owner }: PodInfo, known: Owner | undefined): Protection | undefined {
  return owner?.kind === 'Job' && known?.workload?.toleratesDisruption !== true ? JOB : undefined;
}

function wish({ annotations }: PodInfo): Protection | undefined {
  if (annotations.size === 0) {
    return undefined;
  }
  for (const [key, asks] of STAY_ANNOTATIONS) {
    const value = annotations.get(key);
    if (value !== undefined && asks(value)) {
      return refuse('DoNotEvict', `annotation ${key} is "${value.slice(0, 40)}"`);
    }
  }
  return undefined;
}

const GATED = refuse(
  'UnsupportedConstraint',
  `SchedulingGates: the pod template of its controller has ${SCHEDULING_GATE}: only steering.mode Gate moves such pods`,
);

function unsupported(
  { constraints }: PodInfo,
  owner: Owner | undefined,
  { options }: ProtectionContext,
): Protection | undefined {
  const [first] = constraints.unsupported;
  if (first !== undefined) {
    return refuse('UnsupportedConstraint', `${first.filter}: ${first.detail}`);
  }
  return owner?.workload?.gated === true && !options.opensGates ? GATED : undefined;
}

function rollout(_pod: PodInfo, owner: Owner | undefined, context: ProtectionContext): Protection | undefined {
  return owner === undefined ? undefined : context.rollout(owner);
}

function cooldown(
  { nodeName }: PodInfo,
  owner: Owner | undefined,
  { cooldowns }: ProtectionContext,
): Protection | undefined {
  return owner === undefined || nodeName === undefined ? undefined : cooldowns.ofSource(owner.ref.uid, nodeName);
}

function refuse(code: ProtectionName, message: string, numbers: Record<string, number> = {}): Protection {
  return { code, message, numbers };
}

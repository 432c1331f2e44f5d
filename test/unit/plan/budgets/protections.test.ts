import { describe, expect, it } from 'vitest';
import { NO_STORAGE } from '../../../../src/model/storage.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import { NO_COOLDOWNS } from '../../../../src/plan/budgets/cooldown.ts';
import {
  failedPodProtections,
  type Guards,
  isForReadiness,
  isForService,
  type ProtectionContext,
  protectionOf,
  protectionsOf,
} from '../../../../src/plan/budgets/protections.ts';
import type { Owner } from '../../../../src/plan/owners.ts';
import { someOptions } from '../../../support/builders/options.ts';
import { aClaim } from '../../../support/builders/storage.ts';
import { anOwner, aPod, aWorkload, NOW, type PodFields } from '../../../support/builders.ts';

const OPTIONS = someOptions().protections;

function aContext(fields: Partial<ProtectionContext> = {}): ProtectionContext {
  const now = NOW;
  return {
    options: OPTIONS,
    now,
    rollout: () => undefined,
    cooldowns: NO_COOLDOWNS,
    guards: { storage: NO_STORAGE, isCovered: () => false },
    ...fields,
  };
}

function codeOf(
  fields: PodFields,
  owner: Partial<Owner> = {},
  options: Partial<typeof OPTIONS> = {},
  guards: Partial<Guards> = {},
): string | undefined {
  const pod = aPod('p', { nodeName: 'a', ...fields });
  const known: Owner = {
    ref: pod.owner ?? { kind: '', name: '', uid: '' },
    workload: undefined,
    top: undefined,
    replicas: 10,
    ...owner,
  };
  return protectionOf(
    pod,
    pod.owner === undefined ? undefined : known,
    aContext({
      options: { ...OPTIONS, ...options },
      guards: { storage: NO_STORAGE, isCovered: () => false, ...guards },
    }),
  )?.code;
}

function controlledBy(kind: string): PodFields {
  return { owner: { kind, name: 'x', uid: 'x' } };
}

describe('what is never moved', () => {
  it('leaves an ordinary pod alone', () => {
    expect(codeOf({})).toBeUndefined();
  });

  it.each<{ what: string; fields: PodFields; code: string }>([
    { what: 'a static pod', fields: { mirror: true }, code: 'MirrorPod' },
    { what: 'a pod that its node owns', fields: controlledBy('Node'), code: 'MirrorPod' },
    { what: 'a DaemonSet pod', fields: controlledBy('DaemonSet'), code: 'DaemonSetPod' },
    { what: 'a pod without a controller', fields: { owner: undefined }, code: 'NoController' },
    { what: 'a system-critical priority', fields: { priority: 2_000_000_000 }, code: 'CriticalPriority' },
    {
      what: 'a system-critical class',
      fields: { priorityClassName: 'system-node-critical' },
      code: 'CriticalPriority',
    },
    { what: 'a priority at the threshold', fields: { priority: 1_000_000 }, code: 'PriorityThreshold' },
    { what: 'a terminating pod', fields: { terminating: true }, code: 'Terminating' },
    { what: 'a pod without a node', fields: { nodeName: undefined, phase: 'Pending' }, code: 'Pending' },
    { what: 'a bound pod that has not started', fields: { phase: 'Pending', ready: false }, code: 'Pending' },
    { what: 'a pod that is not Ready', fields: { ready: false }, code: 'NotReady' },
    { what: 'a pod of unknown phase', fields: { phase: 'Unknown' }, code: 'NotReady' },
    { what: 'a young pod', fields: { createdAt: epochSeconds(NOW - 299) }, code: 'MinPodAge' },
    { what: 'a pod of unknown age', fields: { createdAt: epochSeconds(Number.NaN) }, code: 'MinPodAge' },
    { what: 'a pod with local storage', fields: { localStorage: true }, code: 'LocalStorage' },
    { what: 'a pod of a Job', fields: controlledBy('Job'), code: 'Job' },
    { what: 'our annotation', fields: { annotations: { 'evenkeel.dev/do-not-evict': 'true' } }, code: 'DoNotEvict' },
    {
      what: "Karpenter's annotation",
      fields: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
      code: 'DoNotEvict',
    },
    {
      what: "the autoscaler's annotation",
      fields: { annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' } },
      code: 'DoNotEvict',
    },
    {
      what: "the descheduler's annotation",
      fields: { annotations: { 'descheduler.alpha.kubernetes.io/prefer-no-eviction': '' } },
      code: 'DoNotEvict',
    },
    {
      what: 'a constraint that no filter evaluates',
      fields: { constraints: { unsupported: [{ filter: 'VolumeBinding', detail: 'x' }] } },
      code: 'UnsupportedConstraint',
    },
  ])('protects $what', ({ fields, code }) => {
    expect(codeOf(fields)).toBe(code);
  });

  it.each(
    [
      'evenkeel.dev/do-not-evict',
      'karpenter.sh/do-not-disrupt',
      'cluster-autoscaler.kubernetes.io/safe-to-evict',
      'descheduler.alpha.kubernetes.io/prefer-no-eviction',
    ].flatMap((key) => ['', 'yes', 'True', ' ', '1'].map((value) => [key, value] as const)),
  )('protects a pod with %s: %j, bare or odd as it is', (key, value) => {
    const odd = key.includes('safe-to-evict') && value === 'yes' ? 'no' : value;
    expect(codeOf({ annotations: { [key]: odd } })).toBe('DoNotEvict');
  });

  it('leaves a pod whose replacement would wait at our gate, unless the policy opens gates', () => {
    const workload = aWorkload('web', { gated: true });
    expect(codeOf({}, { workload })).toBe('UnsupportedConstraint');
    expect(codeOf({}, { workload }, { opensGates: true })).toBeUndefined();
  });

  it.each<{ what: string; fields: PodFields }>([
    { what: 'just below the priority threshold', fields: { priority: 999_999 } },
    { what: 'exactly as old as minPodAge', fields: { createdAt: epochSeconds(NOW - 300) } },
    {
      what: 'that says it may be evicted',
      fields: { annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' } },
    },
    { what: 'that says it may be disrupted', fields: { annotations: { 'karpenter.sh/do-not-disrupt': 'false' } } },
  ])('does not protect a pod $what', ({ fields }) => {
    expect(codeOf(fields)).toBeUndefined();
  });

  it('protects pods of controllers with fewer than minReplicas', () => {
    expect(codeOf({}, { replicas: 1 })).toBe('MinReplicas');
    expect(codeOf({}, { replicas: 2 })).toBeUndefined();
    expect(codeOf({}, { replicas: 2 }, { minReplicas: 3 })).toBe('MinReplicas');
  });

  it('protects pods with claims where that is asked for, of all classes or of some', () => {
    const claims = [{ name: 'data', template: undefined }];
    const storage = { ...NO_STORAGE, claims: new Map([['shop/data', aClaim('data', { storageClass: 'local' })]]) };
    expect(codeOf({ claims })).toBeUndefined();
    expect(codeOf({ claims }, {}, { pvc: 'Protect' })).toBe('PersistentVolumeClaim');
    expect(codeOf({}, {}, { pvc: 'Protect' })).toBeUndefined();
    const local = { protectedStorageClasses: new Set(['local']) };
    expect(codeOf({ claims }, {}, local, { storage })).toBe('PersistentVolumeClaim');
    expect(codeOf({ claims }, {}, { protectedStorageClasses: new Set(['fast']) }, { storage })).toBeUndefined();
    const { namespace: _, name: __, ...template } = aClaim('x', { storageClass: 'local' });
    expect(codeOf({ claims: [{ name: 'scratch', template }] }, {}, local)).toBe('PersistentVolumeClaim');
  });

  it('protects pods that no PodDisruptionBudget selects where that is asked for', () => {
    expect(codeOf({})).toBeUndefined();
    expect(codeOf({}, {}, { withoutPDB: 'Protect' })).toBe('NoPodDisruptionBudget');
    expect(codeOf({}, {}, { withoutPDB: 'Protect' }, { isCovered: () => true })).toBeUndefined();
  });

  describe('the annotation that allows an eviction', () => {
    const annotations = { 'descheduler.alpha.kubernetes.io/evict': 'true' };
    const careful = { pvc: 'Protect', withoutPDB: 'Protect' } as const;
    const cautious: PodFields = {
      priority: 1_000_000,
      createdAt: epochSeconds(NOW),
      localStorage: true,
      claims: [{ name: 'data', template: undefined }],
    };

    it('waives what a policy is careful with', () => {
      expect(codeOf(cautious, { replicas: 1 }, careful)).toBe('PriorityThreshold');
      expect(codeOf({ ...cautious, annotations }, { replicas: 1 }, careful)).toBeUndefined();
    });

    it.each<[string, PodFields]>([
      ['MirrorPod', { mirror: true }],
      ['CriticalPriority', { priority: 2_000_000_000 }],
      ['Terminating', { terminating: true }],
      ['NotReady', { ready: false }],
      ['Job', controlledBy('Job')],
      ['DoNotEvict', { annotations: { ...annotations, 'evenkeel.dev/do-not-evict': 'true' } }],
    ])('does not waive %s', (code, fields) => {
      expect(codeOf({ annotations, ...fields })).toBe(code);
    });

    it('says nothing with the value false', () => {
      expect(codeOf({ localStorage: true, annotations: { 'descheduler.alpha.kubernetes.io/evict': 'false' } })).toBe(
        'LocalStorage',
      );
    });
  });

  it('moves local storage and Jobs where they are declared to bear it', () => {
    expect(codeOf({ localStorage: true }, {}, { localStorage: 'Allow' })).toBeUndefined();
    expect(
      codeOf(controlledBy('Job'), { workload: aWorkload('x', { kind: 'Job', toleratesDisruption: true }) }),
    ).toBeUndefined();
    expect(codeOf({ createdAt: NOW }, {}, { minPodAge: seconds(0) })).toBeUndefined();
  });

  it('gives the numbers of a rule', () => {
    const context = aContext();
    const young = aPod('p', { nodeName: 'a', createdAt: epochSeconds(NOW - 10) });
    const owner = anOwner('web');
    expect(protectionOf(young, owner, context)).toEqual({
      code: 'MinPodAge',
      message: '10 s old, protections.minPodAge is 300 s',
      numbers: { age: 10, minPodAge: 300, remaining: 290 },
    });
  });
});

describe('all that protects a pod', () => {
  const owner = anOwner('web', { replicas: 1 });
  const careful = aContext({
    options: { ...OPTIONS, pvc: 'Protect', withoutPDB: 'Protect' },
    rollout: () => ({ code: 'Rollout', message: 'rolls', numbers: {} }),
    cooldowns: {
      ...NO_COOLDOWNS,
      ofSource: (uid, node) => ({ code: 'Cooldown', message: `${uid} on ${node}`, numbers: {} }),
    },
  });
  const fields: PodFields = {
    nodeName: 'a',
    priority: 1_000_000,
    ready: false,
    createdAt: NOW,
    localStorage: true,
    claims: [{ name: 'data', template: undefined }],
    constraints: { unsupported: [{ filter: 'VolumeBinding', detail: 'x' }] },
    annotations: { 'evenkeel.dev/do-not-evict': 'true' },
  };
  const codes = (found: readonly { readonly code: string }[]) => found.map(({ code }) => code);

  it('is listed in the order in which it is reported, of which a refusal gives the first', () => {
    const pod = aPod('p', { ...fields, owner: { kind: 'Job', name: 'x', uid: 'x' } });
    expect(codes(protectionsOf(pod, owner, careful))).toEqual([
      'PriorityThreshold',
      'NotReady',
      'MinPodAge',
      'MinReplicas',
      'LocalStorage',
      'PersistentVolumeClaim',
      'NoPodDisruptionBudget',
      'Job',
      'DoNotEvict',
      'UnsupportedConstraint',
      'Rollout',
      'Cooldown',
    ]);
    expect(protectionOf(pod, owner, careful)?.code).toBe('PriorityThreshold');
    expect(protectionsOf(aPod('p', { nodeName: 'a' }), anOwner('web'), aContext())).toEqual([]);
  });

  it('loses what its owner waives, and nothing else', () => {
    const annotations = { 'descheduler.alpha.kubernetes.io/evict': 'true' };
    expect(codes(protectionsOf(aPod('p', { ...fields, annotations }), owner, careful))).toEqual([
      'NotReady',
      'UnsupportedConstraint',
      'Rollout',
      'Cooldown',
    ]);
  });

  it('asks about the history of its controller on its node, where it has both', () => {
    const message = (nodeName: string | undefined, known: Owner | undefined) =>
      protectionsOf(aPod('p', { nodeName }), known, careful).find(({ code }) => code === 'Cooldown')?.message;
    expect(message('a', owner)).toBe('uid-web on a');
    expect([message(undefined, owner), message('a', undefined)]).toEqual([undefined, undefined]);
    expect(codes(protectionsOf(aPod('p', { nodeName: 'a' }), undefined, careful))).toEqual(['NoPodDisruptionBudget']);
  });

  it('of one that has failed is what it is, what its owner asks for and what would be lost with it', () => {
    const failed = aPod('p', { ...fields, phase: 'Failed' });
    expect(codes(failedPodProtections(failed, owner, careful))).toEqual([
      'PriorityThreshold',
      'PersistentVolumeClaim',
      'DoNotEvict',
    ]);
    const annotations = { 'descheduler.alpha.kubernetes.io/evict': 'true' };
    expect(failedPodProtections({ ...failed, ...aPod('p', { annotations }) }, owner, careful)).toEqual([]);
    expect(codes(failedPodProtections(aPod('p', { owner: undefined }), undefined, aContext()))).toEqual([
      'NoController',
    ]);
  });

  it('of one that has failed is also that it is being deleted, or that its Job has not counted it', () => {
    const messages = (what: PodFields) =>
      failedPodProtections(aPod('p', { phase: 'Failed', ...what }), owner, aContext()).map(({ message }) => message);
    expect(messages({})).toEqual([]);
    expect(messages({ uncounted: true })).toEqual(['its Job has not counted yet that it failed']);
    expect(messages({ uncounted: true, terminating: true })).toEqual(['is being deleted']);
  });
});

describe('a protection', () => {
  const of = (fields: PodFields, options: Partial<typeof OPTIONS> = {}, owner = anOwner('web')) =>
    protectionOf(aPod('p', { nodeName: 'a', ...fields }), owner, aContext({ options: { ...OPTIONS, ...options } }));

  it.each<{ message: string; fields: PodFields }>([
    { message: 'is pending: it has no node yet', fields: { nodeName: undefined, phase: 'Pending', ready: false } },
    { message: 'is pending: it has no node yet', fields: { nodeName: undefined } },
    { message: 'is pending: its containers have not started', fields: { phase: 'Pending', ready: false } },
    { message: 'phase is Unknown: its kubelet does not answer', fields: { phase: 'Unknown' } },
    { message: 'condition Ready is not True', fields: { ready: false } },
    {
      message: 'annotation karpenter.sh/do-not-disrupt is "true"',
      fields: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
    },
    {
      message: `annotation evenkeel.dev/do-not-evict is "${'y'.repeat(40)}"`,
      fields: { annotations: { 'evenkeel.dev/do-not-evict': 'y'.repeat(41) } },
    },
    {
      message: 'VolumeBinding: x',
      fields: { constraints: { unsupported: [{ filter: 'VolumeBinding', detail: 'x' }] } },
    },
  ])('says: $message', ({ message, fields }) => {
    expect(of(fields)?.message).toBe(message);
  });

  it('says by which priority it protects', () => {
    expect(of({ priority: 1_000_000 })).toEqual({
      code: 'PriorityThreshold',
      message: 'priority 1000000 is not below protections.priorityThreshold 1000000',
      numbers: { priority: 1_000_000, priorityThreshold: 1_000_000 },
    });
    expect(of({ priority: 2_000_000_000 })).toEqual({
      code: 'CriticalPriority',
      message: 'priority 2000000000 is system-critical',
      numbers: { priority: 2_000_000_000 },
    });
    expect(of({ priority: 1_999_999_999 })?.code).toBe('PriorityThreshold');
    expect(of({ priorityClassName: 'system-cluster-critical' })?.code).toBe('CriticalPriority');
  });

  it('says how many replicas there are', () => {
    expect(of({}, {}, anOwner('web', { replicas: 1 }))).toEqual({
      code: 'MinReplicas',
      message: 'ReplicaSet web has 1 replica, protections.minReplicas is 2',
      numbers: { replicas: 1, minReplicas: 2 },
    });
  });

  it('of a pod of unknown age says that it is new, and of a fraction of a second how long it lasts at most', () => {
    expect(of({ createdAt: epochSeconds(Number.NaN) })?.numbers).toEqual({ age: 0, minPodAge: 300, remaining: 300 });
    expect(of({ createdAt: epochSeconds(NOW - 10.4) }, { minPodAge: seconds(20.5) })?.numbers).toEqual({
      age: 10,
      minPodAge: 20.5,
      remaining: 11,
    });
  });

  it.each(['Pending', 'NotReady', 'MinReplicas', 'Job'])('with the code %s is about service, or is not', (code) => {
    const judged = (fields: PodFields) => {
      const pod = aPod('p', fields);
      return [isForReadiness({ code }, pod), isForService({ code }, pod)];
    };
    const readiness = code === 'Pending' || code === 'NotReady';
    expect(judged({ nodeName: 'a' })).toEqual([readiness, readiness || code === 'MinReplicas']);
    expect(judged({ nodeName: 'a', phase: 'Pending' })).toEqual([readiness, readiness || code === 'MinReplicas']);
    expect(judged({ nodeName: 'a', phase: 'Unknown' })).toEqual([false, code === 'MinReplicas']);
    expect(judged({ phase: 'Pending' })).toEqual([false, code === 'MinReplicas']);
  });
});

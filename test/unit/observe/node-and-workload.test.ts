import { describe, expect, it } from 'vitest';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aRawNode, aRawPod, aRawReplicaSet, type Raw } from '../../support/builders/raw.ts';

function nodeOf(raw: Raw) {
  return buildSnapshot([raw]).nodes[0];
}

function workloadOf(kind: string, apiVersion: string, spec: Raw = {}) {
  const { workloads, problems } = buildSnapshot([
    { apiVersion, kind, metadata: { name: 'w', namespace: 'shop', uid: 'u' }, spec },
  ]);
  return workloads.get('u') ?? problems;
}

describe('a node', () => {
  it('gives what is allocatable, never its capacity', () => {
    const status = {
      capacity: { cpu: '8' },
      allocatable: { cpu: '3.5', memory: '1Gi', pods: '20', 'ephemeral-storage': '5', 'example.com/gpu': '2' },
    };
    expect(nodeOf(aRawNode('a', { status }))?.allocatable).toEqual({
      cpu: 3500,
      memory: 2 ** 30,
      pods: 20,
      ephemeralStorage: 5,
      extended: new Map([['example.com/gpu', 2]]),
    });
    expect(nodeOf({ ...aRawNode('a'), status: { capacity: { cpu: '8' } } })?.allocatable.cpu).toBe(8000);
  });

  it('is Ready when its condition is True, and when written by hand without conditions', () => {
    const condition = (status: string) =>
      nodeOf(aRawNode('a', { status: { conditions: [{ type: 'Ready', status }] } }))?.ready;
    expect([condition('True'), condition('False'), condition('Unknown')]).toEqual([true, false, false]);
    expect(nodeOf(aRawNode('a', { status: { conditions: undefined } }))?.ready).toBe(false);
    expect(nodeOf({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } })).toMatchObject({
      ready: true,
      uid: 'Node/a',
    });
  });

  it('written by hand is Ready as its conditions say, where it lists some', () => {
    const written = (conditions: unknown) =>
      nodeOf({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, status: { conditions } })?.ready;
    expect(written([])).toBe(false);
    expect(written([{ type: 'Ready', status: 'True' }])).toBe(true);
    expect(written([{ type: 'Ready', status: 'False' }])).toBe(false);
  });

  it('is not cordoned and has no pod slots unless it says so', () => {
    expect(nodeOf({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } })).toMatchObject({
      unschedulable: false,
      terminating: false,
      createdAt: 0,
      taints: [],
      allocatable: { cpu: 0, memory: 0, ephemeralStorage: 0, pods: 0 },
    });
    expect(nodeOf(aRawNode('a', { spec: { taints: [{ effect: 'PreferNoSchedule' }] } }))?.taints).toEqual([
      { key: '', value: '', effect: 'PreferNoSchedule' },
    ]);
  });

  it('is terminating from the moment of its deletion, for as long as a finalizer keeps it', () => {
    const deletionTimestamp = '2026-01-01T00:05:00Z';
    expect(nodeOf(aRawNode('a', { metadata: { deletionTimestamp } }))?.terminating).toBe(true);
    expect(nodeOf(aRawNode('a'))?.terminating).toBe(false);
  });

  it('keeps cordon and taints', () => {
    const taints = [
      { key: 'k', value: 'v', effect: 'NoSchedule' },
      { key: 'x', effect: 'NoExecute' },
    ];
    expect(nodeOf(aRawNode('a', { spec: { unschedulable: true, taints } }))).toMatchObject({
      unschedulable: true,
      taints: [
        { key: 'k', value: 'v', effect: 'NoSchedule' },
        { key: 'x', value: '', effect: 'NoExecute' },
      ],
    });
  });

  it('keeps the size of the images that some pod runs', () => {
    const images = [
      { names: ['registry/web@sha256:abc', 'registry/web:v1'], sizeBytes: 5000 },
      { names: ['registry/web:v1'], sizeBytes: 7 },
      { names: ['registry/other:v1'], sizeBytes: 9 },
      { names: null, sizeBytes: 9 },
      { names: ['cache:latest'] },
    ];
    const containers = [
      { name: 'web', image: 'registry/web:v1' },
      { name: 'cache', image: 'cache' },
    ];
    const node = aRawNode('a', { status: { images } });
    expect(buildSnapshot([node, aRawPod('p', { spec: { containers } })]).nodes[0]?.images).toEqual(
      new Map([
        ['registry/web:v1', 5000],
        ['cache:latest', 0],
      ]),
    );
    expect(buildSnapshot([node]).nodes[0]?.images).toEqual(new Map());
  });

  it.each<[string, unknown, string]>([
    ['a negative size', [{ names: ['web:v1'], sizeBytes: -1 }], 'status.images[0].sizeBytes: -1 is negative'],
    ['a name that is no text', [{ names: [7] }], 'status.images[0].names[0]: 7 is not text'],
    ['images that are no list', { web: 1 }, 'status.images: an object is not a list'],
  ])('takes no part with %s of an image', (_, images, problem) => {
    expect(buildSnapshot([aRawNode('a', { status: { images } })]).problems[0]).toContain(`Node a: ${problem}`);
  });

  it('takes no part with a taint whose effect is unknown', () => {
    const snapshot = buildSnapshot([aRawNode('a', { spec: { taints: [{ key: 'k', effect: 'Maybe' }] } })]);
    expect(snapshot.nodes).toEqual([]);
    expect(snapshot.problems[0]).toContain('Node a: spec.taints[0].effect: "Maybe" is not an effect');
  });
});

describe('a workload', () => {
  it('wants one replica unless it says otherwise', () => {
    expect(workloadOf('ReplicaSet', 'apps/v1')).toMatchObject({
      kind: 'ReplicaSet',
      replicas: 1,
      minReadySeconds: 0,
      owner: undefined,
    });
    expect(workloadOf('StatefulSet', 'apps/v1', { replicas: 3, minReadySeconds: 9 })).toMatchObject({
      replicas: 3,
      minReadySeconds: 9,
    });
    expect(workloadOf('Job', 'batch/v1', { parallelism: 4 })).toMatchObject({ replicas: 4 });
    expect(workloadOf('DaemonSet', 'apps/v1')).toMatchObject({ replicas: undefined });
    expect(workloadOf('Deployment', 'apps/v1', { replicas: -1 })).toEqual([
      'Deployment shop/w: spec.replicas: -1 is negative',
    ]);
    expect(workloadOf('Job', 'batch/v1')).toMatchObject({ replicas: 1 });
    expect(workloadOf('DaemonSet', 'apps/v1', { replicas: 3 })).toMatchObject({ replicas: undefined });
    expect(workloadOf('StatefulSet', 'apps/v1', { replicas: 0, minReadySeconds: 0 })).toMatchObject({
      replicas: 0,
      minReadySeconds: 0,
    });
    expect(workloadOf('ReplicaSet', 'apps/v1', { minReadySeconds: -1 })).toEqual([
      'ReplicaSet shop/w: spec.minReadySeconds: -1 is negative',
    ]);
  });

  it('knows the node that its template pins, and its owner', () => {
    expect(workloadOf('ReplicationController', 'v1', { template: { spec: { nodeName: 'a' } } })).toMatchObject({
      pinnedNode: 'a',
    });
    expect(workloadOf('ReplicationController', 'v1', { template: { spec: { nodeName: '' } } })).toMatchObject({
      pinnedNode: undefined,
    });
    const ownerReferences = [{ kind: 'Deployment', name: 'web', uid: 'd', controller: true }];
    const { workloads } = buildSnapshot([aRawReplicaSet('web', { metadata: { ownerReferences } })]);
    expect(workloads.get('rs-web')?.owner).toEqual({ kind: 'Deployment', name: 'web', uid: 'd' });
  });

  it('is found by hand-written pods through its kind and name', () => {
    const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web' } };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', ownerReferences: [{ kind: 'ReplicaSet', name: 'web', controller: true }] },
    };
    const { workloads, pods } = buildSnapshot([controller, pod]);
    expect(workloads.get(pods[0]?.owner?.uid ?? '')?.name).toBe('web');
  });

  describe('says how far its controller has come', () => {
    const status = { observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
    const rolloutOf = (kind: string, fields: Raw) =>
      buildSnapshot([
        {
          apiVersion: 'apps/v1',
          kind,
          metadata: {
            name: 'w',
            namespace: 'shop',
            uid: 'u',
            generation: 2,
            creationTimestamp: '2026-01-01T00:00:00Z',
          },
          spec: { replicas: 3 },
          status,
          ...fields,
        },
      ]).workloads.get('u');

    it('by the counts of its status, where what is left out is 0', () => {
      expect(rolloutOf('Deployment', {})?.rollout).toEqual({
        observed: true,
        updated: 3,
        toUpdate: 3,
        current: 3,
        ready: 3,
        available: 3,
      });
      expect(rolloutOf('Deployment', { status: { observedGeneration: 1 } })?.rollout).toEqual({
        observed: false,
        updated: 0,
        toUpdate: 3,
        current: 0,
        ready: 0,
        available: 0,
      });
    });

    it('and knows which kinds roll out by themselves, and how far', () => {
      const strategy = (updateStrategy: Raw) =>
        rolloutOf('StatefulSet', { spec: { replicas: 3, updateStrategy } })?.rollout;
      expect(rolloutOf('ReplicaSet', {})?.rollout?.updated).toBeUndefined();
      expect(strategy({ type: 'OnDelete' })?.updated).toBeUndefined();
      expect(strategy({ type: 'RollingUpdate', rollingUpdate: { partition: 2 } })).toMatchObject({ toUpdate: 1 });
      expect(workloadOf('Job', 'batch/v1')).toMatchObject({ rollout: undefined });
      expect(workloadOf('DaemonSet', 'apps/v1')).toMatchObject({ rollout: undefined });
    });

    it('but not when it is written by hand without a status', () => {
      const { workloads } = buildSnapshot([{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'w' } }]);
      expect(workloads.get('Deployment/default/w')?.rollout).toBeUndefined();
    });

    it('and has observed its spec where neither has a generation, or a later one was observed', () => {
      const observed = (generation: number | undefined, observedGeneration: number | undefined) =>
        rolloutOf('Deployment', { metadata: { name: 'w', uid: 'u', generation }, status: { observedGeneration } })
          ?.rollout?.observed;
      expect([observed(undefined, undefined), observed(0, undefined), observed(2, 3), observed(2, 2)]).toEqual([
        true,
        true,
        true,
        true,
      ]);
      expect([observed(1, undefined), observed(2, 1)]).toEqual([false, false]);
    });

    it('with each count by itself', () => {
      const counts = { replicas: 7, updatedReplicas: 4, readyReplicas: 5, availableReplicas: 6 };
      expect(rolloutOf('Deployment', { status: counts })?.rollout).toMatchObject({
        current: 7,
        updated: 4,
        ready: 5,
        available: 6,
      });
    });

    it('and how many pods of a StatefulSet are to be new, all where no partition keeps some', () => {
      const toUpdate = (kind: string, spec: Raw) => rolloutOf(kind, { spec })?.rollout?.toUpdate;
      const partition = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
      expect(toUpdate('StatefulSet', { replicas: 5, updateStrategy: partition })).toBe(3);
      expect(toUpdate('StatefulSet', { replicas: 5, updateStrategy: { rollingUpdate: {} } })).toBe(5);
      expect(toUpdate('StatefulSet', { replicas: 5, updateStrategy: { type: 'RollingUpdate' } })).toBe(5);
      expect(toUpdate('StatefulSet', { replicas: 5 })).toBe(5);
      expect(toUpdate('StatefulSet', { replicas: 0 })).toBe(0);
      expect(toUpdate('StatefulSet', {})).toBe(1);
      expect(toUpdate('Deployment', { replicas: 5, updateStrategy: partition })).toBe(5);
    });

    it('and that a StatefulSet rolls out unless it waits for deletions', () => {
      const updated = (spec: Raw) => rolloutOf('StatefulSet', { spec })?.rollout?.updated;
      expect(updated({})).toBe(3);
      expect(updated({ updateStrategy: { type: 'RollingUpdate' } })).toBe(3);
      expect(updated({ updateStrategy: { type: 'OnDelete' } })).toBeUndefined();
      expect(rolloutOf('Deployment', { spec: { updateStrategy: { type: 'OnDelete' } } })?.rollout?.updated).toBe(3);
    });

    it('that it has not begun, where the server has no status of it', () => {
      expect(rolloutOf('Deployment', { status: undefined })?.rollout).toEqual({
        observed: false,
        updated: 0,
        toUpdate: 3,
        current: 0,
        ready: 0,
        available: 0,
      });
    });

    it('also when it is written by hand with a status', () => {
      expect(
        buildSnapshot([
          { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'w' }, status: { replicas: 2 } },
        ]).workloads.get('ReplicaSet/default/w')?.rollout,
      ).toMatchObject({ current: 2, observed: true });
    });

    it('and that it changed in 1970 where nothing says when', () => {
      const metadata = { name: 'w', uid: 'u' };
      for (const kind of ['Deployment', 'ReplicaSet', 'Job']) {
        const apiVersion = kind === 'Job' ? 'batch/v1' : 'apps/v1';
        expect(rolloutOf(kind, { apiVersion, metadata })?.changedAt).toBe(0);
      }
      expect(rolloutOf('Deployment', { metadata, status: { conditions: [{ type: 'Progressing' }] } })?.changedAt).toBe(
        0,
      );
    });

    it('and when a Deployment was made, if it made no progress since', () => {
      const progressed = (lastUpdateTime: string) =>
        rolloutOf('Deployment', { status: { conditions: [{ type: 'Progressing', lastUpdateTime }] } })?.changedAt;
      expect(progressed('2025-12-31T00:00:00Z')).toBe(Date.parse('2026-01-01T00:00:00Z') / 1000);
      const conditions = [{ type: 'Available' }, { type: 'Progressing', lastUpdateTime: 'noon' }];
      const { problems } = buildSnapshot([
        { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'w' }, status: { conditions } },
      ]);
      expect(problems).toEqual([expect.stringContaining('status.conditions[1].lastUpdateTime: "noon" is not a time')]);
    });

    it('and when it last changed: its creation, or the progress of a Deployment', () => {
      const at = (text: string) => Date.parse(text) / 1000;
      const conditions = [
        { type: 'Available', status: 'True', lastUpdateTime: '2026-01-03T00:00:00Z' },
        { type: 'Progressing', status: 'True', lastUpdateTime: '2026-01-02T00:00:00Z' },
      ];
      expect(rolloutOf('Deployment', { status: { ...status, conditions } })?.changedAt).toBe(
        at('2026-01-02T00:00:00Z'),
      );
      expect(rolloutOf('ReplicaSet', { status: { ...status, conditions } })?.changedAt).toBe(
        at('2026-01-01T00:00:00Z'),
      );
    });
  });

  it('replaces pods that are terminating, or waits until they are gone, as its controller does', () => {
    const told = (kind: string, apiVersion: string, spec: Raw = {}) => {
      const workload = workloadOf(kind, apiVersion, spec);
      return 'replacesTerminating' in workload ? workload.replacesTerminating : undefined;
    };
    expect(told('ReplicaSet', 'apps/v1')).toBe(true);
    expect(told('ReplicationController', 'v1')).toBe(true);
    expect(told('Job', 'batch/v1')).toBe(true);
    expect(told('Job', 'batch/v1', { podReplacementPolicy: 'TerminatingOrFailed' })).toBe(true);
    expect(told('Job', 'batch/v1', { podReplacementPolicy: 'Failed' })).toBe(false);
    expect(told('StatefulSet', 'apps/v1')).toBe(false);
    expect(told('DaemonSet', 'apps/v1')).toBe(false);
  });

  it('tolerates disruption when it is a Job that ignores DisruptionTarget', () => {
    const rule = (action: string, type: string) =>
      workloadOf('Job', 'batch/v1', {
        podFailurePolicy: { rules: [{ action, onPodConditions: [{ type, status: 'True' }] }] },
      });
    expect(rule('Ignore', 'DisruptionTarget')).toMatchObject({ toleratesDisruption: true });
    expect(rule('Count', 'DisruptionTarget')).toMatchObject({ toleratesDisruption: false });
    expect(rule('Ignore', 'Ready')).toMatchObject({ toleratesDisruption: false });
  });

  it('tolerates disruption by one pattern of one rule, where it says True or nothing', () => {
    const tolerates = (rules: unknown, kind = 'Job', apiVersion = 'batch/v1') => {
      const workload = workloadOf(kind, apiVersion, { podFailurePolicy: { rules } });
      return 'toleratesDisruption' in workload ? workload.toleratesDisruption : workload;
    };
    const ignore = (...onPodConditions: readonly Raw[]) => ({ action: 'Ignore', onPodConditions });
    const disrupted = { type: 'DisruptionTarget', status: 'True' };
    expect(tolerates([ignore({ type: 'DisruptionTarget' })])).toBe(true);
    expect(tolerates([ignore({ type: 'DisruptionTarget', status: 'False' })])).toBe(false);
    expect(tolerates([ignore({ type: 'Ready', status: 'True' }, disrupted)])).toBe(true);
    expect(tolerates([{ action: 'FailJob' }, ignore(disrupted), ignore()])).toBe(true);
    expect(tolerates([ignore()])).toBe(false);
    expect(tolerates([])).toBe(false);
    expect(tolerates([ignore(disrupted)], 'ReplicaSet', 'apps/v1')).toBe(false);
    expect(workloadOf('Job', 'batch/v1')).toMatchObject({ toleratesDisruption: false });
  });
});

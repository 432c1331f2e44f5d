import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_SERVICE_LEVELS } from '../../../src/model/service-level.ts';
import { NO_STORAGE } from '../../../src/model/storage.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { createInterner } from '../../../src/observe/interner.ts';
import { buildSnapshot, createSnapshotBuilder } from '../../../src/observe/snapshot-builder.ts';
import { readObject } from '../../../src/observe/snapshot-kinds.ts';
import { aRawNode, aRawPod, aRawReplicaSet, type Raw } from '../../support/builders/raw.ts';

const at = (text: string) => Date.parse(text) / 1000;

function sample(kind: 'NodeMetrics' | 'PodMetrics', name: string, content: Raw): Raw {
  const namespace = kind === 'PodMetrics' ? { namespace: 'shop' } : {};
  return { apiVersion: 'metrics.k8s.io/v1beta1', kind, metadata: { name, ...namespace }, window: '20s', ...content };
}

describe('buildSnapshot', () => {
  it('of nothing is an empty cluster of 1970', () => {
    expect(buildSnapshot([])).toEqual({
      takenAt: 0,
      nodes: [],
      pods: [],
      workloads: new Map(),
      namespaces: new Map(),
      pdbs: [],
      pastMoves: [],
      serviceLevels: NO_SERVICE_LEVELS,
      storage: NO_STORAGE,
      usage: undefined,
      problems: [],
    });
  });

  it('is the same for objects in any order', () => {
    const objects = [
      aRawNode('b'),
      aRawNode('a'),
      aRawPod('x'),
      aRawPod('w', { metadata: { namespace: 'shop', name: 'w', uid: '1' } }),
      aRawReplicaSet('web'),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'x' } } },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bank' } },
      { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'w' } },
      { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'v' } },
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'd', namespace: 'shop' } },
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c', namespace: 'shop' } },
      sample('NodeMetrics', 'b', { timestamp: '2026-01-01T10:00:00Z', usage: { cpu: '1', memory: '1Gi' } }),
      sample('NodeMetrics', 'a', { timestamp: '2026-01-01T10:00:05Z', usage: { cpu: '1', memory: '1Gi' } }),
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: '' } },
    ];
    const expected = buildSnapshot(objects);
    const bytes = JSON.stringify(expected, entriesOfMaps);
    expect(expected.nodes.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(expected.pods.map(({ name }) => name)).toEqual(['w', 'x']);
    fc.assert(
      fc.property(fc.shuffledSubarray(objects, { minLength: objects.length }), (shuffled) => {
        expect(JSON.stringify(buildSnapshot(shuffled), entriesOfMaps)).toBe(bytes);
      }),
    );
  });

  it('opens lists, lists in lists and typed lists whose items name no kind', () => {
    const { kind: _, apiVersion: __, ...bare } = aRawNode('a');
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'v1', kind: 'NodeList', items: [bare] }, aRawPod('p')],
    };
    const snapshot = buildSnapshot([list]);
    expect(snapshot.nodes).toHaveLength(1);
    expect(snapshot.pods).toHaveLength(1);
    expect(snapshot.problems).toEqual([]);
  });

  it('opens eight lists one in the other, and none that is deeper', () => {
    const nested = (levels: number) => {
      let object: Raw = aRawNode('a');
      for (let level = 0; level < levels; level += 1) {
        object = { apiVersion: 'v1', kind: 'List', items: [object] };
      }
      return buildSnapshot([object]).nodes.length;
    };
    expect([0, 1, 8, 9].map(nested)).toEqual([1, 1, 1, 0]);
  });

  it('takes the kind of a typed list for its items only where they name none', () => {
    const { kind: _, apiVersion: __, ...bare } = aRawNode('a');
    const listed = (list: Raw) => buildSnapshot([{ apiVersion: 'v1', kind: 'NodeList', ...list }]);
    expect(listed({ items: [{ ...bare, apiVersion: 'v1' }, aRawPod('p')] })).toMatchObject({
      nodes: [{ name: 'a' }],
      pods: [{ name: 'p' }],
      problems: [],
    });
    expect(listed({ items: [{ ...bare, apiVersion: 'example.com/v1' }] }).nodes).toEqual([]);
    expect(listed({ kind: 'List', items: [bare] }).problems).toEqual([expect.stringContaining('a names no kind')]);
    expect(listed({ items: [7] }).problems).toEqual([expect.stringContaining('7 is not an object')]);
    expect(listed({ items: 'none' })).toMatchObject({ nodes: [], problems: [] });
  });

  it('lists a thousand problems one by one, and counts the rest', () => {
    const problemsOf = (count: number) =>
      buildSnapshot(Array.from({ length: count }, (_, index) => ({ metadata: { name: `x-${index}` } }))).problems;
    expect(problemsOf(1000)).toHaveLength(1000);
    expect(problemsOf(1000).at(-1)).toContain('x-999 names no kind');
    expect(problemsOf(1001)).toHaveLength(1001);
    expect(problemsOf(1001).at(-1)).toBe('and 1 more problems of this sort');
    expect(problemsOf(1003).at(-1)).toBe('and 3 more problems of this sort');
  });

  it('has the labels of namespaces in their order, with the name that the API server always adds', () => {
    const namespace = (name: string, labels?: Raw) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels },
    });
    const { namespaces } = buildSnapshot([
      namespace('shop', { zone: 'z', app: 'a', 'kubernetes.io/metadata.name': 'forged' }),
      namespace('bank', { zone: 'z', app: 'a' }),
      namespace('bare'),
    ]);
    const labelsOf = (name: string) => [...(namespaces.get(name) ?? [])];
    for (const name of ['shop', 'bank']) {
      expect(labelsOf(name)).toEqual([
        ['app', 'a'],
        ['kubernetes.io/metadata.name', name],
        ['zone', 'z'],
      ]);
    }
    expect(labelsOf('bare')).toEqual([['kubernetes.io/metadata.name', 'bare']]);
  });

  it('sorts pods by namespace and name', () => {
    const pod = (namespace: string, name: string, uid: string) => aRawPod(name, { metadata: { namespace, name, uid } });
    const { pods } = buildSnapshot([
      pod('shop', 'b', '1'),
      pod('shop', 'a', '3'),
      pod('bank', 'c', '2'),
      pod('bank', 'b', '4'),
    ]);
    expect(pods.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual(['bank/b', 'bank/c', 'shop/a', 'shop/b']);
  });

  it('lets the last of several controllers with one uid count and says so', () => {
    const { workloads, problems } = buildSnapshot([
      aRawReplicaSet('web', { metadata: { uid: 'one' } }),
      aRawReplicaSet('shop', { metadata: { uid: 'one' } }),
    ]);
    expect([...workloads.values()].map(({ name }) => name)).toEqual(['shop']);
    expect(problems).toEqual(['ReplicaSet shop/shop: another controller has the same uid: the last one counts']);
  });

  it('keeps failed pods apart, and leaves out those that succeeded, other kinds, and the same words of other API groups', () => {
    const snapshot = buildSnapshot([
      aRawPod('done', { status: { phase: 'Succeeded' } }),
      aRawPod('dead', { status: { phase: 'Failed' } }),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } },
      { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'RebalancePolicy', metadata: { name: 'p' } },
      { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', metadata: { name: 'j' } },
      { apiVersion: 'example.com/v1', kind: 'Node', metadata: { name: 'n' } },
    ]);
    expect([snapshot.pods, snapshot.nodes, [...snapshot.workloads], snapshot.problems]).toEqual([[], [], [], []]);
    expect(snapshot.failedPods?.map(({ name }) => name)).toEqual(['dead']);
  });

  it('lets the last of several objects count and says so', () => {
    const snapshot = buildSnapshot([
      aRawNode('a'),
      aRawNode('a', { spec: { unschedulable: true } }),
      aRawPod('p'),
      aRawPod('q', { metadata: { name: 'q', namespace: 'shop', uid: 'pod-p' } }),
    ]);
    expect(snapshot.nodes).toMatchObject([{ name: 'a', unschedulable: true }]);
    expect(snapshot.pods).toMatchObject([{ name: 'q' }]);
    expect(snapshot.problems).toEqual([
      'Node a: there are several objects of this name: the last one counts',
      'Pod shop/q: another pod has the same uid: the last one counts',
    ]);
  });

  it('names object and field of what cannot be read, and goes on', () => {
    const snapshot = buildSnapshot([
      aRawNode('a', { status: { allocatable: { cpu: 'four' } } }),
      aRawPod('p', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '-1' } } }] } }),
      aRawPod('q', { metadata: { name: 'q', namespace: 'shop', labels: { version: 1 } } }),
      { metadata: { name: 'x' } },
      7,
      aRawNode('b'),
    ]);
    expect(snapshot.problems).toEqual([
      '7 is not an object: write apiVersion, kind and metadata as kubectl get -o yaml prints them',
      'Node a: status.allocatable.cpu: "four" is not a quantity: write a number and a suffix, such as 250m, 1.5 or 512Mi',
      'Pod shop/p: spec.containers[0].resources.requests.cpu: "-1" is negative',
      'Pod shop/q: metadata.labels.version: 1 is not text: write it in quotes',
      'x names no kind: write apiVersion, kind and metadata as kubectl get -o yaml prints them',
    ]);
    expect(snapshot.nodes.map(({ name }) => name)).toEqual(['b']);
  });

  it('finds the priority of pods that name only a class', () => {
    const pod = (name: string, priorityClassName?: string) =>
      aRawPod(name, {
        spec: { priority: undefined, ...(priorityClassName === undefined ? {} : { priorityClassName }) },
      });
    const priorityClass = (name: string, value: number, globalDefault = false) => ({
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
      globalDefault,
    });
    const objects = [
      pod('a', 'high'),
      pod('b'),
      pod('c', 'system-node-critical'),
      pod('d', 'lost'),
      aRawPod('e', { spec: { priority: 5 } }),
    ];
    const snapshot = buildSnapshot([...objects, priorityClass('high', 100), priorityClass('usual', 7, true)]);
    expect(snapshot.pods.map(({ priority }) => priority)).toEqual([100, 7, 2_000_001_000, 0, 5]);
    expect(snapshot.problems).toEqual([
      'Pod shop/d: spec.priorityClassName: there is no PriorityClass "lost": the priority counts as 0; write spec.priority, or add the class',
    ]);
    expect(buildSnapshot([pod('b')]).pods[0]?.priority).toBe(0);
    const defaults = [priorityClass('usual', 7, true), priorityClass('low', 3, true), priorityClass('least', 1)];
    expect(buildSnapshot([pod('b'), ...defaults]).pods[0]?.priority).toBe(3);
    expect(buildSnapshot([pod('b'), priorityClass('least', 1)]).pods[0]?.priority).toBe(0);
    expect(buildSnapshot([pod('c', 'system-cluster-critical')]).pods[0]?.priority).toBe(2_000_000_000);
    const { value: _, ...withoutValue } = priorityClass('none', 1);
    expect(buildSnapshot([pod('a', 'none'), withoutValue]).pods[0]?.priority).toBe(0);
  });

  it('leaves out ReplicaSets of earlier revisions', () => {
    const snapshot = buildSnapshot([
      aRawReplicaSet('web'),
      aRawReplicaSet('old', { spec: { replicas: 0 } }),
      aRawReplicaSet('fading', { spec: { replicas: 0 } }),
      aRawPod('p', {
        metadata: {
          name: 'p',
          namespace: 'shop',
          ownerReferences: [{ kind: 'ReplicaSet', name: 'fading', uid: 'rs-fading', controller: true }],
        },
      }),
    ]);
    expect([...snapshot.workloads.keys()]).toEqual(['rs-fading', 'rs-web']);
  });

  it('keeps workloads of other kinds that are scaled to zero, and ReplicaSets whose pods have failed', () => {
    const { workloads } = buildSnapshot([
      { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db', uid: 'db' }, spec: { replicas: 0 } },
      aRawReplicaSet('web', { spec: { replicas: 0 } }),
      aRawPod('p', { status: { phase: 'Failed' } }),
      aRawReplicaSet('done', { spec: { replicas: 0 } }),
      aRawPod('q', {
        metadata: { ownerReferences: [{ kind: 'ReplicaSet', name: 'done', uid: 'rs-done', controller: true }] },
        status: { phase: 'Succeeded' },
      }),
    ]);
    expect([...workloads.keys()]).toEqual(['db', 'rs-web']);
  });
});

describe('the instant of a snapshot', () => {
  const metrics = sample('NodeMetrics', 'a', { timestamp: '2026-01-01T10:00:00Z', usage: {} });

  it('is the argument, else the annotation, else the newest sample, else the newest creation or readiness', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      metadata: { annotations: { 'evenkeel.dev/taken-at': '2026-01-01T10:00:07Z' } },
      items: [metrics],
    };
    expect(buildSnapshot([list], epochSeconds(5)).takenAt).toBe(5);
    expect(buildSnapshot([list]).takenAt).toBe(at('2026-01-01T10:00:07Z'));
    expect(buildSnapshot([metrics, aRawPod('p')]).takenAt).toBe(at('2026-01-01T10:00:00Z'));
    expect(buildSnapshot([aRawPod('p'), aRawNode('a')]).takenAt).toBe(at('2026-01-01T00:00:05Z'));
  });

  it('is that of the newest sample, of a node or a pod, whose time can be read', () => {
    const taken = (name: string, timestamp: string) => sample('NodeMetrics', name, { timestamp, usage: {} });
    const later = taken('b', '2026-01-01T10:00:05Z');
    const unreadable = taken('c', 'noon');
    const ofPod = sample('PodMetrics', 'p', { timestamp: '2026-01-01T10:00:09Z', containers: [] });
    const instantOf = (...objects: readonly Raw[]) => buildSnapshot(objects).takenAt;
    expect(instantOf(metrics, later)).toBe(at('2026-01-01T10:00:05Z'));
    expect(instantOf(later, metrics)).toBe(at('2026-01-01T10:00:05Z'));
    expect(instantOf(unreadable, metrics)).toBe(at('2026-01-01T10:00:00Z'));
    expect(instantOf(metrics, unreadable)).toBe(at('2026-01-01T10:00:00Z'));
    expect(instantOf(metrics, ofPod)).toBe(at('2026-01-01T10:00:09Z'));
    expect(instantOf(unreadable, aRawNode('a'))).toBe(at('2026-01-01T00:00:00Z'));
    expect(instantOf(unreadable)).toBe(0);
  });

  it('is, without samples, that of the newest node, pod or readiness', () => {
    const node = (creationTimestamp: string) => aRawNode('a', { metadata: { creationTimestamp } });
    const pod = (creationTimestamp: string, ready: string | undefined) =>
      aRawPod('p', {
        metadata: { creationTimestamp },
        status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: ready }] },
      });
    const instantOf = (...objects: readonly Raw[]) => buildSnapshot(objects).takenAt;
    const [early, middle, late] = ['2026-01-01T00:00:10Z', '2026-01-01T00:00:20Z', '2026-01-01T00:00:30Z'] as const;
    expect(instantOf(node(late), pod(early, middle))).toBe(at(late));
    expect(instantOf(node(early), pod(middle, late))).toBe(at(late));
    expect(instantOf(node(early), pod(late, middle))).toBe(at(late));
    expect(instantOf(node(early), pod(late, undefined))).toBe(at(late));
  });

  it('is that of the newest annotation of several lists', () => {
    const taken = (time: unknown) => ({
      apiVersion: 'v1',
      kind: 'List',
      metadata: { annotations: { 'evenkeel.dev/taken-at': time } },
      items: [],
    });
    const [early, late] = ['2026-01-01T10:00:00Z', '2026-01-01T10:00:01Z'] as const;
    expect(buildSnapshot([taken(early), taken(late)]).takenAt).toBe(at(late));
    expect(buildSnapshot([taken(late), taken(early)]).takenAt).toBe(at(late));
    expect(buildSnapshot([taken(7)]).problems).toEqual([
      'annotation evenkeel.dev/taken-at: 7 is not a time: write 2026-01-31T12:00:00Z',
    ]);
  });

  it('does not come from an annotation that is no time', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      metadata: { annotations: { 'evenkeel.dev/taken-at': 'noon' } },
      items: [],
    };
    expect(buildSnapshot([list, metrics])).toMatchObject({
      takenAt: at('2026-01-01T10:00:00Z'),
      problems: ['annotation evenkeel.dev/taken-at: "noon" is not a time: write 2026-01-31T12:00:00Z'],
    });
  });
});

describe('usage', () => {
  it('sums containers exactly and keeps fractions of a millicore', () => {
    const containers = [
      { name: 'a', usage: { cpu: '100001n', memory: '1Ki' } },
      { name: 'b', usage: { cpu: '200002n', memory: '1Ki' } },
    ];
    const { usage } = buildSnapshot([
      sample('PodMetrics', 'p', { timestamp: '2026-01-01T10:00:00Z', window: '1m0.5s', containers }),
    ]);
    expect(usage?.pods.get('shop/p')).toEqual({
      cpu: 0.300003,
      memory: 2048,
      timestamp: at('2026-01-01T10:00:00Z'),
      window: 60.5,
    });
  });

  it('is NaN where it is absent or cannot be read, and stays negative where it is', () => {
    const of = (content: Raw) => buildSnapshot([sample('NodeMetrics', 'a', content)]).usage?.nodes.get('a');
    expect(of({})).toEqual({ cpu: Number.NaN, memory: Number.NaN, timestamp: Number.NaN, window: 20 });
    expect(of({ usage: { cpu: 'x', memory: '1e400' }, timestamp: 'noon', window: 'long' })).toEqual({
      cpu: Number.NaN,
      memory: Number.NaN,
      timestamp: Number.NaN,
      window: 0,
    });
    expect(of({ usage: { cpu: '-5m', memory: 7 } })).toMatchObject({ cpu: -5, memory: 7 });
    const pods = (containers: unknown) =>
      buildSnapshot([sample('PodMetrics', 'p', { containers })]).usage?.pods.get('shop/p')?.cpu;
    expect(pods([])).toBeNaN();
    expect(pods([{ usage: { cpu: '1' } }, {}])).toBeNaN();
  });

  it('is undefined without metrics objects, and empty when the Metrics API has none', () => {
    expect(buildSnapshot([aRawNode('a')]).usage).toBeUndefined();
    const none = (kind: string) => ({ apiVersion: 'metrics.k8s.io/v1beta1', kind, items: [] });
    for (const kind of ['NodeMetricsList', 'PodMetricsList']) {
      expect(buildSnapshot([none(kind)]).usage).toEqual({ nodes: new Map(), pods: new Map() });
    }
    expect(buildSnapshot([none('NodeList')]).usage).toBeUndefined();
  });
});

describe('usage of what is malformed', () => {
  it('is unknown where a quantity is null, or of another kind', () => {
    const of = (usage: unknown) => buildSnapshot([sample('NodeMetrics', 'a', { usage })]).usage?.nodes.get('a');
    expect(of({ cpu: null, memory: null })).toMatchObject({ cpu: Number.NaN, memory: Number.NaN });
    expect(of({ cpu: true, memory: '1' })).toMatchObject({ cpu: Number.NaN, memory: 1 });
    expect(of({ cpu: '0', memory: 0 })).toMatchObject({ cpu: 0, memory: 0 });
    expect(of('much')).toMatchObject({ cpu: Number.NaN, memory: Number.NaN });
  });

  it('of a pod is unknown with one container that is none', () => {
    const of = (...containers: readonly unknown[]) =>
      buildSnapshot([sample('PodMetrics', 'p', { containers })]).usage?.pods.get('shop/p');
    const one = { usage: { cpu: '1', memory: '2' } };
    expect(of(one)).toMatchObject({ cpu: 1000, memory: 2 });
    expect(of(one, one, one)).toMatchObject({ cpu: 3000, memory: 6 });
    expect(of(one, 'much')).toMatchObject({ cpu: Number.NaN, memory: Number.NaN });
    expect(of(one, { usage: { memory: '1' } })).toMatchObject({ cpu: Number.NaN, memory: 3 });
  });

  it('is of no time, or over no window, where these are no texts', () => {
    const of = (content: Raw) => buildSnapshot([sample('NodeMetrics', 'a', content)]).usage?.nodes.get('a');
    expect(of({ timestamp: 7, window: 7 })).toMatchObject({ timestamp: Number.NaN, window: 0 });
    expect(of({ window: undefined })).toMatchObject({ window: 0 });
    expect(of({ window: '0s' })).toMatchObject({ window: 0 });
    expect(of({ window: '1s' })).toMatchObject({ window: 1 });
  });
});

describe('createSnapshotBuilder', () => {
  it('says what it was told of, and what could not be read', () => {
    const builder = createSnapshotBuilder();
    builder.report('told');
    expect(builder.addProjected('unread')).toBe(false);
    expect(builder.finish().problems).toEqual(['told', 'unread']);
  });

  it('tells whether an object takes the place of another of its kind and name', () => {
    const builder = createSnapshotBuilder();
    const put = (name: string, namespace?: string) => {
      const pod = aRawPod(name, { metadata: { name, namespace, uid: `${namespace}/${name}` } });
      const projected = readObject('Pod', pod, createInterner());
      return builder.addProjected(projected);
    };
    expect([put('a', 'shop'), put('a', 'bank'), put('b', 'shop'), put('a', 'shop')]).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(builder.finish().problems).toEqual([]);
  });

  it('takes the Metrics API to be there once it was told so', () => {
    const builder = createSnapshotBuilder();
    expect(builder.finish().usage).toBeUndefined();
    builder.noteMetricsServed();
    expect(builder.finish().usage).toEqual({ nodes: new Map(), pods: new Map() });
  });

  it.each<[string, Raw]>([
    ['metadata', { metadata: 'none' }],
    ['annotations', { metadata: { annotations: 'none' } }],
    ['an annotation', { metadata: { annotations: { other: 'x' } } }],
    [
      'a time but on something inherited',
      { metadata: { annotations: Object.create({ 'evenkeel.dev/taken-at': 'x' }) } },
    ],
  ])('takes no time from a list without %s', (_, list) => {
    const { takenAt, problems } = buildSnapshot([{ apiVersion: 'v1', kind: 'List', items: [aRawNode('a')], ...list }]);
    expect([takenAt, problems]).toEqual([at('2026-01-01T00:00:00Z'), []]);
  });

  it('takes nothing that is no list for one', () => {
    const { problems, nodes } = buildSnapshot([
      { apiVersion: 'v1', kind: 'NodeList', items: { a: aRawNode('a') } },
      { apiVersion: 'v1', kind: 'Nodes', items: [aRawNode('a')] },
      { apiVersion: 'v1', kind: 7, items: [aRawNode('a')], metadata: { name: 'seven' } },
    ]);
    expect(nodes).toEqual([]);
    expect(problems).toEqual([expect.stringContaining('seven names no kind')]);
  });

  it('forgets one kind and keeps the others', () => {
    const builder = createSnapshotBuilder();
    builder.addAs('Pod', aRawPod('p'));
    builder.addAs('ReplicaSet', aRawReplicaSet('web'));
    builder.addAs('Deployment', aRawReplicaSet('d'));
    builder.forget('Pod');
    builder.forget('ReplicaSet');
    builder.addAs('Pod', aRawPod('p'));
    const snapshot = builder.finish();
    expect(snapshot.pods).toHaveLength(1);
    expect([...snapshot.workloads.values()].map(({ kind }) => kind)).toEqual(['Deployment']);
    expect(snapshot.problems).toEqual([]);
  });
});

function entriesOfMaps(_: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value;
}

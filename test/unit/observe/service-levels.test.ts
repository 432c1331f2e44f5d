import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { projectPodSighting } from '../../../src/observe/project/pod-sighting.ts';
import { projectRequest } from '../../../src/observe/project/request.ts';
import { projectServiceClass } from '../../../src/observe/project/service-class.ts';
import { assembleServiceView, gatherRequests } from '../../../src/observe/service-requests.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aRawServiceClass } from '../../support/builders/raw.ts';
import { RAW_KINDS } from '../../support/raw-kinds.ts';

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const START = Date.parse(at(0)) / 1000;

describe('a ServiceClass', () => {
  it('promises what it says, with defaults for the rest', () => {
    const penalties = [
      { below: '0.8', surcharge: '1' },
      { below: '0.9', surcharge: '0.1' },
    ];
    expect(projectServiceClass(aRawServiceClass('gold', { slo: '0.9', importance: 2, penalties })).terms).toEqual({
      name: 'gold',
      slo: 0.9,
      importance: 2,
      safetyMargin: 10,
      maxPreemptionOverhead: 0.1,
      minRunTime: 0,
      window: 3600,
      mode: 'Aggregated',
      expectedStartup: 10,
      penalties: [
        { below: 0.9, surcharge: 0.1 },
        { below: 0.8, surcharge: 1 },
      ],
    });
  });

  it.each<[JsonObject, string]>([
    [{ importance: 1 }, 'spec.slo: is missing: add it'],
    [{ slo: 0.9, importance: 1 }, 'write it in quotes'],
    [{ slo: '0.9', importance: 0 }, 'write a whole number from 1 to 1000'],
    [{ slo: '0.9', importance: 1, window: '1m', minRunTime: '2m' }, 'write a shorter minRunTime'],
    [{ slo: '0.9', importance: 1, window: '1m', safetyMargin: '1h' }, 'write a shorter safetyMargin'],
    [{ slo: '0.9', importance: 1, penalties: [{ below: '0.95', surcharge: '1' }] }, 'not above slo'],
    [{ slo: '0.9', importance: 1, mode: 'Sum' }, 'one of Aggregated, Independent, Concurrent, Task'],
  ])('that is wrong, %j, takes no part and says what to write', (spec, advice) => {
    const { serviceLevels, problems } = buildSnapshot([aRawServiceClass('gold', spec), aRawServiceClass('fine', FINE)]);
    expect([...serviceLevels.classes.keys()]).toEqual(['fine']);
    expect(problems).toEqual([expect.stringContaining(advice)]);
  });

  const FINE = { slo: '0.5', importance: 3, priorityClassNames: ['low', 'both'] };

  it('stands for its PriorityClasses; of two that claim one, the more important has it', () => {
    const more = aRawServiceClass('more', { slo: '0.9', importance: 1, priorityClassNames: ['both'] });
    const { serviceLevels, problems } = buildSnapshot([aRawServiceClass('fine', FINE), more]);
    expect(Object.fromEntries(serviceLevels.byPriorityClass)).toEqual({ both: 'more', low: 'fine' });
    expect(problems).toEqual([expect.stringContaining('"both" belongs to ServiceClass more')]);
  });

  it('of two that are as important gives way to the first by name', () => {
    const [a, b] = ['a', 'b'].map((name) =>
      aRawServiceClass(name, { slo: '0.9', importance: 2, default: true, priorityClassNames: ['high'] }),
    );
    for (const classes of [
      [a, b],
      [b, a],
    ]) {
      const { serviceLevels, problems } = buildSnapshot(classes);
      expect([serviceLevels.byDefault, [...serviceLevels.byPriorityClass]]).toEqual(['a', [['high', 'a']]]);
      expect(problems).toEqual([
        'ServiceClass b: spec.default: ServiceClass a is the default: let one class be it',
        'ServiceClass b: spec.priorityClassNames: "high" belongs to ServiceClass a: name it in one class',
      ]);
    }
  });

  it('is the default one; of two that are, the more important', () => {
    const more = aRawServiceClass('more', { slo: '0.9', importance: 1, default: true });
    const { serviceLevels, problems } = buildSnapshot([aRawServiceClass('fine', { ...FINE, default: true }), more]);
    expect(serviceLevels.byDefault).toBe('more');
    expect(problems).toEqual([
      'ServiceClass fine: spec.default: ServiceClass more is the default: let one class be it',
    ]);
  });
});

describe('a QoSLedger', () => {
  const { ServiceClass: gold, QoSLedger: ledger } = RAW_KINDS;
  const taken = (second: number) => `2026-01-01T00:0${Math.floor(second / 60)}:00Z`;
  const snapshotOf = (...objects: readonly unknown[]) =>
    buildSnapshot([
      { kind: 'List', metadata: { annotations: { 'evenkeel.dev/taken-at': taken(300) } }, items: objects },
    ]);

  it('is found by the UID of its workload', () => {
    const { serviceLevels, problems } = snapshotOf(gold, ledger);
    expect([...serviceLevels.ledgers.keys()]).toEqual(['uid-app']);
    expect(problems).toEqual([]);
  });

  const withStatus = (fields: JsonObject): JsonObject => ({
    status: { ...(ledger['status'] as JsonObject), ...fields },
  });
  const times = { useful: 0, discarded: 0, pending: 0 };
  const runningInstance = (fields: JsonObject): JsonObject =>
    withStatus({ running: 1, waiting: 0, instances: [{ ...times, useful: 5, running: true, ...fields }] });

  it('may have an attempt as long as all useful time, and a checkpoint when it was last kept', () => {
    const attempt = runningInstance({ pod: 'uid-web-1', attempt: 5 });
    const last = withStatus({ checkpoints: [{ at: '2026-01-01T00:01:00Z', ...times }] });
    for (const change of [attempt, last, withStatus({ admittedAt: '2026-01-01T00:01:00Z', checkpoints: [] })]) {
      expect(snapshotOf(gold, { ...ledger, ...change })).toMatchObject({ problems: [] });
    }
  });

  it.each<[string, JsonObject, string]>([
    ['with an attempt that is longer', runningInstance({ pod: 'a', attempt: 6 }), 'more than its useful time'],
    ['with a pod that runs and is none', runningInstance({}), 'running: is true without a pod'],
    ['that ends before it begins', withStatus({ admittedAt: '2026-01-01T00:01:01Z' }), 'asOf: is before admittedAt'],
    ['with another number of those that wait', withStatus({ waiting: 2 }), 'waiting: is 2, but status.instances has 1'],
    [
      'with checkpoints out of order',
      withStatus({ checkpoints: ['00:00:50', '00:00:40'].map((time) => ({ at: `2026-01-01T${time}Z`, ...times })) }),
      'not in the order of their instants',
    ],
    [
      'with a checkpoint after its end',
      withStatus({ checkpoints: [{ at: '2026-01-01T00:01:01Z', ...times }] }),
      'not in the order of their instants, up to asOf',
    ],
    ['without its class', { spec: { ...(ledger['spec'] as object), className: 'none' } }, 'there is no ServiceClass'],
    ['from the future', withStatus({ asOf: '2027-01-01T00:00:00Z' }), 'in the future'],
    ['that does not add up', withStatus({ running: 2 }), 'status.instances has 1'],
    ['that lacks a count', withStatus({ overhead: undefined }), 'overhead: is missing'],
    ['with a count below zero', withStatus({ overhead: -5 }), 'overhead: -5 is negative'],
  ])('%s takes no part, and it is said', (_, change, problem) => {
    const { serviceLevels, problems } = snapshotOf(gold, { ...ledger, ...change });
    expect(serviceLevels.ledgers.size).toBe(0);
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  it('may be a minute younger than the snapshot, and no more', () => {
    const asOf = (time: string) => snapshotOf(gold, { ...ledger, ...withStatus({ asOf: time }) });
    expect(asOf('2026-01-01T00:06:00Z')).toMatchObject({ problems: [] });
    expect(asOf('2026-01-01T00:06:00Z').serviceLevels.ledgers.size).toBe(1);
    expect(asOf('2026-01-01T00:06:01Z').serviceLevels.ledgers.size).toBe(0);
    expect(asOf('2026-01-01T00:06:01Z').problems).toEqual([
      'QoSLedger shop/replicaset-app: status.asOf: is in the future: the ledger takes no part',
    ]);
  });

  it('of a workload that has another one takes no part: the first by name counts', () => {
    const second = {
      ...ledger,
      ...withStatus({ overhead: 7 }),
      metadata: { name: 'second', namespace: 'shop', uid: 'uid-second' },
    };
    const { serviceLevels, problems } = snapshotOf(gold, second, ledger);
    expect([...serviceLevels.ledgers].map(([uid, { overhead }]) => [uid, overhead])).toEqual([['uid-app', 5]]);
    expect(problems).toEqual(['QoSLedger shop/second: another ledger is of the same workload: the first one counts']);
  });

  it('that is not written yet takes no part', () => {
    const { status: _, ...empty } = ledger;
    expect(snapshotOf(gold, empty)).toMatchObject({ problems: [], serviceLevels: { ledgers: new Map() } });
  });

  it('that has ended takes no part', () => {
    expect(snapshotOf(gold, { ...ledger, ...withStatus({ endedAt: at(59) }) })).toMatchObject({
      problems: [],
      serviceLevels: { ledgers: new Map() },
    });
  });
});

describe('a version of a pod', () => {
  const sighted = (metadata: object, status: object = {}, spec: object = {}, images?: readonly string[]) =>
    projectPodSighting(
      {
        metadata: {
          name: 'web-1',
          namespace: 'shop',
          uid: 'p',
          creationTimestamp: at(0),
          ownerReferences: [{ kind: 'ReplicaSet', name: 'web', uid: 'rs', controller: true }],
          ...metadata,
        },
        spec,
        status,
      },
      () => (images === undefined ? undefined : new Set(images)),
    );
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: at(9) };

  it('was asked to go the grace period before its deletion', () => {
    const metadata = { deletionTimestamp: at(50), deletionGracePeriodSeconds: 30 };
    expect(sighted(metadata)?.seen.end).toEqual({ at: START + 20, how: 'Deleted' });
  });

  it('has finished when its last container had', () => {
    const terminated = (second: number) => ({ state: { terminated: { startedAt: at(1), finishedAt: at(second) } } });
    const status = { phase: 'Failed', containerStatuses: [terminated(30), terminated(40)] };
    expect(sighted({}, status)?.seen.end).toEqual({ at: START + 40, how: 'Failed' });
  });

  it('tells since when it is Ready, when it was bound and what its containers did', () => {
    const bound = { type: 'PodScheduled', status: 'True', lastTransitionTime: at(3) };
    const container = {
      state: { running: { startedAt: at(7) } },
      lastState: { terminated: { startedAt: at(4), finishedAt: at(6) } },
    };
    const { seen } = sighted({}, { conditions: [ready, bound], containerStatuses: [container] }) ?? {};
    expect(seen).toMatchObject({
      scheduledAt: START + 3,
      mark: { ready: true, since: START + 9, startedAt: START + 7, stoppedAt: START + 6 },
    });
  });

  it('is hot when its node has all images before it starts, and says nothing once it has started', () => {
    const spec = { nodeName: 'a', containers: [{ image: 'web' }] };
    expect(sighted({}, {}, spec, ['web:latest'])?.seen.hot).toBe(true);
    expect(sighted({}, {}, spec, [])?.seen.hot).toBe(false);
    const two = { nodeName: 'a', initContainers: [{ image: 'init' }], containers: [{ image: 'web' }] };
    expect(sighted({}, {}, two, ['web:latest', 'init:latest'])?.seen.hot).toBe(true);
    expect(sighted({}, {}, two, ['web:latest'])?.seen.hot).toBe(false);
    expect(sighted({}, { conditions: [ready] }, spec, [])?.seen.hot).toBeUndefined();
  });

  it('is of no interest without a controller', () => {
    expect(sighted({ ownerReferences: [] })).toBeUndefined();
  });
});

describe('what a workload wants', () => {
  const metadata = { name: 'web', namespace: 'shop', uid: 'u', creationTimestamp: at(0) };

  it.each<[Parameters<typeof projectRequest>[1], JsonObject, JsonObject, number]>([
    ['Deployment', { replicas: 3 }, {}, 3],
    ['StatefulSet', {}, {}, 1],
    ['DaemonSet', {}, { desiredNumberScheduled: 5 }, 5],
    ['Job', { parallelism: 4, completions: 6 }, { succeeded: 3 }, 3],
    ['Job', { parallelism: 4 }, { succeeded: 1, active: 2 }, 2],
    ['Job', { parallelism: 4, suspend: true }, {}, 0],
    ['Job', { parallelism: 4 }, { conditions: [{ type: 'Complete', status: 'True' }] }, 0],
  ])('%s with spec %j and status %j: %i', (kind, spec, status, desired) => {
    expect(projectRequest({ metadata, spec, status }, kind).desired).toBe(desired);
  });

  it('ends when a Job is complete', () => {
    const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime: at(30) }];
    const completedAt = (kind: Parameters<typeof projectRequest>[1]) =>
      projectRequest({ metadata, spec: {}, status: { conditions } }, kind).completedAt;
    expect([completedAt('Job'), completedAt('Deployment')]).toEqual([START + 30, undefined]);
  });

  it('comes with the pods of its ReplicaSets, and a class by template, namespace or PriorityClass', () => {
    const owner = { kind: 'Deployment', name: 'web', uid: 'u', controller: true };
    const template = { spec: { priorityClassName: 'high' } };
    const workloads = [
      projectRequest({ metadata, spec: { template } }, 'Deployment'),
      projectRequest({ metadata: { ...metadata, name: 'web-1', uid: 'rs', ownerReferences: [owner] } }, 'ReplicaSet'),
    ];
    const pod = { uid: 'p', createdAt: START, marks: [] } as never;
    const sources = {
      workloads: new Map(workloads.map((each) => [each.self.uid, each])),
      pods: [{ pod, owner: 'rs', priorityClassName: undefined }],
      namespaces: new Map<string, ReadonlyMap<string, string>>(),
      assigned: { byPriorityClass: new Map([['high', 'gold']]), byDefault: undefined },
    };
    const { classed } = gatherRequests(sources);
    expect(classed).toMatchObject([{ className: 'gold', record: { owner: { uid: 'u' }, pods: [{ uid: 'p' }] } }]);
    const labelled = { ...sources, namespaces: new Map([['shop', new Map([['evenkeel.dev/service-class', 'ns']])]]) };
    expect(gatherRequests(labelled).classed.map(({ className }) => className)).toEqual(['ns']);
    const none = { byPriorityClass: new Map(), byDefault: undefined };
    expect(gatherRequests({ ...sources, assigned: none }).classed).toEqual([]);
    const byDefault = gatherRequests({ ...sources, assigned: { ...none, byDefault: 'plain' } });
    expect(byDefault.classed.map(({ className }) => className)).toEqual(['plain']);
  });

  it('has no class of its own below another workload, and that of its newest pod where the template names none', () => {
    const owner = { kind: 'Deployment', name: 'web', uid: 'u', controller: true };
    const workloads = [
      projectRequest({ metadata }, 'Deployment'),
      projectRequest({ metadata: { ...metadata, name: 'web-1', uid: 'rs', ownerReferences: [owner] } }, 'ReplicaSet'),
      projectRequest(
        { metadata: { ...metadata, name: 'db', uid: 'db', ownerReferences: [{ ...owner, uid: 'gone' }] } },
        'StatefulSet',
      ),
    ];
    const podOf = (uid: string, ownerUid: string, priorityClassName: string) => ({
      pod: { uid, createdAt: START, marks: [] } as never,
      owner: ownerUid,
      priorityClassName,
    });
    const { classed, recordOf } = gatherRequests({
      workloads: new Map(workloads.map((each) => [each.self.uid, each])),
      pods: [podOf('p', 'rs', 'low'), podOf('q', 'rs', 'high'), podOf('r', 'db', 'low')],
      namespaces: new Map(),
      assigned: {
        byPriorityClass: new Map([
          ['high', 'gold'],
          ['low', 'plain'],
        ]),
        byDefault: undefined,
      },
    });
    expect(
      classed.map(({ className, record }) => [className, record.owner.uid, record.pods.map(({ uid }) => uid)]),
    ).toEqual([
      ['gold', 'u', ['p', 'q']],
      ['plain', 'db', ['r']],
    ]);
    expect(recordOf('u')?.pods.map(({ uid }) => uid)).toEqual(['p', 'q']);
    expect(recordOf('rs')?.pods).toEqual([]);
    expect(recordOf('gone')).toBeUndefined();
  });

  it('is known of each workload by its UID, with the pods that it has, and of one that is not there as nothing', () => {
    const [web, db] = ['web', 'db'].map((name) =>
      projectRequest({ metadata: { ...metadata, name, uid: name }, spec: { replicas: 2 } }, 'StatefulSet'),
    );
    if (web === undefined || db === undefined) {
      throw new Error('two workloads were made');
    }
    const pods = ['p', 'q'].map((uid) => ({
      pod: { uid, createdAt: START, marks: [] } as never,
      owner: uid === 'p' ? 'web' : 'db',
      priorityClassName: uid === 'p' ? 'high' : undefined,
    }));
    const gold = aRawServiceClass('gold', { slo: '0.9', importance: 1, priorityClassNames: ['high'] });
    const { classes, requests, recordOf, problems } = assembleServiceView({
      classes: [projectServiceClass(gold)],
      workloads: [web, db],
      namespaces: [],
      pods,
    });
    const known = { namespace: 'shop', owner: web.self, createdAt: START, desired: 2, completedAt: undefined };
    expect([...classes.keys()]).toEqual(['gold']);
    expect(requests).toEqual([{ className: 'gold', record: { ...known, pods: [pods[0]?.pod] } }]);
    expect(recordOf({ namespace: 'shop', owner: web.self })).toEqual({ ...known, pods: [pods[0]?.pod] });
    expect(recordOf({ namespace: 'shop', owner: db.self })).toEqual({
      ...known,
      owner: db.self,
      pods: [pods[1]?.pod],
    });
    const gone = { kind: 'Job', name: 'gone', uid: 'gone' };
    expect(recordOf({ namespace: 'bank', owner: gone })).toEqual({
      namespace: 'bank',
      owner: gone,
      createdAt: 0,
      desired: 0,
      completedAt: undefined,
      pods: [],
    });
    expect(problems).toEqual([]);
  });
});

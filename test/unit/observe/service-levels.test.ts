import { describe, expect, it } from 'vitest';
import { MAX_CHECKPOINTS, MAX_INSTANCES } from '../../../src/api/v1alpha1/qos-ledger.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { projectPodSighting } from '../../../src/observe/project/pod-sighting.ts';
import { projectRequest } from '../../../src/observe/project/request.ts';
import { projectServiceClass } from '../../../src/observe/project/service-class.ts';
import { projectServiceLedger } from '../../../src/observe/project/service-ledger.ts';
import { assembleServiceView, gatherRequests } from '../../../src/observe/service-requests.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aRawServiceClass } from '../../support/builders/raw.ts';
import { RAW_KINDS } from '../../support/raw-kinds.ts';

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const START = Date.parse(at(0)) / 1000;

/** Classes by priority, and none by default. */
const BY_PRIORITY = {
  byPriorityClass: new Map([
    ['high', 'gold'],
    ['low', 'plain'],
  ]),
  byDefault: undefined,
};

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

  it('forgives by default what its SLO leaves, and has what it says of itself', () => {
    const termsOf = (spec: JsonObject) =>
      projectServiceClass(aRawServiceClass('gold', { importance: 1, ...spec })).terms;
    expect(termsOf({ slo: '0.95' }).maxPreemptionOverhead).toBe(0.05);
    expect(termsOf({ slo: '0.999' }).maxPreemptionOverhead).toBe(0.001);
    expect(termsOf({ slo: '0.95', maxPreemptionOverhead: '0.25' }).maxPreemptionOverhead).toBe(0.25);
    expect(
      termsOf({ slo: '0.9', window: '2h', minRunTime: '1m', safetyMargin: '20s', expectedStartup: '5s' }),
    ).toMatchObject({ window: 7200, minRunTime: 60, safetyMargin: 20, expectedStartup: 5 });
    const plain = projectServiceClass(aRawServiceClass('gold', { slo: '0.9', importance: 1 }));
    expect(plain).toMatchObject({ isDefault: false, priorityClassNames: [], createdAt: 0 });
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
    ['without an instant', withStatus({ asOf: undefined }), 'status.asOf: is missing'],
    ['without its admission', withStatus({ admittedAt: null }), 'status.admittedAt: is missing'],
    ['with a checkpoint of no instant', withStatus({ checkpoints: [times] }), 'status.checkpoints[0].at: is missing'],
    [
      'with a checkpoint that lacks a time',
      withStatus({ checkpoints: [{ at: '2026-01-01T00:00:30Z', useful: 0, discarded: 0 }] }),
      'status.checkpoints[0].pending: is missing',
    ],
    ['with an attempt below zero', runningInstance({ pod: 'a', attempt: -1 }), 'attempt: -1 is negative'],
    ['with fewer that run', withStatus({ running: 0 }), 'running: is 0, but status.instances has 1'],
    ['that lacks a count', withStatus({ overhead: undefined }), 'overhead: is missing'],
    ['with a count below zero', withStatus({ overhead: -5 }), 'overhead: -5 is negative'],
  ])('%s takes no part, and it is said', (_, change, problem) => {
    const { serviceLevels, problems } = snapshotOf(gold, { ...ledger, ...change });
    expect(serviceLevels.ledgers.size).toBe(0);
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  const ledgerOf = (fields: JsonObject) => projectServiceLedger({ ...ledger, ...withStatus(fields) }).ledger;

  it('has all that was kept of it', () => {
    expect(projectServiceLedger(ledger)).toEqual({
      namespace: 'shop',
      name: 'replicaset-app',
      ledger: {
        namespace: 'shop',
        owner: { kind: 'ReplicaSet', name: 'app', uid: 'uid-app' },
        className: 'gold',
        admittedAt: START,
        asOf: START + 60,
        times: { useful: 90, discarded: 0, pending: 30 },
        running: 1,
        waiting: 1,
        instances: [
          {
            pod: 'uid-web-1',
            running: true,
            since: START + 60,
            useful: 60,
            discarded: 0,
            pending: 0,
            attempt: 5,
            left: undefined,
          },
          {
            pod: undefined,
            running: false,
            since: START + 60,
            useful: 30,
            discarded: 0,
            pending: 30,
            attempt: 0,
            left: { pod: 'uid-web-0', at: START + 30, preempted: true },
          },
        ],
        checkpoints: [{ at: START, useful: 0, discarded: 0, pending: 0 }],
        preemptions: 1,
        overhead: 5,
        starts: { hot: { count: 2, total: 5, squares: 12.5 }, cold: undefined },
        startup: { hot: { mean: 2.5, deviation: 0 }, cold: undefined },
        endedAt: undefined,
        message: undefined,
      },
    });
  });

  it('takes starts to have been alike where it says nothing else', () => {
    const startsOf = (cold: JsonObject) => ledgerOf({ startup: { cold } })?.starts;
    expect(startsOf({ count: 3, total: 6 })).toEqual({ hot: undefined, cold: { count: 3, total: 6, squares: 12 } });
    expect(startsOf({ count: 3, total: 6, squares: 14 })?.cold).toEqual({ count: 3, total: 6, squares: 14 });
    expect(startsOf({ count: 0, total: 0 })?.cold).toEqual({ count: 0, total: 0, squares: 0 });
    expect(startsOf({ count: 0, total: 3 })?.cold?.squares).toBe(9);
    expect(startsOf({ count: 1, total: 3 })?.cold?.squares).toBe(9);
    expect(ledgerOf({ startup: undefined })?.starts).toEqual({ hot: undefined, cold: undefined });
  });

  it('counts those that run and wait, and may have none', () => {
    const none = ledgerOf({ running: 0, waiting: 0, instances: [] });
    expect([none?.running, none?.waiting]).toEqual([0, 0]);
    const waits = { ...times, running: false };
    const many = ledgerOf({ running: 0, waiting: 3, instances: [waits, waits, waits] });
    expect([many?.running, many?.waiting]).toEqual([0, 3]);
  });

  it('says why and when it has ended', () => {
    expect(ledgerOf({ endedAt: at(59), message: 'the workload is gone' })).toMatchObject({
      endedAt: START + 59,
      message: 'the workload is gone',
    });
  });

  it('may have as many instances and checkpoints as its schema allows, and no more', () => {
    const waiting = (count: number) => ({
      running: 0,
      waiting: count,
      instances: Array.from({ length: count }, () => ({ ...times, running: false })),
    });
    const checkpoints = (count: number) => Array.from({ length: count }, () => ({ ...times, at: at(0) }));
    expect(ledgerOf(waiting(MAX_INSTANCES))?.waiting).toBe(MAX_INSTANCES);
    expect(() => ledgerOf(waiting(MAX_INSTANCES + 1))).toThrow(
      `status.instances: has ${MAX_INSTANCES + 1} entries: at most ${MAX_INSTANCES}`,
    );
    expect(ledgerOf({ checkpoints: checkpoints(MAX_CHECKPOINTS) })?.checkpoints).toHaveLength(MAX_CHECKPOINTS);
    expect(() => ledgerOf({ checkpoints: checkpoints(MAX_CHECKPOINTS + 1) })).toThrow('status.checkpoints: has');
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

  it.each([
    ['running', { running: { startedAt: 'noon' } }, 'state.running.startedAt'],
    ['terminated', { terminated: { startedAt: 'noon' } }, 'state.terminated.startedAt'],
  ])('names the field of a container that is %s and has no such time', (_, state, field) => {
    expect(() => sighted({}, { containerStatuses: [{}, { state }] })).toThrow(`status.containerStatuses[1].${field}: `);
  });

  it.each(['initContainers', 'containers'])('names the image of %s that is no text by its place among them', (list) => {
    const spec = { nodeName: 'a', initContainers: [{ image: 'a' }], containers: [{ image: 'b' }] };
    expect(() => sighted({}, {}, { ...spec, [list]: [{ image: 7 }] }, ['a', 'b'])).toThrow(
      `spec.${list}[0].image: 7 is`,
    );
  });

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

  it('says that its containers have started only once all have, and then since the last did', () => {
    const started = (...seconds: readonly (number | undefined)[]) => {
      const containerStatuses = seconds.map((second) => ({
        state: second === undefined ? { waiting: {} } : { running: { startedAt: at(second) } },
      }));
      return sighted({}, { conditions: [ready], containerStatuses })?.seen.mark?.startedAt;
    };
    expect(started(3, 8, 5)).toBe(START + 8);
    expect(started(3, undefined)).toBeUndefined();
    expect(started(undefined, undefined)).toBeUndefined();
    expect(started()).toBeUndefined();
  });

  it('says when its last container stopped before it was started again, and when those that ended had started', () => {
    const containerStatuses = [
      { state: { running: { startedAt: at(7) } }, lastState: { terminated: { finishedAt: at(6) } } },
      {
        state: { terminated: { startedAt: at(8), finishedAt: at(20) } },
        lastState: { terminated: { finishedAt: at(4) } },
      },
      { state: { running: { startedAt: at(2) } } },
    ];
    expect(sighted({}, { conditions: [ready], containerStatuses })?.seen.mark).toEqual({
      ready: true,
      since: START + 9,
      startedAt: START + 8,
      stoppedAt: START + 6,
    });
  });

  it('has no mark before it has a condition Ready that says since when, and one as well where it is not Ready', () => {
    const marked = (...conditions: readonly object[]) => sighted({}, { conditions })?.seen.mark;
    expect(marked()).toBeUndefined();
    expect(marked({ type: 'Ready', status: 'True' })).toBeUndefined();
    expect(marked({ ...ready, type: 'ContainersReady' })).toBeUndefined();
    expect(marked({ ...ready, status: 'False' })).toMatchObject({ ready: false, since: START + 9 });
  });

  it('was bound when its condition says that it is', () => {
    const bound = (status: string) =>
      sighted({}, { conditions: [{ type: 'PodScheduled', status, lastTransitionTime: at(3) }] })?.seen.scheduledAt;
    expect([bound('True'), bound('False')]).toEqual([START + 3, undefined]);
    expect(sighted({})?.seen.scheduledAt).toBeUndefined();
  });

  it('says whether it is hot until a container starts, whatever its condition Ready says by then', () => {
    const spec = { nodeName: 'a', containers: [{ image: 'web' }] };
    const hot = (status: object, more: object = {}) =>
      sighted({}, status, { ...spec, ...more }, ['web:latest'])?.seen.hot;
    const state = { running: { startedAt: at(7) } };
    expect(hot({ conditions: [{ ...ready, status: 'False' }] })).toBe(true);
    expect(hot({ containerStatuses: [{ state: { waiting: {} } }] })).toBe(true);
    expect(hot({ containerStatuses: [{ state: { waiting: {} } }, { state }] })).toBeUndefined();
    expect(hot({}, { nodeName: '' })).toBeUndefined();
    expect(hot({}, { nodeName: undefined })).toBeUndefined();
    expect(sighted({}, {}, spec)?.seen.hot).toBeUndefined();
  });

  it('was asked to go at its deletion where it was given no time, or less than none', () => {
    const end = (deletionGracePeriodSeconds?: number) =>
      sighted({ deletionTimestamp: at(50), deletionGracePeriodSeconds })?.seen.end;
    for (const grace of [undefined, 0, -5]) {
      expect(end(grace)).toEqual({ at: START + 50, how: 'Deleted' });
    }
    expect(end(1)).toEqual({ at: START + 49, how: 'Deleted' });
  });

  it.each([
    [19, 'Deleted', 19],
    [20, 'Succeeded', 20],
    [21, 'Succeeded', 20],
  ])('that finished at 20 and was asked to go at %i ended as %s', (asked, how, second) => {
    const containerStatuses = [{ state: { terminated: { startedAt: at(1), finishedAt: at(20) } } }];
    const end = sighted({ deletionTimestamp: at(asked) }, { phase: 'Succeeded', containerStatuses })?.seen.end;
    expect(end).toEqual({ at: START + second, how });
  });

  it('has finished when it was no longer Ready, or was made, where its containers do not say', () => {
    const end = (status: object) => sighted({}, status)?.seen.end;
    expect(end({ phase: 'Failed', conditions: [ready] })).toEqual({ at: START + 9, how: 'Failed' });
    expect(end({ phase: 'Succeeded' })).toEqual({ at: START, how: 'Succeeded' });
    expect(end({ phase: 'Running', conditions: [ready] })).toBeUndefined();
    expect(end({})).toBeUndefined();
  });

  it('names its owner and its PriorityClass, if any', () => {
    const named = (priorityClassName?: string) => sighted({}, {}, { priorityClassName });
    expect(named('high')).toMatchObject({
      owner: 'rs',
      priorityClassName: 'high',
      seen: { uid: 'p', createdAt: START },
    });
    expect([named('')?.priorityClassName, named()?.priorityClassName]).toEqual([undefined, undefined]);
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
    ['Job', { parallelism: 4 }, { conditions: [{ type: 'Complete', status: 'False' }] }, 4],
    ['Job', { parallelism: 4 }, { conditions: [{ type: 'Suspended', status: 'True' }] }, 4],
    ['Job', { parallelism: 4 }, { conditions: [{ type: 'Failed', status: 'True' }] }, 0],
    ['Job', { parallelism: 4 }, { conditions: [{ type: 'SuccessCriteriaMet', status: 'True' }] }, 0],
    ['Job', { parallelism: 4 }, { conditions: [{ type: 'FailureTarget', status: 'True' }] }, 0],
    ['Job', {}, {}, 1],
    ['Job', { parallelism: 4 }, { succeeded: 0, active: 2 }, 4],
    ['Job', { parallelism: 2 }, { succeeded: 1, active: 3 }, 2],
    ['Job', { parallelism: 4 }, { succeeded: 1 }, 0],
    ['Job', { parallelism: 4, completions: 6 }, {}, 4],
    ['Job', { parallelism: 4, completions: 6, suspend: false }, { succeeded: 2 }, 4],
    ['Job', { parallelism: 4, completions: 6 }, { succeeded: 7 }, 0],
    ['Deployment', { replicas: 0 }, {}, 0],
    ['Deployment', { replicas: -1 }, {}, 0],
    ['DaemonSet', { replicas: 3 }, {}, 0],
  ])('%s with spec %j and status %j: %i', (kind, spec, status, desired) => {
    expect(projectRequest({ metadata, spec, status }, kind).desired).toBe(desired);
  });

  it('comes with the labels of its template, and a PriorityClass where the template names one', () => {
    const wanted = (template: JsonObject) => projectRequest({ metadata, spec: { template } }, 'Deployment');
    const { labels, priorityClassName } = wanted({
      metadata: { labels: { app: 'web' } },
      spec: { priorityClassName: 'high' },
    });
    expect([[...labels], priorityClassName]).toEqual([[['app', 'web']], 'high']);
    const bare = wanted({ spec: { priorityClassName: '' } });
    expect([[...bare.labels], bare.priorityClassName]).toEqual([[], undefined]);
    expect(projectRequest({ metadata }, 'Deployment')).toMatchObject({ priorityClassName: undefined, desired: 1 });
  });

  it('has not ended where a Job says that it is not complete', () => {
    const conditions = [{ type: 'Complete', status: 'False', lastTransitionTime: at(30) }];
    expect(projectRequest({ metadata, status: { conditions } }, 'Job').completedAt).toBeUndefined();
    expect(projectRequest({ metadata }, 'Job').completedAt).toBeUndefined();
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
      assigned: BY_PRIORITY,
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

  it('is not that of a controller above which is not known', () => {
    const owner = { kind: 'Deployment', name: 'web', uid: 'gone', controller: true };
    const replicaSet = projectRequest({ metadata: { ...metadata, uid: 'rs', ownerReferences: [owner] } }, 'ReplicaSet');
    const pod = { uid: 'p', createdAt: START, marks: [] } as never;
    const { classed, recordOf } = gatherRequests({
      workloads: new Map([['rs', replicaSet]]),
      pods: [
        { pod, owner: 'rs', priorityClassName: undefined },
        { pod, owner: 'unknown', priorityClassName: undefined },
      ],
      namespaces: new Map(),
      assigned: { byPriorityClass: new Map(), byDefault: 'plain' },
    });
    expect(classed.map(({ record }) => [record.owner.uid, record.pods.length])).toEqual([['rs', 1]]);
    expect(recordOf('unknown')).toBeUndefined();
  });

  it('has the PriorityClass of its template before that of its pods', () => {
    const template = { spec: { priorityClassName: 'high' } };
    const web = projectRequest({ metadata, spec: { template } }, 'Deployment');
    const pod = { uid: 'p', createdAt: START, marks: [] } as never;
    const { classed } = gatherRequests({
      workloads: new Map([['u', web]]),
      pods: [{ pod, owner: 'u', priorityClassName: 'low' }],
      namespaces: new Map(),
      assigned: BY_PRIORITY,
    });
    expect(classed.map(({ className }) => className)).toEqual(['gold']);
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

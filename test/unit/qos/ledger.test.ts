import { describe, expect, it } from 'vitest';
import { MAX_INSTANCES } from '../../../src/api/v1alpha1/qos-ledger.ts';
import type { ServiceClass } from '../../../src/model/service-level.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { carryOn, endLedger, settle } from '../../../src/qos/ledger.ts';
import type { PodEnd, PodRecord, RequestRecord } from '../../../src/qos/ledger-record.ts';
import type { KeptLedger } from '../../../src/qos/ledger-state.ts';
import { timesAt } from '../../../src/qos/times.ts';
import { aServiceClass, aStartTime } from '../../support/builders/service-levels.ts';

/** All instants are seconds after this. */
const START = 1_800_000_000;
const instant = (second: number) => epochSeconds(START + second);

interface PodFields {
  /** Changes of Ready, to and fro, the first one to Ready. */
  readonly ready?: readonly number[];
  readonly scheduled?: number;
  readonly started?: number;
  readonly stopped?: number;
  readonly asked?: number;
  readonly failed?: number;
  readonly succeeded?: number;
  readonly hot?: boolean;
}

function aPodRecord(uid: string, created: number, fields: PodFields = {}): PodRecord {
  const { ready = [], scheduled = created, started, stopped, hot } = fields;
  return {
    uid,
    createdAt: instant(created),
    scheduledAt: instant(scheduled),
    marks: ready.map((since, index) => ({
      ready: index % 2 === 0,
      since: instant(since),
      startedAt: started === undefined ? undefined : instant(started),
      stoppedAt: stopped === undefined ? undefined : instant(stopped),
    })),
    end: endOf(fields),
    missedAt: undefined,
    hot,
  };
}

function endOf({ asked, failed, succeeded }: PodFields): PodEnd | undefined {
  const at = asked ?? failed ?? succeeded;
  const how = asked !== undefined ? 'Deleted' : failed !== undefined ? 'Failed' : 'Succeeded';
  return at === undefined ? undefined : { at: instant(at), how };
}

interface Look {
  readonly at: number;
  readonly desired?: number;
  readonly pods: readonly PodRecord[];
  readonly preempted?: readonly string[];
  readonly completed?: number;
  readonly uid?: string;
}

function aRecord({ desired = 1, pods, completed, uid = 'uid-web' }: Look, kind = 'Deployment'): RequestRecord {
  return {
    namespace: 'shop',
    owner: { kind, name: 'web', uid },
    createdAt: instant(0),
    desired,
    completedAt: completed === undefined ? undefined : instant(completed),
    pods,
  };
}

/** The ledger after these looks. */
function ledgerAfter(looks: readonly Look[], terms: ServiceClass = aServiceClass({ name: 'gold' })): KeptLedger {
  let ledger: KeptLedger | undefined;
  for (const look of looks) {
    const promised = { terms, createdAt: instant(-100) };
    const record = aRecord(look, terms.mode === 'Task' ? 'Job' : 'Deployment');
    ledger = carryOn(ledger, promised, record, new Set(look.preempted), instant(look.at));
  }
  if (ledger === undefined) {
    throw new Error('no look');
  }
  return ledger;
}

/** [useful, discarded, pending] at a second. */
function timesOf(ledger: KeptLedger, second: number, mode: ServiceClass['mode'] = 'Aggregated') {
  const { useful, discarded, pending } = timesAt(ledger, mode, instant(second));
  return [useful, discarded, pending];
}

describe('a ledger', () => {
  it('counts from the creation of the workload, however late it is begun', () => {
    const ledger = ledgerAfter([{ at: 60, pods: [aPodRecord('a', 0, { ready: [5] })] }]);
    expect(timesOf(ledger, 60)).toEqual([55, 0, 5]);
    expect(ledger.admittedAt).toBe(instant(0));
  });

  it.each([
    [-100, 0],
    [3, 3],
    [10, 5],
  ])(
    'counts from the creation of its class at %d s, where that is later and is over by now: from %d s',
    (made, begun) => {
      const promised = { terms: aServiceClass({ name: 'gold' }), createdAt: instant(made) };
      const ledger = carryOn(undefined, promised, aRecord({ at: 5.4, pods: [] }), new Set(), instant(5.4));
      expect(ledger.admittedAt).toBe(instant(begun));
    },
  );

  it('stays the very same while nothing but time goes on', () => {
    const pods = [aPodRecord('a', 0, { ready: [5] })];
    const first = ledgerAfter([{ at: 6, pods }]);
    const promised = { terms: aServiceClass({ name: 'gold' }), createdAt: instant(-100) };
    expect(carryOn(first, promised, aRecord({ at: 500, pods }), new Set(), instant(500))).toBe(first);
    expect(timesOf(first, 500)).toEqual([495, 0, 5]);
  });

  it('waits for pods that nobody has made', () => {
    expect(timesOf(ledgerAfter([{ at: 3, desired: 2, pods: [] }]), 10)).toEqual([0, 0, 20]);
  });

  it('waits for a pod that is missing from when that is seen, where there were others or none was wanted', () => {
    const short = ledgerAfter([{ at: 60, desired: 2, pods: [aPodRecord('a', 0, { ready: [5] })] }]);
    expect(timesOf(short, 70)).toEqual([65, 0, 5 + 10]);
    const grown = ledgerAfter([
      { at: 10, desired: 0, pods: [] },
      { at: 60, desired: 1, pods: [] },
    ]);
    expect(timesOf(grown, 70)).toEqual([0, 0, 10]);
  });

  it('ends the run of a pod when it is asked to go, not when it is gone', () => {
    const pods = [aPodRecord('a', 0, { ready: [5], asked: 20 }), aPodRecord('b', 20, { ready: [24] })];
    expect(timesOf(ledgerAfter([{ at: 60, pods }]), 60)).toEqual([15 + 36, 0, 5 + 4]);
  });

  it('takes the creation of its replacement as the end of a pod that is gone without a trace', () => {
    const before = { at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] };
    const ledger = ledgerAfter([before, { at: 60, pods: [aPodRecord('b', 30, { ready: [33] })] }]);
    expect(timesOf(ledger, 60)).toEqual([25 + 27, 0, 5 + 3]);
  });

  it('counts no replica that was scaled away, from when its pod was asked to go', () => {
    const running = (uid: string, asked?: number) =>
      aPodRecord(uid, 0, { ready: [5], ...(asked === undefined ? {} : { asked }) });
    const ledger = ledgerAfter([
      { at: 10, desired: 2, pods: [running('a'), running('b')] },
      { at: 60, desired: 1, pods: [running('a'), running('b', 20)] },
    ]);
    expect(timesOf(ledger, 60)).toEqual([55 + 15, 0, 10]);
    expect(ledger.instances).toHaveLength(1);
  });

  it('counts a replica that was added from the creation of its pod', () => {
    const a = aPodRecord('a', 0, { ready: [5] });
    const ledger = ledgerAfter([
      { at: 10, pods: [a] },
      { at: 60, desired: 2, pods: [a, aPodRecord('b', 40, { ready: [44] })] },
    ]);
    expect(timesOf(ledger, 60)).toEqual([55 + 16, 0, 5 + 4]);
  });

  it('counts no surge of a rollout', () => {
    const old = (asked?: number) => aPodRecord('old', 0, { ready: [5], ...(asked === undefined ? {} : { asked }) });
    const fresh = aPodRecord('new', 20, { ready: [24] });
    const ledger = ledgerAfter([
      { at: 10, pods: [old()] },
      { at: 22, pods: [old(), aPodRecord('new', 20)] },
      { at: 60, pods: [old(25), fresh] },
    ]);
    expect(timesOf(ledger, 60)).toEqual([55, 0, 5]);
    expect(ledger.instances.map(({ pod }) => pod)).toEqual(['new']);
  });

  const before = { at: 10, pods: [aPodRecord('old', 0, { ready: [5] })] };
  const flapping = aPodRecord('old', 0, { ready: [5, 40, 50] });

  it('has a pod of the surge that runs stand in for one that is not Ready', () => {
    const ledger = ledgerAfter([before, { at: 80, pods: [flapping, aPodRecord('new', 20, { ready: [24] })] }]);
    expect(timesOf(ledger, 80)).toEqual([75, 0, 5]);
    expect(ledger.instances).toMatchObject([{ pod: 'new', running: true }]);
  });

  it('has the pod that was stood in for take over again where it is Ready when the other goes', () => {
    const fresh = aPodRecord('new', 20, { ready: [24], asked: 60 });
    const ledger = ledgerAfter([before, { at: 80, pods: [flapping, fresh] }]);
    expect(timesOf(ledger, 80)).toEqual([75, 0, 5]);
    expect(ledger.instances).toMatchObject([{ pod: 'old', running: true }]);
  });

  it('has a replica wait while neither its pod nor one of the surge is Ready', () => {
    const stopped = aPodRecord('old', 0, { ready: [5, 40] });
    const late = ledgerAfter([before, { at: 80, pods: [stopped, aPodRecord('new', 20, { ready: [45] })] }]);
    expect(timesOf(late, 80)).toEqual([35 + 35, 0, 5 + 5]);
    const gone = ledgerAfter([before, { at: 80, pods: [stopped, aPodRecord('new', 20, { ready: [24], asked: 60 })] }]);
    expect(timesOf(gone, 80)).toEqual([35 + 20, 0, 5 + 20]);
    expect(gone.instances).toMatchObject([{ pod: 'old', running: false }]);
  });

  it('has a pod of the surge from before the last change serve in the place of another until it ends, too', () => {
    const other = aPodRecord('other', 0, { ready: [5, 30, 31] });
    const surge = (asked?: number) =>
      aPodRecord('surge', 20, { ready: [36], ...(asked === undefined ? {} : { asked }) });
    const ledger = ledgerAfter([
      { at: 10, desired: 2, pods: [aPodRecord('old', 0, { ready: [5] }), aPodRecord('other', 0, { ready: [5] })] },
      { at: 35, desired: 2, pods: [aPodRecord('old', 0, { ready: [5] }), other, aPodRecord('surge', 20)] },
      { at: 60, desired: 2, pods: [aPodRecord('old', 0, { ready: [5], asked: 40 }), other, surge(50)] },
    ]);
    expect(timesOf(ledger, 60)).toEqual([35 + 10 + 25 + 29, 0, 5 + 10 + 5 + 1]);
  });

  it('has a pod of the surge stand in for one replica, whether that is not Ready or has lost its pod', () => {
    const running = ['a', 'b'].map((uid) => aPodRecord(uid, 0, { ready: [5] }));
    const surge = aPodRecord('surge', 20, { ready: [24] });
    const ways = [
      [aPodRecord('a', 0, { ready: [5, 40] }), aPodRecord('b', 0, { ready: [5, 50] })],
      [aPodRecord('a', 0, { ready: [5], asked: 40 }), aPodRecord('b', 0, { ready: [5], asked: 50 })],
    ];
    for (const changed of ways) {
      const ledger = ledgerAfter([
        { at: 10, desired: 2, pods: running },
        { at: 80, desired: 2, pods: [...changed, surge] },
      ]);
      expect(timesOf(ledger, 80)).toEqual([35 + 40 + 45, 0, 5 + 5 + 30]);
      expect(ledger.instances.filter(({ pod }) => pod === 'surge')).toHaveLength(1);
    }
  });

  it('has no pod of the surge take a place after its end', () => {
    const pods = [
      aPodRecord('old', 0, { ready: [5], asked: 40 }),
      aPodRecord('surge', 20, { ready: [24], asked: 30 }),
      aPodRecord('new', 50, { ready: [55] }),
    ];
    const ledger = ledgerAfter([before, { at: 80, pods }]);
    expect(timesOf(ledger, 80)).toEqual([35 + 25, 0, 5 + 15]);
  });

  it('discards nothing where a pod goes that was not Ready any more', () => {
    const ledger = ledgerAfter([
      { at: 12, pods: [aPodRecord('a', 0, { ready: [5, 10] })] },
      { at: 60, pods: [aPodRecord('a', 0, { ready: [5, 10], failed: 20 })] },
    ]);
    expect(timesOf(ledger, 60)).toEqual([5, 0, 55]);
  });

  it('has the pod of the surge that runs take the place of one that goes, not the one that was made first', () => {
    const pods = [
      aPodRecord('old', 0, { ready: [5], asked: 40 }),
      aPodRecord('slow', 20),
      aPodRecord('quick', 21, { ready: [30] }),
    ];
    const ledger = ledgerAfter([before, { at: 80, pods }]);
    expect(timesOf(ledger, 80)).toEqual([75, 0, 5]);
    expect(ledger.instances).toMatchObject([{ pod: 'quick', running: true }]);
  });

  it('ends replicas without a pod first when fewer are wanted, from the last change on', () => {
    const pods = [aPodRecord('a', 0, { ready: [5] })];
    const never = ledgerAfter([
      { at: 10, desired: 2, pods },
      { at: 60, desired: 1, pods },
    ]);
    expect(never.instances).toMatchObject([{ pod: 'a', running: true }]);
    expect(timesOf(never, 60)).toEqual([55, 0, 5]);
    const left = ledgerAfter([
      { at: 10, desired: 2, pods: [...pods, aPodRecord('b', 0, { ready: [5] })] },
      { at: 30, desired: 2, pods: [...pods, aPodRecord('b', 0, { ready: [5], asked: 20 })] },
      { at: 60, desired: 1, pods },
    ]);
    expect(left.instances).toMatchObject([{ pod: 'a', running: true }]);
    expect(timesOf(left, 60)).toEqual([55 + 15, 0, 10]);
  });

  it('waits from the moment a node is found lost, until a replacement is Ready', () => {
    const pods = [aPodRecord('a', 0, { ready: [5, 40], asked: 340 }), aPodRecord('b', 340, { ready: [350] })];
    expect(timesOf(ledgerAfter([{ at: 400, pods }]), 400)).toEqual([35 + 50, 0, 5 + 310]);
  });

  it('knows of a restart that nobody saw by when the container had stopped', () => {
    const before = { at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] };
    const restarted = { ...aPodRecord('a', 0, { ready: [30], stopped: 22 }) };
    expect(timesOf(ledgerAfter([before, { at: 60, pods: [restarted] }]), 60)).toEqual([17 + 30, 0, 5 + 8]);
  });

  it('never turns back, nor runs ahead, whatever instants are on record', () => {
    const first = ledgerAfter([{ at: 10, pods: [aPodRecord('a', 0, { ready: [9] })] }]);
    const late = ledgerAfter([
      { at: 10, pods: [aPodRecord('a', 0, { ready: [9] })] },
      { at: 20, pods: [aPodRecord('a', 0, { ready: [9], asked: 3 }), aPodRecord('b', 3, { ready: [4_000] })] },
    ]);
    expect(late.asOf).toBeGreaterThanOrEqual(first.asOf);
    expect(late.asOf).toBeLessThanOrEqual(instant(20));
    expect(timesOf(late, 20)).toEqual([0, 0, 20]);
  });

  it('takes what a kubelet says far ahead of the clock for what has happened by now', () => {
    const ledger = ledgerAfter([{ at: 20, pods: [aPodRecord('a', 0, { ready: [40] })] }]);
    expect(timesOf(ledger, 30)).toEqual([10, 0, 20]);
  });

  it.each([
    [25, 25],
    [26, 20],
  ])('looks at 20 s as far ahead as the record is within five seconds: what is of %d s at %d s', (ahead, asOf) => {
    const before = { at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] };
    const later = [
      ledgerAfter([{ at: 20, pods: [aPodRecord('a', ahead)] }]),
      ledgerAfter([{ at: 20, pods: [aPodRecord('a', 0, { ready: [ahead] })] }]),
      ledgerAfter([before, { at: 20, pods: [aPodRecord('a', 0, { ready: [5], asked: ahead })] }]),
    ];
    expect(later.map((ledger) => ledger.asOf - START)).toEqual([asOf, asOf, asOf]);
  });

  it('takes as many replicas as pods have not ended, where nobody says how many are wanted', () => {
    const wanted = (ends: readonly (PodEnd | undefined)[]) => {
      const pods = ends.map((end, place) => ({ ...aPodRecord(`p${place}`, 0), end }));
      const promised = { terms: aServiceClass({ name: 'gold' }), createdAt: instant(-100) };
      const record = { ...aRecord({ at: 50, pods }), desired: undefined };
      return carryOn(undefined, promised, record, new Set(), instant(50)).instances.length;
    };
    const end = (at: number | undefined): PodEnd => ({ at: at === undefined ? at : instant(at), how: 'Deleted' });
    expect(wanted([undefined, undefined, undefined])).toBe(3);
    expect(wanted([undefined, end(20), end(50), end(undefined)])).toBe(1);
    expect(wanted([undefined, end(60)])).toBe(2);
  });

  it('counts the replicas that there are each by itself when more are wanted', () => {
    const pods = [aPodRecord('a', 0, { ready: [5] })];
    const ledger = ledgerAfter([
      { at: 10, pods },
      { at: 30, desired: 2, pods },
      { at: 60, desired: 3, pods },
    ]);
    expect(ledger).toMatchObject({ running: 1, waiting: 2 });
    expect(ledger.instances).toMatchObject([
      { pod: 'a', useful: 55, pending: 5, attempt: 0, since: instant(60) },
      { pod: undefined, useful: 0, pending: 30, attempt: 0, since: instant(60) },
      { pod: undefined, useful: 0, pending: 0, attempt: 0, since: instant(60) },
    ]);
  });

  it.each([
    [200, 200],
    [200.4, 200],
    [200.9, 200],
    [201, 201],
  ])('counts whole seconds: after a look at %d s up to %d s', (at, asOf) => {
    const before = { at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] };
    const scaled = { ...before, at, desired: 2 };
    expect(ledgerAfter([before, scaled]).asOf).toBe(instant(asOf));
  });

  it('gives a new pod the replica that has been without one for the longest time', () => {
    const ready = { ready: [5] };
    const running = ['a', 'b', 'c'].map((uid) => aPodRecord(uid, 0, ready));
    const gone = [
      aPodRecord('a', 0, { ...ready, asked: 40 }),
      aPodRecord('b', 0, { ...ready, asked: 20 }),
      aPodRecord('c', 0, { ...ready, asked: 30 }),
    ];
    const independent = aServiceClass({ name: 'gold', mode: 'Independent' });
    const ledger = ledgerAfter(
      [
        { at: 10, desired: 3, pods: running },
        { at: 50, desired: 3, pods: gone },
        { at: 80, desired: 3, pods: [...gone, aPodRecord('d', 60, { ready: [65] })] },
        { at: 90, desired: 3, pods: [...gone, aPodRecord('d', 60, { ready: [65] }), aPodRecord('e', 85)] },
      ],
      independent,
    );
    expect(ledger.instances.map(({ pod }) => pod)).toEqual([undefined, 'd', 'e']);
  });

  it('counts at most a thousand replicas, and says so', () => {
    const ledger = ledgerAfter([{ at: 1, desired: 1500, pods: [] }]);
    expect(ledger.instances).toHaveLength(MAX_INSTANCES);
    expect(ledger.message).toBe('counts 1000 of 1500 replicas: a ledger holds no more');
    const most = ledgerAfter([{ at: 1, desired: MAX_INSTANCES, pods: [] }]);
    expect([most.instances.length, most.message]).toEqual([MAX_INSTANCES, undefined]);
  });

  it('remembers its times over the window of the class, at sixteen instants at most', () => {
    const marks = Array.from({ length: 200 }, (_, index) => 60 * (index + 1));
    const ledger = ledgerAfter(
      marks.map((at, index) => ({ at, pods: [aPodRecord('a', 0, { ready: marks.slice(0, index + 1).slice(-15) })] })),
      aServiceClass({ name: 'gold' }),
    );
    expect(ledger.checkpoints.length).toBeLessThanOrEqual(16);
    expect(ledger.asOf - (ledger.checkpoints[0]?.at ?? 0)).toBeGreaterThanOrEqual(3600);
    expect(ledger.checkpoints.every(({ useful, pending, at }) => useful + pending === at - START)).toBe(true);
  });
});

describe('at a boundary', () => {
  const gold = aServiceClass({ name: 'gold' });
  const pods = [aPodRecord('a', 0, { ready: [100] })];

  it('a part of the window that ends just at a look is remembered once, with what was up to then', () => {
    const looks = [
      { at: 299, pods },
      { at: 300, pods },
      { at: 301, pods },
      { at: 600, pods: [aPodRecord('a', 0, { ready: [100, 600] })] },
      { at: 601, pods: [aPodRecord('a', 0, { ready: [100, 600] })] },
    ];
    const { checkpoints } = ledgerAfter(looks, gold);
    expect(checkpoints.map(({ at, useful, pending }) => [at - START, useful, pending])).toEqual([
      [300, 200, 100],
      [600, 500, 100],
    ]);
  });

  it('a workload that was made anew while nobody looked is the owner from then on', () => {
    const looks = [
      { at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] },
      { at: 50, uid: 'uid-anew', pods: [aPodRecord('b', 30, { ready: [35] })] },
    ];
    expect(ledgerAfter(looks, gold).owner.uid).toBe('uid-anew');
  });

  it('a pod that says twice that it is Ready is counted once', () => {
    const [mark] = aPodRecord('a', 0, { ready: [5] }).marks;
    const again = mark === undefined ? [] : [mark, { ...mark, since: instant(10) }];
    const twice = { ...aPodRecord('a', 0), marks: again };
    const ledger = ledgerAfter([{ at: 50, pods: [twice] }], gold);
    expect([timesOf(ledger, 50), ledger.instances.length]).toEqual([[45, 0, 5], 1]);
  });

  it('a pod that has come in the place of one whose end is on record does not date the end of another', () => {
    const before = [aPodRecord('a', 0, { ready: [5] }), aPodRecord('c', 0, { ready: [5] })];
    const gone = { ...aPodRecord('c', 0, { ready: [5] }), end: { at: undefined, how: 'Deleted' as const } };
    const after = [aPodRecord('a', 0, { ready: [5], asked: 20 }), gone, aPodRecord('b', 20), aPodRecord('d', 35)];
    const ledger = ledgerAfter(
      [
        { at: 10, desired: 2, pods: before },
        { at: 50, desired: 2, pods: after },
      ],
      gold,
    );
    // a ran for 15 s, and c until d was made in its place, not b.
    expect(timesOf(ledger, 50)).toEqual([15 + 30, 0, 55]);
  });

  it('a pod that is made within the second in which another is gone goes on with its instance', () => {
    const ledger = ledgerAfter(
      [
        { at: 10, pods: [aPodRecord('z', 0, { ready: [5] })] },
        { at: 60, desired: 2, pods: [aPodRecord('b', 5, { ready: [8] }), aPodRecord('c', 9, { ready: [15] })] },
      ],
      gold,
    );
    expect(ledger.instances).toMatchObject([
      { pod: 'b', useful: 7, pending: 5 + 3 },
      { pod: 'c', useful: 0, pending: 6 },
    ]);
    expect(timesOf(ledger, 60)).toEqual([52 + 45, 0, 8 + 6]);
  });

  it('a pod of which something is on record after another was made is not taken to have ended then', () => {
    const gone = {
      ...aPodRecord('a', 0, { ready: [5, 30, 33] }),
      end: { at: undefined, how: 'Deleted' as const },
    };
    const ledger = ledgerAfter(
      [
        { at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] },
        { at: 60, desired: 2, pods: [gone, aPodRecord('b', 20), aPodRecord('c', 40)] },
      ],
      gold,
    );
    // a ran for 25 s and for 7 s; c came in its place, and b beside it.
    expect(timesOf(ledger, 60)).toEqual([25 + 7, 0, 5 + 3 + 20 + 40]);
  });

  it('a pod that is gone without a trace ended when the first was made in its place, whatever they are called', () => {
    const before = { at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] };
    const pods = [aPodRecord('c', 30, { ready: [33] }), aPodRecord('b', 45)];
    expect(timesOf(ledgerAfter([before, { at: 60, pods }], gold), 60)).toEqual([25 + 27, 0, 5 + 3]);
  });

  it('a pod that the ledger knew before does not date the end of another', () => {
    const a = aPodRecord('a', 0, { ready: [5] });
    const ledger = ledgerAfter(
      [
        { at: 10, pods: [a] },
        { at: 21, desired: 2, pods: [a, aPodRecord('b', 20)] },
        { at: 60, desired: 2, pods: [aPodRecord('b', 20), aPodRecord('c', 40)] },
      ],
      gold,
    );
    expect(timesOf(ledger, 60)).toEqual([35, 0, 5 + 20 + 40]);
  });

  it('the pod that came for one whose whole life was the second of the last change does not date another end', () => {
    const a = aPodRecord('a', 0, { ready: [5] });
    const gone = { ...aPodRecord('d', 0, { ready: [5, 22, 23] }), end: { at: undefined, how: 'Deleted' as const } };
    const left = aPodRecord('a', 0, { ready: [5], asked: 20 });
    const ledger = ledgerAfter(
      [
        { at: 10, desired: 2, pods: [a, aPodRecord('d', 0, { ready: [5] })] },
        { at: 21, desired: 2, pods: [left, aPodRecord('d', 0, { ready: [5] })] },
        {
          at: 60,
          desired: 2,
          pods: [left, aPodRecord('b', 20, { asked: 20 }), aPodRecord('c', 25), gone, aPodRecord('e', 40)],
        },
      ],
      gold,
    );
    // a ran for 15 s, and d for 17 s twice, until e was made in its place.
    expect(timesOf(ledger, 60)).toEqual([15 + 17 + 17, 0, 120 - 49]);
  });

  it('pods that were made within a second take their replicas in the order of their UIDs', () => {
    const made = ['c', 'a', 'b'].map((uid) => aPodRecord(uid, 0));
    for (const pods of [made, made.toReversed()]) {
      expect(ledgerAfter([{ at: 10, desired: 3, pods }], gold).instances.map(({ pod }) => pod)).toEqual([
        'a',
        'b',
        'c',
      ]);
    }
  });

  it('what is said of a pod up to its end counts, and not what is said after', () => {
    const started = (asked: number) =>
      ledgerAfter([{ at: 60, pods: [aPodRecord('a', 0, { ready: [10], asked, hot: true })] }], gold).startup.hot;
    expect([started(9), started(10)]).toEqual([undefined, aStartTime(10)]);
  });

  it('a restart is counted once, and not at all where it took no second', () => {
    const promised = { terms: gold, createdAt: instant(-100) };
    const look = (ledger: KeptLedger, at: number, pod: PodRecord) =>
      carryOn(ledger, promised, aRecord({ at, pods: [pod] }), new Set(), instant(at));
    const first = ledgerAfter([{ at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] }], gold);
    const restarted = aPodRecord('a', 0, { ready: [30], stopped: 22, hot: true });
    const counted = look(first, 40, restarted);
    expect(timesOf(counted, 40)).toEqual([17 + 10, 0, 5 + 8]);
    expect(look(counted, 50, restarted)).toBe(counted);
    expect(look(first, 40, aPodRecord('a', 0, { ready: [30], stopped: 30, hot: true }))).toBe(first);
  });

  it('what happens within a second counts from its begin', () => {
    const fractions = [aPodRecord('a', 0.9, { ready: [5.9], asked: 20.9 }), aPodRecord('b', 21.2, { ready: [25.1] })];
    expect(timesOf(ledgerAfter([{ at: 60, pods: fractions }], gold), 60)).toEqual([15 + 35, 0, 5 + 5]);
  });

  it.each([20, 21, 40])(
    'the pod that comes in the place of a counted one, at %d s, goes on with its instance',
    (born) => {
      const ledger = ledgerAfter(
        [
          { at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] },
          { at: 50, pods: [aPodRecord('a', 0, { ready: [5], asked: 20 }), aPodRecord('b', born, { ready: [45] })] },
        ],
        gold,
      );
      expect([timesOf(ledger, 50), ledger.instances.length]).toEqual([[20, 0, 30], 1]);
    },
  );
});

describe('the modes', () => {
  const pods = [aPodRecord('a', 0, { ready: [5] }), aPodRecord('b', 0, { ready: [20] })];

  it('Concurrent counts only time in which all replicas run', () => {
    const ledger = ledgerAfter([{ at: 50, desired: 2, pods }], aServiceClass({ name: 'gold', mode: 'Concurrent' }));
    expect(timesOf(ledger, 50, 'Concurrent')).toEqual([60, 0, 40]);
    expect(ledger.instances.map(({ useful }) => useful)).toEqual([15, 0]);
  });

  it('Independent keeps each replica by itself', () => {
    const ledger = ledgerAfter([{ at: 50, desired: 2, pods }], aServiceClass({ name: 'gold', mode: 'Independent' }));
    expect(timesOf(ledger, 50)).toEqual([75, 0, 25]);
    expect(ledger.instances.map(({ useful, pending }) => [useful, pending])).toEqual([
      [15, 5],
      [0, 20],
    ]);
  });

  const task = aServiceClass({ name: 'batch', mode: 'Task' });

  it('Task has no instance before its Job has made a pod', () => {
    const ledger = ledgerAfter([{ at: 10, pods: [] }], task);
    expect(ledger).toMatchObject({ running: 0, waiting: 0, instances: [] });
    expect(timesOf(ledger, 50)).toEqual([0, 0, 0]);
  });

  it('Task keeps account of what a pod has run when it is counted up to now, the others do not', () => {
    const ledger = ledgerAfter([{ at: 30, desired: 2, pods }], task);
    const settled = (mode: ServiceClass['mode']) =>
      settle(ledger, instant(40), { mode, window: seconds(3600), desired: 2, preempted: new Set() }).instances;
    expect(settled('Task')).toMatchObject([
      { pod: 'a', useful: 35, pending: 5, attempt: 35 },
      { pod: 'b', useful: 20, pending: 20, attempt: 20 },
    ]);
    expect(settled('Aggregated').map(({ attempt }) => attempt)).toEqual(ledger.instances.map(({ attempt }) => attempt));
  });

  it('Task discards what a pod has run that was evicted or has failed', () => {
    const ledger = ledgerAfter([{ at: 50, pods: [aPodRecord('a', 0, { ready: [5], failed: 30 })] }], task);
    expect(timesOf(ledger, 50)).toEqual([0, 25, 25]);
    expect(ledger.instances).toMatchObject([{ pod: undefined, useful: 0, discarded: 25, pending: 5, attempt: 0 }]);
  });

  it('Task discards also what a pod had run before the last change', () => {
    const failed = [aPodRecord('a', 0, { ready: [5], failed: 40 }), aPodRecord('b', 0, { ready: [20] })];
    const ledger = ledgerAfter(
      [
        { at: 30, desired: 2, pods },
        { at: 60, desired: 2, pods: failed },
      ],
      task,
    );
    expect(timesOf(ledger, 60)).toEqual([40, 35, 5 + 20 + 20]);
  });

  it('Task leaves what was done with its pod: none stands in for another', () => {
    const pods = [aPodRecord('a', 0, { ready: [5, 40, 50] }), aPodRecord('b', 20, { ready: [24] })];
    const ledger = ledgerAfter([{ at: 80, pods }], task);
    expect(timesOf(ledger, 80)).toEqual([35 + 30, 0, 5 + 10]);
    expect(ledger.instances).toMatchObject([{ pod: 'a', running: true }]);
  });

  it('Task keeps what a pod has run that succeeded, and its instance ends', () => {
    const first = [aPodRecord('a', 0, { ready: [5] })];
    const done = [aPodRecord('a', 0, { ready: [5], succeeded: 30 })];
    const ledger = ledgerAfter(
      [
        { at: 10, pods: first },
        { at: 50, desired: 0, pods: done },
      ],
      task,
    );
    expect([timesOf(ledger, 50), ledger.instances]).toEqual([[25, 0, 5], []]);
  });

  it('Task takes pods of a completed Job that are gone for succeeded', () => {
    const looks = [
      { at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] },
      { at: 50, desired: 0, completed: 30, pods: [] },
    ];
    expect(timesOf(ledgerAfter(looks, task), 50)).toEqual([25, 0, 5]);
  });
});

describe('preemptions', () => {
  const evicted = aPodRecord('a', 0, { ready: [5], asked: 20 });

  it('are counted once each, with the start that followed and without the time at the gate', () => {
    const before = { at: 30, pods: [evicted, aPodRecord('b', 21)], preempted: ['a'] };
    const started = aPodRecord('b', 21, { ready: [46], scheduled: 40 });
    const ledger = ledgerAfter([before, { ...before, at: 50, pods: [evicted, started] }]);
    expect([ledger.preemptions, ledger.overhead]).toEqual([1, 1 + 6]);
    expect(ledger.instances).toMatchObject([{ pod: 'b', running: true, left: undefined }]);
    expect(ledgerAfter([before]).instances).toMatchObject([{ pod: 'b', left: { pod: 'a', preempted: true } }]);
  });

  it('are counted when the plan is read after the pod had gone', () => {
    const pods = [evicted];
    expect(
      ledgerAfter([
        { at: 30, pods },
        { at: 31, pods, preempted: ['a'] },
        { at: 32, pods, preempted: ['a'] },
      ]).preemptions,
    ).toBe(1);
  });

  it('cost one start, however often the pod that came is not Ready afterwards', () => {
    const pods = [evicted, aPodRecord('b', 21, { ready: [46, 50, 60], scheduled: 40 })];
    expect(ledgerAfter([{ at: 70, pods, preempted: ['a'] }])).toMatchObject({ preemptions: 1, overhead: 1 + 6 });
  });

  it('cost no start where a pod of the surge runs already', () => {
    const pods = [evicted, aPodRecord('b', 10, { ready: [15, 30, 40] })];
    expect(ledgerAfter([{ at: 50, pods, preempted: ['a'] }])).toMatchObject({ preemptions: 1, overhead: 0 });
  });

  it.each([
    [18, 8],
    [20, 6],
    [21, 1 + 5],
  ])('cost the start of a pod that was made at %d s, whose evicted one went at 20 s: %d s', (made, overhead) => {
    const pods = [evicted, aPodRecord('b', made, { ready: [26] })];
    expect(ledgerAfter([{ at: 50, pods, preempted: ['a'] }])).toMatchObject({ preemptions: 1, overhead });
  });

  it('are no other evictions', () => {
    expect(ledgerAfter([{ at: 30, pods: [evicted] }]).preemptions).toBe(0);
  });
});

describe('start-up times', () => {
  it('are measured from binding to Ready, hot and cold apart', () => {
    const pods = [
      aPodRecord('a', 0, { ready: [10], scheduled: 4, hot: false }),
      aPodRecord('b', 0, { ready: [2], hot: true }),
    ];
    expect(ledgerAfter([{ at: 30, desired: 2, pods }]).startup).toEqual({ hot: aStartTime(2), cold: aStartTime(6) });
  });

  it('differ by their standard deviation', () => {
    const pods = [2, 4, 9].map((ready, place) => aPodRecord(`p${place}`, 0, { ready: [ready], hot: true }));
    const { hot } = ledgerAfter([{ at: 30, desired: 3, pods }]).startup;
    expect(hot?.mean).toBe(5);
    expect(hot?.deviation).toBeCloseTo(Math.sqrt(26 / 3), 9);
  });

  it('weigh half once there are 64 of them, so that they follow an image that has grown', () => {
    const pods = Array.from({ length: 64 }, (_, place) =>
      aPodRecord(`p${place}`, 0, { ready: [place % 2 === 0 ? 2 : 4], hot: true }),
    );
    const later = aPodRecord('q', 100, { ready: [109], hot: true });
    const grown = (...more: Parameters<typeof ledgerAfter>[0]) => ledgerAfter([{ at: 30, desired: 64, pods }, ...more]);
    expect(grown().startup.hot?.mean).toBe(3);
    const { hot } = grown({ at: 130, desired: 65, pods: [...pods, later] }).startup;
    expect(hot?.mean).toBe((96 + 9) / 33);
    expect(hot?.deviation).toBeCloseTo(Math.sqrt((320 + 81) / 33 - (105 / 33) ** 2), 9);
  });

  it('are those of the first time that a pod is Ready', () => {
    const pods = [aPodRecord('a', 0, { ready: [10, 40, 50], hot: true })];
    expect(ledgerAfter([{ at: 60, pods }]).startup.hot).toEqual(aStartTime(10));
  });

  it('are nothing for a pod that is Ready within the second in which it is bound', () => {
    const pods = [aPodRecord('a', 0, { ready: [10], scheduled: 10, hot: true })];
    expect(ledgerAfter([{ at: 60, pods }]).startup.hot).toEqual(aStartTime(0));
  });

  it('are ten minutes at most: what took longer has failed, or was none', () => {
    const hot = (ready: number) =>
      ledgerAfter([{ at: 700, pods: [aPodRecord('a', 0, { ready: [ready], hot: true })] }]).startup.hot;
    expect([hot(600), hot(601)]).toEqual([aStartTime(600), undefined]);
  });

  it('are not measured of pods that were Ready before they were seen', () => {
    expect(ledgerAfter([{ at: 30, pods: [aPodRecord('a', 0, { ready: [10] })] }]).startup.cold).toBeUndefined();
  });
});

describe('a workload that goes', () => {
  const running = { at: 10, pods: [aPodRecord('a', 0, { ready: [5] })] };

  it('is counted until its pods were asked to go, and not after', () => {
    const gone = aRecord({ at: 60, desired: 0, pods: [aPodRecord('a', 0, { ready: [5], asked: 30 })] });
    const ended = endLedger(ledgerAfter([running]), undefined, gone, 'gone', instant(60));
    expect(timesOf(ended, 500)).toEqual([25, 0, 5]);
    expect([ended.endedAt, ended.message]).toEqual([instant(60), 'gone']);
    expect(endLedger(ended, undefined, gone, 'gone', instant(90))).toBe(ended);
  });

  it('is taken up again when it comes back, and the time between counts as nothing', () => {
    const gone = aRecord({ at: 60, desired: 0, pods: [] });
    const ended = endLedger(ledgerAfter([running]), undefined, gone, 'gone', instant(60));
    const record = {
      ...aRecord({ at: 0, uid: 'uid-again', pods: [aPodRecord('z', 1000, { ready: [1010] })] }),
      createdAt: instant(1000),
    };
    const promised = { terms: aServiceClass({ name: 'gold' }), createdAt: instant(-100) };
    const again = carryOn(ended, promised, record, new Set(), instant(1100));
    expect(timesOf(again, 1100)).toEqual([55 + 90, 0, 5 + 10]);
    expect([again.owner.uid, again.endedAt, again.message]).toEqual(['uid-again', undefined, undefined]);
  });

  it('counts nothing of the time in which it had no class', () => {
    const record = aRecord(running);
    const promised = { terms: aServiceClass({ name: 'gold' }), createdAt: instant(-100) };
    const ended = endLedger(ledgerAfter([running]), promised, record, 'no class', instant(60));
    for (const at of [200, 200.4, 200.9]) {
      const again = carryOn(ended, promised, record, new Set(), instant(at));
      expect(timesOf(again, 210)).toEqual([55 + 10, 0, 5]);
    }
  });
});

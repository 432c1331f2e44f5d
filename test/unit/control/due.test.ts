import { describe, expect, it } from 'vitest';
import { startCron } from '../../../src/adapters/cron.ts';
import type { MovePhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { RUN_REQUEST_ANNOTATION } from '../../../src/api/v1alpha1/run-request.ts';
import {
  acceptance,
  expiredNow,
  nextRunOf,
  type PolicyState,
  podsUnderWay,
  RETRY_WAIT,
  untilNextLook,
  whatIsDue,
} from '../../../src/control/due.ts';
import { createPolicyMemory, type Remembered } from '../../../src/control/policy-memory.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPod } from '../../support/builders.ts';
import { NOON, testClock } from '../../support/test-clock.ts';

/** Why a run is due for a policy that has never run, and that has to wait for so long yet. */
function dueAfter(wait: number | undefined) {
  const stored = { policy: aPolicy('even'), invalid: [] };
  const memory = createPolicyMemory(() => undefined, { clock: testClock(), startCron });
  const remembered = memory.of(stored);
  remembered.notBefore = wait === undefined ? undefined : epochSeconds(NOON + wait);
  const { run } = whatIsDue({ stored, plans: [], remembered, news: { room: 0, requests: 0 }, now: NOON });
  memory.clear();
  return run;
}

describe('a run that is due by the schedule', () => {
  it.each<[string, number | undefined]>([
    ['there is no wait', undefined],
    ['the wait is over', -1],
    ['the wait ends now', 0],
    ['the wait is longer than any that is given, since the clock was set back', RETRY_WAIT + 0.1],
  ])('begins when %s', (_, wait) => {
    expect(dueAfter(wait)).toBe('Schedule');
  });

  it.each([0.1, 0.9, 1, RETRY_WAIT])('does not begin %d s before the wait is over', (wait) => {
    expect(dueAfter(wait)).toBeUndefined();
  });
});

const INTERVAL = 300;
const later = (span: number) => epochSeconds(NOON + span);

/** What is known of a policy that runs every five minutes; times in seconds from noon. */
interface Known {
  readonly spec?: Record<string, unknown>;
  /** As the status says; `generation` is the one that the status is of. */
  readonly lastRun?: number;
  readonly generation?: number;
  readonly ranAt?: number;
  readonly notBefore?: number;
  readonly againAt?: number;
  /** The requests that are asked for, that the status says were answered, and that the operator remembers. */
  readonly asked?: string;
  readonly told?: string;
  readonly answered?: string;
  readonly demand?: number;
  readonly underWay?: readonly string[];
  readonly room?: number;
  readonly plans?: readonly RebalancePlan[];
  readonly now?: number;
}

function stateOf(known: Known = {}): PolicyState & { readonly remembered: Remembered } {
  const { spec, lastRun, generation = 1, ranAt, notBefore, againAt, asked, told, answered, now = 0 } = known;
  const made = aPolicy('even', { interval: `${INTERVAL}s`, ...spec });
  const policy: RebalancePolicy = {
    ...made,
    metadata: {
      ...made.metadata,
      ...(asked === undefined ? {} : { annotations: { [RUN_REQUEST_ANNOTATION]: asked } }),
    },
    status: {
      observedGeneration: generation,
      ...(lastRun === undefined ? {} : { lastRun: formatInstant(later(lastRun)) }),
      ...(told === undefined ? {} : { lastRunRequest: told }),
    },
  };
  const stored = { policy, invalid: [] };
  const at = (span: number | undefined) => (span === undefined ? undefined : later(span));
  const remembered: Remembered = {
    ...createPolicyMemory(() => undefined, { clock: testClock(), startCron }).of(stored),
    ranAt: at(ranAt),
    notBefore: at(notBefore),
    againAt: at(againAt),
    request: answered,
    demand: known.demand ?? 0,
    underWay: new Set(known.underWay),
  };
  const news = { room: known.room ?? 0, requests: 0 };
  return { stored, plans: known.plans ?? [], remembered, news, now: later(now) };
}

const QOS = { strategy: { type: 'QoSDriven' }, mode: 'Automatic' };
const POD = aPod('web-1', { nodeName: 'a' });

function executing(phase: MovePhase): RebalancePlan {
  return aPlan(aPolicy('even'), [aMove(POD, 'b')], { moves: [{ podUID: POD.uid, phase, attempt: 0 }] });
}

/** Seconds from noon to the next run. */
function nextRun(known: Known): number | undefined {
  const next = nextRunOf(stateOf(known));
  return next === undefined ? undefined : next - NOON;
}

describe('the next run of a policy', () => {
  it.each<[string, Known, number | undefined]>([
    ['has never run', {}, 0],
    ['has run by its status', { lastRun: -100 }, 200],
    ['has run since, of which the status does not tell', { lastRun: -100, ranAt: -50 }, 250],
    ['has run by its status last', { lastRun: -50, ranAt: -100 }, 250],
    ['has run, and its status tells of no run', { ranAt: -50 }, 250],
    ['was edited since its last run', { lastRun: -100, generation: 0 }, 0],
    ['was edited, and has run since', { lastRun: -10, generation: 0, ranAt: -50 }, 250],
    ['should have run long ago', { lastRun: -1_000 }, 0],
    ['has to wait a moment', { notBefore: 3 }, 3],
    ['has to wait for less than its interval', { lastRun: -100, notBefore: 3 }, 200],
    ['had to wait until now', { notBefore: 0 }, 0],
    ['has waited', { notBefore: -3 }, 0],
    ['has to wait for longer than any wait that is given', { notBefore: RETRY_WAIT + 1 }, 0],
    ['was asked for a run', { lastRun: -100, asked: 'now' }, 0],
    ['was asked for a run and has to wait', { lastRun: -100, asked: 'now', notBefore: 3 }, 3],
    ['was asked for a run that the status has', { lastRun: -100, asked: 'now', told: 'now' }, 200],
    ['was asked for a run that it remembers', { lastRun: -100, asked: 'now', told: 'before', answered: 'now' }, 200],
    ['was asked for another run', { lastRun: -100, asked: 'now', told: 'now', answered: 'before' }, 0],
    ['is suspended', { spec: { suspend: true } }, undefined],
    ['carries out a plan', { plans: [executing('Planned')] }, undefined],
    ['plans while it carries one out', { spec: QOS, plans: [executing('Planned')] }, 0],
    [
      'has people approve plans, and carries one out',
      { spec: { ...QOS, mode: 'Approve' }, plans: [executing('Planned')] },
      undefined,
    ],
  ])('that %s', (_, known, span) => {
    expect(nextRun(known)).toBe(span);
  });

  it('of a policy that is not valid is none', () => {
    expect(nextRunOf({ ...stateOf(), remembered: undefined })).toBeUndefined();
  });
});

describe('a run', () => {
  it.each<[string, Known, string | undefined]>([
    ['is due by the schedule', { lastRun: -INTERVAL }, 'Schedule'],
    ['is not due before', { lastRun: 1 - INTERVAL }, undefined],
    ['was asked for', { lastRun: -INTERVAL, asked: 'now' }, 'Request'],
    ['was asked for before', { lastRun: -1, asked: 'now', told: 'now' }, undefined],
    ['is for news', { spec: QOS, lastRun: -1, demand: 1, room: 2 }, 'News'],
    ['has no news', { spec: QOS, lastRun: -1, demand: 2, room: 2 }, undefined],
    ['has news for other strategies', { lastRun: -1, demand: 1, room: 2 }, undefined],
    [
      'is for news, and the status is of long ago',
      { spec: QOS, lastRun: -INTERVAL, ranAt: -1, demand: 1, room: 2 },
      'Schedule',
    ],
    ['is for a move that has ended', { spec: QOS, lastRun: -1, underWay: [POD.uid] }, 'News'],
    [
      'is not for a move that goes on',
      { spec: QOS, lastRun: -1, underWay: [POD.uid], plans: [executing('Evicting')] },
      undefined,
    ],
    [
      'is for one of two moves that has ended',
      { spec: QOS, lastRun: -1, underWay: [POD.uid, 'uid-ended'], plans: [executing('Evicting')] },
      'News',
    ],
    ['is due again now', { spec: QOS, lastRun: -1, againAt: 0 }, 'Again'],
    ['is due again later', { spec: QOS, lastRun: -1, againAt: 1 }, undefined],
    ['is due again in an hour', { spec: QOS, lastRun: -1, againAt: 3600 }, undefined],
    [
      'was due again later than anything rests, and the clock was set back',
      { spec: QOS, lastRun: -1, againAt: 3601 },
      'Again',
    ],
    ['is due again for no strategy that runs by its schedule alone', { lastRun: -1, againAt: 0 }, undefined],
    ['has to wait', { notBefore: 1, asked: 'now' }, undefined],
    ['is of a suspended policy', { spec: { suspend: true }, asked: 'now' }, undefined],
    ['has to wait for a plan', { asked: 'now', plans: [executing('Planned')] }, undefined],
  ])('%s', (_, known, cause) => {
    expect(whatIsDue(stateOf(known)).run).toBe(cause);
  });

  it('is due for no policy that is not valid', () => {
    expect(whatIsDue({ ...stateOf(), remembered: undefined }).run).toBeUndefined();
  });
});

describe('acceptance', () => {
  const PROMETHEUS = { load: { source: 'Prometheus', prometheus: { server: 'main' } } };
  const NOWHERE =
    'spec.load.prometheus.server: is "main", which is no server that is known here: start the operator with --prometheus main=URL';

  it.each<[string, Record<string, unknown>, readonly string[], string, string]>([
    ['fits', {}, [], 'Valid', 'the policy is valid'],
    [
      'breaks rules',
      {},
      ['spec.mode: wrong', 'spec.interval: wrong'],
      'InvalidSpec',
      'spec.mode: wrong; spec.interval: wrong',
    ],
    ['goes by a server that nobody has named', PROMETHEUS, [], 'InvalidSpec', NOWHERE],
    ['breaks a rule, and goes by no server', PROMETHEUS, ['spec.mode: wrong'], 'InvalidSpec', 'spec.mode: wrong'],
    [
      'has a server that nobody has named, and no schedule',
      { ...PROMETHEUS, schedule: '0 3 1 * 1' },
      [],
      'InvalidSpec',
      NOWHERE,
    ],
  ])('judges a policy that %s', (_, spec, invalid, reason, message) => {
    const status = reason === 'Valid' ? 'True' : 'False';
    expect(acceptance({ policy: aPolicy('even', spec), invalid }, new Map())).toEqual({ status, reason, message });
  });

  it('refuses a schedule that cannot be used', () => {
    const policy = aPolicy('even', { schedule: '0 3 1 * 1' });
    expect(acceptance({ policy, invalid: [] }, new Map())).toMatchObject({
      status: 'False',
      reason: 'InvalidSchedule',
      message: expect.stringMatching(/^spec\.schedule: /),
    });
  });
});

describe('plans that are kept no longer', () => {
  it.each([
    ['the two newest', 2, ['plan-3', 'plan-4']],
    ['the ten newest where it says nothing', undefined, ['plan-11', 'plan-12']],
  ])('are all but those that the policy asks for: %s', (_, historyLimit, names) => {
    const { stored, ...state } = stateOf();
    const { historyLimit: _default, ...spec } = stored.policy.spec;
    // Without one it is not valid, and may stand on the cluster for all that.
    const limited = { ...spec, ...(historyLimit === undefined ? {} : { historyLimit }) } as RebalancePolicy['spec'];
    const plans = Array.from({ length: (historyLimit ?? 10) + 2 }, (_each, place): RebalancePlan => {
      const plan = aPlan(stored.policy, [], { phase: 'Completed' });
      const spec = { ...plan.spec, takenAt: formatInstant(later(-60 * (place + 1))) };
      return { ...plan, metadata: { name: `plan-${place + 1}` }, spec };
    });
    const expired = expiredNow({ ...state, plans, stored: { ...stored, policy: { ...stored.policy, spec: limited } } });
    expect(expired.map(({ metadata }) => metadata.name)).toEqual(names);
  });
});

describe('what is done with a plan', () => {
  const plan = (status: RebalancePlan['status'], approved = false, generation = 1): RebalancePlan => {
    const { spec, ...rest } = aPlan(aPolicy('even'), []);
    const policy = { ...spec.policy, generation };
    return { ...rest, spec: { ...spec, policy, approved }, ...(status === undefined ? {} : { status }) };
  };
  const kind = (given: RebalancePlan, known: Known = {}, isValid = true) => {
    const state = stateOf({ ...known, plans: [given] });
    const { status: _, ...bare } = given;
    const plans = [given.status?.phase === undefined ? bare : given];
    return whatIsDue({ ...state, plans, remembered: isValid ? state.remembered : undefined }).actions.map(
      (action) => action.kind,
    );
  };

  it('is a step where it is being carried out, also of a policy that was edited or is suspended', () => {
    expect(kind(plan({ phase: 'Executing' }))).toEqual(['Step']);
    expect(kind(plan({ phase: 'Executing' }, false, 0), { spec: { suspend: true } })).toEqual(['Step']);
  });

  it('is to let it go where its creation was interrupted, or the policy was edited while it was of use', () => {
    expect(kind(plan({}))).toEqual(['Supersede']);
    expect(kind(plan({ phase: 'Proposed' }, false, 0))).toEqual(['Supersede']);
    expect(kind(plan({ phase: 'AwaitingApproval' }, true, 0))).toEqual(['Supersede']);
    expect(kind(plan({ phase: 'Completed' }, false, 0))).toEqual(['Leave']);
  });

  it('is to start it once it is approved', () => {
    const approved = plan({ phase: 'AwaitingApproval' }, true);
    expect(kind(approved)).toEqual(['Start']);
    expect(kind(plan({ phase: 'AwaitingApproval' }))).toEqual(['Leave']);
    expect(kind(plan({ phase: 'Proposed' }, true))).toEqual(['Leave']);
    expect(kind(approved, { spec: { suspend: true } })).toEqual(['Leave']);
    expect(kind(approved, {}, false)).toEqual(['Leave']);
  });
});

describe('the next look at a policy', () => {
  const wait = (known: Known, span: number | undefined = 100) =>
    untilNextLook(stateOf(known), span === undefined ? undefined : later(span), { plans: seconds(1) });

  it.each<[string, Known, number]>([
    ['at its next run', {}, 100],
    ['at the next step of a plan', { plans: [executing('Planned')] }, 1],
    ['at its next run, whatever it has to wait for that has no news', { spec: QOS, notBefore: 3 }, 100],
    ['when news need wait no longer', { spec: QOS, notBefore: 3, room: 1 }, 3],
    ['at its next run, where news need not wait', { spec: QOS, room: 1 }, 100],
    ['when it is due again', { spec: QOS, againAt: 2 }, 2],
    ['when it is due again in half a second', { spec: QOS, againAt: 0.5 }, 0.5],
    ['when the first of several is due', { spec: QOS, againAt: 2, notBefore: 3, room: 1 }, 2],
    ['when its next sample is due', { spec: { load: { smoothing: '10m' } } }, 0],
  ])('is %s', (_, known, span) => {
    expect(wait(known)).toBe(span);
  });

  it('is never where nothing is to come', () => {
    expect(untilNextLook(stateOf(), undefined, { plans: seconds(1) })).toBe(Number.POSITIVE_INFINITY);
    const invalid = { ...stateOf({ spec: QOS, room: 1, notBefore: 3 }), remembered: undefined };
    expect(untilNextLook(invalid, undefined, { plans: seconds(1) })).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('podsUnderWay', () => {
  it('are those of moves that have begun and have not ended', () => {
    const of = (phase: MovePhase) => [...podsUnderWay([executing(phase)])];
    expect(['Intent', 'Evicting', 'AwaitingReplacement', 'Verifying'].map((phase) => of(phase as MovePhase))).toEqual(
      Array.from({ length: 4 }, () => [POD.uid]),
    );
    expect([...of('Planned'), ...of('Landed'), ...of('Failed')]).toEqual([]);
  });
});

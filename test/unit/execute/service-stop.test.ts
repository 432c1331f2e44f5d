import { describe, expect, it } from 'vitest';
import type { MoveStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { serviceStop } from '../../../src/execute/service-stop.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { aMove, aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import {
  aLedger,
  aServiceClass,
  type ClassFields,
  type LedgerFields,
  serviceLevels,
} from '../../support/builders/service-levels.ts';
import { aPodOf, aWorkload, NOW } from '../../support/builders.ts';

const pod = aPodOf(aWorkload('web', { replicas: 3 }), 'web-1', 'a');

function ago(span: number): string {
  return formatInstant(epochSeconds(NOW - span));
}

/** A plan that has moved a pod of `web` as the run says, with more to do. */
function moved(run: Partial<MoveStatus>, move = aMove(pod, 'b')) {
  return aPlan(aPolicy('even'), [move], { moves: [{ podUID: pod.uid, phase: 'Verifying', attempt: 0, ...run }] });
}

function levels(ledger: LedgerFields, terms: ClassFields = {}) {
  return serviceLevels([aServiceClass({ slo: 0.9, window: 1000, ...terms })], [aLedger({ running: 0, ...ledger })]);
}

/** 40 s of the 110 s that it lost are the plan's. */
const FALLEN = levels({ times: { useful: 890, pending: 110 } });
const SLOW = { startedAt: ago(40) };

describe('serviceStop', () => {
  it('stops a plan whose move takes so long that the workload falls below its SLO, with the numbers', () => {
    expect(serviceStop(moved(SLOW), FALLEN, NOW)).toEqual({
      reason: 'ServiceLevelMissed',
      message:
        'ReplicaSet shop/web has 89.00 % over 1000 s, its class batch promises 90.00 %: the plan has cost it 40 s of service',
      stops: 'Disruptions',
    });
  });

  it('stops it also when the replacement is Ready by now', () => {
    const landed = { phase: 'Landed', startedAt: ago(500), unavailableSeconds: 40 } as const;
    expect(serviceStop(moved(landed), FALLEN, NOW)?.reason).toBe('ServiceLevelMissed');
  });

  it.each<[string, Partial<MoveStatus>, ReturnType<typeof levels>]>([
    ['has what it was promised', SLOW, levels({ times: { useful: 900, pending: 100 } })],
    ['would be below without the plan, too', { startedAt: ago(9) }, FALLEN],
    ['was not moved yet', { phase: 'Planned' }, FALLEN],
    ['lost nothing that is on record', { phase: 'Failed', startedAt: ago(500) }, FALLEN],
    ['has no ledger', SLOW, serviceLevels([aServiceClass()])],
    ['has a class that is gone', SLOW, serviceLevels([], [aLedger({ times: { useful: 1, pending: 99 } })])],
    [
      'has a ledger from the future',
      SLOW,
      levels({ times: { useful: 890, pending: 110 }, asOf: epochSeconds(NOW + 9) }),
    ],
    ['lost it before its window', { phase: 'Landed', startedAt: ago(1100), unavailableSeconds: 40 }, FALLEN],
    ['was promised nothing', SLOW, levels({ times: { pending: 1000 } }, { slo: 0 })],
  ])('goes on when the workload %s', (_, run, found) => {
    expect(serviceStop(moved(run), found, NOW)).toBeUndefined();
  });

  it('leaves preemptions alone, which QoSDriven has weighed', () => {
    expect(serviceStop(moved(SLOW, aPreemption(pod)), FALLEN, NOW)).toBeUndefined();
  });

  it('looks at the ledger of the Deployment above the controller', () => {
    const workload = { kind: 'Deployment', name: 'web', uid: 'uid-deployment' };
    const found = levels({ times: { useful: 890, pending: 110 }, owner: workload });
    expect(serviceStop(moved(SLOW), found, NOW)).toBeUndefined();
    expect(serviceStop(moved(SLOW, { ...aMove(pod, 'b'), workload }), found, NOW)?.message).toMatch(
      /^Deployment shop\/web has /,
    );
  });

  it('counts all replicas while one is away in mode Concurrent, and lost run time in mode Task', () => {
    const times = { useful: 2670, pending: 330 };
    const three = { times, running: 2, waiting: 1, admittedAt: epochSeconds(NOW - 1000) };
    const short = { startedAt: ago(12) };
    expect(serviceStop(moved(short), levels(three), NOW)).toBeUndefined();
    expect(serviceStop(moved(short), levels(three, { mode: 'Concurrent' }), NOW)).toBeDefined();
    const task = levels({ times: { useful: 800, discarded: 190, pending: 10 } }, { mode: 'Task' });
    expect(serviceStop(moved({ startedAt: ago(5) }), task, NOW)?.message).toContain('has cost it 195 s of service');
  });

  it('adds up what its moves of the workload have cost within the window, and nothing for those before it', () => {
    const pods = Array.from({ length: 4 }, (_, index) =>
      aPodOf(aWorkload('web', { replicas: 4 }), `web-${index}`, 'a'),
    );
    const other = aPodOf(aWorkload('api', { replicas: 3 }), 'api-1', 'a');
    const runs: readonly Partial<MoveStatus>[] = [
      { phase: 'Landed', startedAt: ago(1_010), unavailableSeconds: 30 },
      { phase: 'Landed', startedAt: ago(2_000), unavailableSeconds: 30 },
      { phase: 'Landed', startedAt: ago(20), unavailableSeconds: 50 },
      { phase: 'Skipped', startedAt: ago(30) },
      { phase: 'Verifying', startedAt: ago(500) },
    ];
    const moves = [...pods, other].map((each) => aMove(each, 'b'));
    const plan = aPlan(aPolicy('even'), moves, {
      moves: moves.map(({ pod: { uid } }, index) => ({ podUID: uid, phase: 'Landed', attempt: 0, ...runs[index] })),
    });
    const message = (useful: number) =>
      serviceStop(plan, levels({ times: { useful, pending: 1_000 - useful } }), NOW)?.message;
    expect(message(899)).toContain('has cost it 40 s of service');
    expect(message(860)).toContain('has cost it 40 s of service');
    expect(message(859)).toBeUndefined();
  });
});

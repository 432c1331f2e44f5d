import { describe, expect, it } from 'vitest';
import { ConflictError } from '../../../src/ports.ts';
import { AUTOMATIC, condition, messageOf, plansOf, play, tilted } from '../../support/played.ts';
import { NOON } from '../../support/test-clock.ts';

describe('runLoop, where something is wrong,', () => {
  it('says of a bad policy what is wrong with it, and goes on with the others', async () => {
    const w = tilted();
    w.policies.apply('bad', { mode: 'Auto', thresholds: { trigger: 0.1 } });
    w.policies.apply('cron', { schedule: '0 0 1 * 1' });
    w.policies.apply('never', { budgets: [{ maxMoves: 0, schedule: '0 0 30 2 *', duration: '1h' }] });
    w.policies.apply('even', {});
    await play(w, 60);
    expect(condition(w, 'bad', 'Accepted')).toBe('False InvalidSpec');
    expect(messageOf(w, 'bad', 'Accepted')).toContain('spec.thresholds.trigger: is 0.1 but must be a string');
    expect(condition(w, 'bad', 'Ready')).toBe('False InvalidSpec');
    expect(condition(w, 'cron', 'Accepted')).toBe('False InvalidSchedule');
    expect(condition(w, 'never', 'Accepted')).toBe('False InvalidSchedule');
    expect(messageOf(w, 'never', 'Accepted')).toBe(
      'spec.budgets[0].schedule: schedule "0 0 30 2 *" is not a cron expression that can be used: no day of any year matches it',
    );
    expect(condition(w, 'even', 'Accepted')).toBe('True Valid');
    expect(plansOf(w).map(({ spec }) => spec.policy.name)).toEqual(['even']);
  });

  it('takes a policy up again once it is corrected', async () => {
    const w = tilted();
    w.policies.apply('even', { mode: 'Auto' });
    await play(w, 60, { 30: () => w.policies.apply('even', { mode: 'DryRun' }) });
    expect(condition(w, 'even', 'Accepted')).toBe('True Valid');
    expect(plansOf(w)).toHaveLength(1);
  });

  it('degrades a policy whose run fails, leaves the other alone, and recovers', async () => {
    const w = tilted();
    w.policies.apply('a-first', { scope: { podSelector: { matchLabels: { app: 'api' } } } });
    w.policies.apply('b-second', { scope: { podSelector: { matchLabels: { app: 'web' } } } });
    let broken = true;
    w.tap = (when, call) => {
      if (broken && when === 'before' && call === 'reader.snapshot') {
        broken = false;
        throw new Error('nodes is forbidden');
      }
    };
    await play(w, 3);
    expect(condition(w, 'a-first', 'Degraded')).toBe('True ObserveFailed');
    expect(messageOf(w, 'a-first', 'Degraded')).toBe('nodes is forbidden');
    expect(condition(w, 'a-first', 'Ready')).toBe('False ObserveFailed');
    expect(condition(w, 'b-second', 'Ready')).toBe('True AsExpected');
    expect(w.failures()).toBe(1);
    await play(w, 10);
    expect(condition(w, 'a-first', 'Degraded')).toBe('False AsExpected');
    expect(condition(w, 'a-first', 'Ready')).toBe('True AsExpected');
  });

  it('is no longer degraded when a plan that could not be carried on goes on', async () => {
    const w = tilted();
    w.cluster.delays.ready = 30;
    w.policies.apply('even', { ...AUTOMATIC, interval: '1h', thresholds: { consecutive: 1 } });
    let broken = false;
    w.tap = (when, call) => {
      if (broken && when === 'before' && call === 'reader.podsOfOwner') {
        throw new Error('etcd leader changed');
      }
    };
    await play(w, 10, {
      5: () => {
        broken = true;
      },
    });
    expect(condition(w, 'even', 'Degraded')).toBe('True ExecuteFailed');
    broken = false;
    await play(w, 10);
    expect(condition(w, 'even', 'Degraded')).toBe('False AsExpected');
  });

  it('goes on with other policies when the status of one is refused', async () => {
    const w = tilted();
    w.policies.apply('a-first', {});
    w.policies.apply('b-second', {});
    w.tap = (when, call, args) => {
      const [policy] = args as readonly [{ metadata: { name: string } }];
      if (when === 'before' && call === 'policies.writeStatus' && policy.metadata.name === 'a-first') {
        throw new Error('status is invalid');
      }
    };
    await play(w, 10);
    expect(condition(w, 'b-second', 'Accepted')).toMatch(/Valid|Conflicting/);
  });

  it('counts no failure when a policy is deleted during its pass', async () => {
    const w = tilted();
    w.policies.apply('even', {});
    let writes = 0;
    w.tap = (when, call) => {
      if (when === 'before' && call === 'policies.writeStatus') {
        writes += 1;
        throw new ConflictError('policy even is gone');
      }
    };
    await play(w, 10);
    expect(writes).toBeGreaterThan(0);
    expect(w.failures()).toBe(0);
  });

  it('tries again after a pass that could not read anything, and counts only good ones', async () => {
    const w = tilted();
    w.policies.apply('even', {});
    w.tap = (when, call) => {
      if (when === 'before' && call === 'policies.list' && w.clock.now() < NOON + 12) {
        throw new Error('connection refused');
      }
    };
    expect(await play(w, 11)).toBe(0);
    expect(w.failures()).toBe(3);
    expect(await play(w, 20)).toBeGreaterThan(0);
    expect(plansOf(w)).toHaveLength(1);
  });

  it('does not write a status more than once a try while runs fail', async () => {
    const w = tilted();
    w.policies.apply('even', {});
    w.tap = (_, call) => {
      if (call === 'reader.snapshot') {
        throw new Error('503');
      }
    };
    await play(w, 100);
    expect(w.failures()).toBeLessThanOrEqual(21);
    expect(w.policies.writes()).toBeLessThanOrEqual(21);
  });

  it('plans nothing without metrics, keeps what was measured, and says so', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '10s' });
    await play(w, 5);
    w.cluster.metered = false;
    await play(w, 30);
    expect(condition(w, 'even', 'MetricsFresh')).toBe('False MetricsUnavailable');
    expect(condition(w, 'even', 'Ready')).toBe('False MetricsUnavailable');
    const status = w.policies.stored.get('even')?.policy.status;
    expect(status?.imbalance).toBe('0.8');
    expect(status?.history?.map(({ outcome, actual }) => [outcome, actual]).at(-1)).toEqual(['Moves', undefined]);
    expect(plansOf(w).map(({ status: each }) => each?.phase)).toEqual(['Proposed']);
  });

  it('moves nothing when a policy insists on steering that is not installed, and says what to do', async () => {
    const w = tilted();
    w.cluster.steerable = false;
    w.policies.apply('even', { ...AUTOMATIC, thresholds: { consecutive: 1 }, steering: { mode: 'AdmissionPolicy' } });
    await play(w, 30);
    expect(condition(w, 'even', 'Degraded')).toBe('True SteeringUnavailable');
    expect(messageOf(w, 'even', 'Degraded')).toContain('or write mode: Auto');
    expect(w.cluster.accepted).toEqual([]);
  });

  it('uses Gate when the policy asks for it, never otherwise, and says what to install where it may not', async () => {
    const asked = tilted();
    asked.policies.apply('even', { ...AUTOMATIC, thresholds: { consecutive: 1 }, steering: { mode: 'Gate' } });
    await play(asked, 30);
    expect(plansOf(asked)[0]?.status?.steering).toBe('Gate');
    const auto = tilted();
    auto.cluster.steerable = false;
    auto.policies.apply('even', { ...AUTOMATIC, thresholds: { consecutive: 1 } });
    await play(auto, 30);
    expect(plansOf(auto)[0]?.status?.steering).toBe('None');
    const refused = tilted();
    refused.cluster.opensGates = false;
    refused.policies.apply('even', { ...AUTOMATIC, thresholds: { consecutive: 1 }, steering: { mode: 'Gate' } });
    await play(refused, 30);
    expect(condition(refused, 'even', 'Ready')).toBe('False SteeringUnavailable');
    expect(messageOf(refused, 'even', 'Ready')).toContain('install deploy/overlays/gate');
    expect(refused.cluster.accepted).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { createLedgerNews } from '../../../src/control/ledger-health.ts';
import { keepLedgers } from '../../../src/control/ledgers.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import { LOG_LINES } from '../../../src/log-lines.ts';
import type { LedgerMode } from '../../../src/model/service-level.ts';
import { seconds } from '../../../src/model/units.ts';
import { availabilityOf, timesAt, totalOf } from '../../../src/qos/times.ts';
import { createLedgerObjects } from '../../../src/simulate/api-server/ledgers.ts';
import { createPlanObjects } from '../../../src/simulate/api-server/plans.ts';
import { recordService } from '../../../src/simulate/api-server/service-records.ts';
import { createCluster } from '../../../src/simulate/cluster.ts';
import { createEventQueue } from '../../../src/simulate/event-queue.ts';
import type { WorkloadParts } from '../../../src/simulate/parts.ts';
import { randomStreams } from '../../../src/simulate/random.ts';
import { startScheduler } from '../../../src/simulate/scheduler.ts';
import { viewsOf } from '../../../src/simulate/scheduling-view.ts';
import { keepServiceRecords } from '../../../src/simulate/service-record.ts';
import { createVirtualClock } from '../../../src/simulate/virtual-clock.ts';
import { aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aServiceClass } from '../../support/builders/service-levels.ts';
import { aScenario, aSimulatedWorkload } from '../../support/scenarios.ts';

async function play(
  until: number,
  evictAt: readonly number[],
  mode: LedgerMode = 'Aggregated',
  parts: Partial<WorkloadParts> = {},
) {
  const serviceClass = aServiceClass({ name: 'gold', mode });
  const labels = { 'evenkeel.dev/service-class': 'gold' };
  const scenario = aScenario({
    classes: [serviceClass],
    workloads: [aSimulatedWorkload('web', { replicas: 3, labels, ...parts })],
  });
  const queue = createEventQueue();
  const random = randomStreams(1)('all');
  const cluster = createCluster(scenario, queue, { gates: true, random });
  const { world } = cluster;
  const clock = createVirtualClock(queue, scenario.start);
  const records = keepServiceRecords(world);
  const ledgers = createLedgerObjects();
  const plans = createPlanObjects(() => undefined);
  const failures: object[] = [];
  const stopping = new AbortController();
  const keeping = keepLedgers(
    {
      records: recordService(world),
      ledgers: ledgers.store,
      plans: plans.store,
      clock,
      log: (line, fields) => void (LOG_LINES[line].level === 'error' && failures.push(fields)),
      runFailed: () => undefined,
      ledgerNews: createLedgerNews(),
      preempted: () => undefined,
    },
    { pace: OPERATOR_PACE },
    stopping.signal,
  );
  startScheduler(cluster, viewsOf(world), { preempts: false, random, latency: 0, preempted: () => undefined });
  for (const at of evictAt) {
    queue.at(at, () => {
      const pod = world.pods.find((each) => world.isServing(each));
      if (pod !== undefined) {
        const plan = aPlan(aPolicy('qos'), [aPreemption(pod.info)], {
          moves: [{ podUID: pod.info.uid, phase: 'Evicting', attempt: 1 }],
        });
        void plans.store.create({ ...plan, metadata: { name: `qos-${at}` } }, stopping.signal);
        cluster.terminate(pod);
      }
    });
  }
  await clock.run(until);
  stopping.abort();
  await keeping;
  records.settle();
  const [record] = records.list;
  const [ledger] = ledgers.current().values();
  if (record === undefined || ledger === undefined) {
    throw new Error('nothing was recorded');
  }
  expect(failures).toEqual([]);
  return { record, ledger, times: timesAt(ledger, serviceClass.mode, world.serverTime()) };
}

describe('what a workload got', () => {
  it('is counted to the second: three starts of 10 s, and one more for each eviction', async () => {
    const { record } = await play(100, [50, 70]);
    expect(record.service.times.pending).toBe(30 + 20);
    expect(record.service.times.useful).toBe(300 - 50);
    expect(availabilityOf(record.service.times)).toBeCloseTo(250 / 300);
  });

  it('is the same in the ledger of the operator, which accounts for all time of all instances', async () => {
    const { record, ledger, times } = await play(237, [33, 50, 51, 90, 140]);
    expect(times.useful).toBeCloseTo(record.service.times.useful);
    expect(times.pending).toBeCloseTo(record.service.times.pending);
    expect(totalOf(times)).toBeCloseTo(3 * 237);
    expect(ledger.running + ledger.waiting).toBe(3);
    expect(ledger.preemptions).toBe(5);
    expect((ledger.startup.hot ?? ledger.startup.cold)?.mean).toBe(10);
    expect(ledger.overhead).toBe(50);
  });

  it('is useful only while all replicas serve, in mode Concurrent', async () => {
    const { record, times } = await play(100, [50, 70], 'Concurrent');
    expect(record.service.times).toEqual({ useful: 300 - 90, discarded: 0, pending: 90 });
    expect(record.service.times).toEqual(times);
  });

  it('loses the run time of pods that were evicted, in mode Task', async () => {
    const { record, times } = await play(100, [50], 'Task');
    expect(record.service.times).toEqual({ useful: 300 - 40 - 40, discarded: 40, pending: 40 });
    expect(record.service.times).toEqual(times);
  });

  it.each(['Aggregated', 'Task'] as const)('counts a Job up to its end, in mode %s', async (mode) => {
    const { record } = await play(200, [], mode, { kind: 'Job', runTime: seconds(100) });
    expect(record.service.times).toEqual({ useful: 300, discarded: 0, pending: 30 });
  });
});

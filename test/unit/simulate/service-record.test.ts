import { describe, expect, it } from 'vitest';
import { timesAt, totalOf } from '../../../src/qos/times.ts';
import { createCluster } from '../../../src/simulate/cluster.ts';
import { createEventQueue } from '../../../src/simulate/event-queue.ts';
import { randomStreams } from '../../../src/simulate/random.ts';
import { startScheduler } from '../../../src/simulate/scheduler.ts';
import { viewsOf } from '../../../src/simulate/scheduling-view.ts';
import { keepServiceLedgers } from '../../../src/simulate/service-ledgers.ts';
import { availabilityOf, keepServiceRecords } from '../../../src/simulate/service-record.ts';
import { aScenario, aWorkload } from '../../support/scenarios.ts';
import { aServiceClass } from '../../support/service-levels.ts';

function play(until: number, evictAt: readonly number[]) {
  const serviceClass = aServiceClass({ name: 'gold' });
  const scenario = aScenario({
    classes: [serviceClass],
    workloads: [aWorkload('web', { replicas: 3, labels: { 'evenkeel.dev/service-class': 'gold' } })],
  });
  const queue = createEventQueue();
  const random = randomStreams(1)('all');
  const cluster = createCluster(scenario, queue, { gates: true, random });
  const { world } = cluster;
  const records = keepServiceRecords(world);
  const ledgers = keepServiceLedgers(world);
  startScheduler(cluster, viewsOf(world), { preempts: false, random, latency: 0, preempted: () => undefined });
  for (const at of evictAt) {
    queue.at(at, () => {
      const pod = world.pods.find((each) => world.isServing(each));
      if (pod !== undefined) {
        ledgers.preempted(pod);
        cluster.terminate(pod);
      }
    });
  }
  queue.run(until);
  records.settle();
  const [record] = records.list;
  const [ledger] = ledgers.current().ledgers.values();
  if (record === undefined || ledger === undefined) {
    throw new Error('nothing was recorded');
  }
  return { record, ledger, times: timesAt(ledger, serviceClass.mode, world.wallClock()) };
}

describe('what a workload got', () => {
  it('is counted to the second: three starts of 10 s, and one more for each eviction', () => {
    const { record } = play(100, [50, 70]);
    expect(record.pending).toBe(30 + 20);
    expect(record.useful).toBe(300 - 50);
    expect(availabilityOf(record)).toBeCloseTo(250 / 300);
  });

  it('is the same in its ledger, which accounts for all time of all instances', () => {
    const { record, ledger, times } = play(237, [33, 50, 51, 90, 140]);
    expect(times.useful).toBeCloseTo(record.useful);
    expect(times.pending).toBeCloseTo(record.pending);
    expect(totalOf(times)).toBeCloseTo(3 * 237);
    expect(ledger.running + ledger.waiting).toBe(3);
    expect(ledger.preemptions).toBe(5);
    expect(ledger.startup.hot).toBe(10);
    expect(ledger.overhead).toBe(50);
  });
});

import { Histogram, type Registry } from 'prom-client';
import { elapsed } from '../../model/units.ts';
import type { Telemetry, WaitingPod } from '../../ports.ts';
import { gaugeOf } from './gauge.ts';

/** Registers the metrics of pods that wait at the gate for their turn. */
export function gateQueueMetrics(registers: Registry[]): Pick<Telemetry, 'waiting'> {
  let last = new Map<string, WaitingPod>();
  gaugeOf(
    registers,
    'evenkeel_gate_waiting_pods',
    'Pods that wait at the gate for their turn, by the class of their workload; on the leader.',
    ['class'],
    () =>
      [...Map.groupBy(last.values(), ({ className }) => className)].map(([name, own]) => [{ class: name }, own.length]),
  );
  const waits = new Histogram({
    name: 'evenkeel_gate_wait_seconds',
    help: 'Time from the creation of a pod until it waited at the gate no more: it was let in, or is gone. Counts pods that a look at the gates, every 2 s, has found waiting.',
    labelNames: ['class'],
    buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600],
    registers,
  });
  return {
    waiting(queue, now) {
      const current = new Map(queue.map((pod) => [pod.uid, pod]));
      for (const { uid, className, createdAt } of last.values()) {
        if (!current.has(uid)) {
          waits.observe({ class: className }, Math.max(0, elapsed(createdAt, now)));
        }
      }
      last = current;
    },
  };
}

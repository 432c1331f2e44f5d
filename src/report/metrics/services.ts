import { Counter, Gauge, type Registry } from 'prom-client';
import type { ClassFulfilment } from '../../qos/fulfilment.ts';

/** Feeds what is told of service classes. */
export interface ServiceMetrics {
  /** Shows how classes are served as `classes` tells of it whenever metrics are read. */
  showServices(classes: () => readonly ClassFulfilment[]): void;
  /** Workloads of a class were preempted so many times more, by their ledgers. */
  preempted(className: string, times: number): void;
}

/** Registers the metrics of service classes. */
export function serviceMetrics(registers: Registry[]): ServiceMetrics {
  let classes: () => readonly ClassFulfilment[] = () => [];
  const gauge = (name: string, help: string, figureOf: (fulfilment: ClassFulfilment) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['class'],
      registers,
      collect() {
        this.reset();
        for (const fulfilment of classes()) {
          this.set({ class: fulfilment.serviceClass.name }, figureOf(fulfilment));
        }
      },
    });
  };
  gauge(
    'evenkeel_slo_fulfilment_ratio',
    'Share of the workloads of a class that reach its SLO over its window, of all on the cluster that have a ledger; on the leader.',
    ({ missed, requests }) => 1 - missed / requests,
  );
  gauge(
    'evenkeel_availability_deficit_ratio',
    'SLO less availability over the window, of the workload of a class that falls short the furthest; 0 when none does.',
    ({ worst }) => worst?.deficit ?? 0,
  );
  gauge(
    'evenkeel_preemption_overhead_ratio',
    'Share of their time that the workloads of a class have lost to starts after preemptions.',
    ({ preemptionOverhead }) => preemptionOverhead,
  );
  const preemptions = new Counter({
    name: 'evenkeel_preemptions_total',
    help: 'Evictions on behalf of other workloads, by the class of the evicted, once their ledgers have counted them.',
    labelNames: ['class'],
    registers,
  });
  return {
    showServices(source) {
      classes = source;
    },
    preempted: (className, times) => preemptions.inc({ class: className }, times),
  };
}

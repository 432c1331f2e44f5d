import type { ServiceClass, ServiceLedger } from '../../model/service-level.ts';
import type { EpochSeconds, Seconds } from '../../model/units.ts';
import { expectedStartup } from '../../qos/startup.ts';
import { timesOver, totalOf } from '../../qos/times.ts';
import { inSeconds, percent } from '../format.ts';
import type { PodIndex } from '../indices.ts';
import type { Promises } from '../promises.ts';
import { type Budget, createTally } from './budget.ts';

interface ServicePromise {
  readonly serviceClass: ServiceClass;
  readonly ledger: ServiceLedger;
}

/**
 * No move to balance the nodes may push a workload below its SLO: with one start more for each move, e / (e + d + p) over the
 * window of its class must not fall below it (algorithms.md 5). Pods without a class or a ledger move as they like.
 */
export function serviceLevel({ classOf, ledgerOf }: Promises, now: EpochSeconds): Budget {
  const promiseOf = (pod: PodIndex): ServicePromise | undefined => {
    const ledger = ledgerOf(pod);
    const serviceClass = ledger === undefined ? undefined : classOf(pod);
    return ledger === undefined || serviceClass === undefined ? undefined : { serviceClass, ledger };
  };
  const moves = createTally<ServiceLedger>();
  const count = (pod: PodIndex, change: (ledger: ServiceLedger) => void): void => {
    const promise = promiseOf(pod);
    if (promise !== undefined) {
      change(promise.ledger);
    }
  };
  return {
    check: (pod) => {
      const promise = promiseOf(pod);
      if (promise === undefined) {
        return undefined;
      }
      const { serviceClass, ledger } = promise;
      const moved = moves.of(ledger);
      const alpha = expectedStartup(ledger, serviceClass, { running: true });
      const availability = availabilityAfter(promise, now, alpha * (moved + 1) * wastedBy(promise));
      const { slo } = serviceClass;
      if (availability >= slo) {
        return undefined;
      }
      const left = `${percent(availability)} over ${inSeconds(serviceClass.window)}`;
      const message = `a start takes ${inSeconds(alpha)}, which would leave ${ledger.owner.kind} ${ledger.owner.name} ${left}; its class ${serviceClass.name} promises ${percent(slo)}`;
      return { code: 'ServiceLevel', message, numbers: { availability, slo, alpha, moved } };
    },
    spend: (pod) => count(pod, moves.add),
    refund: (pod) => count(pod, moves.remove),
  };
}

/** Replicas whose time does not count while one of them starts. */
function wastedBy({ ledger, serviceClass }: ServicePromise): number {
  return serviceClass.mode === 'Concurrent' ? Math.max(1, ledger.running + ledger.waiting) : 1;
}

function availabilityAfter({ ledger, serviceClass }: ServicePromise, now: EpochSeconds, lost: number): number {
  const times = timesOver(ledger, serviceClass.mode, now, serviceClass.window);
  const total: Seconds = totalOf(times);
  return total + lost > 0 ? times.useful / (total + lost) : 1;
}

import type { ServiceLedger } from '../../model/service-level.ts';
import { addsReplicasUp } from '../../qos/time-to-violate.ts';
import type { ServicePosition } from './rules.ts';

/** Counts replicas by their request, where the replicas of one are added up; elsewhere it stays at 0. */
export interface ReplicaCount {
  readonly of: (position: ServicePosition) => number;
  readonly add: (position: ServicePosition, count: number) => void;
}

/** A count that goes on from another one, and does not change it. */
export function createReplicaCount(before?: ReplicaCount): ReplicaCount {
  const own = new Map<ServiceLedger, number>();
  return {
    of: (position) => (own.size === 0 ? 0 : (own.get(position.request) ?? 0)) + (before?.of(position) ?? 0),
    add: ({ request, serviceClass: { mode } }, count) => {
      if (addsReplicasUp(mode)) {
        own.set(request, (own.get(request) ?? 0) + count);
      }
    },
  };
}

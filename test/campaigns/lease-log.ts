import type { ControlPlane } from '../control-plane/start.ts';
import { watchObjects } from '../support/object-watch.ts';

/** From when on a Lease has a holder. */
export interface LeaseChange {
  /** When it was seen, in milliseconds of `performance.now()`. */
  readonly at: number;
  /** Identity of a replica; empty when the Lease was given up or deleted. */
  readonly holder: string;
  /** `leaseTransitions`. */
  readonly epoch: number;
  /** When the last write under this holder was seen, in milliseconds of `performance.now()`; it may be a renewal that reached the API server late. */
  readonly renewed: number;
}

/** A Lease with all its holders, the first one first. */
export interface FollowedLease {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly changes: readonly LeaseChange[];
}

/** Every Lease of the operator's namespace that was seen. */
export interface LeaseLog {
  readonly all: () => readonly FollowedLease[];
  /** Ends the watch. Rejects when it had ended before: then nothing is proved. A second call does nothing. */
  readonly stop: () => Promise<void>;
}

interface Lease {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly holderIdentity?: string; readonly leaseTransitions?: number };
}

const PATH = '/apis/coordination.k8s.io/v1/namespaces/evenkeel-system/leases';

/** Follows the Leases in the operator's namespace, from those that there are. */
export async function followLeases(cp: ControlPlane): Promise<LeaseLog> {
  const seen = new Map<string, FollowedLease & { readonly changes: LeaseChange[] }>();
  const watch = await watchObjects<Lease>(cp, PATH, ({ type, object: { metadata, spec = {} } }) => {
    const holder = type === 'DELETED' ? '' : (spec.holderIdentity ?? '');
    const epoch = spec.leaseTransitions ?? 0;
    const { name, labels = {} } = metadata;
    const lease = seen.get(name) ?? { name, labels, changes: [] };
    seen.set(name, lease);
    const now = performance.now();
    const last = lease.changes.at(-1);
    if (last?.holder === holder && last.epoch === epoch) {
      lease.changes.splice(-1, 1, { ...last, renewed: now });
    } else {
      lease.changes.push({ at: now, holder, epoch, renewed: now });
    }
  });
  let isStopped = false;
  return {
    all: () => [...seen.values()],
    stop: async () => {
      if (!isStopped) {
        isStopped = true;
        await watch.stop();
      }
    },
  };
}

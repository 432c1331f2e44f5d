import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ApiClient } from '../adapters/kubernetes/client.ts';
import { connect } from '../adapters/kubernetes/connect.ts';
import { createLeaseStore, createSharedLeases } from '../adapters/kubernetes/lease-store.ts';
import { createReplicaContainers } from '../adapters/kubernetes/replica-containers.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { type ElectionEvent, Elector } from '../control/elector.ts';
import { type LeaseTimes, leaseTimes } from '../control/lease.ts';
import { leaseOfReplica, SHARED_HOLDER } from '../control/shards/names.ts';
import { type RememberedLeases, rememberWrites } from '../control/shards/own-writes.ts';
import { Sight } from '../control/shards/sight.ts';
import { parseDuration } from '../model/duration.ts';
import { replicaIdentity } from '../model/replica.ts';
import type { Seconds } from '../model/units.ts';
import type { LeaseRecord, LeaseStore, ReplicaContainers } from '../ports.ts';
import { VERSION } from '../version.ts';
import type { ClusterFlags } from './cluster.ts';
import { Failure } from './failure.ts';

/** Which Lease to compete for, and for how long at a time. */
export interface ElectionFlags {
  /** The operator's own namespace. */
  readonly ownNamespace: string;
  readonly leaseName: string;
  /** A duration such as 15s. */
  readonly leaseDuration: string;
  /** Whether replicas share the policies. */
  readonly shardPolicies: boolean;
}

interface ElectionHooks {
  readonly onRequest: (verb: string, code: string) => void;
  readonly report: (event: ElectionEvent) => void;
}

/** One replica's part in the election, or among those that share the work. */
export interface Election {
  /** Unique among all replicas that ever were. */
  readonly identity: string;
  /** Competes for the Lease of a single leader; where work is shared, it holds that of this replica. */
  readonly elector: Elector;
  readonly times: LeaseTimes;
  /** Name of the Lease of a single leader. */
  readonly base: string;
  /** The Lease of a single leader. */
  readonly single: LeaseStore;
  /** The Lease that the elector is for. */
  readonly own: LeaseStore;
  /** All others. */
  readonly leases: RememberedLeases;
  /** To be watched by whoever opened this. */
  readonly containers: ReplicaContainers;
  close(): Promise<void>;
}

/** Below, one slow answer costs the lease; above, a failover takes too long. Both in seconds. */
const SHORTEST = 2;
const LONGEST = 600;
/** Names of namespaces and Leases (RFC 1123), dots where the API allows them. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LEASE = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * An elector on the Lease that `flags` name, with connections of its own: renewals do not wait behind lists, and no fence
 * stops them. Nothing is sent yet. Throws Failure for flags that cannot be, ConnectError without a cluster.
 */
export async function openElection(flags: ElectionFlags & ClusterFlags, hooks: ElectionHooks): Promise<Election> {
  const times = leaseTimes(parseLeaseDuration(flags.leaseDuration));
  checkName('--own-namespace', flags.ownNamespace, NAMESPACE);
  checkName('--lease-name', flags.leaseName, LEASE);
  const client = new ApiClient(await connect({ ...flags, env: process.env }), {
    userAgent: `evenkeel/${VERSION} leader-election`,
    attempts: 1,
    clock: systemClock,
    random: Math.random,
    onRequest: hooks.onRequest,
  });
  const pod = process.env['POD_NAME'] ?? hostname();
  const identity = replicaIdentity(pod, randomUUID());
  const base = flags.leaseName;
  const place = { namespace: flags.ownNamespace, deadline: times.requestDeadline };
  const failed = (error: unknown): void => hooks.report({ kind: 'Failed', error });
  const leases = rememberWrites(createSharedLeases(client, place, failed), times.duration, systemClock);
  const containers = createReplicaContainers(client, flags.ownNamespace, pod, failed);
  const single = createLeaseStore(client, { ...place, name: base });
  const { name, labels } = leaseOfReplica(base, identity);
  const own = flags.shardPolicies ? leases.of(name, labels) : single;
  const { report } = hooks;
  const options = { identity, times, store: own, clock: systemClock, random: Math.random, report };
  const sight = new Sight({ base, duration: times.duration, leases, containers, clock: systemClock });
  const isAbandoned = async (record: LeaseRecord, signal: AbortSignal): Promise<boolean> =>
    record.holder === SHARED_HOLDER ? sight.isDeserted(signal) : containers.hasEnded(record);
  const elector = new Elector(
    flags.shardPolicies ? options : { ...options, isAbandoned, onAbandoned: containers.onChange },
  );
  return { identity, elector, times, base, single, own, leases, containers, close: () => client.close() };
}

function parseLeaseDuration(text: string): Seconds {
  const hint = 'write whole seconds between 2s and 10m, such as 15s';
  try {
    const duration = parseDuration(text);
    if (duration >= SHORTEST && duration <= LONGEST) {
      return duration;
    }
  } catch (error) {
    throw new Failure(`--lease-duration ${JSON.stringify(text)} is not a duration: ${hint}`, 1, { cause: error });
  }
  throw new Failure(`--lease-duration ${text} is out of range: ${hint}`);
}

function checkName(flag: string, name: string, legal: RegExp): void {
  if (!legal.test(name)) {
    throw new Failure(
      `${flag} ${JSON.stringify(name)} is not a name: write lower-case letters, digits and hyphens, such as evenkeel`,
    );
  }
}

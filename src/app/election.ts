import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ApiClient } from '../adapters/kubernetes/client.ts';
import { connect } from '../adapters/kubernetes/connect.ts';
import { createLeaseStore } from '../adapters/kubernetes/lease-store.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { type ElectionEvent, Elector } from '../control/elector.ts';
import { type LeaseTimes, leaseTimes } from '../control/lease.ts';
import { parseDuration } from '../model/duration.ts';
import { type Seconds, seconds } from '../model/units.ts';
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
}

interface ElectionHooks {
  readonly onRequest: (verb: string, code: string) => void;
  readonly report: (event: ElectionEvent) => void;
}

/** One replica's part in the election. */
export interface Election {
  readonly elector: Elector;
  readonly times: LeaseTimes;
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
  const lease = { namespace: flags.ownNamespace, name: flags.leaseName, deadline: seconds(times.renewDeadline / 2) };
  const elector = new Elector({
    identity: `${hostname()}_${randomUUID()}`,
    times,
    store: createLeaseStore(client, lease),
    clock: systemClock,
    random: Math.random,
    report: hooks.report,
  });
  return { elector, times, close: () => client.close() };
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

import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { firstLogged } from '../support/log-file.ts';
import { type Gap, gapsOf } from './gaps.ts';
import { type FollowedLease, followLeases, type LeaseLog } from './lease-log.ts';
import { LEASE_SECONDS, type Operators, type ReplicaLife } from './operators.ts';

/** Who leads what, by the Leases and by which processes are alive. */
export interface Leaders {
  /** Whether replicas share the policies. */
  readonly shared: boolean;
  /** Seconds of a lease. */
  readonly lease: number;
  /** The replica that leads a policy now; undefined while none does. */
  of(policy: string): number | undefined;
  /** The replica that leads the rest now, or everything; undefined while none does. */
  rest(): number | undefined;
  /** The replicas that lead anything now, ascending. */
  leading(): readonly number[];
  /** Names of the policies that a replica leads now. */
  policiesOf(replica: number): readonly string[];
  /** Names of what nobody leads now. */
  unled(): readonly string[];
  /** How many leaders there were of a policy since an instant of `performance.now()`, one that took it back counted again. */
  takenSince(policy: string, since: number): number;
  /** When each of the replicas that are alive began to take part, in milliseconds of `performance.now()`; those that have not yet are left out. */
  joined(): readonly number[];
  /** When something of what is led changed last, in milliseconds of `performance.now()`. */
  changedAt(): number;
  /** All times until now in which something had no leader. */
  gaps(): readonly Gap[];
  /** Ends the watch of the Leases; what was seen can still be asked for. Rejects when it had ended before. A second call does nothing. */
  stop(): Promise<void>;
}

/** How the operator leads. */
export interface LeadersOptions {
  /** Whether replicas share the policies (`--shard-policies`). */
  readonly shared: boolean;
  /** Names of the policies. */
  readonly policies: readonly string[];
  /** Seconds of a lease; default the shortest. */
  readonly lease?: number;
}

/** The Lease of a single leader. */
const SINGLE = 'evenkeel';
const PURPOSE = 'evenkeel.dev/lease';
const POLICY_UID = 'evenkeel.dev/policy-uid';
/** What is led beside policies. */
const REST = 'the rest';
/** What is led where one replica leads. */
const EVERYTHING = 'everything';

/** A Lease and what its holder leads. */
interface Shard {
  readonly name: string;
  readonly policies: readonly string[];
  readonly changes: FollowedLease['changes'];
}

/** A process, and what its log says of its part in the election. */
interface Known {
  readonly identity: string | undefined;
  readonly joined: number | undefined;
}

/** Begins to follow who leads the policies, which have to be there. Whoever begins it has to end it. */
export async function followLeaders(
  cp: ControlPlane,
  operators: Operators,
  { shared, policies, lease = LEASE_SECONDS }: LeadersOptions,
): Promise<Leaders> {
  const names = await namesByUid(cp, policies);
  const log = await followLeases(cp);
  const known = new Map<ReplicaLife, Known>();
  const whoIs = (life: ReplicaLife): Known => {
    const before = known.get(life);
    if (before?.identity !== undefined) {
      return before;
    }
    const found = shared ? memberOf(life) : candidateOf(life, log);
    known.set(life, found);
    return found;
  };
  const shards = (): readonly Shard[] => (shared ? sharedIn(log, names) : singleIn(log, policies));
  const alive = (): readonly ReplicaLife[] => operators.lives.filter(({ ended }) => ended === undefined);
  const leaderOf = ({ changes }: Shard): number | undefined => {
    const holder = changes.at(-1)?.holder ?? '';
    return holder === '' ? undefined : alive().find((life) => whoIs(life).identity === holder)?.replica;
  };
  const shardOf = (policy: string): Shard | undefined => shards().find((shard) => shard.policies.includes(policy));
  return {
    shared,
    lease,
    of: (policy) => {
      const shard = shardOf(policy);
      return shard === undefined ? undefined : leaderOf(shard);
    },
    rest: () => {
      const shard = shards().find(({ name }) => name === REST || name === EVERYTHING);
      return shard === undefined ? undefined : leaderOf(shard);
    },
    leading: () => [...new Set(shards().flatMap((shard) => leaderOf(shard) ?? []))].sort((a, b) => a - b),
    policiesOf: (replica) => shards().flatMap((shard) => (leaderOf(shard) === replica ? shard.policies : [])),
    unled: () => shards().flatMap((shard) => (leaderOf(shard) === undefined ? [shard.name] : [])),
    takenSince: (policy, since) =>
      (shardOf(policy)?.changes ?? []).filter(({ at, holder }) => at > since && holder !== '').length,
    joined: () => alive().flatMap((life) => whoIs(life).joined ?? []),
    changedAt: () => Math.max(0, ...shards().flatMap(({ changes }) => changes.map(({ at }) => at))),
    gaps: () => {
      const replicas = operators.lives.map((life) => {
        const who = whoIs(life);
        return { ...who, ended: life.ended, renewed: renewalOf(who.identity, shared, log) };
      });
      const now = performance.now();
      return shards().flatMap(({ name, changes }) => gapsOf(name, changes, replicas, now));
    },
    stop: log.stop,
  };
}

const PATIENCE = { timeoutMilliseconds: 120_000 };

/**
 * Waits until so many replicas take part, all is led, and nothing of that has changed for two lease durations: a replica that joins takes its
 * share after one.
 */
export async function untilSettled(leaders: Leaders, replicas: number, log: (line: string) => void): Promise<void> {
  const began = performance.now();
  const missing = async (): Promise<string | undefined> => {
    const [joined, unled] = [leaders.joined(), leaders.unled()];
    if (joined.length !== replicas || unled.length > 0) {
      return `${joined.length} of ${replicas} replicas have joined; not led: ${unled.join(', ')}`;
    }
    const quiet = performance.now() - Math.max(began, leaders.changedAt(), ...joined);
    return quiet >= 2000 * leaders.lease ? undefined : 'leaders have changed just now';
  };
  await waitUntil('leaders', missing, { ...PATIENCE, log });
}

async function namesByUid(cp: ControlPlane, policies: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const listed = JSON.parse(await cp.kubectl(['get', 'rebalancepolicies', '-o', 'json'])) as {
    readonly items: readonly { readonly metadata: { readonly name: string; readonly uid: string } }[];
  };
  const names = new Map(listed.items.map(({ metadata }) => [metadata.uid, metadata.name]));
  const missing = policies.filter((name) => ![...names.values()].includes(name));
  if (missing.length > 0) {
    throw new Error(`there is no policy ${missing.join(', ')}: apply it before its leaders are followed`);
  }
  return new Map([...names].filter(([, name]) => policies.includes(name)));
}

function singleIn(log: LeaseLog, policies: readonly string[]): readonly Shard[] {
  return [{ name: EVERYTHING, policies, changes: changesOfSingle(log) }];
}

function changesOfSingle(log: LeaseLog): FollowedLease['changes'] {
  return log.all().find(({ name }) => name === SINGLE)?.changes ?? [];
}

function sharedIn(log: LeaseLog, names: ReadonlyMap<string, string>): readonly Shard[] {
  const leases = log.all();
  const changesOf = (is: (lease: FollowedLease) => boolean): FollowedLease['changes'] => leases.find(is)?.changes ?? [];
  return [
    { name: REST, policies: [], changes: changesOf(({ labels }) => labels[PURPOSE] === 'rest') },
    ...[...names].map(([uid, name]) => ({
      name,
      policies: [name],
      changes: changesOf(({ labels }) => labels[POLICY_UID] === uid),
    })),
  ];
}

/** A replica that shares the work names itself once it takes part. */
function memberOf({ process }: ReplicaLife): Known {
  const joined = firstLogged(process.log(), 'member joined');
  return joined === undefined
    ? { identity: undefined, joined: undefined }
    : { identity: String(joined['holder']), joined: instantOf(joined) };
}

/** One of several that compete for a single Lease says only how often that had changed hands when it got it. */
function candidateOf({ process }: ReplicaLife, log: LeaseLog): Known {
  const text = process.log();
  const leading = firstLogged(text, 'leading');
  const first = firstLogged(text, 'another replica leads') ?? leading;
  const taken = changesOfSingle(log).find(({ epoch, holder }) => holder !== '' && epoch === leading?.['epoch']);
  return { identity: taken?.holder, joined: first === undefined ? undefined : instantOf(first) };
}

/** When the Lease by which a replica lives was last seen renewed. */
function renewalOf(identity: string | undefined, shared: boolean, log: LeaseLog): number | undefined {
  const ofReplicas = log.all().filter(({ labels }) => labels[PURPOSE] === 'replica');
  const changes = shared ? ofReplicas.flatMap((lease) => lease.changes) : changesOfSingle(log);
  return changes.findLast(({ holder }) => holder === identity)?.renewed;
}

/** When a line was logged, on the clock of `performance.now()`. */
function instantOf(line: Readonly<Record<string, unknown>>): number {
  return Date.parse(String(line['time'])) - performance.timeOrigin;
}

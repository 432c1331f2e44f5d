import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { type Seconds, seconds } from '../model/units.ts';
import { type Inquiry, inquire } from '../plan/explain/inquiry.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import type { Clock, StoredPolicy } from '../ports.ts';
import type { PageDetail } from '../report/page/detail.ts';
import { nodeDetail, podDetail, staysDetail } from '../report/page/explain.ts';
import { mergePatchOf } from '../report/page/merge-patch.ts';
import { pageState } from '../report/page/page-state.ts';
import type { PageRole, PageState } from '../report/page/state.ts';
import { createWaker, type Waker } from './periodic.ts';

/** Where the page gets what it shows. */
export interface PageSource {
  /** The cluster or the files, for people. */
  readonly title: string;
  role(): PageRole;
  /** Rejects when the cluster is not known. */
  snapshot(signal: AbortSignal): Promise<ClusterSnapshot>;
  /** Policies and their plans, as they stand or as computed from `snapshot`. */
  plans(snapshot: ClusterSnapshot | undefined, signal: AbortSignal): Promise<PolicyPlans>;
  /** Calls `changed` when policies or plans may have changed, until aborted; then resolves. */
  watch(changed: () => void, signal: AbortSignal): Promise<void>;
  /** Never rebalanced, as the operator has it. */
  readonly excludedNamespaces: ReadonlySet<string>;
}

/** Policies, and the plans of all of them. */
export interface PolicyPlans {
  readonly policies: readonly StoredPolicy[];
  readonly plans: readonly RebalancePlan[];
}

/** What each viewer receives: a whole state first, then a merge patch for each change; `beat` means that nothing has changed. */
export interface PageUpdate {
  readonly event: 'state' | 'patch' | 'beat';
  /** JSON without line ends. */
  readonly data: string;
}

/** What a viewer wants explained, for one policy; without a name the first. */
export interface PageQuestion {
  readonly about: 'node' | 'pod' | 'stays';
  /** Name of the node, or `namespace/name` of the pod. */
  readonly name: string;
  readonly policy: string | undefined;
}

/** The page's state for all viewers. Without a viewer nothing is read and nothing is computed. */
export interface PageFeed {
  /** The state as JSON, at most as old as two looks are apart. */
  state(signal: AbortSignal): Promise<string>;
  /** A state, then patches; ends when aborted. */
  updates(signal: AbortSignal): AsyncGenerator<PageUpdate, void, undefined>;
  /** `undefined` when there is no such node, pod or policy. */
  explain(question: PageQuestion, signal: AbortSignal): Promise<PageDetail | undefined>;
}

/** Time between two snapshots: that of the samples of the Metrics API. */
const SNAPSHOT_PERIOD: Seconds = seconds(15);
/** Least time between two looks at policies and plans. */
const LOOK_PERIOD: Seconds = seconds(1);
/** A viewer receives something at least this often; a longer silence means that the connection is broken. */
const BEAT: Seconds = seconds(5);
/** How long looks go on after the last viewer has left: a page that is reloaded finds the state ready. */
const LINGER: Seconds = seconds(5);

interface FeedPorts {
  readonly clock: Clock;
  /** Hears of looks that failed; viewers see them too. */
  readonly report: (error: unknown) => void;
}

interface Version {
  readonly state: PageState;
  readonly text: string;
  /** To this state, from earlier ones that viewers still have. */
  readonly patches: WeakMap<Version, string>;
}

/** A feed without viewers. */
export function createPageFeed(source: PageSource, ports: FeedPorts): PageFeed {
  const known = createKnowledge(source, ports);
  const watchers = createWatchers(ports.clock, (signal) => known.follow(signal));
  async function* updates(signal: AbortSignal): AsyncGenerator<PageUpdate, void, undefined> {
    const leave = watchers.enter();
    try {
      let seen: Version | undefined;
      while (!signal.aborted) {
        const next = await known.newerThan(seen, BEAT, signal);
        if (next !== undefined) {
          yield seen === undefined
            ? { event: 'state', data: next.text }
            : { event: 'patch', data: patchOf(seen, next) };
          seen = next;
        } else if (!signal.aborted) {
          yield { event: 'beat', data: '{}' };
        }
      }
    } finally {
      leave();
    }
  }
  async function whileWatching<Value>(work: () => Promise<Value>): Promise<Value> {
    const leave = watchers.enter();
    try {
      return await work();
    } finally {
      leave();
    }
  }
  return {
    state: (signal) => whileWatching(async () => (await known.first(signal)).text),
    updates,
    explain: (question, signal) =>
      whileWatching(async () => {
        await known.first(signal);
        return known.explain(question);
      }),
  };
}

/** A patch is made once for all viewers with the same state. */
function patchOf(from: Version, to: Version): string {
  const made = to.patches.get(from) ?? JSON.stringify(mergePatchOf(from.state, to.state) ?? {});
  to.patches.set(from, made);
  return made;
}

/** Begins `work` when the first one enters, and aborts it some time after the last one has left. */
function createWatchers(clock: Clock, work: (signal: AbortSignal) => Promise<void>) {
  let number = 0;
  let visits = 0;
  let stopping: AbortController | undefined;
  const stopUnlessWatched = async (own: AbortController): Promise<void> => {
    const before = visits;
    await clock.sleep(LINGER, own.signal);
    // Whoever has come since then may have left, too, and is lingered for as long.
    if (visits === before) {
      stopping = undefined;
      own.abort();
    }
  };
  return {
    enter(): () => void {
      number += 1;
      visits += 1;
      if (stopping === undefined) {
        stopping = new AbortController();
        void work(stopping.signal);
      }
      const own = stopping;
      return () => {
        number -= 1;
        if (number === 0) {
          // Only an abort rejects the sleep, and then there is nothing left to stop.
          void stopUnlessWatched(own).catch(() => undefined);
        }
      };
    },
  };
}

/** What is known of the cluster, and its versions for the page. */
function createKnowledge(source: PageSource, { clock, report }: FeedPorts) {
  let snapshot: ClusterSnapshot | undefined;
  let plans: PolicyPlans = { policies: [], plans: [] };
  let version: Version | undefined;
  let inquiry: { readonly of: ClusterSnapshot; readonly policy: string; readonly made: Inquiry } | undefined;
  let following: AbortSignal | undefined;
  let news = Promise.withResolvers<void>();

  function publish(trouble: string | undefined): void {
    const { title } = source;
    const state = pageState({ title, role: source.role(), snapshot, ...plans, trouble });
    if (version === undefined || mergePatchOf(version.state, state) !== undefined) {
      version = { state, text: JSON.stringify(state), patches: new WeakMap() };
      news.resolve();
      news = Promise.withResolvers();
    }
  }

  async function attempt(work: () => Promise<void>, signal: AbortSignal): Promise<string | undefined> {
    try {
      await work();
      return undefined;
    } catch (error) {
      if (!signal.aborted) {
        report(error);
      }
      return error instanceof Error ? error.message : String(error);
    }
  }

  async function follow(signal: AbortSignal): Promise<void> {
    following = signal;
    const waker = createWaker();
    const watching = source.watch(waker.wake, signal);
    try {
      await lookUntilAborted(waker, signal);
    } catch (error) {
      if (!signal.aborted) {
        report(error);
      }
    } finally {
      if (following === signal) {
        [version, snapshot, inquiry] = [undefined, undefined, undefined];
      }
      await watching;
    }
  }

  async function lookUntilAborted(waker: Waker, signal: AbortSignal): Promise<void> {
    let due = clock.monotonic();
    let unobserved: string | undefined;
    for (;;) {
      if (clock.monotonic() >= due) {
        due = seconds(clock.monotonic() + SNAPSHOT_PERIOD);
        unobserved = await attempt(async () => {
          snapshot = await source.snapshot(signal);
        }, signal);
      }
      const unread = await attempt(async () => {
        plans = await source.plans(snapshot, signal);
      }, signal);
      signal.throwIfAborted();
      publish(unobserved ?? unread);
      await clock.sleep(LOOK_PERIOD, signal);
      await waker.wait(seconds(Math.max(0, due - clock.monotonic())), clock, signal);
    }
  }

  async function newerThan(
    seen: Version | undefined,
    span: Seconds,
    signal: AbortSignal,
  ): Promise<Version | undefined> {
    if (version === undefined || version === seen) {
      const waking = new AbortController();
      const slept = clock.sleep(span, AbortSignal.any([signal, waking.signal]));
      // Whichever comes first ends the other; an aborted sleep is the end of waiting and nothing else.
      await Promise.race([news.promise, slept.catch(() => undefined)]);
      waking.abort();
    }
    return version === seen ? undefined : version;
  }

  async function first(signal: AbortSignal): Promise<Version> {
    for (;;) {
      const found = await newerThan(undefined, BEAT, signal);
      if (found !== undefined) {
        return found;
      }
      signal.throwIfAborted();
    }
  }

  function inquiryFor({ policy: { metadata, spec } }: StoredPolicy, of: ClusterSnapshot): Inquiry {
    const policy = `${metadata.name} ${metadata.uid} ${metadata.generation}`;
    if (inquiry?.of !== of || inquiry.policy !== policy) {
      inquiry = { of, policy, made: inquire(of, resolveOptions(spec, source.excludedNamespaces)) };
    }
    return inquiry.made;
  }

  function explain({ about, name, policy }: PageQuestion): PageDetail | undefined {
    const valid = plans.policies.filter(({ invalid }) => invalid.length === 0);
    const stored = valid.find(({ policy: { metadata } }) => policy === undefined || metadata.name === policy);
    if (stored === undefined || snapshot === undefined) {
      return undefined;
    }
    const asked = inquiryFor(stored, snapshot);
    const own = stored.policy.metadata.name;
    switch (about) {
      case 'node':
        return nodeDetail(asked, own, name);
      case 'pod':
        return podDetail(asked, own, name);
      case 'stays':
        return staysDetail(asked, own);
      default:
        return about satisfies never;
    }
  }

  return { follow, newerThan, first, explain };
}

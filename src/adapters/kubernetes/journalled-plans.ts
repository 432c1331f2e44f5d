import type { MoveJournal } from '../../api/v1alpha1/move-journal.ts';
import type { RebalancePlan, RebalancePlanStatus } from '../../api/v1alpha1/rebalance-plan.ts';
import type { ObjectMeta } from '../../api/v1alpha1/schema.ts';
import { oncePer } from '../../model/once-per.ts';
import { type PlanStore, StaleCacheError } from '../../ports.ts';
import type { MoveJournals } from './move-journals.ts';
import { differsInMovesOnly, isBehind, isJournalOf, journalSpec, withJournal } from './with-journal.ts';

/** How plans are journalled. */
interface JournalledPlansOptions {
  /** Plans of so many moves or fewer are written whole each time: their journal would save nothing. */
  readonly wholeUpTo: number;
}

/** A plan of 20 moves has 20 kB. */
const OPTIONS: JournalledPlansOptions = { wholeUpTo: 20 };

/** What a plan that this store has handed out is made of. */
interface Parts {
  /** The RebalancePlan as it is stored. */
  readonly stored: RebalancePlan;
  /** The MoveJournal beside it; one that the plan does not name yet is empty. */
  readonly journal: MoveJournal | undefined;
}

/** A plan with a journal. */
interface Joined extends Parts {
  readonly content: MoveJournal;
  readonly plan: RebalancePlan;
}

/**
 * Plans whose moves are stored in two objects while they are carried out: the plan, which is large, and its MoveJournal, which
 * has the moves that have changed since the plan was written. So what a write costs depends on what has changed
 * (execution.md, the journal). Above this store there are plans alone. Their resourceVersion is made of those of both objects.
 * `report` hears of journals of ended plans that could not be deleted: they are deleted with their plans.
 */
export function createJournalledPlans(
  plans: PlanStore,
  journals: MoveJournals,
  report: (error: unknown) => void,
  { wholeUpTo }: JournalledPlansOptions = OPTIONS,
): PlanStore {
  /** By the metadata of what was handed out, which stays the same object however the status is changed. */
  const parts = new WeakMap<ObjectMeta, Parts>();
  /** Plans with a journal as they were read or written last, by name. */
  const latest = new Map<string, Joined>();
  /** Bytes written of each journal, by UID, since its plan was written whole. */
  const spent = new Map<string, number>();

  const partsOf = (plan: RebalancePlan): Parts => parts.get(plan.metadata) ?? { stored: plan, journal: undefined };

  /** `content` is what the journal says, which is known here even where a person has deleted it. */
  function handOut({ stored, journal }: Parts, content: MoveJournal): RebalancePlan {
    const { metadata, status = {}, ...rest } = withJournal(stored, content);
    const version = isJournalOf(content, stored) ? { resourceVersion: versionOf(stored, content) } : {};
    const { journal: _, ...shown } = status;
    const plan = { ...rest, metadata: { ...metadata, ...version }, status: shown };
    parts.set(plan.metadata, { stored, journal });
    latest.set(metadata.name, { stored, journal, content, plan });
    return plan;
  }

  /** The plan as its two objects say. Resolves to undefined when it is gone meanwhile. */
  async function join(
    stored: RebalancePlan,
    found: MoveJournal | undefined,
    signal: AbortSignal,
  ): Promise<RebalancePlan | undefined> {
    const { name } = stored.metadata;
    const journal = found !== undefined && isOwnedBy(found, stored) ? found : undefined;
    const last = latest.get(name);
    if (last !== undefined && isSameVersion(last.stored, stored) && isSameVersion(last.journal, journal)) {
      return last.plan;
    }
    if (journal !== undefined && isJournalOf(journal, stored)) {
      return isBehind(stored, journal) ? joinAnew(name, journal, signal) : handOut({ stored, journal }, journal);
    }
    if (last !== undefined && isJournalOf(last.content, stored) && !isBehind(stored, last.content)) {
      return withoutJournal({ stored, journal }, last);
    }
    latest.delete(name);
    return journal === undefined ? stored : handOut({ stored, journal }, journal);
  }

  /** A person has deleted the journal. What it said is known, and is written whole next, also by who has the plan already. */
  function withoutJournal(made: Parts, last: Joined): RebalancePlan {
    if (!isSameVersion(last.stored, made.stored)) {
      return handOut(made, last.content);
    }
    parts.set(last.plan.metadata, made);
    latest.set(made.stored.metadata.name, { ...last, ...made });
    return last.plan;
  }

  /** Two watches are not in step: the journal goes on from a status that the watch of plans has not brought yet. */
  async function joinAnew(name: string, journal: MoveJournal, signal: AbortSignal): Promise<RebalancePlan | undefined> {
    const stored = await plans.get(name, signal);
    if (stored !== undefined && isJournalOf(journal, stored) && isBehind(stored, journal)) {
      throw new StaleCacheError(`rebalanceplan ${name} is older than its journal`);
    }
    return stored && join(stored, journal, signal);
  }

  /** Writes the plan whole: it names the journal, and says all that is in it. */
  async function writeWhole(
    stored: RebalancePlan,
    journal: MoveJournal,
    status: RebalancePlanStatus,
    signal: AbortSignal,
  ): Promise<RebalancePlan> {
    const { uid = '' } = journal.metadata;
    const { sequence } = journal.spec;
    const written = await plans.writeStatus(stored, { ...status, journal: { uid, sequence } }, signal);
    spent.set(uid, 0);
    return written;
  }

  async function append(
    stored: RebalancePlan,
    journal: MoveJournal,
    status: RebalancePlanStatus,
    signal: AbortSignal,
  ): Promise<MoveJournal> {
    const written = await journals.write(journal, journalSpec(stored, journal, status), signal);
    const { uid = '' } = journal.metadata;
    spent.set(uid, (spent.get(uid) ?? 0) + bytesOf(written));
    return written;
  }

  /** What its journal has cost is as much as writing it whole: then whole is what costs less. */
  const isDue = (stored: RebalancePlan, { metadata: { uid = '' } }: MoveJournal): boolean =>
    (spent.get(uid) ?? 0) >= sizeOf(stored).bytes;

  async function goOn(plan: RebalancePlan, status: RebalancePlanStatus, signal: AbortSignal): Promise<RebalancePlan> {
    const { stored, journal: known } = partsOf(plan);
    const journal = known ?? (await journals.create(stored, signal));
    if (!isJournalOf(journal, stored)) {
      // Stored in the plan, which a leader that is none any more cannot write: it may have made a journal when there was none.
      return handOut({ stored: await writeWhole(stored, journal, status, signal), journal }, journal);
    }
    if (!differsInMovesOnly(stored.status ?? {}, status)) {
      const appended = await append(stored, journal, status, signal);
      const written = await writeWhole(stored, appended, status, signal);
      return handOut({ stored: written, journal: appended }, appended);
    }
    const before = withJournal(stored, journal).status ?? {};
    const base = isDue(stored, journal) ? await writeWhole(stored, journal, before, signal) : stored;
    const appended = await append(base, journal, status, signal);
    return handOut({ stored: base, journal: appended }, appended);
  }

  /** The journal is written once more, which it cannot be by who has missed a write of somebody else. */
  async function end(plan: RebalancePlan, status: RebalancePlanStatus, signal: AbortSignal): Promise<RebalancePlan> {
    const { stored, journal } = partsOf(plan);
    const last = journal && isJournalOf(journal, stored) ? await append(stored, journal, status, signal) : journal;
    const { journal: _, ...rest } = status;
    const written = await plans.writeStatus(stored, rest, signal);
    if (last !== undefined) {
      spent.delete(last.metadata.uid ?? '');
      await journals.remove(last, signal).catch(report);
    }
    return written;
  }

  const isJournalled = ({ spec, status }: RebalancePlan): boolean =>
    status?.phase === 'Executing' && (spec.moves.length > wholeUpTo || status.journal !== undefined);

  return {
    ...plans,
    // Journals first: so a plan is no older than the status that its journal goes on from.
    async list(signal) {
      const found = new Map((await journals.list(signal)).map((journal) => [journal.metadata.name, journal]));
      const stored = await plans.list(signal);
      const names = new Set(stored.map(({ metadata }) => metadata.name));
      for (const name of [...latest.keys()].filter((each) => !names.has(each))) {
        latest.delete(name);
      }
      const joined = await Promise.all(stored.map((plan) => join(plan, found.get(plan.metadata.name), signal)));
      return joined.filter((plan) => plan !== undefined);
    },
    async get(name, signal) {
      const journal = await journals.get(name, signal);
      const stored = await plans.get(name, signal);
      return stored && join(stored, journal, signal);
    },
    async writeStatus(plan, status, signal) {
      const { stored } = partsOf(plan);
      if (!isJournalled(stored)) {
        return await plans.writeStatus(stored, status, signal);
      }
      return await (status.phase === 'Executing' ? goOn : end)(plan, status, signal);
    },
    async watch(changed, signal) {
      await Promise.all([plans.watch(changed, signal), journals.watch(changed, signal)]);
    },
  };
}

/** A plan that is made anew under its name does not get the journal of its namesake. */
function isOwnedBy({ metadata }: MoveJournal, plan: RebalancePlan): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === plan.metadata.uid) ?? false;
}

function isSameVersion(left: Versioned | undefined, right: Versioned | undefined): boolean {
  return (
    left?.metadata.uid === right?.metadata.uid && left?.metadata.resourceVersion === right?.metadata.resourceVersion
  );
}

interface Versioned {
  readonly metadata: ObjectMeta;
}

function versionOf(plan: RebalancePlan, journal: MoveJournal): string {
  return `${plan.metadata.resourceVersion}.${journal.metadata.resourceVersion}`;
}

const sizeOf = oncePer((plan: RebalancePlan) => ({ bytes: bytesOf(plan) }));

/** An object is stored whole, however small its patch. */
function bytesOf(object: unknown): number {
  return Buffer.byteLength(JSON.stringify(object));
}

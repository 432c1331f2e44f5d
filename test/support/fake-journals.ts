import { Ajv } from 'ajv';
import { emptyJournal, type MoveJournals } from '../../src/adapters/kubernetes/move-journals.ts';
import { withJournal } from '../../src/adapters/kubernetes/with-journal.ts';
import { type MoveJournal, MoveJournalSpec } from '../../src/api/v1alpha1/move-journal.ts';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { aborted } from '../../src/control/periodic.ts';
import { ConflictError } from '../../src/ports.ts';
import { type FakePlans, fakePlans } from './fake-stores.ts';

/** MoveJournals of the modelled cluster, which refuses what the CRD's schema refuses. */
export interface FakeJournals {
  readonly store: MoveJournals;
  /** By name. */
  readonly stored: ReadonlyMap<string, MoveJournal>;
  /** A person deletes one. */
  readonly remove: (name: string) => void;
}

/** Plans of the modelled cluster, some of whose moves are in journals. */
export interface FakeJournalledPlans extends FakePlans {
  /** The plans alone: what the operator's store of plans is made from, with that of `journals`. */
  readonly whole: FakePlans;
  readonly journals: FakeJournals;
}

const check = new Ajv({ strict: false, validateFormats: false }).compile(MoveJournalSpec);

/** An empty store of journals. */
export function fakeJournals(): FakeJournals {
  const stored = new Map<string, MoveJournal>();
  let version = 0;
  const put = (journal: MoveJournal): MoveJournal => {
    version += 1;
    // As an API server does: what is stored is what was sent, and nobody has a hand on it any more.
    const spec: MoveJournal['spec'] = JSON.parse(JSON.stringify(journal.spec));
    if (!check(spec)) {
      throw new Error(`the API server refuses a journal: ${JSON.stringify(check.errors)}`);
    }
    const uid = journal.metadata.uid ?? `uid-journal-${version}`;
    const next = { ...journal, metadata: { ...journal.metadata, uid, resourceVersion: String(version) }, spec };
    stored.set(journal.metadata.name, next);
    return next;
  };
  const store: MoveJournals = {
    async create(plan) {
      if (stored.has(plan.metadata.name)) {
        throw new ConflictError(`movejournals "${plan.metadata.name}" already exists`);
      }
      return put(emptyJournal(plan));
    },
    list: async () => [...stored.values()],
    get: async (name) => stored.get(name),
    async write({ metadata: { name, uid, resourceVersion } }, spec) {
      const now = stored.get(name);
      if (now?.metadata.uid !== uid || now?.metadata.resourceVersion !== resourceVersion || now === undefined) {
        throw new ConflictError(`journal ${name} is gone or newer`);
      }
      return put({ ...now, spec });
    },
    async remove({ metadata: { name, uid } }) {
      if (stored.get(name)?.metadata.uid === uid) {
        stored.delete(name);
      }
    },
    watch: (_, signal) => aborted(signal),
  };
  return { store, stored, remove: (name) => void stored.delete(name) };
}

/** Empty stores of plans and journals. */
export function fakeJournalledPlans(): FakeJournalledPlans {
  const whole = fakePlans();
  const journals = fakeJournals();
  let made = 0;
  const withUID = (plan: RebalancePlan): RebalancePlan => {
    made += 1;
    return plan.metadata.uid === undefined
      ? { ...plan, metadata: { ...plan.metadata, uid: `uid-plan-${made}` } }
      : plan;
  };
  const joined = (plan: RebalancePlan): RebalancePlan => withJournal(plan, journals.stored.get(plan.metadata.name));
  return {
    journals,
    whole,
    get stored() {
      return new Map([...whole.stored].map(([name, plan]) => [name, joined(plan)]));
    },
    of: (name) => joined(whole.of(name)),
    put: (plan) => whole.put(withUID(plan)),
    store: { ...whole.store, create: (plan, signal) => whole.store.create(withUID(plan), signal) },
  };
}

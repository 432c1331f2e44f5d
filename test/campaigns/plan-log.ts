import { isBehind, isJournalOf, withJournal } from '../../src/adapters/kubernetes/with-journal.ts';
import type { MoveJournal } from '../../src/api/v1alpha1/move-journal.ts';
import type { MovePhase, RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { isInFlight } from '../../src/execute/transitions.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { watchObjects } from '../support/object-watch.ts';
import { getPlans, getPolicy } from '../support/resources.ts';

/** Every plan that was seen, as it was last seen: the operator deletes old ones. */
export interface PlanLog {
  readonly all: () => readonly RebalancePlan[];
  /** Reads all plans that there are now. */
  readonly look: () => Promise<void>;
  /** Most moves of a plan that were in flight together in any state of it that was stored. */
  readonly mostInFlight: (plan: RebalancePlan) => number;
  /** Ends the watch of the plans. Rejects when it had ended before: then nothing is proved. A second call does nothing. */
  readonly stop: () => Promise<void>;
}

const API = '/apis/evenkeel.dev/v1alpha1';

/** A plan or a journal as it was stored: the status of a plan alone lacks what its journal has. */
export type StoredChange =
  | { readonly kind: 'Plan'; readonly object: RebalancePlan }
  | { readonly kind: 'Journal'; readonly object: MoveJournal };

/** Follows the plans of a cluster, each state that is stored; `taken` hears of each change. Whoever begins it has to end it. */
export async function followPlans(
  cp: ControlPlane,
  taken: (change: StoredChange) => void = () => undefined,
): Promise<PlanLog> {
  const seen = new Map<string, RebalancePlan>();
  const most = new Map<string, number>();
  const see = (plan: RebalancePlan): void => {
    seen.set(keyOf(plan), plan);
    most.set(keyOf(plan), Math.max(most.get(keyOf(plan)) ?? 0, phasesInFlight(plan).length));
  };
  const join = createJoin();
  const take = (change: StoredChange): void => {
    taken(change);
    const plan = join(change);
    if (plan !== undefined) {
      see(plan);
    }
  };
  const watches = await Promise.all([
    watchObjects<RebalancePlan>(cp, `${API}/rebalanceplans`, ({ object }) => take({ kind: 'Plan', object })),
    watchObjects<MoveJournal>(cp, `${API}/movejournals`, ({ object }) => take({ kind: 'Journal', object })),
  ]);
  let isStopped = false;
  return {
    all: () => [...seen.values()],
    look: async () => (await getPlans(cp)).forEach(see),
    mostInFlight: (plan) => most.get(keyOf(plan)) ?? 0,
    stop: async () => {
      if (!isStopped) {
        isStopped = true;
        await Promise.all(watches.map((watch) => watch.stop()));
      }
    },
  };
}

/** Returns what each change makes of its plan; undefined where that is not known yet, or the same as before. */
export function createJoin(): (change: StoredChange) => RebalancePlan | undefined {
  // As they are stored: the plans alone, and their journals.
  const stored = new Map<string, RebalancePlan>();
  const journals = new Map<string, MoveJournal>();
  return ({ kind, object }) => {
    const { name } = object.metadata;
    if (kind === 'Plan') {
      stored.set(name, object);
    } else {
      journals.set(name, object);
    }
    const [plan, journal] = [stored.get(name), journals.get(name)];
    return plan !== undefined && (journal === undefined || !isJournalOf(journal, plan) || !isBehind(plan, journal))
      ? withJournal(plan, journal)
      : undefined;
  };
}

/** Tells a plan from every other one, those that are gone included. */
export function keyOf({ metadata: { uid, name } }: RebalancePlan): string {
  return uid ?? name;
}

/** Phases of the moves of a plan that are in flight: from Intent to Verifying. */
export function phasesInFlight({ status }: RebalancePlan): readonly MovePhase[] {
  return (status?.moves ?? []).map(({ phase }) => phase).filter(isInFlight);
}

const ENDED = ['Completed', 'Aborted', 'Superseded'];

/** Whether nothing more will happen to the plan. */
export function hasEnded({ status }: RebalancePlan): boolean {
  return ENDED.includes(status?.phase ?? '');
}

/** The longest that balance is waited for: a busy machine takes several plans, and pods that start slowly a minute and more for each. */
const LONGEST_WAIT = 900_000;

/** Waits until the policies are Converged and every plan has ended. Resolves to what went against that, so that evidence is not lost. */
export async function untilConverged(
  cp: ControlPlane,
  policies: readonly string[],
  plans: PlanLog,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const missing = async (): Promise<string | undefined> => {
    await plans.look();
    const found = await Promise.all(policies.map((policy) => getPolicy(cp, policy)));
    const unbalanced = found.flatMap(({ metadata, status }) => {
      const converged = status?.conditions?.find(({ type }) => type === 'Converged');
      return converged?.status === 'True'
        ? []
        : [`${metadata.name} converged ${converged?.status}: ${converged?.message}`];
    });
    const open = plans.all().filter((plan) => !hasEnded(plan));
    const phases = open.map(({ metadata, status: { phase } = {} }) => `${metadata.name} is ${phase}`);
    const left = [...unbalanced, ...phases];
    return left.length === 0 ? undefined : left.join('; ');
  };
  try {
    await waitUntil('balance', missing, { timeoutMilliseconds: LONGEST_WAIT, log });
    return [];
  } catch (error) {
    return [String(error)];
  }
}

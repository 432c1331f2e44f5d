import type { RebalancePlanStatus } from '../api/v1alpha1/rebalance-plan.ts';
import type { JournalEntry } from './move.ts';
import { isFinal, NOT_EVICTED } from './transitions.ts';

type MovedApplication = NonNullable<RebalancePlanStatus['applications']>[number];

/**
 * How far the applications are moved of which these are moves, those that are not Complete first. What is moved in part stays so
 * until the next run, which starts from where its pods are (docs/design/applications.md).
 */
export function movedApplications(journal: readonly JournalEntry[]): readonly MovedApplication[] {
  return [...byApplication(journal)]
    .map(([key, own]): MovedApplication => {
      const [namespace = '', name = ''] = key.split('/');
      const landed = own.filter(({ run }) => run.phase === 'Landed').length;
      return { namespace, name, phase: phaseOf(own, landed), landed, moves: own.length };
    })
    .sort((left, right) => Number(left.phase === 'Complete') - Number(right.phase === 'Complete'));
}

function phaseOf(own: readonly JournalEntry[], landed: number): MovedApplication['phase'] {
  if (landed === own.length) {
    return 'Complete';
  }
  return own.every(({ run }) => NOT_EVICTED.has(run.phase)) ? 'Unmoved' : 'Partial';
}

/** Applications that are named in a sentence. */
const FEW = 3;

/** Applications that are moved in part, for people: `shop/checkout (2 of 5 moves landed)`; empty where there are none. */
export function partlyMoved(applications: readonly MovedApplication[]): string {
  const names = applications
    .filter(({ phase }) => phase === 'Partial')
    .map(({ namespace, name, landed, moves }) => `${namespace}/${name} (${landed} of ${moves} moves landed)`);
  return `${names.slice(0, FEW).join(', ')}${names.length > FEW ? ` and ${names.length - FEW} more` : ''}`;
}

/**
 * The moves of applications of which none has begun and one has ended: the others would move half of the application, which the next run
 * plans anew. By application, the move that has ended.
 */
export function givenUp(journal: readonly JournalEntry[]): ReadonlyMap<string, JournalEntry> {
  return new Map(
    [...byApplication(journal)].flatMap(([key, own]) => {
      const ended = own.find(({ run }) => isFinal(run.phase));
      return ended !== undefined && own.every(({ run }) => NOT_EVICTED.has(run.phase)) ? [[key, ended] as const] : [];
    }),
  );
}

/** Names of applications of which a move has begun. */
export function begunApplications(journal: readonly JournalEntry[]): ReadonlySet<string> {
  const begun = journal.filter(({ run }) => !NOT_EVICTED.has(run.phase));
  return new Set(begun.flatMap(({ move }) => move.application ?? []));
}

function byApplication(journal: readonly JournalEntry[]): ReadonlyMap<string, readonly JournalEntry[]> {
  const grouped = journal.filter(({ move }) => move.application !== undefined);
  return Map.groupBy(grouped, ({ move }) => move.application ?? '');
}

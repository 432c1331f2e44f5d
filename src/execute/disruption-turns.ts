import { isDisruption } from '../model/move.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { PdbInfo } from '../model/workload.ts';
import { createTally, isSpent } from '../plan/budgets/budget.ts';
import { pdbLookup } from '../plan/budgets/pod-disruption-budget.ts';
import type { JournalEntry } from './move.ts';

/**
 * Those of the moves that begin now, so that no PodDisruptionBudget has to refuse an eviction for the sake of another move: the rest
 * waits, and spends no try. A budget that allows nothing is waited for while a move is in flight in its namespace, which ends sooner
 * or later, and whose replacement may be what the budget lacks; else the eviction API is to say why it refuses.
 */
export function withinDisruptionBudgets(
  ready: readonly JournalEntry[],
  inFlight: readonly JournalEntry[],
  { pods, pdbs }: Pick<ClusterSnapshot, 'pods' | 'pdbs'>,
): readonly JournalEntry[] {
  const uids = new Set(ready.map(({ move }) => move.pod.uid));
  const lookup = pdbLookup(pdbs);
  const pdbOf = new Map(
    pods
      .filter(({ uid }) => uids.has(uid))
      .map((pod) => [pod.uid, lookup(pod).find(({ allowsUnready }) => pod.ready || !allowsUnready)]),
  );
  const busy = new Set(inFlight.filter(({ move }) => isDisruption(move)).map(({ move }) => move.pod.namespace));
  const begun = createTally<PdbInfo>();
  return ready.filter(({ move }) => {
    const pdb = isDisruption(move) ? pdbOf.get(move.pod.uid) : undefined;
    if (pdb === undefined) {
      return true;
    }
    const before = begun.of(pdb);
    if (isSpent(before, pdb.disruptionsAllowed) && (before > 0 || busy.has(pdb.namespace))) {
      return false;
    }
    begun.add(pdb);
    return true;
  });
}

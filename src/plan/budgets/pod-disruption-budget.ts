import { compareText } from '../../model/compare-text.ts';
import type { PodInfo } from '../../model/pod.ts';
import type { PdbInfo } from '../../model/workload.ts';
import { itemAt, type PodIndex } from '../indices.ts';
import { createSelectorIndex, type SelectorIndex } from '../topology/selector-index.ts';
import { type Budget, type BudgetRefusal, createTally, isSpent } from './budget.ts';

/** Finds the PodDisruptionBudgets that select a pod. */
export type PdbLookup = (pod: PodInfo) => readonly PdbInfo[];

const NONE: readonly PdbInfo[] = [];

/** Indexes `pdbs` by namespace and selector. A null selector selects nothing, an empty one everything (policy/v1). */
export function pdbLookup(pdbs: readonly PdbInfo[]): PdbLookup {
  const byNamespace = new Map<string, SelectorIndex<PdbInfo>>();
  for (const pdb of pdbs) {
    if (pdb.selector !== undefined) {
      const index = byNamespace.get(pdb.namespace) ?? createSelectorIndex<PdbInfo>();
      index.add(pdb.selector, pdb);
      byNamespace.set(pdb.namespace, index);
    }
  }
  let last: { readonly pod: PodInfo; readonly found: readonly PdbInfo[] } | undefined;
  return (pod) => {
    // Pods of one template, which mostly come in a row, share their labels.
    if (last?.pod.labels !== pod.labels || last.pod.namespace !== pod.namespace) {
      last = { pod, found: byNamespace.get(pod.namespace)?.find(pod.labels) ?? NONE };
    }
    return last.found;
  };
}

/**
 * Why no plan may move the pod: several budgets select it, to which the eviction API answers 500 (registry/core/pod
 * eviction), or the one that does allows nothing now, not even for a pod that is not Ready. `undefined` when one move at least
 * is possible.
 */
export function pdbHold(pdbs: readonly PdbInfo[], { ready }: Pick<PodInfo, 'ready'>): BudgetRefusal | undefined {
  const [first, second] = pdbs;
  if (first === undefined) {
    return undefined;
  }
  if (second !== undefined) {
    const names = pdbs.map(({ name }) => name).sort(compareText);
    const message = `${pdbs.length} PodDisruptionBudgets select it (${names.join(', ')}): the eviction API refuses such pods`;
    return { code: 'PodDisruptionBudget', message: message.slice(0, 500), numbers: { pdbs: pdbs.length } };
  }
  const isAllowed = (!ready && first.allowsUnready) || !isSpent(0, first.disruptionsAllowed);
  return isAllowed ? undefined : exhausted(first, 0);
}

/** At most `disruptionsAllowed` moves of the pods of one PodDisruptionBudget in a plan. */
export function podDisruptionBudget(lookup: PdbLookup, pods: readonly PodInfo[]): Budget {
  const tally = createTally<PdbInfo>();
  const pdbsOf = (pod: PodIndex): readonly PdbInfo[] => lookup(itemAt(pods, pod));
  /** An eviction of a pod that is not Ready spends nothing where it needs no permission. */
  const spentBy = (pod: PodIndex): readonly PdbInfo[] =>
    pdbsOf(pod).filter(({ allowsUnready }) => itemAt(pods, pod).ready || !allowsUnready);
  return {
    check: (pod) => {
      const hold = pdbHold(pdbsOf(pod), itemAt(pods, pod));
      const [first] = spentBy(pod);
      if (hold !== undefined || first === undefined) {
        return hold;
      }
      const moved = tally.of(first);
      return isSpent(moved, first.disruptionsAllowed) ? exhausted(first, moved) : undefined;
    },
    spend: (pod) => {
      for (const pdb of spentBy(pod)) {
        tally.add(pdb);
      }
    },
    refund: (pod) => {
      for (const pdb of spentBy(pod)) {
        tally.remove(pdb);
      }
    },
  };
}

/**
 * What PodDisruptionBudgets allow now, of a plan that is carried out in waves: its moves wait for the replacements of those before them
 * (execute/disruption-turns.ts), so the number of them is not limited.
 */
export function disruptionsInWaves(lookup: PdbLookup, pods: readonly PodInfo[]): Budget {
  const nothing = (): void => undefined;
  return { check: (pod) => pdbHold(lookup(itemAt(pods, pod)), itemAt(pods, pod)), spend: nothing, refund: nothing };
}

function exhausted({ namespace, name, disruptionsAllowed }: PdbInfo, moved: number): BudgetRefusal {
  const spent = moved > 0 ? `, ${moved} of which this plan uses` : '';
  const message = `PodDisruptionBudget ${namespace}/${name} allows ${disruptionsAllowed} disruptions${spent}`;
  return { code: 'PodDisruptionBudget', message, numbers: { disruptionsAllowed, moved } };
}

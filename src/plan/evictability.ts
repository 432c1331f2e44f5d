import type { PodInfo } from '../model/pod.ts';
import { matches } from '../model/selector.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { BudgetRefusal } from './budgets/budget.ts';
import type { Cooldowns } from './budgets/cooldown.ts';
import { type PdbLookup, pdbHold } from './budgets/pod-disruption-budget.ts';
import { type Protection, protectionOf, protectionsOf } from './budgets/protections.ts';
import { rolloutTest } from './budgets/rollout.ts';
import { at, type PodIndex } from './indices.ts';
import type { PolicyOptions } from './options.ts';
import { ownerOf } from './owners.ts';
import type { Subjects } from './pod-usage.ts';
import { scopeProblemOnNode } from './scope.ts';

/** Why no plan moves a pod: a protection, or a PodDisruptionBudget that allows nothing. */
export type EvictionBlock = Protection | BudgetRefusal;

/** What can be said of the pods before anything is known of loads. Pods are named by their place. */
export interface Evictability {
  /** 1 for the pods that the policy is about. */
  readonly inScope: Uint8Array;
  /** The first that applies, of pods in scope. */
  readonly of: (pod: PodIndex) => EvictionBlock | undefined;
  /** Every one that applies, being out of scope among them, in the order in which they are reported. */
  readonly all: (pod: PodIndex) => readonly EvictionBlock[];
}

/** Judges every pod once. */
export function assessEvictability(
  snapshot: ClusterSnapshot,
  { pods, owners, nodes, located }: Subjects,
  pdbs: PdbLookup,
  { scope, protections }: PolicyOptions,
  cooldowns: Cooldowns,
): Evictability {
  const isSelected = nodes.map((node) => matches(scope.nodeSelector, node.labels));
  const problemOnNode = scopeProblemOnNode(scope, snapshot);
  const problemOf = (pod: PodInfo, place: PodIndex): string | undefined => {
    const site = at(located, place);
    return problemOnNode(pod, site < 0 ? pod.nodeName === undefined : isSelected[site] === true);
  };
  const rollout = rolloutTest(snapshot, protections.stabilization);
  const guards = { storage: snapshot.storage, isCovered: (pod: PodInfo) => pdbs(pod).length > 0 };
  const context = { options: protections, now: snapshot.takenAt, rollout, cooldowns, guards };
  const inScope = new Uint8Array(pods.length);
  const holds: (EvictionBlock | undefined)[] = pods.map((pod, place) => {
    if (problemOf(pod, place) !== undefined) {
      return undefined;
    }
    inScope[place] = 1;
    return protectionOf(pod, ownerOf(owners, place), context) ?? pdbHold(pdbs(pod), pod);
  });
  return {
    inScope,
    of: (pod) => holds[pod],
    all: (place) => {
      const pod = pods[place];
      return pod === undefined
        ? []
        : [
            ...outOfScope(problemOf(pod, place)),
            ...protectionsOf(pod, ownerOf(owners, place), context),
            ...given(pdbHold(pdbs(pod), pod)),
          ];
    },
  };
}

function outOfScope(problem: string | undefined): readonly EvictionBlock[] {
  return problem === undefined ? [] : [{ code: 'OutOfScope', message: problem, numbers: {} }];
}

function given(hold: EvictionBlock | undefined): readonly EvictionBlock[] {
  return hold === undefined ? [] : [hold];
}

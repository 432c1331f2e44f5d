import type { NodeSelectorTerm } from '../model/node.ts';
import { HOSTNAME_LABEL, MAX_NARROWED_TERMS, type Placement, PREFERENCE_WEIGHTS } from '../model/placement.ts';
import type { PodInfo, SchedulingConstraints } from '../model/pod.ts';
import type { Requirement } from '../model/selector.ts';

/** The constraints of a pod that was steered to `placement`: what `steeredAffinity` makes of its affinity. */
export function steeredConstraints(constraints: SchedulingConstraints, placement: Placement): SchedulingConstraints {
  const { target, fallbacks, alternatives } = placement;
  const preferences = PREFERENCE_WEIGHTS.flatMap((weight, rank) => {
    const name = [target, ...fallbacks][rank];
    return name === undefined ? [] : [{ weight, term: { expressions: [], fields: [isNamed(name)] } }];
  });
  return {
    ...constraints,
    preferredNodeAffinity: [...constraints.preferredNodeAffinity, ...preferences],
    nodeAffinity:
      alternatives !== undefined && canBeNarrowed(constraints)
        ? narrowed(constraints.nodeAffinity, alternatives)
        : constraints.nodeAffinity,
  };
}

/** Whether a pod can be kept to alternatives at all (see `steeredAffinity`). */
export function canBeNarrowed({ nodeAffinity = [] }: SchedulingConstraints): boolean {
  return (
    nodeAffinity.length <= MAX_NARROWED_TERMS &&
    nodeAffinity.every(({ expressions, fields }) => expressions.length + fields.length > 0)
  );
}

/** A pod as the scheduler sees it: with what steering added to its constraints. */
export function asSteered(pod: PodInfo): PodInfo {
  return pod.placement === undefined
    ? pod
    : { ...pod, constraints: steeredConstraints(pod.constraints, pod.placement) };
}

function isNamed(name: string): Requirement {
  return { key: 'metadata.name', operator: 'In', values: [name] };
}

function narrowed(
  terms: readonly NodeSelectorTerm[] | undefined,
  alternatives: readonly string[],
): readonly NodeSelectorTerm[] {
  const names: Requirement = { key: HOSTNAME_LABEL, operator: 'In', values: alternatives };
  const known = terms ?? [{ expressions: [], fields: [] }];
  return known.map(({ expressions, fields }) => ({ expressions: [...expressions, names], fields }));
}

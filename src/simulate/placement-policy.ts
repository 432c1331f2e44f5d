import type { SchedulingConstraints } from '../model/pod.ts';
import type { EventQueue } from './event-queue.ts';

/** Time until the API server sees a new hint (control-plane.md, steering). */
const HINT_DELAY = 1;

const HOSTNAME = 'kubernetes.io/hostname';

/** The admission policy that goes by placement hints. */
export interface PlacementPolicy {
  /** Makes the next pods of a controller prefer a node, under the uid of the evicted pod. */
  readonly place: (podUid: string, owner: string, node: string) => void;
  readonly remove: (podUid: string) => void;
  /** What a new pod of this controller asks for: what its template says, and a preferred host name of the highest weight. */
  readonly steered: (constraints: SchedulingConstraints, owner: string) => SchedulingConstraints;
}

interface Hint {
  readonly owner: string;
  readonly node: string;
  readonly seenAt: number;
}

/** A policy without hints. */
export function createPlacementPolicy(queue: EventQueue): PlacementPolicy {
  const hints = new Map<string, Hint>();
  const hinted = new Map<SchedulingConstraints, Map<string, SchedulingConstraints>>();
  return {
    place: (podUid, owner, node) => {
      hints.set(podUid, { owner, node, seenAt: queue.now() + HINT_DELAY });
    },
    remove: (podUid) => {
      hints.delete(podUid);
    },
    steered: (constraints, owner) => {
      const hint = [...hints.values()].find((each) => each.owner === owner && each.seenAt <= queue.now());
      return hint === undefined ? constraints : withHint(constraints, hint.node, hinted);
    },
  };
}

function withHint(
  constraints: SchedulingConstraints,
  node: string,
  known: Map<SchedulingConstraints, Map<string, SchedulingConstraints>>,
): SchedulingConstraints {
  const byNode = known.get(constraints) ?? new Map<string, SchedulingConstraints>();
  known.set(constraints, byNode);
  const term = { expressions: [{ key: HOSTNAME, operator: 'In' as const, values: [node] }], fields: [] };
  const preferred = [...constraints.preferredNodeAffinity, { weight: 100, term }];
  const steered = byNode.get(node) ?? { ...constraints, preferredNodeAffinity: preferred };
  byNode.set(node, steered);
  return steered;
}

import { capacityRefusal } from '../filters/index.ts';
import { copyCapacity, occupy, vacate } from '../free-capacity.ts';
import { at, type NodeIndex, type PodIndex } from '../indices.ts';
import { subjectOf } from '../shapes.ts';
import type { State } from '../state.ts';
import { NO_NEEDS } from '../topology/needs.ts';

/** Tries out who would have to leave a node so that a pod fits there; nothing of it lasts. */
export interface Trial {
  readonly remove: (victim: number) => void;
  readonly restore: (victim: number) => void;
  readonly fits: () => boolean;
}

/**
 * A trial of `pod` on `node`, which the filters of nodes allow. Where only what runs on the node matters to the pod a copy of
 * its room will do; else pods leave `state`, and must be restored in the end.
 */
export function createTrial(state: State, pod: PodIndex, node: NodeIndex): Trial {
  const { shapes, sites, nodes, siteOf, pods } = state.cluster;
  const subject = subjectOf(shapes, pod);
  const info = nodes[node];
  if (subject === undefined || info === undefined) {
    throw new RangeError(`no shape for pod ${pod}, or no node ${node}`);
  }
  if (subject.topology !== NO_NEEDS || sites.nominees.size > 0) {
    return {
      remove: state.lift,
      restore: (victim) => state.place(victim, node),
      fits: () => state.fits(pod, node),
    };
  }
  const room = copyCapacity(state.whereabouts.freeCapacityOf(at(siteOf, node)));
  const update = (change: typeof occupy, victim: number): void => {
    const constraints = pods[victim]?.constraints;
    if (constraints !== undefined) {
      change(room, constraints, sites.attachmentsOf(victim));
    }
  };
  return {
    remove: (victim) => update(vacate, victim),
    restore: (victim) => update(occupy, victim),
    fits: () => capacityRefusal(subject, info, room) === undefined,
  };
}

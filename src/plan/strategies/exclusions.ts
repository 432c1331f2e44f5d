import type { StateView } from '../state.ts';
import type { Proposal, Verdict } from './strategy.ts';

/** What the planner's refusals have ruled out for the rest of a plan, so that nothing is proposed twice. */
export interface Exclusions {
  /** Whether the pod may still be proposed. */
  readonly allows: (pod: number) => boolean;
  /** Whether nothing at all is accepted any more. */
  readonly isOver: () => boolean;
  /** Takes note of the verdict on a proposal that was made in the current state. */
  readonly note: (proposal: Proposal, from: number, verdict: Verdict) => void;
}

/**
 * No exclusions yet. A pod that has been moved is out as well, since a plan moves it at most once. A refusal of a single
 * move takes out the pod: strategies propose only what fits and gains, so that is rare.
 */
export function createExclusions({ cluster }: StateView): Exclusions {
  const pods = new Uint8Array(cluster.pods.length);
  const nodes = new Uint8Array(cluster.nodes.length);
  let over = false;
  return {
    allows: (pod) => pods[pod] !== 1 && nodes[cluster.home[pod] ?? -1] !== 1,
    isOver: () => over,
    note: ({ pod }, from, verdict) => {
      pods[pod] = 1;
      if (verdict.accepted) {
        return;
      }
      if (verdict.reach === 'Node') {
        nodes[from] = 1;
      }
      over ||= verdict.reach === 'Plan';
    },
  };
}

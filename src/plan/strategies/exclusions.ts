import { at, type NodeIndex, type PodIndex } from '../indices.ts';
import type { StateView } from '../state.ts';
import type { Proposal, Terms, Verdict } from './strategy.ts';

/** What is ruled out for the rest of a plan, so that nothing is proposed in vain or twice. */
export interface Exclusions {
  /** Whether the pod may still be proposed. */
  readonly allows: (pod: PodIndex) => boolean;
  /** Whether nothing at all is accepted any more. */
  readonly isOver: () => boolean;
  /** Yields a proposal, takes note of the verdict, and returns whether it was accepted. */
  readonly offer: (proposal: Proposal) => Generator<Proposal, boolean, Verdict>;
}

/**
 * No exclusions yet. A pod that has been moved is out, since a plan moves it at most once, and so is one that the
 * budgets refuse. A refusal of a single move takes out its pod: strategies propose only what fits and gains, so that is
 * rare.
 */
export function createExclusions({ cluster }: StateView, { mayMove }: Terms): Exclusions {
  const pods = new Uint8Array(cluster.pods.length);
  const nodes = new Uint8Array(cluster.nodes.length);
  let over = false;
  const homeOf = (pod: PodIndex): NodeIndex => at(cluster.home, pod);
  return {
    allows: (pod) => pods[pod] !== 1 && nodes[homeOf(pod)] !== 1 && mayMove(pod),
    isOver: () => over,
    offer: function* offer(proposal) {
      const verdict = yield proposal;
      for (const pod of [proposal.pod, proposal.then?.pod ?? proposal.pod]) {
        pods[pod] = 1;
      }
      const reach = verdict.accepted ? 'Pod' : verdict.reach;
      if (reach === 'Node') {
        nodes[homeOf(proposal.pod)] = 1;
      }
      over ||= reach === 'Plan';
      return verdict.accepted;
    },
  };
}

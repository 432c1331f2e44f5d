import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { SteeringMode } from '../api/v1alpha1/rebalance-policy.ts';
import { type Seconds, seconds } from '../model/units.ts';
import type { Clock, ClusterReader, Steering } from '../ports.ts';
import { choosePlacements } from '../steer/choose-placements.ts';
import { withCommitments } from './commitments.ts';
import type { JournalEntry } from './move.ts';

/** Time that the API server may take to see a new hint before the replacement is created (control-plane.md, steering). */
export const HINT_PROPAGATION: Seconds = seconds(1);

/** Whether a mode of steering reads hints. */
const PLACES_HINTS = {
  AdmissionPolicy: true,
  Webhook: true,
  Gate: false,
  None: false,
} as const satisfies Record<SteeringMode, boolean>;

/** Whether the replacements of a plan are to be created with a preference for their planned nodes. */
export function placesHints({ status }: RebalancePlan): boolean {
  return PLACES_HINTS[status?.steering ?? 'None'];
}

interface HintPorts {
  readonly reader: ClusterReader;
  readonly steering: Steering;
  readonly clock: Clock;
}

/**
 * Places the hints of moves that are about to evict, each with the alternatives that it takes at this moment, and waits until
 * the API server has seen them. `inFlight` are the other moves that are under way, of all plans. Resolves to why hints could not
 * be placed, by index of their moves.
 */
export async function placeHints(
  plan: RebalancePlan,
  moves: readonly JournalEntry[],
  inFlight: readonly JournalEntry[],
  { reader, steering, clock }: HintPorts,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, unknown>> {
  const failed = new Map<number, unknown>();
  const steered = placesHints(plan) ? moves.filter(({ move }) => move.from !== undefined && move.to !== undefined) : [];
  if (steered.length === 0) {
    return failed;
  }
  const snapshot = await reader.placements(signal);
  const pods = withCommitments(snapshot.pods, inFlight);
  const wishes = steered.map(({ move: { pod, to: target = '', fallbacks = [] } }) => ({
    uid: pod.uid,
    target,
    fallbacks,
  }));
  const placements = choosePlacements({ ...snapshot, pods }, wishes, 'IfNeeded');
  for (const { move, index } of steered) {
    const { fallbacks = [], alternatives } = placements.get(move.pod.uid) ?? {};
    const hint = {
      ownerUID: move.owner.uid,
      nodeName: move.to ?? '',
      ...(fallbacks.length === 0 ? {} : { fallbacks: [...fallbacks] }),
      ...(alternatives === undefined ? {} : { alternatives: [...alternatives] }),
      plan: plan.metadata.name,
      podUID: move.pod.uid,
    };
    await steering.place(move.pod.namespace, hint, plan, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      failed.set(index, error);
    });
  }
  await clock.sleep(HINT_PROPAGATION, signal);
  return failed;
}

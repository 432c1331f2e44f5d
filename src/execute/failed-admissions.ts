import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { parseInstant } from '../model/instant.ts';
import { kindOf } from '../model/move.ts';
import { oncePer } from '../model/once-per.ts';
import type { PodInfo, SchedulingConstraints } from '../model/pod.ts';
import { after, type EpochSeconds, elapsed, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import { entries } from './journal.ts';
import type { JournalEntry } from './move.ts';
import { ADMISSION_PATIENCE } from './verify.ts';

/** The longest time for which a pod that waits is kept from a node. */
export const LONGEST_REST: Seconds = seconds(3600);

/** When nodes may be tried again that may not be yet, by UID of the controller and name of the node. */
export type Rests = ReadonlyMap<string, ReadonlyMap<string, EpochSeconds>>;

/** Admissions of pods of one controller to one node that failed. */
interface Failures {
  readonly count: number;
  readonly last: EpochSeconds;
}

/**
 * The pods as the next plan may place them: one that waits goes to no node on which an admission of its controller's pods failed
 * a short while ago, since a node that is broken in a way which no filter sees would be tried without end. A minute after the
 * first failure, twice as long after each, up to an hour.
 */
export function withoutFailedTargets(pods: readonly PodInfo[], rests: Rests): readonly PodInfo[] {
  if (rests.size === 0) {
    return pods;
  }
  const made = new Map([...rests.keys()].map((owner) => [owner, new Map()] as const));
  return pods.map((pod) => {
    const owner = pod.owner?.uid ?? '';
    const [nodes, known] = [rests.get(owner), made.get(owner)];
    return nodes === undefined || known === undefined || pod.waiting?.gated !== true
      ? pod
      : { ...pod, constraints: without([...nodes.keys()].sort(), pod.constraints, known) };
  });
}

/** When the next plan may place one of the pods where this one may not; `undefined` where no node is kept from one that waits. */
export function firstRestEnds(pods: readonly PodInfo[], rests: Rests): EpochSeconds | undefined {
  if (rests.size === 0) {
    return undefined;
  }
  const owners = new Set(pods.flatMap(({ owner, waiting }) => (waiting?.gated === true ? [owner?.uid ?? ''] : [])));
  const ends = [...rests].flatMap(([owner, nodes]) => (owners.has(owner) ? [...nodes.values()] : []));
  return ends.reduce<EpochSeconds | undefined>(
    (first, end) => epochSeconds(Math.min(first ?? Number.POSITIVE_INFINITY, end)),
    undefined,
  );
}

/** By the journals that are kept, so that a new leader knows as much. */
export function restsOf(plans: readonly RebalancePlan[], now: EpochSeconds): Rests {
  const failures = new Map<string, Map<string, Failures>>();
  for (const { move, run } of plans.flatMap(failedAdmissions)) {
    const { owner, to = '' } = move;
    const byNode = failures.get(owner.uid) ?? new Map<string, Failures>();
    const { count = 0, last = now } = byNode.get(to) ?? {};
    const at = parseInstant(run.finishedAt ?? '');
    failures.set(owner.uid, byNode.set(to, { count: count + 1, last: count === 0 || at > last ? at : last }));
  }
  const rests = [...failures].map(([owner, byNode]) => {
    const resting = [...byNode].filter(([, failed]) => failed.last <= now && now < restEnds(failed));
    return [owner, new Map(resting.map(([node, failed]) => [node, restEnds(failed)]))] as const;
  });
  return new Map(rests.filter(([, nodes]) => nodes.size > 0));
}

/** Of one plan. */
export const failedAdmissions = oncePer((plan: RebalancePlan): readonly JournalEntry[] =>
  entries(plan).filter(hasFailed),
);

/** Whether the node did not take the pod in time; one that was deleted before says nothing of its node. */
function hasFailed({ move, run }: JournalEntry): boolean {
  const { phase, startedAt, finishedAt } = run;
  const isOver = phase === 'Failed' && startedAt !== undefined && finishedAt !== undefined;
  return (
    kindOf(move) === 'Admission' &&
    isOver &&
    elapsed(parseInstant(startedAt), parseInstant(finishedAt)) >= ADMISSION_PATIENCE
  );
}

function restEnds({ count, last }: Failures): EpochSeconds {
  return after(last, seconds(Math.min(LONGEST_REST, ADMISSION_PATIENCE * 2 ** (count - 1))));
}

/** One object for pods of one template, as verdicts are remembered by it. An empty term matches no node, and stays so. */
function without(
  nodes: readonly string[],
  constraints: SchedulingConstraints,
  known: Map<SchedulingConstraints, SchedulingConstraints>,
): SchedulingConstraints {
  const alike = known.get(constraints);
  if (alike !== undefined) {
    return alike;
  }
  const others = { key: 'metadata.name', operator: 'NotIn', values: nodes } as const;
  const terms = constraints.nodeAffinity?.filter(({ expressions, fields }) => expressions.length + fields.length > 0);
  const nodeAffinity = (terms ?? [{ expressions: [], fields: [] }]).map((term) => ({
    ...term,
    fields: [...term.fields, others],
  }));
  const made = { ...constraints, nodeAffinity };
  known.set(constraints, made);
  return made;
}

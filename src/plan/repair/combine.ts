import { MAX_MOVES } from '../../api/v1alpha1/rebalance-plan.ts';
import { type PodRef, podKey } from '../../model/pod.ts';
import { count } from '../format.ts';
import { planHash } from '../hash.ts';
import { at, itemAt, type PodIndex, type SiteIndex } from '../indices.ts';
import { ownerOf } from '../owners.ts';
import type { Move, Plan, PlanOutcome, Reason, Rejections } from '../plan.ts';
import type { PlanningInput } from '../planning-input.ts';
import { isBudgetCode } from '../rejection-codes.ts';
import { STRATEGY_TRAITS } from '../strategies/traits.ts';
import type { TopologyNeeds } from '../topology/needs.ts';
import { refusalsAt } from '../verdicts.ts';
import { joined } from './join.ts';
import type { RepairStage } from './stage.ts';

/** One plan out of its two stages: the moves of the strategy come behind those that repair, and know which of them they need. */
export function withRepairs(plan: Plan, stage: RepairStage, input: PlanningInput): Plan {
  const moves = [...stage.moves, ...behind(plan.moves, stage, input)].slice(0, MAX_MOVES);
  return combined(plan, stage, { moves, expectedHitRatio: meanRatio(stage, plan) });
}

/**
 * The same where the strategy could move pods again that repairs have moved: each goes to where it ends up at once, and the plan
 * that follows finds nothing left to do. `undefined` when that cannot be put in one sequence.
 */
export function withFurtherMoves(found: Plan, stage: RepairStage, input: PlanningInput): Plan | undefined {
  const repaired = stage.relocations.map(({ pod }) => itemAt(input.pods, pod));
  const plan = { ...found, rejections: withoutPods(found.rejections, new Set(repaired)) };
  const uids = new Set(repaired.map(({ uid }) => uid));
  if (stage.relocating === undefined || !plan.moves.some(({ pod }) => uids.has(pod.uid))) {
    return withRepairs(plan, stage, input);
  }
  const together = joined(plan, stage.relocating, input);
  if (together === undefined) {
    return undefined;
  }
  const removals = stage.moves.filter((move) => 'removal' in move);
  const moves = [...together.moves, ...removals];
  return combined(withThoseThatStay(plan, moves, stage, input), stage, {
    ...together,
    moves: moves.slice(0, MAX_MOVES),
  });
}

const ENDS_AT_HOME: Reason = {
  code: 'NotNeeded',
  message: 'after the other moves of this plan it may stay on its node',
  numbers: {},
};

/** A pod that the repairs would move and the strategy brings back is moved by neither. */
function withThoseThatStay(plan: Plan, moves: readonly Move[], stage: RepairStage, { pods }: PlanningInput): Plan {
  const moved = new Set(moves.map(({ pod }) => pod.uid));
  const home = new Set(stage.moves.flatMap(({ pod }) => (moved.has(pod.uid) ? [] : [pod.uid])));
  const staying = home.size === 0 ? [] : pods.filter(({ uid }) => home.has(uid));
  const { rejections } = plan;
  return {
    ...plan,
    rejections: {
      pods: [...rejections.pods, ...staying],
      reasons: [...rejections.reasons, ...staying.map(() => ENDS_AT_HOME)],
    },
  };
}

function combined(plan: Plan, stage: RepairStage, both: Pick<Plan, 'moves' | 'expectedHitRatio'>): Plan {
  const strategy = isRepairAlone(plan, stage) ? 'None' : plan.strategy;
  return {
    ...plan,
    ...both,
    strategy,
    outcome: outcomeOf(plan.outcome, stage),
    rejections: explained(plan.rejections, stage),
    hash: planHash(strategy, both.moves),
  };
}

function withoutPods({ pods, reasons }: Rejections, left: ReadonlySet<PodRef>): Rejections {
  const isOther = pods.map((pod) => !left.has(pod));
  return { pods: pods.filter((_, place) => isOther[place]), reasons: reasons.filter((_, place) => isOther[place]) };
}

/** Whether a strategy that balances has no part in the plan, which therefore waits for neither metrics nor a trigger. */
function isRepairAlone(plan: Plan, stage: RepairStage): boolean {
  const { improves } = STRATEGY_TRAITS[plan.strategy];
  return improves === 'Balance' && stage.moves.length > 0 && plan.moves.length === 0;
}

function behind(moves: readonly Move[], stage: RepairStage, input: PlanningInput): readonly Move[] {
  const offset = stage.moves.length;
  const needsOf = offset === 0 || moves.length === 0 ? () => [] : needsOfRepairs(stage, input);
  return moves.map((move) => {
    const own = move.after.map((place) => place + offset);
    const partner = move.partner === undefined ? undefined : move.partner + offset;
    return { ...move, after: [...needsOf(move), ...own], partner };
  });
}

/** A move that is not feasible where the plan begins needs the repairs that leave its target, or that its affinity counts. */
function needsOfRepairs({ relocations }: RepairStage, input: PlanningInput): (move: Move) => readonly number[] {
  const { subjects, pods } = input;
  const sites = input.sites();
  const { countedBy } = sites.counts.topologyIndex;
  const podOf = new Map(pods.map(({ uid }, place) => [uid, place]));
  const siteOf = new Map(sites.nodes.map(({ name }, place) => [name, place]));
  const where = {
    sites,
    counts: sites.counts,
    siteOf: (pod: PodIndex): SiteIndex => at(subjects.located, pod),
    freeCapacityOf: (site: SiteIndex) => itemAt(sites.rooms, site),
  };
  return (move) => {
    const [pod, site] = [podOf.get(move.pod.uid), siteOf.get(move.to ?? '')];
    if (pod === undefined || site === undefined) {
      return [];
    }
    const subject = sites.subjectOf(pod, ownerOf(subjects.owners, pod)?.workload?.pinnedNode);
    if (refusalsAt(where, pod, subject, site).length === 0) {
      return [];
    }
    const trackers = new Set(trackersOf(subject.topology));
    return relocations.flatMap(({ pod: other, from }, place) =>
      from === site || countedBy(other).some((tracker) => trackers.has(tracker)) ? [place] : [],
    );
  };
}

function trackersOf({ affinity, antiAffinity, repelledBy, spread }: TopologyNeeds): readonly number[] {
  return [...affinity, ...antiAffinity, ...repelledBy, ...spread].map(({ tracker }) => tracker);
}

function outcomeOf(outcome: PlanOutcome, stage: RepairStage): PlanOutcome {
  const { moves, unrepaired, unremoved, unserved, waiting } = stage;
  const violating = [...unrepaired.values(), ...unremoved.reasons];
  const stays = [...violating, ...unserved.flatMap((pod) => waiting.get(pod) ?? [])];
  const texts = [unservedText(stage), unrepairedText(violating)].filter((text) => text !== undefined);
  const stuck = texts.length === 0 ? undefined : texts.join('; ');
  if (moves.length > 0 || outcome.kind === 'Moves') {
    const rest = outcome.kind === 'Moves' ? outcome.obstacle : restOf(outcome);
    const parts = [stuck, rest].filter((part) => part !== undefined);
    return { kind: 'Moves', obstacle: parts.length === 0 ? undefined : parts.join('; ') };
  }
  if (stuck === undefined) {
    return outcome;
  }
  if (outcome.kind === 'NothingToRepair') {
    const refusal = stays.find(({ code }) => isBudgetCode(code));
    return { kind: refusal === undefined ? 'NoBeneficialMove' : 'BudgetExhausted', message: stuck };
  }
  return { ...outcome, message: `${outcome.message}; ${stuck}` };
}

/** Why the strategy adds nothing to the repairs, where that is worth a word. */
function restOf({ kind, message }: Exclude<PlanOutcome, { kind: 'Moves' }>): string | undefined {
  return QUIET.has(kind) ? undefined : `no move besides: ${message}`;
}

const QUIET: ReadonlySet<PlanOutcome['kind']> = new Set([
  'NothingToRepair',
  'NothingToPack',
  'NothingToReroute',
  'Balanced',
]);

function unrepairedText(stays: readonly Reason[]): string | undefined {
  const [first] = stays;
  return first && `${count(stays.length, 'pod')} cannot be repaired; the first: ${first.message}`;
}

function unservedText({ unserved: [first, ...others], waiting }: RepairStage): string | undefined {
  return (
    first &&
    `${count(others.length + 1, 'pinned pod')} without a node cannot be served; the first: ${podKey(first)} ${waiting.get(first)?.message}`
  );
}

/** Pods without a node, and pods that should not be where they are, say so, and why they stay; failed ones come behind. */
function explained({ pods, reasons }: Rejections, { unrepaired, unremoved, waiting }: RepairStage): Rejections {
  const isSilent = unrepaired.size === 0 && waiting.size === 0;
  const own = isSilent
    ? reasons
    : pods.map((pod, place) => waiting.get(pod) ?? unrepaired.get(pod) ?? itemAt(reasons, place));
  return unremoved.pods.length === 0
    ? { pods, reasons: own }
    : { pods: [...pods, ...unremoved.pods], reasons: [...own, ...unremoved.reasons] };
}

function meanRatio(stage: RepairStage, plan: Plan): number | undefined {
  const parts = [
    { ratio: stage.expectedHitRatio, moves: stage.relocations.length },
    { ratio: plan.expectedHitRatio, moves: plan.moves.length },
  ].flatMap(({ ratio, moves }) => (ratio === undefined ? [] : [{ ratio, moves }]));
  const moves = parts.reduce((sum, part) => sum + part.moves, 0);
  return moves === 0 ? undefined : parts.reduce((sum, part) => sum + part.ratio * part.moves, 0) / moves;
}

import type { RepairName } from '../api/v1alpha1/repair.ts';
import { formatDecimal } from '../model/decimal.ts';
import { escapeMarkdown, escapeText } from '../model/escape.ts';
import { kindOf } from '../model/move.ts';
import { podKey } from '../model/pod.ts';
import { FULL_NAMES, type ShortNames, shortNames } from '../model/short-names.ts';
import { count } from '../plan/format.ts';
import type { ImbalanceByResource, Move, Plan } from '../plan/plan.ts';
import { imbalanceStatus, outcomeMessage } from './plan-resource.ts';
import { decimalPercent, QUEUE, sentenceList, targetText } from './plan-text.ts';
import { type Look, PLAIN, renderMarkdownTable, renderTable, type Tone } from './table.ts';

/** What one of two policies makes of a snapshot. */
export interface DiffSide {
  readonly policy: string;
  readonly strategy: string;
  readonly outcome: string;
  readonly message: string;
  readonly moves: number;
  /** Moves that repair something. */
  readonly repairs: number;
  /** Highest minus lowest load of a node, decimal. */
  readonly spread: { readonly before: string; readonly planned: string };
  /** Seconds of service that the moves are expected to cost, decimal. */
  readonly cost: string;
  readonly imbalance: ReturnType<typeof imbalanceStatus>['planned'];
}

/** A pod that the two plans treat differently; `null`: it stays, waits in the queue, or is removed. */
export interface DiffMove {
  readonly change: 'appears' | 'vanishes' | 'goes elsewhere';
  readonly pod: string;
  readonly from: string | null;
  readonly old: string | null;
  readonly new: string | null;
  /** It has failed, and is removed. */
  readonly removal?: true;
  /** What moving it repairs. */
  readonly repairs: readonly RepairName[];
  /** Why it is moved by the new plan, or was by the old one. */
  readonly reason: string;
}

/** Two plans of one snapshot, compared. */
export interface PlanDiff {
  readonly old: DiffSide;
  readonly new: DiffSide;
  /** Moves that both plans have. */
  readonly same: number;
  /** By pod. */
  readonly moves: readonly DiffMove[];
}

/** A plan and the name of its policy. */
export interface NamedPlan {
  readonly policy: string;
  readonly plan: Plan;
}

/** Compares two plans of the same snapshot. */
export function diffPlans(old: NamedPlan, renewed: NamedPlan): PlanDiff {
  const before = new Map(old.plan.moves.map((move) => [move.pod.uid, move]));
  const after = new Map(renewed.plan.moves.map((move) => [move.pod.uid, move]));
  const changed = [
    ...renewed.plan.moves.flatMap((move) => changeOf(before.get(move.pod.uid), move)),
    ...old.plan.moves.flatMap((move) => (after.has(move.pod.uid) ? [] : changeOf(move, undefined))),
  ];
  const both = renewed.plan.moves.filter(({ pod }) => before.has(pod.uid)).length;
  return {
    old: sideOf(old),
    new: sideOf(renewed),
    same: both - changed.filter(({ change }) => change === 'goes elsewhere').length,
    moves: changed.toSorted((left, right) => (left.pod < right.pod ? -1 : 1)),
  };
}

function sideOf({ policy, plan }: NamedPlan): DiffSide {
  return {
    policy,
    strategy: plan.strategy,
    outcome: plan.outcome.kind,
    message: outcomeMessage(plan),
    moves: plan.moves.length,
    repairs: plan.moves.filter(({ repairs }) => repairs.length > 0).length,
    spread: { before: formatDecimal(plan.spread.before), planned: formatDecimal(plan.spread.planned) },
    cost: formatDecimal(plan.moves.reduce((sum, { cost }) => sum + cost, 0)),
    imbalance: imbalanceStatus(plan).planned,
  };
}

function changeOf(before: Move | undefined, after: Move | undefined): readonly DiffMove[] {
  const move = after ?? before;
  if (move === undefined || (before !== undefined && after !== undefined && targetText(before) === targetText(after))) {
    return [];
  }
  return [
    {
      change: before === undefined ? 'appears' : after === undefined ? 'vanishes' : 'goes elsewhere',
      pod: podKey(move.pod),
      from: move.from ?? null,
      old: before?.to ?? null,
      new: after?.to ?? null,
      ...(kindOf(move) === 'Removal' ? { removal: true as const } : {}),
      repairs: move.repairs,
      reason: move.reason,
    },
  ];
}

const NUMBERS = new Set(['OLD', 'NEW']);
const TONES: Readonly<Record<DiffMove['change'], Tone>> = {
  appears: 'good',
  vanishes: 'bad',
  'goes elsewhere': 'notice',
};

/** The comparison for a terminal. */
export function diffTable(diff: PlanDiff, look: Look = PLAIN): string {
  const names = shortNames(nodesIn(diff));
  const [header, rows] = moveRows(diff, names);
  const sections = [
    summary(diff),
    sentencesOf('Old', diff.old, names, look),
    sentencesOf('New', diff.new, names, look),
    renderTable(['FIGURE', 'OLD', 'NEW'], figureRows(diff), NUMBERS, look),
    ...(rows.length === 0 ? [] : [renderTable(header, rows, new Set(), look, toneOf)]),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** What a policy comes to: a sentence, and a list of what follows it. */
function sentencesOf(side: string, { policy, strategy, message }: DiffSide, names: ShortNames, look: Look): string {
  return sentenceList(escapeText(`${side}: ${policy}, ${strategy}:`), message, names, look.columns);
}

/** Every node that the comparison names. */
function nodesIn({ moves }: PlanDiff): readonly string[] {
  return moves.flatMap((move) => [move.from, move.old, move.new]).filter((name) => name !== null);
}

function toneOf(column: string, cell: string): Tone | undefined {
  return column === 'CHANGE' ? TONES[cell as DiffMove['change']] : undefined;
}

/** The comparison for a pull request. */
export function diffMarkdown(diff: PlanDiff): string {
  const [header, rows] = moveRows(diff);
  const sections = [
    `## Rebalancing plans of ${escapeMarkdown(diff.old.policy)} and ${escapeMarkdown(diff.new.policy)}`,
    summary(diff),
    `- old: ${escapeMarkdown(sentence(diff.old))}\n- new: ${escapeMarkdown(sentence(diff.new))}`,
    renderMarkdownTable(['Figure', 'Old', 'New'], figureRows(diff)),
    ...(rows.length === 0 ? [] : ['### Moves that differ', renderMarkdownTable(header, rows)]),
  ];
  return `${sections.join('\n\n')}\n`;
}

function sentence({ policy, strategy, message }: DiffSide): string {
  return `${policy}, ${strategy}: ${message}.`;
}

function summary({ moves, same }: PlanDiff): string {
  if (moves.length === 0) {
    return `The plans are the same: ${count(same, 'move')}.`;
  }
  const of = (change: DiffMove['change']): number => moves.filter((move) => move.change === change).length;
  return `${count(moves.length, 'move')} ${moves.length === 1 ? 'differs' : 'differ'}: ${of('appears')} new, ${of('vanishes')} gone, ${of('goes elsewhere')} to another node; ${same} the same.`;
}

const FIGURE_NAMES = { stddev: 'standard deviation', max: 'highest node', range: 'spread' } as const;

function figureRows({ old, new: renewed }: PlanDiff): readonly (readonly string[])[] {
  const resources = [...new Set([...Object.keys(old.imbalance ?? {}), ...Object.keys(renewed.imbalance ?? {})])];
  const figures = resources.flatMap((resource) =>
    (['stddev', 'max', 'range'] as const).map((figure) => {
      const of = ({ imbalance }: DiffSide): string => {
        const measured = imbalance?.[resource as keyof ImbalanceByResource]?.[figure];
        return measured === undefined ? '-' : decimalPercent(measured);
      };
      return [`${resource} ${FIGURE_NAMES[figure]}, planned`, of(old), of(renewed)];
    }),
  );
  return [
    ['moves', String(old.moves), String(renewed.moves)],
    ...(old.repairs + renewed.repairs === 0 ? [] : [['repairs', String(old.repairs), String(renewed.repairs)]]),
    ['cost of the moves (s)', old.cost, renewed.cost],
    ['spread, before', decimalPercent(old.spread.before), decimalPercent(renewed.spread.before)],
    ['spread, planned', decimalPercent(old.spread.planned), decimalPercent(renewed.spread.planned)],
    ...figures,
  ];
}

function moveRows(
  { moves }: PlanDiff,
  names: ShortNames = FULL_NAMES,
): readonly [readonly string[], readonly (readonly string[])[]] {
  const repairing = moves.some(({ repairs }) => repairs.length > 0);
  const rows = moves.map(({ change, pod, from, old, new: renewed, removal, repairs }) => [
    change,
    pod,
    names(from ?? QUEUE),
    change === 'appears' ? 'stays' : names(targetText({ to: old ?? undefined, removal })),
    change === 'vanishes' ? 'stays' : names(targetText({ to: renewed ?? undefined, removal })),
    ...(repairing ? [repairs.join(', ') || '-'] : []),
  ]);
  const header = ['CHANGE', 'POD', 'FROM', 'OLD TARGET', 'NEW TARGET', ...(repairing ? ['REPAIRS'] : [])];
  return [header, rows];
}

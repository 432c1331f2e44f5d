import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { escapeText } from '../model/escape.ts';
import type { Route } from '../model/move.ts';
import { isForLoad } from '../model/move.ts';
import { FULL_NAMES, type ShortNames, shortNames } from '../model/short-names.ts';
import { count, percent, roundPercent } from '../plan/format.ts';
import { resourcesIn } from './imbalance.ts';
import { applicationRows, domainRows } from './plan-traffic.ts';
import { type Look, PLAIN, renderTable, type Table } from './table.ts';
import { wrapSentences } from './wrap.ts';

const NUMBERS = new Set([
  'LOAD',
  'GAIN',
  'COST',
  'PODS',
  'MOVES',
  'BEFORE',
  'PLANNED',
  'COST/H BEFORE',
  'COST/H PLANNED',
  'MEAN',
  'MEAN ABS ERROR',
  'STDDEV',
  'SPREAD',
  'MAX',
]);

/** The plan for a terminal; `wide` adds owner and reason of each move and every listed rejection, and gives nodes their full names. */
export function planTable(plan: RebalancePlan, wide: boolean, look: Look = PLAIN): string {
  const names = wide ? FULL_NAMES : shortNames(nodesIn(plan));
  const text = ([header, rows]: Table): string => renderTable(header, rows, NUMBERS, look);
  const imbalance = imbalanceRows(plan);
  const sections = [messageList(plan, names, look), ...(imbalance[1].length === 0 ? [] : [text(imbalance)])];
  if (plan.spec.moves.length > 0) {
    const sentences = unsteered(plan).map((sentence) => wrapSentences(sentence, look.columns));
    sections.push(text(moveRows(plan, wide, names)), ...sentences);
  }
  const nodes = nodeRows(plan, names);
  if (nodes[1].length > 0) {
    sections.push(text(nodes));
  }
  const ofTraffic = [domainRows(plan), applicationRows(plan)];
  sections.push(...ofTraffic.filter(([, rows]) => rows.length > 0).map(text));
  if (Object.keys(plan.spec.rejectionCounts).length > 0) {
    sections.push(text(countRows(plan)), ...(wide ? [text(rejectionRows(plan))] : []));
  }
  return `${sections.join('\n\n')}\n`;
}

/** Begins of the notes that a plan's message adds to its headline; what tenants write between semicolons is none of them. */
const NOTE =
  /; (?=\d+ repairs?: |\d+ moves? makes? room for |\d+ pinned pods? without a node |a budget blocks |budgets block |its largest pod, |[a-z0-9.-]+ remains at |the nodes are under-)/;

/** A plan's message as its headline and the notes that follow. */
export function messageParts(message: string): readonly [headline: string, ...notes: readonly string[]] {
  const [headline = '', ...notes] = message.split(NOTE);
  return [headline, ...notes];
}

/** The strategy and the headline, and a list of the notes. */
function messageList({ spec }: RebalancePlan, names: ShortNames, look: Look): string {
  const strategy = `${spec.strategy}:`;
  const list = sentenceList(strategy, spec.message, names, look.columns);
  return `${look.paint('heading', strategy)}${list.slice(strategy.length)}`;
}

/** A plan's message as a sentence that begins with `title`, and a list of its notes; no line is longer than `columns`. */
export function sentenceList(title: string, message: string, names: ShortNames, columns: number | undefined): string {
  const [headline, ...notes] = messageParts(message).map((part) => names(escapeText(part)));
  const items = notes.map((note) => wrapSentences(`- ${note}`, columns, '  '));
  return [wrapSentences(`${title} ${headline}.`, columns), ...items].join('\n');
}

/** Every node that a plan names. */
function nodesIn({ spec: { moves, packing } }: RebalancePlan): readonly string[] {
  const packed = packing === undefined ? [] : [...packing.removable, ...packing.kept.map(({ node }) => node)];
  return [...moves.flatMap(({ from, to }) => [from, to]).filter((name) => name !== undefined), ...packed];
}

/** How far the scheduler would carry the plan out by itself, in one sentence; none without moves. */
export function unsteered({ spec }: RebalancePlan): readonly string[] {
  const { expectedHitRatio } = spec;
  return expectedHitRatio === undefined
    ? []
    : [
        `Without steering, the scheduler would choose the planned node for ${roundPercent(Number(expectedHitRatio))} of the moves.`,
      ];
}

/** How uneven each resource is, before, as planned and as measured afterwards. */
export function imbalanceRows({ status }: RebalancePlan): Table {
  const rows = resourcesIn(status?.imbalance).flatMap((resource) =>
    (['before', 'planned', 'actual'] as const).flatMap((phase) => {
      const measured = status?.imbalance?.[phase]?.[resource];
      return measured === undefined
        ? []
        : [
            [
              resource,
              phase,
              ...[measured.mean, measured.stddev, measured.range, measured.max, measured.ema].map(decimalPercent),
            ],
          ];
    }),
  );
  return [['LOAD OF', 'WHEN', 'MEAN', 'STDDEV', 'SPREAD', 'MAX', 'MEAN ABS ERROR'], rows];
}

/** A fraction as our resources have it, in percent. */
export function decimalPercent(decimal: string): string {
  return percent(Number(decimal));
}

/** Where pods wait at our scheduling gate. */
export const QUEUE = '(queue)';

/** Node that a move leads to, the queue, or that it leads nowhere. */
export function targetText({ to, removal = false }: Pick<Route, 'to' | 'removal'>): string {
  return to ?? (removal ? '(removed)' : QUEUE);
}

/** A move for another reason than the load is worth it all the same, so that it has no gain instead of a gain of nothing. */
function gainText(move: Pick<RebalancePlan['spec']['moves'][number], 'gain' | 'repairs' | 'makesRoomFor'>): string {
  return !isForLoad(move) && Number(move.gain) === 0 ? '-' : decimalPercent(move.gain);
}

/** The moves in their order, with what they repair and make room for if any does; `wide` adds cost, owner and reason. */
export function moveRows({ spec }: RebalancePlan, wide: boolean, names: ShortNames = FULL_NAMES): Table {
  const repairing = spec.moves.some(({ repairs }) => repairs !== undefined);
  const making = spec.moves.some(({ makesRoomFor }) => makesRoomFor !== undefined);
  const more = [
    ...(repairing ? ['REPAIRS'] : []),
    ...(making ? ['MAKES ROOM FOR'] : []),
    ...(wide ? ['COST', 'OWNER', 'REASON'] : []),
  ];
  const header = ['POD', 'FROM', 'TO', 'LOAD', 'GAIN', ...more];
  const rows = spec.moves.map((move) => {
    const { pod, owner, from, load, cost = '-', reason, repairs = [], makesRoomFor = '-' } = move;
    return [
      `${pod.namespace}/${pod.name}`,
      names(from ?? QUEUE),
      names(targetText(move)),
      decimalPercent(load),
      gainText(move),
      ...(repairing ? [repairs.join(', ') || '-'] : []),
      ...(making ? [makesRoomFor] : []),
      ...(wide ? [cost, `${owner.kind}/${owner.name}`, reason] : []),
    ];
  });
  return [header, rows];
}

/** Nodes that can be removed, and why others keep their pods. */
export function nodeRows({ spec: { packing } }: RebalancePlan, names: ShortNames = FULL_NAMES): Table {
  const header = ['NODE', 'AFTERWARDS', 'BECAUSE'];
  if (packing === undefined) {
    return [header, []];
  }
  const { emptied, removable, removableTotal, kept } = packing;
  const more = removableTotal - removable.length;
  return [
    header,
    [
      ...removable.map((name) => [
        names(name),
        'removable',
        emptied.includes(name) ? 'the plan empties it' : 'it is empty',
      ]),
      ...(more > 0 ? [[`and ${more} more`, 'removable', '']] : []),
      ...kept.map(({ node, pod, message }) => [
        names(node),
        'keeps its pods',
        names(pod === undefined ? message : `${pod.namespace}/${pod.name} ${message}`),
      ]),
    ],
  ];
}

/** Pods that stay, counted by what stops them. */
export function countRows({ spec }: RebalancePlan): Table {
  return [
    ['STAYS BECAUSE OF', 'PODS'],
    Object.entries(spec.rejectionCounts).map(([code, number]) => [code, String(number)]),
  ];
}

function rejectionRows({ spec }: RebalancePlan): Table {
  const rows = spec.rejections.map(({ pod, code, message }) => [`${pod.namespace}/${pod.name}`, code, message]);
  return [['POD', 'STAYS BECAUSE OF', 'MESSAGE'], rows];
}

/** `3 moves`. */
export function movesOf({ spec }: RebalancePlan): string {
  return count(spec.moves.length, 'move');
}

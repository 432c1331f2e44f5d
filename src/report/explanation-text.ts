import { escapeText } from '../model/escape.ts';
import { podKey } from '../model/pod.ts';
import { FULL_NAMES, type ShortNames, shortNames } from '../model/short-names.ts';
import type { Decision, PodStanding } from '../plan/explain/inquiry.ts';
import type { Candidate, NodeExplanation } from '../plan/explain/node.ts';
import type { NodeForPod, PodExplanation } from '../plan/explain/pod.ts';
import { amount, count, percent } from '../plan/format.ts';
import { type Look, PLAIN, renderTable, type Tone } from './table.ts';
import { wrapSentences } from './wrap.ts';

const NUMBERS = new Set(['LOAD', 'SCORE', 'GAIN', 'ADDS', 'ALLOCATABLE', 'REQUESTED']);

function toneOf(column: string, cell: string): Tone | undefined {
  return column === 'FITS' || column === 'MOVABLE' ? (cell === 'yes' ? 'good' : 'quiet') : undefined;
}

/** Why a pod stays or goes, for a terminal; `wide` adds every rejection of a node and what its score is made of. */
export function podExplanationText(pod: PodExplanation, wide: boolean, look: Look = PLAIN): string {
  const header = ['NODE', 'LOAD', 'FITS', 'SCORE', 'GAIN', ...(wide ? ['SCORES'] : []), 'REMARKS'];
  const names = wide ? FULL_NAMES : shortNames(pod.nodes.map(({ node }) => node));
  const rows = pod.nodes.map((node) => [
    names(node.node),
    share(node.load),
    yesNo(node.fits),
    node.score === undefined ? '-' : String(node.score),
    share(node.gain),
    ...(wide ? [scoresOf(node)] : []),
    names(remarksOf(node, wide).join('; ')),
  ]);
  const nodes = rows.length === 0 ? [] : [renderTable(header, rows, NUMBERS, look, toneOf)];
  return sections([...standingOf(pod, look, names), ...nodes]);
}

function standingOf(
  { protections, violations, ...pod }: PodStanding,
  look: Look,
  names: ShortNames,
): readonly string[] {
  const owner = pod.owner === undefined ? 'without a controller' : `of ${pod.owner.kind} ${pod.owner.name}`;
  const where = pod.node === undefined ? 'has no node' : `${pod.failed ? 'has failed' : 'runs'} on ${pod.node}`;
  const load = pod.load === undefined ? '' : ` and adds ${percent(pod.load)} to its load`;
  const title = `Pod ${podKey(pod.pod)}, ${owner}, ${where}${load}.`;
  const decision = `In a plan made now it ${decided(pod.decision)}.`;
  const about = [title, decision].map((text) => wrapSentences(names(escapeText(text)), look.columns)).join('\n');
  const rows = protections.map(({ code, message }) => [code, message]);
  const broken = violations.map(({ rule, detail }) => [rule, detail]);
  const isFree = rows.length === 0 && pod.decision.kind !== 'NotConsidered';
  return [
    isFree ? `${about}\nNothing protects it: it may be moved.` : about,
    ...(broken.length === 0 ? [] : [renderTable(['VIOLATES', 'DETAIL'], broken, NUMBERS, look)]),
    ...(rows.length === 0 ? [] : [renderTable(['NOT MOVED BECAUSE OF', 'MESSAGE'], rows, NUMBERS, look)]),
  ];
}

function decided(decision: Decision): string {
  switch (decision.kind) {
    case 'Moves':
      return `moves to ${decision.to ?? 'the queue'}: ${decision.message}`;
    case 'Removed':
      return `is removed: ${decision.message}`;
    case 'Stays':
      return `stays, ${decision.code}: ${decision.message}`;
    case 'NotConsidered':
      return 'is not considered: the policy is not about it';
    default:
      return decision satisfies never;
  }
}

function remarksOf(node: NodeForPod, wide: boolean): readonly string[] {
  const rejections = node.rejections.map(({ filter, message }) => `${filter}: ${message}`);
  const [first, ...others] = rejections;
  const shown =
    wide || first === undefined || others.length === 0 ? rejections : [`${first} (and ${others.length} more)`];
  return [
    ...(node.current ? ['runs here'] : []),
    ...shown,
    ...(node.absent === undefined ? [] : [`takes no part: ${node.absent}`]),
    ...node.budgets.map(({ code, message }) => `${code}: ${message}`),
  ];
}

function scoresOf({ scores }: NodeForPod): string {
  const parts = Object.entries(scores).map(([plugin, value]) => `${plugin} ${value}`);
  return parts.length === 0 ? '-' : parts.join(', ');
}

/** Candidates that a terminal shows; `wide` shows all. */
const MOST_CANDIDATES = 10;

/** Why pods leave a node or stay there, and which could come, for a terminal; `wide` shows every candidate. */
export function nodeExplanationText(node: NodeExplanation, wide: boolean, look: Look = PLAIN): string {
  const others = node.candidates.map((candidate) => candidate.node).filter((name) => name !== undefined);
  const names = wide ? FULL_NAMES : shortNames([node.node, ...others]);
  return sections([
    wrapSentences(escapeText(nodeTitle(node)), look.columns),
    resourceTable(node, look),
    ...podTable(node, look, names),
    ...candidateTable(node, wide, look, names),
  ]);
}

function nodeTitle({ node, absent, repaired, load, mean }: NodeExplanation): string {
  if (absent !== undefined) {
    return repaired
      ? `Node ${node} takes no part in balancing: ${absent}. Repairs move pods from it and to it.`
      : `Node ${node} takes no part: ${absent}.`;
  }
  return `Node ${node} is at ${share(load)}; the mean of the nodes that take part is ${share(mean)}.`;
}

function resourceTable({ resources }: NodeExplanation, look: Look): string {
  const rows = resources.map(({ name, allocatable, requested }) => [
    name,
    amount(name, allocatable),
    amount(name, requested),
  ]);
  return renderTable(['RESOURCE', 'ALLOCATABLE', 'REQUESTED'], rows, NUMBERS, look);
}

function podTable({ pods }: NodeExplanation, look: Look, names: ShortNames): readonly string[] {
  if (pods.length === 0) {
    return ['No pod runs there.'];
  }
  const isWrong = pods.some(({ violations }) => violations.length > 0);
  const rows = pods.map((pod) => [
    podKey(pod.pod),
    share(pod.load),
    yesNo(pod.movable),
    ...(isWrong ? [[...new Set(pod.violations.map(({ rule }) => rule))].join(', ') || '-'] : []),
    names(reasonOf(pod)),
  ]);
  const header = ['POD HERE', 'ADDS', 'MOVABLE', ...(isWrong ? ['VIOLATES'] : []), 'IN A PLAN MADE NOW'];
  return [renderTable(header, rows, NUMBERS, look, toneOf)];
}

/** What holds the pod, or else what the plan says to it; that names what holds a pod that violates a rule. */
export function reasonOf({ protections, violations, decision }: PodStanding): string {
  const [first] = protections;
  return first === undefined || violations.length > 0 ? decided(decision) : `${first.code}: ${first.message}`;
}

function candidateTable(
  { candidates, node, absent }: NodeExplanation,
  wide: boolean,
  look: Look,
  names: ShortNames,
): readonly string[] {
  if (candidates.length === 0) {
    return absent === undefined ? ['No pod of another node may be moved.'] : [];
  }
  const shown = wide ? candidates : candidates.slice(0, MOST_CANDIDATES);
  const rows = shown.map((candidate) => [
    podKey(candidate.pod),
    names(candidate.node ?? '-'),
    yesNo(candidate.fits),
    share(candidate.gain),
    names(candidateRemark(candidate, node)),
  ]);
  const table = renderTable(['POD ELSEWHERE', 'ON', 'FITS', 'GAIN', 'REMARKS'], rows, NUMBERS, look, toneOf);
  const hidden = candidates.length - shown.length;
  return hidden === 0 ? [table] : [table, `${count(hidden, 'more pod')} of other nodes: -o wide lists them.`];
}

function candidateRemark({ rejections, decision }: Candidate, node: string): string {
  const [first] = rejections;
  if (first !== undefined) {
    return `${first.filter}: ${first.message}`;
  }
  return decision.kind === 'Moves' && decision.to === node ? 'moves here' : decided(decision);
}

function share(fraction: number | undefined): string {
  return fraction === undefined ? '-' : percent(fraction);
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

function sections(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}

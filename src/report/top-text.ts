import { formatDuration } from '../model/duration.ts';
import { FULL_NAMES, shortNames } from '../model/short-names.ts';
import { seconds } from '../model/units.ts';
import { percent } from '../plan/format.ts';
import { type Look, PLAIN, renderTable, type Tone } from './table.ts';
import { shareOf, type TopNode, type TopWorkload } from './top.ts';
import type { TopViolation } from './top-violations.ts';

const NUMBERS = new Set([
  'PODS',
  'CPU',
  'CPU %',
  'CPU REQ',
  'CPU REQ %',
  'MEMORY',
  'MEMORY %',
  'MEMORY REQ',
  'MEMORY REQ %',
  'CPU OF',
  'MEMORY OF',
  'SLO',
  'AVAILABILITY',
  'OVER WINDOW',
  'TIME TO VIOLATE',
  'PREEMPTIONS',
]);

/** Nodes for a terminal; `wide` adds what they request and have in absolute terms. */
export function topNodesText(nodes: readonly TopNode[], wide: boolean, look: Look = PLAIN): string {
  const header = [
    ...['NODE', 'STATUS', 'PODS', 'CPU', 'CPU %', 'CPU REQ %', 'MEMORY', 'MEMORY %', 'MEMORY REQ %'],
    ...(wide ? ['CPU REQ', 'CPU OF', 'MEMORY REQ', 'MEMORY OF'] : []),
  ];
  const names = wide ? FULL_NAMES : shortNames(nodes.map(({ name }) => name));
  const rows = nodes.map(({ usage, requests, allocatable, ...node }) => [
    names(node.name),
    `${node.ready ? 'Ready' : 'NotReady'}${node.schedulable ? '' : ',Cordoned'}`,
    String(node.pods),
    millis(usage.cpu),
    share(usage.cpu, allocatable.cpu),
    share(requests.cpu, allocatable.cpu),
    mebibytes(usage.memory),
    share(usage.memory, allocatable.memory),
    share(requests.memory, allocatable.memory),
    ...(wide
      ? [millis(requests.cpu), millis(allocatable.cpu), mebibytes(requests.memory), mebibytes(allocatable.memory)]
      : []),
  ]);
  return nodes.length === 0 ? 'no nodes\n' : `${renderTable(header, rows, NUMBERS, look, nodeTone)}\n`;
}

function nodeTone(column: string, cell: string): Tone | undefined {
  if (column === 'STATUS') {
    return cell === 'Ready' ? undefined : 'bad';
  }
  return column === 'CPU %' || column === 'MEMORY %' ? loadTone(Number.parseFloat(cell)) : undefined;
}

/** From 80 % on a node has little to spare, and from 90 % on pods may suffer. */
function loadTone(load: number): Tone | undefined {
  return load >= 90 ? 'bad' : load >= 80 ? 'notice' : undefined;
}

/** What pods violate, for a terminal; `wide` adds their controllers. */
export function topViolationsText(violations: readonly TopViolation[], wide: boolean, look: Look = PLAIN): string {
  const header = ['POD', 'NODE', ...(wide ? ['OWNER'] : []), 'VIOLATES', 'REPAIRED BY', 'DETAIL'];
  const names = wide ? FULL_NAMES : shortNames(violations.flatMap(({ node }) => node ?? []));
  const rows = violations.map(({ namespace, pod, node, owner, rule, detail, policies }) => [
    `${namespace}/${pod}`,
    names(node ?? '-'),
    ...(wide ? [owner === null ? '-' : `${owner.kind}/${owner.name}`] : []),
    rule,
    policies.join(', ') || '-',
    names(detail),
  ]);
  return violations.length === 0 ? 'no violations\n' : `${renderTable(header, rows, NUMBERS, look)}\n`;
}

/** Workloads for a terminal; `wide` adds requests, the window of the class and preemptions. */
export function topWorkloadsText(workloads: readonly TopWorkload[], wide: boolean, look: Look = PLAIN): string {
  const header = [
    ...['WORKLOAD', 'READY', 'CPU', 'MEMORY'],
    ...(wide ? ['CPU REQ', 'MEMORY REQ'] : []),
    ...['CLASS', 'SLO', 'AVAILABILITY', 'TIME TO VIOLATE'],
    ...(wide ? ['OVER WINDOW', 'PREEMPTIONS'] : []),
  ];
  const rows = workloads.map((workload) => [
    `${workload.namespace}/${workload.name} (${workload.kind})`,
    `${workload.ready}/${workload.pods}`,
    millis(workload.usage.cpu),
    mebibytes(workload.usage.memory),
    ...(wide ? [millis(workload.requests.cpu), mebibytes(workload.requests.memory)] : []),
    workload.serviceClass ?? '-',
    fraction(workload.slo),
    fraction(workload.availability),
    span(workload.timeToViolate),
    ...(wide
      ? [fraction(workload.availabilityOverWindow), workload.preemptions === null ? '-' : String(workload.preemptions)]
      : []),
  ]);
  return workloads.length === 0 ? 'no workloads\n' : `${renderTable(header, rows, NUMBERS, look, workloadTone)}\n`;
}

function workloadTone(column: string, cell: string): Tone | undefined {
  if (column === 'READY') {
    const [ready, pods] = cell.split('/');
    return ready === pods ? undefined : 'notice';
  }
  return column === 'TIME TO VIOLATE' && cell.startsWith('-') && cell !== '-' ? 'bad' : undefined;
}

function millis(value: number | null): string {
  return value === null ? '-' : `${Math.round(value)}m`;
}

function mebibytes(value: number | null): string {
  return value === null ? '-' : `${Math.round(value / 2 ** 20)}Mi`;
}

function share(amount: number | null, whole: number | null): string {
  const part = shareOf(amount, whole);
  return part === undefined ? '-' : percent(part).replace(/\.\d+ /, ' ');
}

function fraction(value: number | null): string {
  return value === null ? '-' : percent(value);
}

function span(value: number | null): string {
  if (value === null) {
    return '-';
  }
  return value < 0 ? `-${formatDuration(seconds(-value))}` : formatDuration(seconds(value));
}

import { percent } from './format.ts';
import { atOrNone, type IndexTable, itemAt, type NodeIndex, type PodIndex, type SiteIndex } from './indices.ts';
import { type LoadTables, loadModel, pooledLoad, tabulate, toFraction } from './load.ts';
import { emptyLedger } from './load-ledger.ts';
import type { PolicyOptions } from './options.ts';
import type { LeftOut, Participant, Participation } from './participation.ts';
import type { PodUsage, Subjects } from './pod-usage.ts';

/** Nodes that are named at most; the rest are counted. */
const NAMED = 3;

/**
 * Lets nodes take part that no pod may come to, the most loaded first, as long as they are above the mean of those that
 * take part already: pods that leave them lower the highest load. Below the mean they could only be filled up, which
 * nothing may, so they stay out and do not drag the mean down.
 */
export function withOverloadedSources(
  base: Participation,
  subjects: Subjects,
  usage: () => PodUsage,
  options: PolicyOptions,
): Participation {
  const sources = base.leftOut.filter(({ maySource }) => maySource);
  if (sources.length === 0 || base.participants.length === 0) {
    return base;
  }
  const all = [...base.participants, ...sources];
  const home = homesOn(all, subjects);
  const tables = tabulate(all, subjects.pods, home, usage());
  const pool = pooledLoad(tables, home, options);
  for (const place of base.participants.keys()) {
    pool.join(place);
  }
  const first = base.participants.length;
  const loadOf = loadsIn(tables, home, options, first);
  const places = sources.map((_, index) => first + index).sort((left, right) => loadOf(right) - loadOf(left));
  const joined = new Set<Participant>(base.participants);
  for (const place of places) {
    if (!(loadOf(place) > pool.mean())) {
      break;
    }
    pool.join(place);
    joined.add(itemAt(all, place));
  }
  const order = new Map(subjects.nodes.map(({ name }, place) => [name, place]));
  const placeOf = ({ node }: Participant): number => order.get(node.name) ?? 0;
  const names = new Set([...joined].map(({ node }) => node.name));
  return {
    ...base,
    participants: [...joined].sort((left, right) => placeOf(left) - placeOf(right)),
    absent: new Map([...base.absent].filter(([name]) => !names.has(name))),
    leftOut: base.leftOut.filter(({ node }) => !names.has(node.name)),
  };
}

/**
 * Names the nodes that take no part and are by `thresholds.trigger` or more above `highest`, the highest load (a fraction)
 * of those that do; `undefined` when there are none.
 */
export function overloadedAndLeftOut(
  { leftOut, absent }: Participation,
  highest: number,
  subjects: Subjects,
  usage: () => PodUsage,
  options: PolicyOptions,
): string | undefined {
  if (leftOut.length === 0) {
    return undefined;
  }
  const home = homesOn(leftOut, subjects);
  const load = loadsIn(tabulate(leftOut, subjects.pods, home, usage()), home, options, 0);
  const loads = new Map(leftOut.map((node, place) => [node, toFraction(load(place))]));
  const loadOf = (node: LeftOut): number => loads.get(node) ?? 0;
  const hot = leftOut
    .filter((node) => loadOf(node) > highest && loadOf(node) - highest >= options.thresholds.trigger)
    .sort((left, right) => loadOf(right) - loadOf(left));
  const named = hot.slice(0, NAMED).map((each) => {
    return `${each.node.name} takes no part at ${percent(loadOf(each))}: ${absent.get(each.node.name)}`;
  });
  const more = hot.length > NAMED ? [`so do ${hot.length - NAMED} more that are overloaded`] : [];
  return hot.length === 0 ? undefined : [...named, ...more].join('; ');
}

/** Which of `nodes` each pod is on. */
function homesOn(nodes: readonly Participant[], { nodes: all, located }: Subjects): IndexTable<PodIndex, NodeIndex> {
  const places = new Map(nodes.map(({ node }, place) => [node.name, place]));
  const nodeAt: IndexTable<SiteIndex, NodeIndex> = Int32Array.from(all, ({ name }) => places.get(name) ?? -1);
  return located.map((site) => atOrNone(nodeAt, site));
}

/** Loads of the nodes from place `first` on. */
function loadsIn(
  tables: LoadTables,
  home: IndexTable<PodIndex, NodeIndex>,
  options: PolicyOptions,
  first: NodeIndex,
): (node: NodeIndex) => number {
  const model = loadModel(tables, home, options);
  const ledger = emptyLedger(model, itemAt(tables.allocatable, 0).length, home.length);
  home.forEach((node, pod) => {
    if (node >= first) {
      ledger.add(node, pod);
    }
  });
  return ledger.load;
}

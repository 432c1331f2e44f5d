import { percent } from './format.ts';
import { at, atOrNone, type IndexTable, type NodeIndex, type PodIndex, type SiteIndex } from './indices.ts';
import { loadModel, tabulate, toFraction } from './load.ts';
import { emptyLedger } from './load-ledger.ts';
import type { PolicyOptions } from './options.ts';
import type { LeftOut, Participant, Participation } from './participation.ts';
import type { PodUsage, Subjects } from './pod-usage.ts';

/** Loads of some nodes, as a policy sees them. */
interface NodeLoads {
  /** By name of the node, a fraction of its capacity. */
  readonly of: ReadonlyMap<string, number>;
  /** Weighted by capacity. */
  readonly mean: number;
}

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
  const measure = (nodes: readonly Participant[]): NodeLoads => loadsOf(nodes, subjects, usage(), options);
  const { of } = measure(sources);
  const loadOf = ({ node }: Participant): number => of.get(node.name) ?? 0;
  const joined = new Set<Participant>(base.participants);
  for (const source of sources.toSorted((left, right) => loadOf(right) - loadOf(left))) {
    if (!(loadOf(source) > measure([...joined]).mean)) {
      break;
    }
    joined.add(source);
  }
  const places = new Map(subjects.nodes.map(({ name }, place) => [name, place]));
  const placeOf = ({ node }: Participant): number => places.get(node.name) ?? 0;
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
  const { of } = loadsOf(leftOut, subjects, usage(), options);
  const loadOf = ({ node }: LeftOut): number => of.get(node.name) ?? 0;
  const hot = leftOut
    .filter((node) => loadOf(node) > highest && loadOf(node) - highest >= options.thresholds.trigger)
    .sort((left, right) => loadOf(right) - loadOf(left));
  const named = hot.slice(0, NAMED).map((each) => {
    return `${each.node.name} takes no part at ${percent(loadOf(each))}: ${absent.get(each.node.name)}`;
  });
  const more = hot.length > NAMED ? [`so do ${hot.length - NAMED} more that are overloaded`] : [];
  return hot.length === 0 ? undefined : [...named, ...more].join('; ');
}

function loadsOf(
  nodes: readonly Participant[],
  { pods, nodes: all, located }: Subjects,
  usage: PodUsage,
  options: PolicyOptions,
): NodeLoads {
  const places = new Map(nodes.map(({ node }, place) => [node.name, place]));
  const nodeAt: IndexTable<SiteIndex, NodeIndex> = Int32Array.from(all, ({ name }) => places.get(name) ?? -1);
  const home: IndexTable<PodIndex, NodeIndex> = located.map((site) => atOrNone(nodeAt, site));
  const model = loadModel(tabulate(nodes, pods, home, usage), home, options);
  const ledger = emptyLedger(model, nodes.length, pods.length);
  home.forEach((_, pod) => {
    const node = at(home, pod);
    if (node >= 0) {
      ledger.add(node, pod);
    }
  });
  return {
    of: new Map(nodes.map(({ node }, place) => [node.name, toFraction(ledger.load(place))])),
    mean: toFraction(model.mean),
  };
}

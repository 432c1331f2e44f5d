import type { PageResource } from '../report/page/state.ts';
import { loadIn, type MapNode, type Phase, type Spread, spreadOf } from './model.ts';

/** What nodes can be grouped by. */
export const GROUPINGS = ['none', 'zone', 'pool'] as const;
/** What nodes are grouped by. */
export type Grouping = (typeof GROUPINGS)[number];
/** Names for people. */
export const GROUPING_NAMES: Readonly<Record<Grouping, string>> = {
  none: 'All nodes',
  zone: 'By zone',
  pool: 'By pool',
};

/** Nodes of one zone or pool. */
export interface NodeGroup {
  /** `undefined` for nodes without a zone or pool. */
  readonly name: string | undefined;
  /** In the order of all nodes. */
  readonly nodes: readonly MapNode[];
}

/** From so many nodes on groups are shown first. */
const MANY = 60;

/** Groupings that divide these nodes; always `none`. */
export function groupingsOf(nodes: readonly MapNode[]): readonly Grouping[] {
  return GROUPINGS.filter((by) => by === 'none' || new Set(nodes.map(({ row }) => row[by])).size > 1);
}

/** The grouping to begin with: by zones, or else by pools, where there are many nodes. */
export function firstGrouping(nodes: readonly MapNode[]): Grouping {
  return (nodes.length >= MANY ? groupingsOf(nodes)[1] : undefined) ?? 'none';
}

/** Nodes by zone or pool, by name; those without one come last. */
export function groupNodes(nodes: readonly MapNode[], by: Exclude<Grouping, 'none'>): readonly NodeGroup[] {
  const groups = [...Map.groupBy(nodes, ({ row }) => row[by])].map(([name, members]) => ({ name, nodes: members }));
  return groups.toSorted((left, right) => {
    return left.name === undefined || right.name === undefined
      ? Number(left.name === undefined) - Number(right.name === undefined)
      : left.name.localeCompare(right.name, 'en', { numeric: true });
  });
}

/** How the nodes of a group are loaded in one resource, the highest first; a load that is not known is left out. */
export interface GroupLoads extends Spread {
  readonly highest: string;
}

/** The loads of these nodes; `undefined` where none is known. */
export function groupLoads(nodes: readonly MapNode[], phase: Phase, resource: PageResource): GroupLoads | undefined {
  const known = nodes
    .flatMap(({ name, row, shift }) => {
      const load = loadIn(phase, resource, row, shift);
      return load === undefined ? [] : [{ name, load }];
    })
    .sort((left, right) => right.load - left.load);
  const spread = spreadOf(known.map(({ load }) => load));
  const [first] = known;
  return spread === undefined || first === undefined ? undefined : { ...spread, highest: first.name };
}

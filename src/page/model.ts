import {
  type Loads,
  type NodeRow,
  type NodeShift,
  PAGE_RESOURCES,
  type PageResource,
  type PageState,
  type PolicyRow,
} from '../report/page/state.ts';

/** Which loads are shown. */
export const PHASES = ['before', 'planned', 'now'] as const;
/** Before the plan, as it wants them, and as they are. */
export type Phase = (typeof PHASES)[number];

/** Names for people. */
export const RESOURCE_NAMES: Readonly<Record<PageResource, string>> = { cpu: 'CPU', memory: 'Memory', pods: 'Pods' };
/** Names for people. */
export const PHASE_NAMES: Readonly<Record<Phase, string>> = { before: 'Before', planned: 'Planned', now: 'Now' };

/** A node, and what the plan changes there. */
export interface MapNode {
  readonly name: string;
  readonly row: NodeRow;
  readonly shift: NodeShift | undefined;
}

/** Load of a node in a phase; undefined where it is not known. */
export function loadIn(
  phase: Phase,
  resource: PageResource,
  node: NodeRow,
  shift: NodeShift | undefined,
): number | undefined {
  const now = node.now[resource];
  const change: Loads = phase === 'now' ? {} : (shift?.[phase] ?? {});
  return now === undefined ? undefined : Math.max(0, now + (change[resource] ?? 0));
}

/** What a node carries in the eyes of a policy: the weighted mean of its resources, or the largest of them. */
export function aggregatedLoad(
  phase: Phase,
  { weights, aggregate }: Pick<PolicyRow, 'weights' | 'aggregate'>,
  node: NodeRow,
  shift: NodeShift | undefined,
): number | undefined {
  const known = PAGE_RESOURCES.flatMap((resource) => {
    const load = loadIn(phase, resource, node, shift);
    const weight = weights[resource] ?? 0;
    return weight > 0 && load !== undefined ? [{ load, weight }] : [];
  });
  if (known.length === 0) {
    return undefined;
  }
  const total = known.reduce((sum, { weight }) => sum + weight, 0);
  return aggregate === 'Dominant'
    ? Math.max(...known.map(({ load }) => load))
    : known.reduce((sum, { load, weight }) => sum + weight * load, 0) / total;
}

/** How evenly nodes are loaded. */
export interface Spread {
  readonly loads: readonly number[];
  readonly least: number;
  readonly most: number;
  readonly mean: number;
  readonly stddev: number;
}

/** The spread of some loads; undefined without any. */
export function spreadOf(all: readonly (number | undefined)[]): Spread | undefined {
  const loads = all.filter((load) => load !== undefined);
  if (loads.length === 0) {
    return undefined;
  }
  const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length;
  const square = loads.reduce((sum, load) => sum + (load - mean) ** 2, 0) / loads.length;
  const least = loads.reduce((low, load) => Math.min(low, load), Number.POSITIVE_INFINITY);
  const most = loads.reduce((high, load) => Math.max(high, load), 0);
  return { loads, least, most, mean, stddev: Math.sqrt(square) };
}

/** The policy of that name, or the first; undefined without any. */
export function chosenPolicy(
  { policies }: PageState,
  name: string | undefined,
): readonly [string, PolicyRow] | undefined {
  const entries = Object.entries(policies);
  return entries.find(([own]) => own === name) ?? entries[0];
}

/** Step of the colour scale, 0 to 9; 10 for more than a node can give. */
export function heatOf(load: number): number {
  return load > 1 ? 10 : Math.min(9, Math.floor(load * 10));
}

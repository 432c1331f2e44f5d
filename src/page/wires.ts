import type { TrafficRow } from '../report/page/state.ts';

/** Domains that a picture has room for. */
const MOST_DOMAINS = 12;
/** Width of the widest line. */
const WIDEST = 16;
/** What passes at all is seen. */
const NARROWEST = 1;
const RADIUS = 78;

/** A line between two domains, by place, and its widths: in proportion to what passes, on one scale for both pictures. */
export interface Wire {
  readonly from: number;
  readonly to: number;
  readonly before: number;
  readonly planned: number;
}

/** The domains with the most traffic, by name, the lines between them, and how many domains are left out. */
export function wiresOf(between: TrafficRow['between']): {
  readonly names: readonly string[];
  readonly wires: readonly Wire[];
  readonly left: number;
} {
  const pairs = Object.entries(between).map(([key, row]) => ({ ends: key.split('/'), ...row }));
  const all = [...new Set(pairs.flatMap(({ ends }) => ends))];
  const names = all.slice(0, MOST_DOMAINS).sort((left, right) => left.localeCompare(right, 'en', { numeric: true }));
  const most = Math.max(...pairs.flatMap(({ before, planned }) => [before, planned]));
  const width = (bandwidth: number): number => (bandwidth <= 0 ? 0 : Math.max(NARROWEST, (bandwidth / most) * WIDEST));
  const wires = pairs.flatMap(({ ends: [one = '', other = ''], before, planned }) => {
    const [from, to] = [names.indexOf(one), names.indexOf(other)];
    return from < 0 || to < 0 ? [] : [{ from, to, before: width(before), planned: width(planned) }];
  });
  return { names, wires, left: all.length - names.length };
}

/** So many places on a circle about the origin, the first at its top. */
export function placesOnCircle(count: number): readonly { readonly x: number; readonly y: number }[] {
  return Array.from({ length: count }, (_, index) => {
    const angle = (2 * Math.PI * index) / count - Math.PI / 2;
    return { x: round(1.35 * RADIUS * Math.cos(angle)), y: round(RADIUS * Math.sin(angle)) };
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

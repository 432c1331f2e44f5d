/**
 * The fewest moves from domain to domain that bring the counts within `maxSkew` of each other: the least over all levels L of
 * what is above L + maxSkew or what is missing up to L, whichever is more, since a move takes one away from either. `sizes` has
 * the number of domains by their count; with `short`, where there are too few domains, the level is 0.
 */
export function excessOf(sizes: ReadonlyMap<number, number>, maxSkew: number, short: boolean): number {
  const levels = [...sizes].filter(([, domains]) => domains > 0);
  const highest = levels.reduce((most, [pods]) => Math.max(most, pods), 0);
  const lowest = short ? 0 : levels.reduce((least, [pods]) => Math.min(least, pods), highest);
  let fewest = Number.POSITIVE_INFINITY;
  for (let level = lowest; level <= (short ? 0 : highest); level += 1) {
    const [above, below] = distances(levels, level, maxSkew);
    fewest = Math.min(fewest, Math.max(above, below));
    if (below >= above) {
      break;
    }
  }
  return fewest;
}

function distances(
  levels: readonly (readonly [pods: number, domains: number])[],
  level: number,
  maxSkew: number,
): readonly [above: number, below: number] {
  let above = 0;
  let below = 0;
  for (const [pods, domains] of levels) {
    above += domains * Math.max(0, pods - level - maxSkew);
    below += domains * Math.max(0, level - pods);
  }
  return [above, below];
}

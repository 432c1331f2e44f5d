/** Compute affinity where exactly what matters most of a component's surroundings fits (PHARE 3.6: c = -ln .75). */
const SHARPNESS = -Math.log(0.75);

/** Where all surroundings matter in full, the denominators of 3.6 and 3.8 are 0: less than this share of them is none. */
const EPSILON = 1e-9;

/** No affinity is lower: costs are divided by two of them, and the quotient stays a number. */
const LEAST = 1e-100;

/**
 * By how much a node is short of what a component and those it talks to demand of a resource, in parts of what matters less:
 * `whole` is what all demand that have no node yet, `weighted` the same with each of the others by how much is said to it (z
 * of Def. 1), at most `whole`. 0 or less where all fit, 1 where just the weighted part does (the fraction in 3.6 and 3.8).
 */
export function shortage(whole: number, weighted: number, free: number): number {
  return (whole - free) / Math.max(whole - weighted, EPSILON * whole, Number.MIN_VALUE);
}

/**
 * How well a node suits a component and those it talks to by one resource (PHARE 3.6), of which `free` is left there: 1 where
 * all fit, .75 where exactly the weighted part does, towards 0 below. In (0, 1]: where least fits stays the last resort.
 */
export function computeAffinity(whole: number, weighted: number, free: number): number {
  return whole <= free ? 1 : Math.max(Math.exp(-SHARPNESS * shortage(whole, weighted, free)), LEAST);
}

/**
 * How well a node's links suit what a component says to others (PHARE 3.8 and 3.9), both in bits per second: 1 where the links
 * carry what leaves, and less the more it is, above all where the node is short of resources for the others. In (0, 1].
 */
export function communicationAffinity(leaving: number, carried: number, short: number): number {
  if (leaving <= carried) {
    return 1;
  }
  const steepness = 1 / (1 + Math.exp(-(8 * short - 4)));
  return Math.max(Math.exp(-steepness * (leaving / Math.max(carried, Number.MIN_VALUE) - 1)), LEAST);
}

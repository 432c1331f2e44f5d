/** Place of a component in its application. */
export type ComponentIndex = number;

/** What flows between a component and another one, both ways together. */
export interface Talk {
  readonly with: ComponentIndex;
  /** Bits per second, above 0. */
  readonly bandwidth: number;
}

/** Components that run as a whole or not at all, and who of them talks to whom (PHARE 3.1). */
export interface Application {
  /** Per component what it demands of each resource; all in the same order of resources. */
  readonly demands: readonly Float64Array[];
  /** Per component its talks, each pair once in both lists, by place of the other. */
  readonly talks: readonly (readonly Talk[])[];
}

/** The talks of an application, each pair once: `one` comes before `other`. */
export function* pairsOf({ talks }: Application) {
  for (const [one, own] of talks.entries()) {
    for (const { with: other, bandwidth } of own) {
      if (one < other) {
        yield { one, other, bandwidth };
      }
    }
  }
}

/** Bits per second between two components, in one direction or both. */
export interface Edge {
  readonly from: ComponentIndex;
  readonly to: ComponentIndex;
  readonly bandwidth: number;
}

/**
 * The application with these components and edges; several edges of a pair add up, and edges without bandwidth do not count.
 * Throws RangeError for an edge of a component with itself or with one that is not there, and for a bandwidth that is no
 * amount.
 */
export function applicationOf(demands: readonly Float64Array[], edges: readonly Edge[]): Application {
  const talks = demands.map(() => new Map<ComponentIndex, number>());
  const add = (from: ComponentIndex, to: ComponentIndex, bandwidth: number): void => {
    const own = talks[from];
    if (own === undefined) {
      throw new RangeError(`an edge names component ${from}, and there are ${demands.length}`);
    }
    own.set(to, (own.get(to) ?? 0) + bandwidth);
  };
  for (const { from, to, bandwidth } of edges) {
    if (from === to) {
      throw new RangeError(`an edge joins component ${from} with itself: what it says to itself stays on its node`);
    }
    if (!(bandwidth >= 0 && bandwidth < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`an edge has a bandwidth of ${bandwidth} bits per second: write 0 or more`);
    }
    if (bandwidth > 0) {
      add(from, to, bandwidth);
      add(to, from, bandwidth);
    }
  }
  const listed = (own: ReadonlyMap<ComponentIndex, number>): readonly Talk[] =>
    [...own].map(([other, bandwidth]) => ({ with: other, bandwidth })).sort((left, right) => left.with - right.with);
  return { demands, talks: talks.map(listed) };
}

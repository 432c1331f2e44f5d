import type { State } from '../../../../src/plan/state.ts';
import type { WayTerms } from '../../../../src/plan/strategies/search-terms.ts';

export const PERCENT = 1e7;

/** What a test says of a search; all is allowed unless it does. */
export interface Terms {
  /** In percent of a node. */
  readonly minGain?: number;
  readonly maxMoves?: number;
  /** Names of pods that may not be moved. */
  readonly stay?: readonly string[];
}

/** Terms of a search, and the pods that it has noted by then. */
export function notedTerms(
  state: State,
  { minGain = 0, maxMoves = Number.POSITIVE_INFINITY, stay = [] }: Terms,
): WayTerms & { readonly noted: readonly number[] } {
  const noted: number[] = [];
  return {
    minGain: minGain * PERCENT,
    maxMoves,
    allows: (pod) => !stay.includes(state.cluster.pods[pod]?.name ?? ''),
    note: (pod) => noted.push(pod),
    restart: () => undefined,
    noted,
  };
}

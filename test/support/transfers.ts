import type { Move, Plan, Transfer } from '../../src/plan/plan.ts';

/** The moves of a plan that only balances: all are from node to node. Throws for any other. */
export function transfersOf({ moves }: Pick<Plan, 'moves'>): readonly Transfer[] {
  return moves.map(asTransfer);
}

/** Throws when the move is not from node to node. */
export function asTransfer(move: Move): Transfer {
  if (move.from === undefined || move.to === undefined) {
    throw new Error(`${move.pod.name} moves from ${move.from} to ${move.to}`);
  }
  return move;
}

/** Moves one by one, or two by two when they go together. Throws when those do not follow each other. */
export function unitsOf(plan: Plan): readonly { readonly start: number; readonly unit: readonly Transfer[] }[] {
  const moves = transfersOf(plan);
  return moves.flatMap(({ partner }, start) => {
    if (partner === start - 1 && moves[partner]?.partner === start) {
      return [];
    }
    if (partner !== undefined && partner !== start + 1) {
      throw new Error(`move ${start} goes together with move ${partner}, which does not follow it`);
    }
    return [{ start, unit: moves.slice(start, partner === undefined ? start + 1 : start + 2) }];
  });
}

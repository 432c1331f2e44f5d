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

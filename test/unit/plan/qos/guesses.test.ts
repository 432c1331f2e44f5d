import { describe, expect, it } from 'vitest';
import { type CandidateNode, compareHosts, FREE } from '../../../../src/plan/qos/guesses.ts';

describe('nodes for a pod that waits', () => {
  const host = (node: number, fields: Partial<CandidateNode> = {}): CandidateNode => ({
    node,
    victims: [],
    bound: Number.POSITIVE_INFINITY,
    cost: FREE,
    score: 5,
    ...fields,
  });
  const order = (left: CandidateNode, right: CandidateNode) =>
    [compareHosts(left, right), compareHosts(right, left)].map(Math.sign);

  it('are ranked by what they cost, then by their score, then by their place', () => {
    const costly = { cost: { ...FREE, above: 30, victims: 1 } };
    expect(order(host(9, { score: 0 }), host(1, { score: 10, ...costly }))).toEqual([-1, 1]);
    expect(order(host(9, { score: 6 }), host(1))).toEqual([-1, 1]);
    expect(order(host(1), host(9))).toEqual([-1, 1]);
    expect(compareHosts(host(3), host(3))).toBe(0);
  });
});

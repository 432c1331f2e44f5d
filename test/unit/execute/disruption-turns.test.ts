import { describe, expect, it } from 'vitest';
import { EVERYTHING } from '../../../src/model/selector.ts';
import { aMove } from '../../support/builders/plan.ts';
import { aPdb } from '../../support/builders.ts';
import { API_1, aWorld, DB_0, execution, PODS, phases, put, run, stepOnce, WEB_1 } from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';

/** A world in which one PodDisruptionBudget over all pods lets so many be missing, as the disruption controller counts them. */
function withBudget(maxUnavailable: number, namespace = WEB_1.namespace): World {
  const w = aWorld();
  const { reader } = w.ports;
  const placements: typeof reader.placements = async (signal) => {
    const seen = await reader.placements(signal);
    const missing = PODS.length - seen.pods.filter(({ ready }) => ready).length;
    const pdb = aPdb('all', { namespace, selector: EVERYTHING, disruptionsAllowed: maxUnavailable - missing });
    return { ...seen, pdbs: [pdb] };
  };
  return { ...w, ports: { ...w.ports, reader: { ...reader, placements } } };
}

const MOVES = [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'd')];
const ATTEMPTS = [0, 0, 0];

describe('moves of pods that share a PodDisruptionBudget', () => {
  it.each([1, 2])(
    'begin %d at a time, where that many may be missing, and spend no try while they wait',
    async (most) => {
      const w = withBudget(most);
      put(w, MOVES);
      const first = await stepOnce(w, execution(3));
      expect(phases(first).filter((phase) => phase !== 'Planned')).toHaveLength(most);
      const ended = await run(w, execution(3));
      expect(phases(ended)).toEqual(['Landed', 'Landed', 'Landed']);
      expect(ended.status?.moves?.map(({ attempt }) => attempt)).toEqual(ATTEMPTS);
    },
  );

  it('all begin where the budget is one of another namespace', async () => {
    const w = withBudget(0, 'elsewhere');
    put(w, MOVES);
    expect(phases(await stepOnce(w, execution(3)))).not.toContain('Planned');
  });

  it('ask the eviction API about one of them where the budget allows nothing and no move is in flight', async () => {
    const w = withBudget(0);
    put(w, MOVES);
    await stepOnce(w, execution(3));
    expect(w.calls.filter((call) => call.startsWith('dry-run'))).toHaveLength(1);
  });
});

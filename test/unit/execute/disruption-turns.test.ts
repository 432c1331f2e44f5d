import { describe, expect, it } from 'vitest';
import { withinDisruptionBudgets } from '../../../src/execute/disruption-turns.ts';
import type { JournalEntry } from '../../../src/execute/move.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { EVERYTHING, type Selector } from '../../../src/model/selector.ts';
import { aMove, anAdmission, aRemoval } from '../../support/builders/plan.ts';
import { aPdb, selecting } from '../../support/builders.ts';
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

describe('withinDisruptionBudgets', () => {
  const entry = (move: JournalEntry['move'], index: number): JournalEntry => ({
    index,
    move,
    run: { podUID: move.pod.uid, phase: 'Planned', attempt: 0 },
  });
  const PAIR = [WEB_1, API_1].map((pod, index) => entry(aMove(pod, 'b'), index));
  const BUSY = [entry(aMove(DB_0, 'b'), 9)];

  /** Names of the pods whose moves begin. */
  function begun(
    ready: readonly JournalEntry[],
    inFlight: readonly JournalEntry[],
    pdb: Partial<ReturnType<typeof aPdb>>,
    pods: readonly PodInfo[] = PODS,
  ): readonly string[] {
    const pdbs = [aPdb('all', { namespace: WEB_1.namespace, ...pdb })];
    return withinDisruptionBudgets(ready, inFlight, { pods, pdbs }).map(({ move }) => move.pod.name);
  }

  it.each([
    [0, []],
    [1, ['web-1']],
    [2, ['web-1', 'api-1']],
    [3, ['web-1', 'api-1']],
  ])('lets begin as many as the budget allows beside a move in flight: %d', (disruptionsAllowed, names) => {
    expect(begun(PAIR, BUSY, { disruptionsAllowed })).toEqual(names);
  });

  it('waits for a budget that allows nothing only where a move of its namespace takes a pod away', () => {
    expect(begun(PAIR, [], { disruptionsAllowed: 0 })).toEqual(['web-1']);
    const elsewhere = { ...DB_0, namespace: 'elsewhere' };
    expect(begun(PAIR, [entry(aMove(elsewhere, 'b'), 9)], { disruptionsAllowed: 0 })).toEqual(['web-1']);
    expect(begun(PAIR, [entry(anAdmission(DB_0, 'b'), 9)], { disruptionsAllowed: 0 })).toEqual(['web-1']);
  });

  it.each<[string, boolean, boolean, readonly string[]]>([
    ['Ready, though those that are not need no permission', true, true, []],
    ['Ready', true, false, []],
    ['not Ready and needs permission all the same', false, false, []],
    ['not Ready and needs no permission', false, true, ['web-1', 'api-1']],
  ])('asks the budget about a pod that is %s', (_, ready, allowsUnready, names) => {
    const pods = PODS.map((pod) => ({ ...pod, ready }));
    expect(begun(PAIR, BUSY, { disruptionsAllowed: 0, allowsUnready }, pods)).toEqual(names);
  });

  it('counts for a budget only the pods that it selects', () => {
    const selector: Selector = selecting({ app: 'api' });
    expect(begun(PAIR, BUSY, { disruptionsAllowed: 0, selector })).toEqual(['web-1']);
  });

  it('lets through what takes no pod away that runs, and a pod that is gone from the snapshot', () => {
    const harmless = [entry(anAdmission(WEB_1, 'b'), 0), entry(aRemoval(API_1), 1)];
    expect(begun(harmless, BUSY, { disruptionsAllowed: 0 })).toEqual(['web-1', 'api-1']);
    expect(begun(PAIR, BUSY, { disruptionsAllowed: 0 }, [API_1])).toEqual(['web-1']);
  });
});

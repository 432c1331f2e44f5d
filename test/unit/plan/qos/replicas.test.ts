import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { aServiceClass, type LedgerFields } from '../../../support/builders/service-levels.ts';
import { aNode, aWorkload } from '../../../support/builders.ts';
import { aContest, aRequest, cpu, qosOptions, type Request } from '../../../support/gated.ts';

const CLASSES = [aServiceClass({ name: 'batch', slo: 0.9 }), aServiceClass({ name: 'free', slo: 0.5, importance: 3 })];
const BOTH = ['None', 'Standard'] as const;

/** A request of several replicas, each on its node or at the gate. */
function replicas(
  name: string,
  nodes: readonly (string | undefined)[],
  times: NonNullable<LedgerFields['times']>,
  fields: Parameters<typeof aRequest>[4] = {},
): readonly Request[] {
  const running = nodes.filter((node) => node !== undefined).length;
  return nodes.map((node, index) => {
    const { pod, ledger } = aRequest(`${name}-${index}`, 'free', node, times, { owner: name, ...fields });
    const owner = { ...ledger.owner, name, uid: `uid-${name}` };
    return { pod, ledger: { ...ledger, owner, running, waiting: nodes.length - running } };
  });
}

function contest(slots: Readonly<Record<string, number>>, requests: readonly Request[]): ClusterSnapshot {
  const names = [...new Set(requests.map(({ ledger }) => ledger.owner.name))];
  const workloads = names.map((name) =>
    aWorkload(name, { gated: true, replicas: requests.filter(({ ledger }) => ledger.owner.name === name).length }),
  );
  return aContest(slots, CLASSES, requests, { workloads });
}

function evicted(snapshot: ClusterSnapshot, refinements: (typeof BOTH)[number]): readonly string[] {
  return plan(snapshot, qosOptions(refinements)).moves.flatMap(({ pod, to }) => (to === undefined ? [pod.name] : []));
}

describe('replicas whose time is added up', () => {
  it.each(BOTH)('are not both evicted in a pass as if the other one kept running (refinements %s)', (refinements) => {
    const requests = [
      ...replicas('pair', ['n1', 'n2'], { useful: 1100, pending: 900 }),
      aRequest('single', 'free', 'n3', { useful: 1400 }),
      aRequest('first', 'batch', undefined, { useful: 900, pending: 100 }),
      aRequest('second', 'batch', undefined, { useful: 900, pending: 100 }),
    ];
    // One of the pair may go for good: the other one is half of what was promised. Both of them may not.
    expect(evicted(contest({ n1: 1, n2: 1, n3: 1 }, requests), refinements)).toEqual(['pair-0', 'single']);
  });

  it.each(BOTH)('that wait are judged with those that were just let in (refinements %s)', (refinements) => {
    const requests = [
      ...replicas('pair', [undefined, undefined], { useful: 1000, pending: 1000 }),
      aRequest('rich', 'free', 'n1', { useful: 1400 }),
      aRequest('richer', 'free', 'n2', { useful: 1500 }),
    ];
    // With one of the pair the other one is not needed.
    expect(evicted(contest({ n1: 1, n2: 1 }, requests), refinements)).toEqual(['richer']);
  });

  it.each(BOTH)(
    'have their turns among others, each judged with those let in before it (refinements %s)',
    (refinements) => {
      const requests = [
        ...replicas('trio', [undefined, undefined, undefined], { useful: 1500, pending: 1000 }),
        ...[1050, 1300, 1600, 2500].map((useful) =>
          aRequest(`single-${useful}`, 'free', undefined, { useful, pending: 1000 }),
        ),
      ];
      // Of three the first can wait for 247 s, the second for longer, and the third for good.
      const turns = ['single-1050', 'trio-0', 'single-1300', 'trio-1', 'single-1600', 'single-2500', 'trio-2'];
      const { moves } = plan(contest({ n1: 7 }, requests), qosOptions(refinements));
      expect(moves.map(({ pod }) => pod.name)).toEqual(turns);
      // Who comes late gets nothing where there is not enough for all.
      const few = plan(contest({ n1: 4 }, requests), qosOptions(refinements)).moves;
      expect(few.map(({ pod }) => pod.name)).toEqual(turns.slice(0, 4));
    },
  );

  it('leave a node one after the other, each judged without those that leave before it', () => {
    // Of three the first is not needed, the second can wait for 200 s less its start, the third for 66 s less that.
    const trio = replicas('trio', ['n1', 'n1', 'n1'], { useful: 1100, pending: 900 }, cpu(1000));
    const nodes = [aNode('n1', { allocatable: { cpu: 3000 } })];
    const leaving = (cores: number, useful: number): readonly string[] => {
      const claimant = aRequest('large', 'batch', undefined, { useful, pending: 50 }, cpu(cores * 1000));
      return evicted({ ...contest({}, [...trio, claimant]), nodes }, 'None');
    };
    // Can wait for 47 s, for 97 s and for 247 s.
    const [early, late, last] = [900, 1350, 2700];
    expect(leaving(1, last)).toEqual(['trio-0']);
    expect([leaving(2, late), leaving(2, last)]).toEqual([['trio-0', 'trio-1'], []]);
    expect([leaving(3, early), leaving(3, late)]).toEqual([['trio-0', 'trio-1', 'trio-2'], []]);
  });

  it('get a victim that was refused to one who can wait longer, once others of theirs have gone', () => {
    const [runs, waits] = replicas('pair', ['n1', undefined], { useful: 1300, pending: 700 });
    const requests = [
      { ...(runs as Request), pod: aRequest('pair-0', 'free', 'n1', {}, { owner: 'pair', ...cpu(2000) }).pod },
      { ...(waits as Request), pod: aRequest('pair-1', 'free', undefined, {}, { owner: 'pair', ...cpu(500) }).pod },
      // Evicts pair-0. Then pair-1 can wait for 300 s, single for 2000 s, and the only other victim for 1400 s.
      aRequest('large', 'batch', undefined, { useful: 900, pending: 100 }, cpu(2000)),
      aRequest('single', 'free', undefined, { useful: 2500, pending: 500 }, cpu(500)),
      aRequest('victim', 'free', 'n2', { useful: 1400 }, cpu(500)),
    ];
    const nodes = [aNode('n1', { allocatable: { cpu: 2000 } }), aNode('n2', { allocatable: { cpu: 500 } })];
    expect(evicted({ ...contest({}, requests), nodes }, 'None')).toEqual(['pair-0', 'victim']);
  });

  it('make a node dearer that was looked at before one of them was evicted elsewhere', () => {
    const [small, large] = replicas('pair', ['n1', 'n2'], { useful: 1100, pending: 900 });
    const sized = (request: Request | undefined, millicores: number): readonly Request[] => {
      const { constraints } = aRequest('sized', 'free', undefined, {}, cpu(millicores)).pod;
      return request === undefined ? [] : [{ ...request, pod: { ...request.pod, constraints } }];
    };
    const requests = [
      ...sized(small, 1000),
      aRequest('beside', 'free', 'n1', { useful: 8 }, cpu(1000)),
      ...sized(large, 2000),
      aRequest('single', 'free', 'n3', { useful: 1400 }, cpu(1000)),
      aRequest('too', 'free', 'n3', { useful: 8 }, cpu(1000)),
      ...['first', 'second'].map((name) =>
        aRequest(name, 'batch', undefined, { useful: 900, pending: 100 }, cpu(2000)),
      ),
    ];
    const nodes = ['n1', 'n2', 'n3'].map((name) => aNode(name, { allocatable: { cpu: 2000 } }));
    expect(evicted({ ...contest({}, requests), nodes }, 'None')).toEqual(['pair-1', 'single', 'too']);
  });

  it.each(BOTH)('are judged without those that are leaving already (refinements %s)', (refinements) => {
    const [leaving, stays] = replicas('pair', ['n1', 'n2'], { useful: 1100, pending: 900 });
    const requests = [
      { pod: { ...(leaving as Request).pod, terminating: true }, ledger: (leaving as Request).ledger },
      stays as Request,
      aRequest('single', 'free', 'n3', { useful: 1400 }),
      aRequest('waits', 'batch', undefined, { useful: 900, pending: 100 }),
    ];
    expect(evicted(contest({ n1: 1, n2: 1, n3: 1 }, requests), refinements)).toEqual(['single']);
  });
});

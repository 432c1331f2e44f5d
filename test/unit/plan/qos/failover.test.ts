import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { seconds } from '../../../../src/model/units.ts';
import type { PolicyOptions } from '../../../../src/plan/options.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { listRejections } from '../../../../src/plan/rejections.ts';
import { aBudget } from '../../../support/builders/options.ts';
import { aSpread } from '../../../support/builders/scheduling.ts';
import { aServiceClass } from '../../../support/builders/service-levels.ts';
import { aNode, aPdb, aWorkload, type PodFields, type SnapshotFields } from '../../../support/builders.ts';
import { aContest, anUnreadyRequest, aRequest, qosOptions, type Request } from '../../../support/gated.ts';

const CLASSES = [
  aServiceClass({ name: 'prod', slo: 1, importance: 1 }),
  aServiceClass({ name: 'batch', slo: 0.9, importance: 2 }),
  aServiceClass({ name: 'free', slo: 0.5, importance: 3 }),
];
const BOTH = ['None', 'Standard'] as const;

/** A request whose pod has not been Ready for ten seconds, since node `down` has failed. */
function stranded(name = 'stranded', className = 'prod', fields: PodFields = {}): Request {
  return anUnreadyRequest(name, className, 'down', { useful: 600, pending: 10 }, 10, fields);
}

interface ClusterFields extends SnapshotFields {
  /** Pod slots of nodes that are Ready. */
  readonly slots?: Readonly<Record<string, number>>;
  /** Names of those that are not. */
  readonly failed?: readonly string[];
}

function cluster(
  requests: readonly Request[],
  { slots = { n1: 1, n2: 1 }, failed = ['down'], ...fields }: ClusterFields = {},
): ClusterSnapshot {
  const ready = Object.entries(slots).map(([name, pods]) => aNode(name, { allocatable: { pods } }));
  const nodes = [...ready, ...failed.map((name) => aNode(name, { ready: false, allocatable: { pods: 9 } }))];
  return aContest({}, CLASSES, requests, { nodes, ...fields });
}

/** Moves as `pod: from > to`. */
function movesOf(snapshot: ClusterSnapshot, options: PolicyOptions = qosOptions()): readonly string[] {
  return plan(snapshot, options).moves.map(({ pod, from = '', to = '' }) => `${pod.name}: ${from} > ${to}`);
}

function reasonsOf(snapshot: ClusterSnapshot, options: PolicyOptions = qosOptions()) {
  return new Map(listRejections(plan(snapshot, options).rejections).map((each) => [each.pod.name, each]));
}

describe('a pod whose node has failed', () => {
  it.each(BOTH)('is moved to a node with room, which costs no service (refinements %s)', (refinements) => {
    const { moves, outcome } = plan(cluster([stranded()]), qosOptions(refinements));
    expect(moves).toMatchObject([
      { pod: { name: 'stranded' }, from: 'down', to: 'n1', failover: true, cost: 0, after: [], fallbacks: [] },
    ]);
    expect(moves[0]?.reason).toMatch(/^down is not Ready; can wait -?\d+ s; n1 has room, allocation score/);
    expect(outcome).toEqual({ kind: 'Moves', obstacle: undefined });
  });

  it.each(BOTH)('gets the room of one that can wait, once that has left (refinements %s)', (refinements) => {
    const rich = aRequest('rich', 'free', 'n1', { useful: 3000 });
    const { moves } = plan(cluster([stranded(), rich], { slots: { n1: 1 } }), qosOptions(refinements));
    expect(moves).toMatchObject([
      { pod: { name: 'rich' }, from: 'n1', to: undefined },
      { pod: { name: 'stranded' }, from: 'down', to: 'n1', failover: true, after: [0] },
    ]);
  });

  it.each(BOTH)('comes in the order of urgency with those at the gate (refinements %s)', (refinements) => {
    const slots = { n1: 1 };
    const less = aRequest('waits', 'free', undefined, { useful: 600 });
    const more = aRequest('waits', 'prod', undefined, { useful: 600, pending: 60 });
    const options = qosOptions(refinements);
    expect(movesOf(cluster([stranded(), less], { slots }), options)).toEqual(['stranded: down > n1']);
    expect(movesOf(cluster([stranded(), more], { slots }), options)).toEqual(['waits:  > n1']);
    expect(reasonsOf(cluster([stranded(), more], { slots }), options).get('stranded')?.code).toBe('NoEligibleVictim');
  });

  it('stays where nothing takes it, and is nobody whom others may evict', () => {
    const runs = aRequest('runs', 'prod', 'n1', { useful: 600 });
    const snapshot = cluster([stranded(), runs], { slots: { n1: 1 } });
    expect(movesOf(snapshot)).toEqual([]);
    expect(reasonsOf(snapshot).get('stranded')).toMatchObject({ code: 'NoEligibleVictim' });
  });

  it('needs no budget, whatever the others keep for pods that run', () => {
    const budgets = [
      aBudget({ maxMoves: 0, perNode: 0, perNamespace: 0, overhead: { limit: seconds(0), window: seconds(3600) } }),
    ];
    expect(movesOf(cluster([stranded()]), qosOptions('None', { budgets }))).toEqual(['stranded: down > n1']);
  });

  it('is moved whatever keeps pods that run where they are: their number, and a PodDisruptionBudget', () => {
    const pdbs = [aPdb('web', { disruptionsAllowed: 0, allowsUnready: true })];
    const options = qosOptions('None', { protections: { minReplicas: 2 } });
    expect(movesOf(cluster([stranded()], { pdbs }), options)).toEqual(['stranded: down > n1']);
  });

  it('stays with a PodDisruptionBudget that lets no pod go, Ready or not', () => {
    const snapshot = cluster([stranded()], { pdbs: [aPdb('web', { disruptionsAllowed: 0 })] });
    expect(movesOf(snapshot)).toEqual([]);
    expect(reasonsOf(snapshot).get('stranded')?.code).toBe('NotReady');
  });

  it.each<[string, PodFields, string]>([
    ['its owner wants it so', { annotations: { 'evenkeel.dev/do-not-evict': 'true' } }, 'NotReady'],
    ['it has data there', { localStorage: true }, 'NotReady'],
    ['it is being deleted already', { terminating: true }, 'Terminating'],
    ['it is a static pod', { mirror: true }, 'MirrorPod'],
  ])('stays when %s', (_, fields, code) => {
    const snapshot = cluster([stranded('stranded', 'prod', fields)]);
    expect(movesOf(snapshot)).toEqual([]);
    expect(reasonsOf(snapshot).get('stranded')?.code).toBe(code);
  });

  it('stays out of the scope, without a class and without a ledger', () => {
    const snapshot = cluster([stranded('stranded', 'gone')]);
    expect(movesOf(snapshot)).toEqual([]);
    expect(reasonsOf(snapshot).get('stranded')?.code).toBe('NotReady');
  });

  it.each([
    ['StatefulSet', false, []],
    ['DaemonSet', false, []],
    ['Job', false, []],
    ['Job', true, ['stranded: down > n1']],
  ] as const)(
    'of a %s is moved only if that replaces pods that are still terminating (%s)',
    (kind, replaces, moves) => {
      const owner = { kind, name: 'stranded', uid: 'uid-stranded' };
      const fields = { kind, toleratesDisruption: true, replacesTerminating: replaces, replicas: 1 };
      const workloads = [aWorkload('stranded', fields)];
      expect(movesOf(cluster([stranded('stranded', 'prod', { owner })], { workloads }))).toEqual(moves);
    },
  );

  it('is not taken for one while it is Ready, or its node is', () => {
    const serves = aRequest('serves', 'prod', 'down', { useful: 600 });
    const starts = anUnreadyRequest('starts', 'prod', 'n1', { useful: 600 }, 10);
    expect(movesOf(cluster([serves, starts]))).toEqual([]);
  });

  it('counts nowhere for the spread of its workload once it is to leave', () => {
    const labels = { 'evenkeel.dev/service-class': 'prod', app: 'web' };
    const constraints = { spread: [aSpread({ app: 'web' }, { topologyKey: 'kubernetes.io/hostname' })] };
    const others = ['n1', 'n2'].map((node) =>
      aRequest(`on-${node}`, 'prod', node, { useful: 600 }, { labels, constraints }),
    );
    // Two pods on n1 and none on the node that has failed would be too uneven.
    const snapshot = cluster([stranded('stranded', 'prod', { labels, constraints }), ...others], {
      slots: { n1: 9, n2: 9 },
    });
    expect(movesOf(snapshot)).toEqual([]);
  });
});

describe('when most nodes fail', () => {
  const others = (count: number) => Array.from({ length: count }, (_, index) => `d${index}`);

  it('nobody is moved: it may be the control plane that is cut off', () => {
    const half = cluster([stranded()], { failed: ['down', ...others(1)] });
    expect(movesOf(half)).toEqual(['stranded: down > n1']);
    const most = cluster([stranded()], { failed: ['down', ...others(2)] });
    expect(movesOf(most)).toEqual([]);
    expect(reasonsOf(most).get('stranded')).toMatchObject({
      code: 'TooManyNodesFailed',
      message: 'stays on down: 3 of 5 nodes not Ready: from 55 % on they may only be cut off',
      numbers: { notReady: 3, nodes: 5 },
    });
  });

  it('nobody is moved from a zone of which most nodes fail, unless all of it does', () => {
    const zoned = (name: string, zone: string, ready: boolean) =>
      aNode(name, { ready, labels: { 'topology.kubernetes.io/zone': zone }, allocatable: { pods: 9 } });
    const rest = ['b1', 'b2', 'b3', 'b4', 'b5'].map((name) => zoned(name, 'b', true));
    const zone = (ready: boolean) => [
      zoned('down', 'a', false),
      zoned('a2', 'a', false),
      zoned('a3', 'a', false),
      zoned('a4', 'a', ready),
    ];
    const partly = cluster([stranded()], { nodes: [...zone(true), ...rest] });
    expect(movesOf(partly)).toEqual([]);
    expect(reasonsOf(partly).get('stranded')?.message).toBe(
      'stays on down: 3 of 4 nodes of its zone not Ready: from 55 % on they may only be cut off',
    );
    expect(movesOf(cluster([stranded()], { nodes: [...zone(false), ...rest] }))).toHaveLength(1);
  });
});

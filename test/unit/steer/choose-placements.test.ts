import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../src/model/pod.ts';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { itemAt } from '../../../src/plan/indices.ts';
import { schedulerView } from '../../../src/plan/scheduler-view.ts';
import { choosePlacements, type SteeredPod } from '../../../src/steer/choose-placements.ts';
import { steeredConstraints } from '../../../src/steer/constraints.ts';
import { aNode, aPod, aSnapshot, selecting } from '../../support/builders.ts';

const ZONE = 'topology.kubernetes.io/zone';

/** So many nodes in three zones, with a few pods of other controllers on each. */
function cluster(count: number, pods: readonly PodInfo[]): ClusterSnapshot {
  const nodes = Array.from({ length: count }, (_, index) =>
    aNode(`node-${index}`, { labels: { [ZONE]: `zone-${index % 3}` } }),
  );
  const others = nodes.flatMap(({ name }, index) =>
    Array.from({ length: index % 4 }, (_, nth) => aPod(`other-${index}-${nth}`, { nodeName: name, owner: `o${nth}` })),
  );
  return aSnapshot({ nodes, pods: [...pods, ...others] });
}

const WEB = aPod('web-1', { nodeName: 'node-0', labels: { app: 'web' } });
const wish = (target: string, fallbacks: readonly string[] = []): SteeredPod => ({ uid: WEB.uid, target, fallbacks });

function placed(snapshot: ClusterSnapshot, pod: SteeredPod, narrowing: 'IfNeeded' | 'Always' = 'IfNeeded') {
  return itemAt([...choosePlacements(snapshot, [pod], narrowing).values()], 0);
}

/** Points of the target ahead of the best other node, under the constraints that the pod will have. */
function lead(snapshot: ClusterSnapshot, { uid, target }: SteeredPod, placement: ReturnType<typeof placed>): number {
  const pods = snapshot.pods.map((pod) =>
    pod.uid === uid ? { ...pod, nodeName: target, constraints: steeredConstraints(pod.constraints, placement) } : pod,
  );
  const view = schedulerView({ ...snapshot, pods });
  const feasible = view.feasible(view.podOf(uid));
  const totals = view.totals(view.podOf(uid), feasible);
  const place = feasible.findIndex((site) => view.nodes[site]?.name === target);
  const others = [...totals].filter((_, index) => index !== place);
  return place < 0 ? Number.NEGATIVE_INFINITY : (totals[place] ?? 0) - Math.max(0, ...others);
}

describe('choosePlacements', () => {
  it('leaves it to the preference where the scheduler looks at all nodes, and that decides', () => {
    expect(placed(cluster(100, [WEB]), wish('node-9', ['node-5']))).toEqual({
      target: 'node-9',
      fallbacks: ['node-5'],
      alternatives: undefined,
    });
  });

  it('names alternatives where it looks at some nodes only: the target first, its fallbacks next', () => {
    const { alternatives } = placed(cluster(101, [WEB]), wish('node-9', ['node-5', 'node-7']));
    expect(alternatives?.slice(0, 3)).toEqual(['node-9', 'node-5', 'node-7']);
    expect(alternatives).toHaveLength(20);
  });

  it('counts nodes that can take the pod, not all', () => {
    const ssd = { nodeSelector: new Map([['disk', 'ssd']]) };
    const pod = { ...WEB, constraints: { ...WEB.constraints, ...ssd } };
    const snapshot = cluster(300, [pod]);
    const nodes = snapshot.nodes.map((node, index) =>
      index < 50 ? { ...node, labels: new Map([...node.labels, ['disk', 'ssd']]) } : node,
    );
    expect(placed({ ...snapshot, nodes }, wish('node-9')).alternatives).toBeUndefined();
  });

  it('leaves out nodes that would win against the preference', () => {
    const likes = { weight: 100, term: { expressions: selecting({ [ZONE]: 'zone-1' }).requirements, fields: [] } };
    const pod = { ...WEB, constraints: { ...WEB.constraints, preferredNodeAffinity: [likes, likes, likes] } };
    const snapshot = cluster(9, [pod]);
    const found = placed(snapshot, wish('node-3'));
    expect(lead(snapshot, wish('node-3'), { ...found, alternatives: undefined })).toBeLessThanOrEqual(0);
    expect(found.alternatives?.every((host) => Number(host.slice(5)) % 3 !== 1)).toBe(true);
    expect(lead(snapshot, wish('node-3'), found)).toBeGreaterThan(0);
  });

  it('names some always where nothing else is to decide', () => {
    const snapshot = cluster(8, [WEB]);
    expect(placed(snapshot, wish('node-3'), 'Always').alternatives?.[0]).toBe('node-3');
  });

  it.each<[string, (snapshot: ClusterSnapshot) => ClusterSnapshot]>([
    ['the target has no host name', (snapshot) => relabelled(snapshot, 'node-9', undefined)],
    ['another node has the host name of the target', (snapshot) => relabelled(snapshot, 'node-4', 'node-9')],
    ['the pod is not known', (snapshot) => ({ ...snapshot, pods: snapshot.pods.filter(({ uid }) => uid !== WEB.uid) })],
    [
      'the target cannot take the pod',
      (snapshot) => ({
        ...snapshot,
        nodes: snapshot.nodes.map((node) => (node.name === 'node-9' ? { ...node, unschedulable: true } : node)),
      }),
    ],
  ])('names none when %s', (_, change) => {
    expect(placed(change(cluster(150, [WEB])), wish('node-9'))).toEqual({
      target: 'node-9',
      fallbacks: [],
      alternatives: undefined,
    });
  });

  it('covers every zone that a spread constraint counts, so that minDomains stays met', () => {
    const spread = [constraint(ZONE, { minDomains: 3 })];
    const pods = ['web-1', 'web-2', 'web-3'].map((name, index) =>
      aPod(name, { nodeName: `node-${index}`, labels: { app: 'web' }, constraints: { spread } }),
    );
    const snapshot = cluster(150, pods);
    const found = placed(snapshot, wish('node-9'), 'Always');
    const zones = new Set(found.alternatives?.map((host) => Number(host.slice(5)) % 3));
    expect(zones.size).toBe(3);
    expect(lead(snapshot, wish('node-9'), found)).toBeGreaterThan(0);
  });

  it('has a zone without room count by one of its nodes, which takes the pod no more than before', () => {
    const spread = [constraint(ZONE, { maxSkew: 1 })];
    const pod = aPod('web-1', { nodeName: 'node-0', labels: { app: 'web' }, constraints: { spread } });
    const sibling = aPod('web-2', { nodeName: 'node-4', labels: { app: 'web' }, constraints: { spread } });
    const snapshot = cluster(400, [pod, sibling]);
    const nodes = snapshot.nodes.map((node, index) => (index % 3 === 1 ? { ...node, unschedulable: true } : node));
    const found = placed({ ...snapshot, nodes }, wish('node-9'));
    expect(found.alternatives?.filter((host) => Number(host.slice(5)) % 3 === 1)).toEqual(['node-4']);
    expect(lead({ ...snapshot, nodes }, wish('node-9'), found)).toBeGreaterThan(0);
  });

  it('names nodes by which the target is not refused for the pods that it has', () => {
    const spread = [constraint('kubernetes.io/hostname', { maxSkew: 1 })];
    const own = aPod('web-1', { nodeName: 'node-0', labels: { app: 'web' }, constraints: { spread } });
    const siblings = Array.from({ length: 140 }, (_, index) =>
      aPod(`sibling-${index}`, { nodeName: `node-${index + 9}`, labels: { app: 'web' }, constraints: { spread } }),
    );
    const snapshot = cluster(149, [own, ...siblings]);
    const found = placed(snapshot, wish('node-5'));
    expect(lead(snapshot, wish('node-5'), found)).toBeGreaterThan(0);
  });

  it('has several pods at once on their targets, each for the others', () => {
    const anti = [
      { selector: selecting({ app: 'web' }), namespaces: [], namespaceSelector: undefined, topologyKey: ZONE },
    ];
    const pods = ['web-1', 'web-2'].map((name, index) =>
      aPod(name, { nodeName: `node-${index}`, labels: { app: 'web' }, constraints: { podAntiAffinity: anti } }),
    );
    const snapshot = cluster(330, pods);
    const placements = choosePlacements(
      snapshot,
      [wish('node-3'), { uid: pods[1]?.uid ?? '', target: 'node-5', fallbacks: [] }],
      'IfNeeded',
    );
    for (const { alternatives = [] } of placements.values()) {
      expect(alternatives.length).toBeGreaterThan(0);
    }
    const [first] = placements.values();
    expect(first?.alternatives?.some((host) => Number(host.slice(5)) % 3 === 2)).toBe(false);
  });
});

function constraint(topologyKey: string, fields: { readonly maxSkew?: number; readonly minDomains?: number }) {
  return {
    whenUnsatisfiable: 'DoNotSchedule',
    maxSkew: 1,
    topologyKey,
    selector: selecting({ app: 'web' }),
    minDomains: 1,
    nodeAffinityPolicy: 'Honor',
    nodeTaintsPolicy: 'Ignore',
    ...fields,
  } as const;
}

function relabelled(snapshot: ClusterSnapshot, name: string, host: string | undefined): ClusterSnapshot {
  const nodes = snapshot.nodes.map((node) => {
    const labels = new Map(node.labels);
    labels.delete('kubernetes.io/hostname');
    if (host !== undefined) {
      labels.set('kubernetes.io/hostname', host);
    }
    return node.name === name ? { ...node, labels } : node;
  });
  return { ...snapshot, nodes };
}

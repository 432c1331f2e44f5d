import type { Random } from '../support/random.ts';
import { between, chance, pick } from './choice.ts';
import type { Json, KubeObject, LabelsJson } from './kube-object.ts';
import { DRIVER, GPU, HOSTNAME, REGION, ZONE } from './vocabulary.ts';

/** Taints that are met in every campaign. */
export const TAINTS: readonly Json[] = [
  { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' },
  { key: 'dedicated', value: 'db', effect: 'NoSchedule' },
  { key: 'level', value: '3', effect: 'NoSchedule' },
  { key: 'drain', effect: 'NoExecute' },
  { key: 'spot', value: 'yes', effect: 'NoExecute' },
  { key: 'slow', value: 'disk', effect: 'PreferNoSchedule' },
];

/** Four to ten nodes `PREFIX-node-I` in two or three zones, each different. */
export function randomNodes(random: Random, prefix: string): readonly KubeObject[] {
  const zones = ['zone-a', 'zone-b', 'zone-c'].slice(0, between(random, 2, 3));
  return Array.from({ length: between(random, 4, 10) }, (_, index) => {
    const name = `${prefix}-node-${index}`;
    const zone = zones[index % zones.length] ?? '';
    const size = randomSize(random);
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: nodeLabels(random, name, zone) },
      spec: {
        taints: chance(random, 0.35) ? [pick(random, TAINTS)] : [],
        ...(chance(random, 0.12) ? { unschedulable: true } : {}),
      },
      status: { capacity: size, allocatable: size },
    };
  });
}

/** Some nodes lack the labels that domains are made from; `gen` is a number or not. */
function nodeLabels(random: Random, name: string, zone: string): LabelsJson {
  return {
    'kubernetes.io/os': 'linux',
    disk: pick(random, ['ssd', 'hdd']),
    ...(chance(random, 0.94) ? { [HOSTNAME]: name } : {}),
    ...(chance(random, 0.85) ? { [ZONE]: zone, [REGION]: 'region-1' } : {}),
    ...(chance(random, 0.7) ? { rack: pick(random, ['r1', 'r2', 'r3']) } : {}),
    ...(chance(random, 0.8) ? { gen: pick(random, ['0', '1', '2', '3', '010', 'x2']) } : {}),
  };
}

function randomSize(random: Random): Json {
  return {
    cpu: pick(random, ['1500m', '2', '2.5', '4']),
    memory: pick(random, ['2Gi', '3000Mi', '6Gi', '5000000k']),
    pods: String(pick(random, [4, 6, 10, 30])),
    'ephemeral-storage': pick(random, ['5Gi', '20Gi']),
    ...(chance(random, 0.5) ? { [GPU]: String(between(random, 0, 4)) } : {}),
    ...(chance(random, 0.4) ? { 'hugepages-2Mi': `${2 * between(random, 1, 64)}Mi` } : {}),
  };
}

/** What the CSI drivers of most nodes can attach. */
export function randomCsiNodes(random: Random, nodes: readonly KubeObject[]): readonly KubeObject[] {
  return nodes
    .filter(() => chance(random, 0.8))
    .map(({ metadata: { name } }) => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name },
      spec: {
        drivers: [
          {
            name: DRIVER,
            nodeID: name,
            topologyKeys: [ZONE],
            ...(chance(random, 0.9) ? { allocatable: { count: between(random, 1, 3) } } : {}),
          },
        ],
      },
    }));
}

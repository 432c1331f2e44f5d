import { describe, expect, it } from 'vitest';
import { describeRefusal, refusalNumbers, type TargetRefusal } from '../../../../src/plan/filters/refusal.ts';
import { aHostPort, aTaint } from '../../../support/builders/scheduling.ts';

const MIB = 2 ** 20;
const zone = 'topology.kubernetes.io/zone';

describe('a refusal', () => {
  it.each<[TargetRefusal, string, Readonly<Record<string, number>>]>([
    [{ filter: 'NodeUnschedulable' }, 'is cordoned', {}],
    [{ filter: 'NodeName', pinnedNode: 'b' }, 'is not b, to which the template binds the pod', {}],
    [
      { filter: 'TaintToleration', taint: aTaint('gpu', 'yes') },
      'has the taint gpu=yes:NoSchedule, which the pod does not tolerate',
      {},
    ],
    [
      { filter: 'TaintToleration', taint: aTaint('gpu', '', 'NoExecute') },
      'has the taint gpu:NoExecute, which the pod does not tolerate',
      {},
    ],
    [{ filter: 'NodeAffinity', field: 'nodeSelector' }, "does not match the pod's nodeSelector", {}],
    [{ filter: 'NodeAffinity', field: 'nodeAffinity' }, "does not match the pod's nodeAffinity", {}],
    [
      { filter: 'NodeAffinity', field: 'preferred nodeAffinity' },
      'matches less of what the nodeAffinity of the pod prefers',
      {},
    ],
    [{ filter: 'NodePorts', port: aHostPort(80, { protocol: 'UDP' }) }, 'has host port 80/UDP in use', { port: 80 }],
    [{ filter: 'NodeResourcesFit', resource: 'pods', need: 1, free: 0 }, 'has 0 free pod slots', { need: 1, free: 0 }],
    [
      { filter: 'NodeResourcesFit', resource: 'pods', need: 1, free: -2 },
      'has 0 free pod slots',
      { need: 1, free: -2 },
    ],
    [
      { filter: 'NodeResourcesFit', resource: 'cpu', need: 500, free: 250.5 },
      'has 250.5m of 500m cpu free',
      { need: 500, free: 250.5 },
    ],
    [
      { filter: 'NodeResourcesFit', resource: 'memory', need: 512 * MIB, free: 100.5 * MIB },
      'has 100.5 MiB of 512 MiB memory free',
      { need: 512 * MIB, free: 100.5 * MIB },
    ],
    [
      { filter: 'NodeResourcesFit', resource: 'ephemeral-storage', need: 3 * MIB, free: MIB },
      'has 1 MiB of 3 MiB ephemeral-storage free',
      { need: 3 * MIB, free: MIB },
    ],
    [
      { filter: 'NodeResourcesFit', resource: 'nvidia.com/gpu', need: 2, free: 1 },
      'has 1 of 2 nvidia.com/gpu free',
      { need: 2, free: 1 },
    ],
    [
      { filter: 'VolumeRestrictions', claim: 'data' },
      'cannot have claim data, which is ReadWriteOncePod and used by another pod',
      {},
    ],
    [
      { filter: 'NodeVolumeLimits', driver: 'csi.x', need: 2, free: 1 },
      'can attach 1 more volumes of csi.x, the pod brings 2',
      { need: 2, free: 1 },
    ],
    [{ filter: 'VolumeBinding', detail: 'no volume' }, 'is refused by volume binding: no volume', {}],
    [{ filter: 'VolumeZone', volume: 'v', zone: 'b or c' }, 'is not in b or c, where PersistentVolume v is', {}],
    [
      { filter: 'PodTopologySpread', topologyKey: zone, domain: 'a', skew: 3, maxSkew: 1 },
      `would make the skew over ${zone} 3, in a, and maxSkew is 1`,
      { skew: 3, maxSkew: 1 },
    ],
    [
      { filter: 'PodTopologySpread', topologyKey: zone, domain: undefined, skew: 0, maxSkew: 1 },
      `has no label ${zone}, over which the pod is spread`,
      { skew: 0, maxSkew: 1 },
    ],
    [
      { filter: 'InterPodAffinity', rule: 'affinity', topologyKey: zone, domain: 'a', pods: 0 },
      `is in ${zone} a, where no pod matches the pod's affinity`,
      { pods: 0 },
    ],
    [
      { filter: 'InterPodAffinity', rule: 'affinity', topologyKey: zone, domain: undefined, pods: 0 },
      `is without label ${zone}, where no pod matches the pod's affinity`,
      { pods: 0 },
    ],
    [
      { filter: 'InterPodAffinity', rule: 'antiAffinity', topologyKey: zone, domain: 'a', pods: 1 },
      `is in ${zone} a, with 1 pod that the pod's anti-affinity matches`,
      { pods: 1 },
    ],
    [
      { filter: 'InterPodAffinity', rule: 'existingAntiAffinity', topologyKey: zone, domain: 'a', pods: 2 },
      `is in ${zone} a, with 2 pods whose anti-affinity matches the pod`,
      { pods: 2 },
    ],
    [
      { filter: 'Duplicates', pods: 1, most: 1 },
      'has 1 pod of its controller already, 1 for each node',
      { pods: 1, most: 1 },
    ],
    [
      { filter: 'Headroom', resource: 'cpu', need: 500, free: 750, headroom: 1000 },
      'has 750m cpu free of the 500m of the pod and the 1000m that thresholds.headroom leaves',
      { need: 500, free: 750, headroom: 1000 },
    ],
    [
      { filter: 'Headroom', resource: 'memory', need: 2 * MIB, free: 3 * MIB, headroom: 4.5 * MIB },
      'has 3 MiB memory free of the 2 MiB of the pod and the 4.5 MiB that thresholds.headroom leaves',
      { need: 2 * MIB, free: 3 * MIB, headroom: 4.5 * MIB },
    ],
  ])('of %j has its words and its numbers', (refusal, words, numbers) => {
    expect(describeRefusal(refusal)).toBe(words);
    expect(refusalNumbers(refusal)).toEqual(numbers);
  });
});

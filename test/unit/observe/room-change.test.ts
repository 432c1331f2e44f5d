import { describe, expect, it } from 'vitest';
import { bytes, epochSeconds } from '../../../src/model/units.ts';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectNode } from '../../../src/observe/project/node.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import { budgetOpens, nodeTakesOthers, podChangesRoom } from '../../../src/observe/room-change.ts';
import { aRawNode, aRawPod, type Raw } from '../../support/builders/raw.ts';

const interner = createInterner();

const node = (raw: Raw) => projectNode(raw, interner);
const pod = (raw: Raw) => projectPod(raw, interner).pod;

describe('a node', () => {
  const cases: readonly (readonly [what: string, change: Partial<Record<'spec' | 'status' | 'metadata', Raw>>])[] = [
    ['is not Ready', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }],
    ['is cordoned', { spec: { unschedulable: true } }],
    ['is tainted', { spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] } }],
    ['is drained by its maker', { metadata: { deletionTimestamp: '2026-01-01T00:02:00Z' } }],
    ['has another label', { metadata: { labels: { zone: 'b' } } }],
    ['has less to give', { status: { allocatable: { cpu: '3', memory: '16Gi', pods: '110' } } }],
    ['has fewer slots', { status: { allocatable: { cpu: '4', memory: '16Gi', pods: '10' } } }],
  ];
  const plain = node(aRawNode('a'));

  it.each(cases)('that %s takes other pods, and so it does when that is over', (_, change) => {
    const other = node(aRawNode('a', change));
    expect(nodeTakesOthers(plain, other)).toBe(true);
    expect(nodeTakesOthers(other, plain)).toBe(true);
  });

  it('takes the same pods after a heartbeat, another image and what else plans do not read', () => {
    const later = aRawNode('a', {
      metadata: { annotations: { note: 'x' } },
      status: {
        conditions: [
          { type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:05:00Z' },
          { type: 'DiskPressure', status: 'False' },
        ],
        images: [{ names: ['app:1'], sizeBytes: 5 }],
      },
    });
    expect(nodeTakesOthers(plain, node(later))).toBe(false);
    expect(nodeTakesOthers(plain, { ...plain, images: new Map([['app:1', bytes(5)]]) })).toBe(false);
    expect(nodeTakesOthers(plain, { ...plain, createdAt: epochSeconds(5) })).toBe(false);
  });
});

describe('a pod that stays', () => {
  const plain = pod(aRawPod('web'));
  const resized = pod(
    aRawPod('web', {
      spec: { containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '50m', memory: '1Mi' } } }] },
    }),
  );

  it.each([
    ['has failed', { ...plain, phase: 'Failed' } as const],
    ['was resized', resized],
    ['was relabelled', { ...plain, labels: { ...plain.labels, role: 'master' } }],
  ])('and %s leaves other room', (_, after) => {
    expect(podChangesRoom(plain, after)).toBe(true);
  });

  it.each([
    ['nothing', plain],
    ['readiness', { ...plain, ready: !plain.ready }],
    ['its phase, but to Running', { ...plain, phase: 'Running' } as const],
    ['that it goes, which its removal tells', { ...plain, terminating: true }],
    ['a restart', { ...plain, restarts: 1 }],
  ])('leaves the same room when that changes: %s', (_, after) => {
    expect(podChangesRoom({ ...plain, phase: 'Pending' }, after)).toBe(false);
  });

  it('leaves room once, however often it is told that it has failed', () => {
    const failed = { ...plain, phase: 'Failed' } as const;
    expect(podChangesRoom(failed, failed)).toBe(false);
  });
});

describe('a budget', () => {
  it.each([
    [0, 1, true],
    [0, undefined, true],
    [0, 0, false],
    [1, 0, false],
    [1, 2, false],
    [undefined, 1, false],
  ])('that allowed %s disruptions and allows %s now opens: %s', (before, now, opens) => {
    expect(budgetOpens({ disruptionsAllowed: before }, { disruptionsAllowed: now })).toBe(opens);
  });
});

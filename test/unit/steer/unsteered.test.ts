import { describe, expect, it } from 'vitest';
import type { Placement } from '../../../src/model/placement.ts';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import { pinnedAffinity, steeredAffinity } from '../../../src/steer/affinity.ts';
import { unsteered } from '../../../src/steer/unsteered.ts';
import { aRawPod, type Raw } from '../../support/builders/raw.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const pinTo = (...values: readonly string[]) => ({ key: 'metadata.name', operator: 'In', values });
const onSsd = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] };
const notOnA = { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['a'] }] };
const requiring = (...terms: readonly Raw[]): Raw => ({ nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: terms } } });
const preferring = (weight: number, ...values: readonly string[]) => ({
  weight,
  preference: { matchFields: [pinTo(...values)] },
});

const OWN: readonly [string, unknown][] = [
  ['no affinity', undefined],
  ['required terms', requiring(onSsd, notOnA)],
  ['a required node', requiring({ matchFields: [pinTo('z')] })],
  ['preferred terms', { nodeAffinity: { [PREFERRED]: [{ weight: 1, preference: onSsd }] } }],
  ['a preferred node', { nodeAffinity: { [PREFERRED]: [preferring(100, 'x'), preferring(50, 'b')] } }],
  ['affinity to pods', { podAffinity: { [PREFERRED]: [] } }],
];

function constraintsOf(affinity: unknown, target?: string) {
  const annotations = target === undefined ? {} : { 'evenkeel.dev/steered-to': target };
  return projectPod(aRawPod('p', { spec: { affinity }, metadata: { annotations } }), createInterner()).pod.constraints;
}

describe('what the annotation says of a pod', () => {
  const hosts = (...values: readonly string[]) => ({
    matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }],
  });

  it('is not believed when the spec keeps it to host names of its own', () => {
    const own = requiring(hosts('host-x', 'host-y'));
    expect(unsteered(own, 'b')).toMatchObject({ affinity: own, isKept: false, placement: { alternatives: undefined } });
    const waiting = projectPod(
      aRawPod('p', {
        spec: { affinity: own, nodeName: undefined },
        metadata: { annotations: { 'evenkeel.dev/steered-to': 'b' } },
      }),
      createInterner(),
    ).pod.waiting;
    expect(waiting?.pinnedTo).toBeUndefined();
  });

  it('is believed when the preference for that node stands beside them', () => {
    const { affinity } = steeredAffinity(undefined, { target: 'b', fallbacks: [], alternatives: ['host-b', 'host-y'] });
    expect(unsteered(affinity, 'b').isKept).toBe(true);
    expect(unsteered(affinity, 'c').isKept).toBe(false);
  });
});

describe('a pod that was steered', () => {
  const placements: readonly Placement[] = [
    { target: 'b', fallbacks: [], alternatives: undefined },
    { target: 'b', fallbacks: ['c', 'd'], alternatives: undefined },
    { target: 'b', fallbacks: ['c'], alternatives: ['host-b', 'host-e'] },
  ];

  it.each(OWN)('is to plans what it was before, and known to be steered: %s', (_, own) => {
    for (const placement of placements) {
      const { affinity } = steeredAffinity(own, placement);
      expect(constraintsOf(affinity)).not.toEqual(constraintsOf(own));
      expect(constraintsOf(affinity, 'b')).toEqual(constraintsOf(own));
      const isKept = placement.alternatives !== undefined;
      expect(unsteered(affinity, 'b')).toMatchObject({ placement, isKept });
    }
  });

  it.each(OWN)('and so is one that was tied to its node: %s', (_, own) => {
    const affinity = { ...(own as object), ...pinnedAffinity(own, 'b') };
    expect(unsteered(affinity, 'b').isKept).toBe(true);
    const preferred = (own as { nodeAffinity?: Raw } | undefined)?.nodeAffinity?.[PREFERRED];
    const whole = preferred === undefined ? own : { nodeAffinity: { [PREFERRED]: undefined } };
    expect(constraintsOf(affinity, 'b')).toEqual(constraintsOf(whole));
  });

  it.each<[string, unknown]>([
    ['another node', requiring({ matchFields: [pinTo('c')] })],
    ['two nodes', requiring({ matchFields: [pinTo('b', 'c')] })],
    ['one of two terms only', requiring({ matchFields: [pinTo('b')] }, onSsd)],
    ['another weight', { nodeAffinity: { [PREFERRED]: [preferring(99, 'b')] } }],
    ['something else behind it', { nodeAffinity: { [PREFERRED]: [preferring(100, 'b'), preferring(7, 'c')] } }],
    ['nothing', undefined],
  ])('keeps what does not look like ours: %s', (_, affinity) => {
    expect(constraintsOf(affinity, 'b')).toEqual(constraintsOf(affinity));
    expect(unsteered(affinity, 'b').isKept).toBe(false);
  });
});

describe('pinnedAffinity', () => {
  it('appends to each term and replaces none (core/validation validateNodeAffinityMutation)', () => {
    expect(pinnedAffinity(requiring(onSsd, notOnA), 'b')).toEqual(
      requiring({ ...onSsd, matchFields: [pinTo('b')] }, { matchFields: [...notOnA.matchFields, pinTo('b')] }),
    );
    expect(pinnedAffinity({}, 'b')).toEqual(requiring({ matchFields: [pinTo('b')] }));
  });

  it('knows that an empty term cannot be narrowed', () => {
    expect(pinnedAffinity(requiring(onSsd, {}), 'b')).toBeUndefined();
  });
});

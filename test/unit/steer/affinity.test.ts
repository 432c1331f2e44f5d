import { describe, expect, it } from 'vitest';
import { steeredAffinity } from '../../../src/steer/affinity.ts';

const PLACEMENT = { target: 'a', fallbacks: ['b'], alternatives: ['host-a', 'host-c'] };
const prefers = (name: string, weight: number) => ({
  weight,
  preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] },
});
const NAMES = { key: 'kubernetes.io/hostname', operator: 'In', values: ['host-a', 'host-c'] };
const terms = (nodeSelectorTerms: readonly object[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
const required = ({ affinity }: ReturnType<typeof steeredAffinity>): unknown =>
  (affinity['nodeAffinity'] as Record<string, unknown>)['requiredDuringSchedulingIgnoredDuringExecution'];

describe('steeredAffinity', () => {
  it('prefers the planned node, then its fallbacks, behind what the pod prefers itself', () => {
    const own = { weight: 7, preference: {} };
    const affinity = { podAffinity: {}, nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [own] } };
    expect(steeredAffinity(affinity, { ...PLACEMENT, alternatives: undefined })).toEqual({
      isNarrowed: false,
      affinity: {
        podAffinity: {},
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [own, prefers('a', 100), prefers('b', 50)],
        },
      },
    });
  });

  it('keeps a pod without required terms to the alternatives', () => {
    const steered = steeredAffinity(undefined, PLACEMENT);
    expect(steered.isNarrowed).toBe(true);
    expect(required(steered)).toEqual({ nodeSelectorTerms: [{ matchExpressions: [NAMES] }] });
  });

  it('narrows each of the required terms, which are ORed', () => {
    const zone = { key: 'zone', operator: 'In', values: ['x'] };
    const steered = steeredAffinity(terms([{ matchExpressions: [zone] }, { matchFields: [zone] }]), PLACEMENT);
    expect(required(steered)).toEqual({
      nodeSelectorTerms: [{ matchExpressions: [zone, NAMES] }, { matchFields: [zone], matchExpressions: [NAMES] }],
    });
  });

  it.each([
    ['one of the terms is empty', [{}, { matchFields: [{ key: 'a' }] }]],
    ['there are nine terms', Array.from({ length: 9 }, () => ({ matchFields: [{ key: 'a' }] }))],
  ])('leaves what is required alone where %s', (_why, nodeSelectorTerms) => {
    const steered = steeredAffinity(terms(nodeSelectorTerms), PLACEMENT);
    expect(steered.isNarrowed).toBe(false);
    expect(required(steered)).toEqual({ nodeSelectorTerms });
  });
});

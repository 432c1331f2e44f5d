import { describe, expect, it } from 'vitest';
import type { PodAffinityTerm, PodInfo } from '../../../../src/model/pod.ts';
import { EVERYTHING } from '../../../../src/model/selector.ts';
import { antiAffinityTest } from '../../../../src/plan/budgets/anti-affinity.ts';
import { aPod, labels, selecting } from '../../../support/builders.ts';

function term(fields: Partial<PodAffinityTerm> = {}): PodAffinityTerm {
  return {
    selector: selecting({ app: 'db' }),
    namespaces: [],
    namespaceSelector: undefined,
    topologyKey: 'zone',
    ...fields,
  };
}

function repelling(fields: Partial<PodAffinityTerm>, nodeName: string | undefined = 'a'): PodInfo {
  return aPod('guard', { nodeName, constraints: { podAntiAffinity: [term(fields)] } });
}

const NAMESPACES = new Map([
  ['shop', labels({ team: 'red' })],
  ['bank', labels({ team: 'blue' })],
]);

function couldMatch(guard: PodInfo, namespace: string, app = 'db'): boolean {
  const pod = aPod('p', { namespace, labels: { app } });
  return antiAffinityTest([guard, pod], NAMESPACES)(pod) !== undefined;
}

describe('required anti-affinity of other pods', () => {
  it('could match pods of its own namespace that the selector selects', () => {
    expect(couldMatch(repelling({}), 'shop')).toBe(true);
    expect(couldMatch(repelling({}), 'bank')).toBe(false);
    expect(couldMatch(repelling({}), 'shop', 'web')).toBe(false);
  });

  it('reaches the namespaces that it names, and then not its own', () => {
    const guard = repelling({ namespaces: ['bank'] });
    expect(couldMatch(guard, 'bank')).toBe(true);
    expect(couldMatch(guard, 'shop')).toBe(false);
  });

  it('reaches the namespaces that its selector matches, next to those that it names', () => {
    const guard = repelling({ namespaces: ['shop'], namespaceSelector: selecting({ team: 'blue' }) });
    expect(couldMatch(guard, 'bank')).toBe(true);
    expect(couldMatch(guard, 'shop')).toBe(true);
    expect(couldMatch(guard, 'unknown')).toBe(false);
  });

  it('reaches every namespace with an empty namespace selector, known or not', () => {
    expect(couldMatch(repelling({ namespaceSelector: EVERYTHING }), 'unknown')).toBe(true);
  });

  it('selects nothing with a null selector and everything with an empty one', () => {
    expect(couldMatch(repelling({ selector: undefined }), 'shop')).toBe(false);
    expect(couldMatch(repelling({ selector: EVERYTHING }), 'shop', 'web')).toBe(true);
  });

  it('does not count for pods that have no node yet', () => {
    expect(couldMatch(aPod('guard', { constraints: { podAntiAffinity: [term()] } }), 'shop')).toBe(false);
  });

  it('counts once per namespace for pods that share their constraints', () => {
    const guard = repelling({});
    const twin = { ...guard, namespace: 'bank', uid: 'twin' };
    const pod = aPod('p', { namespace: 'bank', labels: { app: 'db' } });
    expect(antiAffinityTest([guard, twin, pod], NAMESPACES)(pod)).toContain('pods in bank');
  });
});

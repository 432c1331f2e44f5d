import { describe, expect, it } from 'vitest';
import { EVERYTHING, type Selector } from '../../../../src/model/selector.ts';
import { resolveTerm, selects, termAsPlaced } from '../../../../src/plan/topology/terms.ts';
import { anAffinityTerm } from '../../../support/builders/scheduling.ts';
import { labels, selecting } from '../../../support/builders.ts';

const KNOWN = new Map([
  ['shop', labels({ team: 'web' })],
  ['bank', labels({ team: 'core' })],
  ['app', labels({ team: 'web' })],
]);
const WEB = selecting({ team: 'web' });
const NOT_LABELLED: Selector = { requirements: [{ key: 'env', operator: 'DoesNotExist', values: [] }] };

describe('the namespaces of an affinity term', () => {
  const namespaces = (fields: Parameters<typeof anAffinityTerm>[1]) =>
    resolveTerm(anAffinityTerm({ app: 'db' }, fields), 'own', KNOWN)?.namespaces;

  it("are the pod's own where it names none", () => {
    expect(namespaces({})).toEqual(['own']);
  });

  it('are those that it names, each once and sorted', () => {
    expect(namespaces({ namespaces: ['z', 'b', 'z'] })).toEqual(['b', 'z']);
  });

  it('are those that its selector matches, and those that it names besides', () => {
    expect(namespaces({ namespaceSelector: WEB })).toEqual(['app', 'shop']);
    expect(namespaces({ namespaceSelector: WEB, namespaces: ['bank', 'shop'] })).toEqual(['app', 'bank', 'shop']);
    expect(namespaces({ namespaceSelector: selecting({ team: 'none' }) })).toEqual([]);
  });

  it('are all with an empty selector', () => {
    const term = resolveTerm(anAffinityTerm({ app: 'db' }, { namespaceSelector: EVERYTHING }), 'own', KNOWN);
    expect(term).toEqual({ selector: selecting({ app: 'db' }), topologyKey: 'zone', namespaces: undefined });
  });

  it('do not matter where the term selects no pods', () => {
    expect(resolveTerm(anAffinityTerm(undefined), 'own', KNOWN)).toBeUndefined();
  });
});

describe('a term of the pod that is placed', () => {
  const placed = (namespaceSelector: Selector | undefined) =>
    termAsPlaced(anAffinityTerm({ app: 'db' }, { namespaceSelector })).namespaceSelector;

  it('selects all namespaces where its selector holds without labels, and else what it says', () => {
    expect([placed(NOT_LABELLED), placed(WEB), placed(undefined)]).toEqual([EVERYTHING, WEB, undefined]);
  });
});

describe('whether a term selects a pod', () => {
  const term = { selector: selecting({ app: 'db' }), topologyKey: 'zone' };

  it('depends on its namespace and its labels', () => {
    const asked = (namespaces: readonly string[] | undefined, namespace: string, app: string) =>
      selects({ ...term, namespaces }, namespace, labels({ app }));
    expect([asked(['a', 'b'], 'b', 'db'), asked(undefined, 'b', 'db')]).toEqual([true, true]);
    expect([asked(['a', 'b'], 'c', 'db'), asked([], 'c', 'db')]).toEqual([false, false]);
    expect([asked(['b'], 'b', 'web'), asked(undefined, 'b', 'web')]).toEqual([false, false]);
  });
});

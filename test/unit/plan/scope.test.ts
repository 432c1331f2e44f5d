import { describe, expect, it } from 'vitest';
import { EVERYTHING, type Selector } from '../../../src/model/selector.ts';
import type { PolicyOptions } from '../../../src/plan/options.ts';
import { scopeProblem, scopeProblemOnNode, scopeTest, unknownNamespaces } from '../../../src/plan/scope.ts';
import { someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, labels, type PodFields, selecting } from '../../support/builders.ts';

type Scope = PolicyOptions['scope'];

const NODES = [aNode('a', { labels: { pool: 'x' } }), aNode('b')];
const NAMESPACES = new Map([
  ['shop', labels({ team: 'web' })],
  ['bank', labels({ team: 'core' })],
  ['kube-system', labels({ team: 'web' })],
]);
const NAME_LABEL = 'kubernetes.io/metadata.name';

function problem(scope: Partial<Scope>, ...pods: readonly PodFields[]): readonly (string | undefined)[] {
  const problemOf = scopeProblem(someOptions({ scope }).scope, { nodes: NODES, namespaces: NAMESPACES });
  return pods.map((fields) => problemOf(aPod('p', { nodeName: 'a', ...fields })));
}

const NOT_SELECTED = 'scope.namespaceSelector does not select its namespace';
const NEVER = 'pods of its namespace are never moved';

describe('the scope of a policy', () => {
  it('is everything by default, but namespaces whose pods are never moved', () => {
    expect(problem({}, {}, { namespace: 'bank' }, { namespace: 'kube-system' }, { namespace: 'unknown' })).toEqual([
      undefined,
      undefined,
      NEVER,
      undefined,
    ]);
  });

  it('is the pods of the namespaces that it selects, in any order, never of those that are excluded', () => {
    const namespaceSelector = selecting({ team: 'web' });
    const pods = ['shop', 'bank', 'shop', 'kube-system', 'bank', 'shop'].map((namespace) => ({ namespace }));
    expect(problem({ namespaceSelector }, ...pods)).toEqual([
      undefined,
      NOT_SELECTED,
      undefined,
      NEVER,
      NOT_SELECTED,
      undefined,
    ]);
  });

  it('knows of a namespace without an object its name alone', () => {
    const lost: PodFields = { namespace: 'lost' };
    const named = (name: string) => problem({ namespaceSelector: selecting({ [NAME_LABEL]: name }) }, lost)[0];
    expect([named('lost'), named('other')]).toEqual([undefined, NOT_SELECTED]);
    const without: Selector = { requirements: [{ key: 'team', operator: 'DoesNotExist', values: [] }] };
    expect(problem({ namespaceSelector: without }, lost, { namespace: 'shop' })).toEqual([NOT_SELECTED, NOT_SELECTED]);
  });

  it('is the pods that it selects by label', () => {
    const podSelector = selecting({ app: 'web' });
    expect(problem({ podSelector }, { labels: { app: 'web' } }, { labels: { app: 'api' } }, {})).toEqual([
      undefined,
      'scope.podSelector does not select it',
      'scope.podSelector does not select it',
    ]);
    expect(problem({ podSelector: { requirements: [] } }, {})).toEqual([undefined]);
  });

  it('is the pods on the nodes that it selects, and those that have none', () => {
    const nodeSelector = selecting({ pool: 'x' });
    const elsewhere = 'scope.nodeSelector does not select its node';
    expect(problem({ nodeSelector }, {}, { nodeName: 'b' }, { nodeName: 'gone' }, { nodeName: undefined })).toEqual([
      undefined,
      elsewhere,
      elsewhere,
      undefined,
    ]);
    const onNode = scopeProblemOnNode(someOptions().scope, { namespaces: NAMESPACES });
    expect([onNode(aPod('p'), true), onNode(aPod('p'), false)]).toEqual([undefined, elsewhere]);
  });

  it('is no pod that an older policy owns, by its uid, whatever else is said of it', () => {
    const scope = { foreignPods: new Set(['mine']), podSelector: selecting({ app: 'web' }) };
    expect(problem(scope, { uid: 'mine' }, { uid: 'other', labels: { app: 'web' } })).toEqual([
      'an older policy owns it',
      undefined,
    ]);
  });

  it('is told by a test as well', () => {
    const test = scopeTest(someOptions().scope, { nodes: NODES, namespaces: NAMESPACES });
    expect([test(aPod('p', { nodeName: 'a' })), test(aPod('p', { namespace: 'kube-system' }))]).toEqual([true, false]);
  });
});

describe('namespaces that a selector cannot be judged for', () => {
  const unknown = (namespaceSelector: Selector) =>
    unknownNamespaces(someOptions({ scope: { namespaceSelector } }).scope, {
      pods: ['z', 'shop', 'kube-system', 'evenkeel-system', 'a', 'z'].map((namespace) => aPod('p', { namespace })),
      namespaces: new Map([['shop', labels()]]),
    });

  it('are those of pods without an object, but excluded ones, each once and sorted', () => {
    expect(unknown(selecting({ team: 'web' }))).toEqual(['a', 'z']);
    expect(unknown(selecting({ team: 'web', [NAME_LABEL]: 'a' }))).toEqual(['a', 'z']);
  });

  it('are none where it asks for names alone, or nothing', () => {
    expect([unknown(selecting({ [NAME_LABEL]: 'a' })), unknown(EVERYTHING)]).toEqual([[], []]);
  });
});

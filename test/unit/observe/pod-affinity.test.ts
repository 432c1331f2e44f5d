import { describe, expect, it } from 'vitest';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aRawPod, type Raw } from '../../support/builders/raw.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const HOST = 'kubernetes.io/hostname';

function constraintsOf(affinity: Raw, labels: Raw = {}) {
  return projectPod(aRawPod('p', { spec: { affinity }, metadata: { labels } }), createInterner()).pod.constraints;
}

function problemOf(affinity: Raw): string | undefined {
  return buildSnapshot([aRawPod('p', { spec: { affinity } })]).problems[0];
}

/** The selector of one required anti-affinity term of a pod with these labels. */
function selectorOf(term: Raw, labels: Raw = {}) {
  const { podAntiAffinity } = constraintsOf(
    { podAntiAffinity: { [REQUIRED]: [{ topologyKey: HOST, ...term }] } },
    labels,
  );
  return podAntiAffinity[0]?.selector?.requirements;
}

describe('pod affinity', () => {
  it('is required in both directions, with every field of its terms', () => {
    const term = {
      labelSelector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      namespaces: ['b', 'a'],
      namespaceSelector: { matchLabels: { team: 'x' } },
      topologyKey: 'zone',
    };
    const { podAffinity, podAntiAffinity, preferredPodAffinity, unsupported } = constraintsOf({
      podAffinity: { [REQUIRED]: [term] },
      podAntiAffinity: { [REQUIRED]: [{ labelSelector: {}, namespaceSelector: {}, topologyKey: HOST }] },
    });
    expect(podAffinity).toEqual([
      {
        selector: {
          requirements: [
            { key: 'app', operator: 'In', values: ['web'] },
            { key: 'tier', operator: 'Exists', values: [] },
          ],
        },
        namespaces: ['a', 'b'],
        namespaceSelector: { requirements: [{ key: 'team', operator: 'In', values: ['x'] }] },
        topologyKey: 'zone',
      },
    ]);
    expect(podAntiAffinity).toEqual([
      {
        selector: { requirements: [] },
        namespaces: [],
        namespaceSelector: { requirements: [] },
        topologyKey: HOST,
      },
    ]);
    expect([preferredPodAffinity, unsupported]).toEqual([[], []]);
  });

  it('is empty where there is none', () => {
    const none = { podAffinity: [], podAntiAffinity: [], preferredPodAffinity: [] };
    expect(constraintsOf({})).toMatchObject(none);
    expect(constraintsOf({ podAffinity: {}, podAntiAffinity: { [REQUIRED]: null } })).toMatchObject(none);
  });

  it('is preferred with its weight, anti-affinity with a negative one', () => {
    const term = (topologyKey: string) => ({ labelSelector: { matchLabels: { app: 'web' } }, topologyKey });
    const { preferredPodAffinity, unsupported } = constraintsOf({
      podAffinity: { [PREFERRED]: [{ weight: 10, podAffinityTerm: term('zone') }] },
      podAntiAffinity: { [PREFERRED]: [{ weight: 100, podAffinityTerm: term(HOST) }] },
    });
    expect(preferredPodAffinity.map(({ weight, term: { topologyKey } }) => [weight, topologyKey])).toEqual([
      [10, 'zone'],
      [-100, HOST],
    ]);
    expect(preferredPodAffinity[1]?.term.selector?.requirements).toHaveLength(1);
    expect(unsupported).toEqual([]);
  });

  it('without a label selector selects nothing, whatever its label keys', () => {
    expect(selectorOf({})).toBeUndefined();
    expect(selectorOf({ matchLabelKeys: ['app'] }, { app: 'web' })).toBeUndefined();
    expect(selectorOf({ labelSelector: {} })).toEqual([]);
  });

  it('takes label keys from the labels of the pod, as the API server does', () => {
    const labelSelector = { matchLabels: { app: 'web' } };
    const own = { app: 'web', hash: 'x', tenant: 't' };
    const app = { key: 'app', operator: 'In', values: ['web'] };
    expect(
      selectorOf({ labelSelector, matchLabelKeys: ['hash', 'absent'], mismatchLabelKeys: ['tenant'] }, own),
    ).toEqual([
      app,
      { key: 'hash', operator: 'In', values: ['x'] },
      { key: 'tenant', operator: 'NotIn', values: ['t'] },
    ]);
  });

  it('takes label keys once where the API server has merged them already, with the value at that time', () => {
    const matchExpressions = [
      { key: 'hash', operator: 'In', values: ['old'] },
      { key: 'tenant', operator: 'NotIn', values: ['t'] },
    ];
    const term = { labelSelector: { matchExpressions }, matchLabelKeys: ['hash'], mismatchLabelKeys: ['tenant'] };
    expect(selectorOf(term, { hash: 'new', tenant: 't' })).toEqual(matchExpressions);
  });

  it.each<[string, Raw, string]>([
    [
      'no topology key',
      { podAffinity: { [REQUIRED]: [{ labelSelector: {} }] } },
      `spec.affinity.podAffinity.${REQUIRED}[0].topologyKey: "" is not a node label`,
    ],
    [
      'an unknown operator',
      {
        podAntiAffinity: {
          [REQUIRED]: [{ topologyKey: 'z', labelSelector: { matchExpressions: [{ key: 'k', operator: 'Gt' }] } }],
        },
      },
      `spec.affinity.podAntiAffinity.${REQUIRED}[0].labelSelector.matchExpressions[0].operator: "Gt" is not an operator`,
    ],
    [
      'a weight that is none',
      { podAffinity: { [PREFERRED]: [{ weight: 0, podAffinityTerm: { topologyKey: 'z' } }] } },
      `spec.affinity.podAffinity.${PREFERRED}[0].weight: 0 is not a weight: write a number from 1 to 100`,
    ],
    [
      'a weight that is too large',
      { podAntiAffinity: { [PREFERRED]: [{ weight: 101, podAffinityTerm: { topologyKey: 'z' } }] } },
      `spec.affinity.podAntiAffinity.${PREFERRED}[0].weight: 101 is not a weight: write a number from 1 to 100`,
    ],
    [
      'a weighted term of nothing',
      { podAntiAffinity: { [PREFERRED]: [{ weight: 1 }] } },
      `spec.affinity.podAntiAffinity.${PREFERRED}[0].podAffinityTerm.topologyKey: "" is not`,
    ],
    [
      'label keys that are no list',
      { podAffinity: { [REQUIRED]: [{ topologyKey: 'z', matchLabelKeys: 'app' }] } },
      `spec.affinity.podAffinity.${REQUIRED}[0].matchLabelKeys: "app" is not a list`,
    ],
  ])('with %s is a problem that names the field', (_, affinity, problem) => {
    expect(problemOf(affinity)).toContain(`Pod shop/p: ${problem}`);
  });
});

describe('pods of one template', () => {
  const plain = {
    podAntiAffinity: { [REQUIRED]: [{ labelSelector: { matchLabels: { app: 'db' } }, topologyKey: HOST }] },
  };
  const keyed = {
    podAntiAffinity: {
      [PREFERRED]: [{ weight: 1, podAffinityTerm: { labelSelector: {}, matchLabelKeys: ['hash'], topologyKey: HOST } }],
    },
  };
  const spread = {
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', labelSelector: {}, matchLabelKeys: ['hash'] }],
  };

  function shared(spec: Raw, first: Raw, second: Raw): boolean {
    const interner = createInterner();
    const of = (name: string, labels: Raw) =>
      projectPod(aRawPod(name, { spec, metadata: { name, labels } }), interner).pod;
    return of('db-0', first).constraints === of('db-1', second).constraints;
  }

  it('share their constraints though each has a label of its own', () => {
    const [first, second] = [0, 1].map((index) => ({
      app: 'db',
      hash: 'x',
      'statefulset.kubernetes.io/pod-name': `db-${index}`,
    }));
    for (const spec of [{ affinity: plain }, { affinity: keyed }, spread]) {
      expect(shared(spec, first ?? {}, second ?? {})).toBe(true);
    }
  });

  it('have constraints of their own where a label key tells them apart', () => {
    expect(shared({ affinity: plain }, { hash: 'x' }, { hash: 'y' })).toBe(true);
    expect(shared({ affinity: keyed }, { hash: 'x' }, { hash: 'y' })).toBe(false);
    expect(shared({ affinity: keyed }, { hash: 'x' }, {})).toBe(false);
    expect(shared(spread, { hash: 'x' }, { hash: 'y' })).toBe(false);
  });

  it('share their constraints though each has claims of its own', () => {
    const interner = createInterner();
    const of = (name: string) => {
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: `data-${name}` } }];
      return projectPod(aRawPod(name, { spec: { volumes } }), interner).pod;
    };
    expect(of('db-0').constraints).toBe(of('db-1').constraints);
    expect(of('db-1').claims).toEqual([{ name: 'data-db-1', template: undefined }]);
  });
});

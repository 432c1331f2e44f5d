import { describe, expect, it } from 'vitest';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aRawPod, type Raw } from '../../support/builders/raw.ts';

function podWith(constraint: Raw, labels: Raw = {}): Raw {
  return aRawPod('p', {
    spec: { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', ...constraint }] },
    metadata: { labels },
  });
}

function constraintsOf(constraint: Raw, labels: Raw = {}) {
  return projectPod(podWith(constraint, labels), createInterner()).pod.constraints;
}

describe('a topology spread constraint', () => {
  it('has the defaults of the API', () => {
    expect(constraintsOf({})).toMatchObject({
      spread: [
        {
          whenUnsatisfiable: 'DoNotSchedule',
          maxSkew: 1,
          topologyKey: 'zone',
          selector: undefined,
          minDomains: 1,
          nodeAffinityPolicy: 'Honor',
          nodeTaintsPolicy: 'Ignore',
        },
      ],
      unsupported: [],
    });
  });

  it('says all that it says', () => {
    const constraint = {
      whenUnsatisfiable: 'ScheduleAnyway',
      maxSkew: 3,
      topologyKey: 'rack',
      minDomains: 5,
      nodeAffinityPolicy: 'Ignore',
      nodeTaintsPolicy: 'Honor',
    };
    const labelSelector = { matchLabels: { app: 'web' } };
    expect(constraintsOf({ ...constraint, labelSelector }).spread).toEqual([
      { ...constraint, selector: { requirements: [{ key: 'app', operator: 'In', values: ['web'] }] } },
    ]);
  });

  it('takes label keys from the labels of the pod, and none where nothing is selected', () => {
    const of = (constraint: Raw) =>
      constraintsOf({ matchLabelKeys: ['hash', 'absent'], ...constraint }, { hash: 'x' }).spread[0]?.selector;
    const hash = { key: 'hash', operator: 'In', values: ['x'] };
    expect(of({ labelSelector: {} })).toEqual({ requirements: [hash] });
    expect(of({ labelSelector: { matchExpressions: [hash] } })).toEqual({ requirements: [hash] });
    expect(of({})).toBeUndefined();
  });

  it('asks for both values of a label that changed since the API server merged it, as the scheduler does', () => {
    const labelSelector = { matchExpressions: [{ key: 'hash', operator: 'In', values: ['old'] }] };
    const { spread } = constraintsOf({ labelSelector, matchLabelKeys: ['hash'] }, { hash: 'new' });
    expect(spread[0]?.selector?.requirements.map(({ values }) => values)).toEqual([['old'], ['new']]);
  });

  it.each<[string, Raw]>([
    ['an action', { whenUnsatisfiable: 'Perhaps' }],
    ['a policy for node affinity', { nodeAffinityPolicy: 'Perhaps' }],
    ['a policy for taints', { nodeTaintsPolicy: 'Perhaps' }],
  ])('is not supported with %s of a kind to come', (_, constraint) => {
    const { spread, unsupported } = constraintsOf(constraint);
    expect(spread).toEqual([]);
    expect(unsupported).toEqual([
      {
        filter: 'PodTopologySpread',
        detail: `spec.topologySpreadConstraints[0].${Object.keys(constraint)[0]} is "Perhaps"`,
      },
    ]);
  });

  it.each<[string, Raw, string]>([
    ['no skew', { maxSkew: undefined }, 'maxSkew: undefined is not a number of at least 1'],
    ['a skew of 0', { maxSkew: 0 }, 'maxSkew: 0 is not a number of at least 1'],
    ['no domains', { minDomains: 0 }, 'minDomains: 0 is not a number of at least 1'],
    ['no topology key', { topologyKey: null }, 'topologyKey: "" is not a node label'],
    ['label keys that are no texts', { matchLabelKeys: [7] }, 'matchLabelKeys[0]: 7 is not text'],
    ['a selector that is none', { labelSelector: 'app=web' }, 'labelSelector: "app=web" is not an object'],
  ])('with %s is a problem that names the field', (_, constraint, problem) => {
    expect(buildSnapshot([podWith(constraint)]).problems[0]).toContain(
      `Pod shop/p: spec.topologySpreadConstraints[0].${problem}`,
    );
  });
});

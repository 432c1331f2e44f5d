import { describe, expect, it } from 'vitest';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aRawPod, aRawReplicaSet, type Raw } from '../../support/builders/raw.ts';

function pdb(spec: Raw, more: Raw = {}): Raw {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'budget', namespace: 'shop' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    ...more,
  };
}

function allowedBy(...objects: readonly Raw[]): number | undefined {
  return buildSnapshot(objects).pdbs[0]?.disruptionsAllowed;
}

const notReady = { conditions: [{ type: 'Ready', status: 'False' }] };
const three = [aRawPod('a'), aRawPod('b'), aRawPod('c')];

describe('a PodDisruptionBudget with a status', () => {
  it('allows what the disruption controller wrote', () => {
    expect(allowedBy(pdb({ minAvailable: 9 }, { status: { disruptionsAllowed: 2 } }))).toBe(2);
    expect(allowedBy(pdb({}, { status: {} }))).toBe(0);
    expect(allowedBy(pdb({}, { status: { disruptionsAllowed: -1 } }))).toBe(0);
  });

  it('allows nothing when the status is older than the spec', () => {
    const metadata = { name: 'budget', namespace: 'shop', generation: 2 };
    expect(allowedBy(pdb({}, { metadata, status: { disruptionsAllowed: 2, observedGeneration: 1 } }))).toBe(0);
    expect(allowedBy(pdb({}, { metadata, status: { disruptionsAllowed: 2, observedGeneration: 2 } }))).toBe(2);
  });
});

describe('a PodDisruptionBudget without a status', () => {
  it('counts healthy pods against a number', () => {
    expect(allowedBy(pdb({ minAvailable: 2 }), ...three)).toBe(1);
    expect(allowedBy(pdb({ minAvailable: 2 }), ...three, aRawPod('d', { status: notReady }))).toBe(1);
    const terminating = aRawPod('d', {
      metadata: { name: 'd', namespace: 'shop', labels: { app: 'web' }, deletionTimestamp: '2026-01-01T00:00:00Z' },
    });
    expect(allowedBy(pdb({ minAvailable: 2 }), ...three, terminating)).toBe(1);
    expect(allowedBy(pdb({ minAvailable: 4 }), ...three)).toBe(0);
    expect(allowedBy(pdb({ minAvailable: 0 }))).toBe(0);
  });

  it('counts what the controllers ask for where it limits the unavailable, or in percent', () => {
    const four = aRawReplicaSet('web', { spec: { replicas: 4 } });
    expect(allowedBy(pdb({ maxUnavailable: 1 }), ...three, aRawReplicaSet('web'))).toBe(1);
    expect(allowedBy(pdb({ maxUnavailable: 1 }), ...three, four)).toBe(0);
    expect(allowedBy(pdb({ maxUnavailable: '34%' }), ...three, four)).toBe(1);
    expect(allowedBy(pdb({ minAvailable: '51%' }), ...three, aRawReplicaSet('web'))).toBe(1);
    expect(allowedBy(pdb({ minAvailable: '67%' }), ...three, aRawReplicaSet('web'))).toBe(0);
  });

  it('asks the Deployment above a ReplicaSet', () => {
    const replicaSet = aRawReplicaSet('web', {
      metadata: { ownerReferences: [{ kind: 'Deployment', name: 'web', uid: 'd', controller: true }] },
    });
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', uid: 'd' },
      spec: { replicas: 5 },
    };
    expect(allowedBy(pdb({ maxUnavailable: 3 }), ...three, replicaSet, deployment)).toBe(1);
    expect(allowedBy(pdb({ maxUnavailable: 3 }), ...three, replicaSet)).toBe(3);
  });

  it('allows nothing where the controllers are not known or have no scale', () => {
    expect(allowedBy(pdb({ maxUnavailable: 1 }), ...three)).toBe(0);
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'web', namespace: 'shop', uid: 'rs-web' },
      spec: { parallelism: 3 },
    };
    expect(allowedBy(pdb({ maxUnavailable: 1 }), ...three, job)).toBe(0);
    expect(allowedBy(pdb({}), ...three)).toBe(0);
  });

  it('selects nothing with a null selector and everything with an empty one', () => {
    expect(allowedBy(pdb({ selector: null, minAvailable: 0 }), ...three)).toBe(0);
    expect(allowedBy(pdb({ selector: {}, minAvailable: 1 }), ...three)).toBe(2);
  });

  it('does not apply when it cannot be read, and that is said', () => {
    const snapshot = buildSnapshot([pdb({ selector: { matchExpressions: [{ key: 'app', operator: 'Like' }] } })]);
    expect(snapshot.pdbs).toEqual([]);
    expect(snapshot.problems).toEqual([
      'PodDisruptionBudget shop/budget: spec.selector.matchExpressions[0].operator: "Like" is not an operator: write one of In, NotIn, Exists, DoesNotExist',
    ]);
  });

  it('lets a pod go that is not Ready as the eviction API does: while enough others are healthy, or always', () => {
    const allows = (spec: Raw, status: Raw) => buildSnapshot([pdb(spec, { status })]).pdbs[0]?.allowsUnready;
    expect(allows({}, { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 })).toBe(true);
    expect(allows({}, { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2 })).toBe(false);
    expect(allows({}, { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0 })).toBe(false);
    expect(allows({}, { disruptionsAllowed: 0, desiredHealthy: 1 })).toBe(false);
    const always = { unhealthyPodEvictionPolicy: 'AlwaysAllow' };
    expect(allows(always, { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2 })).toBe(true);
  });

  it('counts the healthy pods itself where the budget has no status', () => {
    const allows = (minAvailable: number) => buildSnapshot([pdb({ minAvailable }), ...three]).pdbs[0]?.allowsUnready;
    expect(allows(3)).toBe(true);
    expect(allows(4)).toBe(false);
  });
});

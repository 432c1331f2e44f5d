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
    expect(allowedBy(pdb({}, { metadata, status: { disruptionsAllowed: 2, observedGeneration: 3 } }))).toBe(2);
    const first = { ...metadata, generation: 1 };
    expect(allowedBy(pdb({}, { metadata: first, status: { disruptionsAllowed: 2 } }))).toBe(0);
    expect(allowedBy(pdb({}, { status: { disruptionsAllowed: 2, observedGeneration: 1 } }))).toBe(2);
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

  it.each<[string, readonly string[], number | undefined]>([
    ['In', [], undefined],
    ['In', ['web'], 2],
    ['In', ['db', 'web'], 2],
    ['In', ['db'], 0],
    ['NotIn', [], undefined],
    ['NotIn', ['db'], 2],
    ['Exists', [], 2],
    ['Exists', ['web'], undefined],
    ['DoesNotExist', [], 0],
    ['DoesNotExist', ['web'], undefined],
    ['Gt', ['1'], undefined],
    ['Lt', ['1'], undefined],
    ['', ['web'], undefined],
  ])('selects by %s %j as the API does', (operator, values, allowed) => {
    const selector = { matchExpressions: [{ key: 'app', operator, values }] };
    expect(allowedBy(pdb({ selector, minAvailable: 1 }), ...three)).toBe(allowed);
  });

  it('selects pods that are all that its selector asks for', () => {
    const exists = { key: 'tier', operator: 'Exists' };
    const selector = { matchLabels: { app: 'web' }, matchExpressions: [exists] };
    const tiered = aRawPod('d', { metadata: { name: 'd', labels: { app: 'web', tier: 'a' } } });
    const other = aRawPod('e', { metadata: { name: 'e', labels: { tier: 'a' } } });
    expect(allowedBy(pdb({ selector, minAvailable: 0 }), ...three)).toBe(0);
    expect(allowedBy(pdb({ selector, minAvailable: 0 }), ...three, tiered, other)).toBe(1);
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

  it('lets no pod go that is not Ready for a budget that needs none', () => {
    const allows = (spec: Raw, ...objects: readonly Raw[]) =>
      buildSnapshot([pdb(spec), ...objects]).pdbs[0]?.allowsUnready;
    expect(allows({ minAvailable: 0 }, ...three)).toBe(false);
    expect(allows({ minAvailable: 1 }, ...three)).toBe(true);
    expect(allows({ minAvailable: 1 })).toBe(false);
    expect(allows({ maxUnavailable: 3 }, ...three, aRawReplicaSet('web'))).toBe(false);
    expect(allows({ maxUnavailable: 2 }, ...three, aRawReplicaSet('web'))).toBe(true);
    expect(allows({ maxUnavailable: 1 }, ...three)).toBe(false);
    expect(allows({ unhealthyPodEvictionPolicy: 'AlwaysAllow' })).toBe(true);
  });

  it('needs no less than no pod, however many may be unavailable', () => {
    expect(allowedBy(pdb({ maxUnavailable: 3 }), ...three, aRawReplicaSet('web'))).toBe(3);
    expect(allowedBy(pdb({ maxUnavailable: 9 }), ...three, aRawReplicaSet('web'))).toBe(3);
    expect(allowedBy(pdb({ maxUnavailable: '200%' }), ...three, aRawReplicaSet('web'))).toBe(3);
    expect(allowedBy(pdb({ maxUnavailable: 0 }), ...three, aRawReplicaSet('web'))).toBe(0);
  });

  it('lets what may be unavailable count, where it says both', () => {
    expect(allowedBy(pdb({ maxUnavailable: 2, minAvailable: 3 }), ...three, aRawReplicaSet('web'))).toBe(2);
    expect(allowedBy(pdb({ maxUnavailable: 0, minAvailable: 0 }), ...three, aRawReplicaSet('web'))).toBe(0);
  });

  it('rounds percentages up', () => {
    expect(allowedBy(pdb({ maxUnavailable: '33%' }), ...three, aRawReplicaSet('web'))).toBe(1);
    expect(allowedBy(pdb({ maxUnavailable: '34%' }), ...three, aRawReplicaSet('web'))).toBe(2);
    expect(allowedBy(pdb({ minAvailable: '33%' }), ...three, aRawReplicaSet('web'))).toBe(2);
    expect(allowedBy(pdb({ minAvailable: '34%' }), ...three, aRawReplicaSet('web'))).toBe(1);
    expect(allowedBy(pdb({ minAvailable: '0%' }), ...three, aRawReplicaSet('web'))).toBe(3);
    expect(allowedBy(pdb({ minAvailable: '34%' }), ...three)).toBe(0);
  });

  it('sums the replicas of all controllers of its pods, each once, and leaves out pods without one', () => {
    const owned = (name: string, uid: string) =>
      aRawPod(name, {
        metadata: {
          name,
          labels: { app: 'web' },
          ownerReferences: [{ kind: 'ReplicaSet', name: uid, uid: `rs-${uid}`, controller: true }],
        },
      });
    const bare = aRawPod('bare', { metadata: { name: 'bare', labels: { app: 'web' }, ownerReferences: [] } });
    const two = aRawReplicaSet('other', { spec: { replicas: 2 } });
    const pods = [...three, owned('d', 'other'), owned('e', 'other')];
    expect(allowedBy(pdb({ maxUnavailable: 1 }), ...pods, aRawReplicaSet('web'), two)).toBe(1);
    expect(allowedBy(pdb({ minAvailable: '40%' }), ...pods, aRawReplicaSet('web'), two)).toBe(3);
    expect(allowedBy(pdb({ maxUnavailable: 1 }), ...pods, aRawReplicaSet('web'))).toBe(0);
    expect(allowedBy(pdb({ maxUnavailable: 1 }), bare, ...three, aRawReplicaSet('web'))).toBe(2);
    expect(allowedBy(pdb({ maxUnavailable: 1 }), bare)).toBe(0);
  });

  it('allows nothing for controllers that ask for no pod', () => {
    const none = aRawReplicaSet('web', { spec: { replicas: 0 } });
    expect(allowedBy(pdb({ maxUnavailable: 1 }), ...three, none)).toBe(0);
    const one = aRawReplicaSet('web', { spec: { replicas: 1 } });
    expect(allowedBy(pdb({ maxUnavailable: 0 }), ...three, one)).toBe(2);
  });

  it('allows nothing for a DaemonSet, which has no scale', () => {
    const daemonSet = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'web', namespace: 'shop', uid: 'rs-web' },
    };
    expect(allowedBy(pdb({ maxUnavailable: 1 }), ...three, daemonSet)).toBe(0);
    expect(allowedBy(pdb({ minAvailable: 1 }), ...three, daemonSet)).toBe(2);
  });

  it('asks a StatefulSet itself, whatever is above it', () => {
    const above = { kind: 'Deployment', name: 'web', uid: 'd', controller: true };
    const statefulSet = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'web', namespace: 'shop', uid: 'rs-web', ownerReferences: [above] },
      spec: { replicas: 3 },
    };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', uid: 'd' },
      spec: { replicas: 9 },
    };
    expect(allowedBy(pdb({ maxUnavailable: 1 }), ...three, statefulSet, deployment)).toBe(1);
  });

  it('counts neither pods of other namespaces nor pods with other labels', () => {
    const elsewhere = aRawPod('d', { metadata: { name: 'd', namespace: 'bank' } });
    const other = aRawPod('e', { metadata: { name: 'e', labels: { app: 'db' } } });
    expect(allowedBy(pdb({ minAvailable: 2 }), ...three, elsewhere, other)).toBe(1);
  });
});

describe('a limit of a PodDisruptionBudget', () => {
  it.each<[unknown]>([[-1], [1.5], ['1'], ['-1%'], ['1.5%'], ['%'], ['1234567%'], [' 1%'], [true], [{}]])(
    'is not %j, and then the budget does not apply',
    (limit) => {
      for (const key of ['minAvailable', 'maxUnavailable']) {
        const { pdbs, problems } = buildSnapshot([pdb({ [key]: limit })]);
        expect(pdbs).toEqual([]);
        expect(problems).toEqual([
          expect.stringMatching(`shop/budget: spec.${key}: .* is not a number of pods: write 1 or "25%"$`),
        ]);
      }
    },
  );

  it('is none where it is null', () => {
    expect(allowedBy(pdb({ maxUnavailable: null, minAvailable: 2 }), ...three)).toBe(1);
  });
});

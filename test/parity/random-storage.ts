import type { Random } from '../support/random.ts';
import { between, chance, pick, weighted } from './choice.ts';
import type { Json, KubeObject } from './kube-object.ts';
import { DRIVER, HOSTNAME, NAMESPACES, REGION, ZONE } from './vocabulary.ts';

/** Volumes and claims. */
export interface Storage {
  readonly volumes: readonly KubeObject[];
  readonly claims: readonly KubeObject[];
}

/** Ten to fifteen claims bound to volumes of all kinds, and some that no pod can use. */
export function randomStorage(random: Random, prefix: string, nodes: readonly KubeObject[]): Storage {
  const volumes: KubeObject[] = [];
  const claims: KubeObject[] = [];
  const handles = between(random, 6, 10);
  for (let index = 0; index < between(random, 10, 15); index += 1) {
    const namespace = pick(random, NAMESPACES);
    const claim = `claim-${index}`;
    const accessModes = [chance(random, 0.25) ? 'ReadWriteOncePod' : 'ReadWriteOnce'];
    const volume = boundVolume(random, `${prefix}-volume-${index}`, `h${random.below(handles)}`, nodes);
    volumes.push({
      ...volume,
      spec: { ...volume.spec, accessModes, claimRef: { namespace, name: claim } },
    });
    claims.push(claimObject(namespace, claim, { accessModes, volumeName: volume.metadata.name, storageClassName: '' }));
  }
  return { volumes, claims: [...claims, ...uselessClaims(random)] };
}

function boundVolume(random: Random, name: string, handle: string, nodes: readonly KubeObject[]): KubeObject {
  const csi = { csi: { driver: chance(random, 0.85) ? DRIVER : 'other.example.com', volumeHandle: handle } };
  return weighted<() => KubeObject>(random, [
    [3, () => volumeObject(name, csi, chance(random, 0.3) ? zoneLabels(random) : {})],
    [2, () => volumeObject(name, { nfs: { server: 'nfs.invalid', path: '/' } }, zoneLabels(random))],
    [2, () => volumeObject(name, { ...csi, ...nodeAffinity(zoneTerm(random)) })],
    [2, () => volumeObject(name, { local: { path: '/data' }, ...nodeAffinity(nodeTerm(random, nodes)) })],
  ])();
}

/** A zone, or two of them as some clouds write it. */
function zoneLabels(random: Random): Record<string, string> {
  return {
    [ZONE]: pick(random, ['zone-a', 'zone-b', 'zone-c', 'zone-a__zone-b']),
    ...(chance(random, 0.3) ? { [REGION]: pick(random, ['region-1', 'region-1', 'region-2']) } : {}),
  };
}

function zoneTerm(random: Random): Json {
  return { key: ZONE, operator: 'In', values: [pick(random, ['zone-a', 'zone-b', 'zone-c'])] };
}

/** Nodes without the label cannot be named. */
function nodeTerm(random: Random, nodes: readonly KubeObject[]): Json {
  return { key: HOSTNAME, operator: 'In', values: [pick(random, nodes).metadata.name] };
}

function nodeAffinity(...expressions: readonly Json[]): Json {
  const nodeSelectorTerms = expressions.map((expression) => ({ matchExpressions: [expression] }));
  return { nodeAffinity: { required: { nodeSelectorTerms } } };
}

/** Claims that are not bound and will not be: each refuses its pod everywhere. */
function uselessClaims(random: Random): readonly KubeObject[] {
  const accessModes = ['ReadWriteOnce'];
  return [
    claimObject(pick(random, NAMESPACES), 'unbound', { accessModes, storageClassName: 'immediate' }),
    claimObject(pick(random, NAMESPACES), 'unprovisioned', { accessModes, storageClassName: 'dynamic-now' }),
    claimObject(pick(random, NAMESPACES), 'without-volume', { accessModes, storageClassName: '', volumeName: 'gone' }),
  ];
}

/**
 * Claims of the classes that wait for a first consumer, with the volumes that may serve them: for one pod that is asked
 * for once.
 */
export function waitingStorage(random: Random, name: string, namespace: string, nodes: readonly KubeObject[]): Storage {
  const storageClassName = pick(random, ['local', 'local', 'dynamic', 'dynamic-zonal']);
  const size = pick(random, ['1Gi', '5Gi']);
  const selective = storageClassName === 'local' && chance(random, 0.3);
  const claim = claimObject(
    namespace,
    name,
    {
      accessModes: ['ReadWriteOnce'],
      storageClassName,
      ...(selective ? { selector: { matchLabels: { quality: 'good' } } } : {}),
    },
    size,
  );
  const volumes = Array.from({ length: between(random, 1, 3) }, (_, index) =>
    waitingVolume(random, `${name}-${index}`, storageClassName, nodes),
  );
  return { volumes: chance(random, storageClassName === 'local' ? 1 : 0.3) ? volumes : [], claims: [claim] };
}

function waitingVolume(
  random: Random,
  name: string,
  storageClassName: string,
  nodes: readonly KubeObject[],
): KubeObject {
  const where = chance(random, 0.5) ? zoneTerm(random) : nodeTerm(random, nodes);
  const source = chance(random, 0.5) ? { local: { path: '/data' } } : { csi: { driver: DRIVER, volumeHandle: name } };
  const volume = volumeObject(name, { ...source, ...nodeAffinity(where), storageClassName });
  const labels = { quality: pick(random, ['good', 'bad']) };
  const capacity = { storage: pick(random, ['1Gi', '5Gi', '10Gi']) };
  return { ...volume, metadata: { ...volume.metadata, labels }, spec: { ...volume.spec, capacity } };
}

function volumeObject(name: string, spec: Json, labels: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, labels },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: '', ...spec },
  };
}

function claimObject(namespace: string, name: string, spec: Json, size = '1Gi'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name },
    spec: { resources: { requests: { storage: size } }, ...spec },
  };
}

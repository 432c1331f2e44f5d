import { describe, expect, it } from 'vitest';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import { readVolumes, relevantVolumes } from '../../../src/observe/project/volumes.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aRawPod, type Raw } from '../../support/builders/raw.ts';

function podWith(...volumes: readonly Raw[]) {
  return projectPod(aRawPod('web-1', { spec: { volumes } }), createInterner()).pod;
}

describe('the volumes that matter to a plan', () => {
  it('are those that keep data or are claims, with the content of claims alone', () => {
    const claim = { claimName: 'c' };
    expect(
      relevantVolumes([
        { name: 'data', persistentVolumeClaim: claim },
        { name: 'scratch', ephemeral: { volumeClaimTemplate: {} } },
        { name: 'host', hostPath: { path: '/' } },
        { name: 'config', configMap: { name: 'secret' } },
        { name: 'disk', cinder: { volumeID: 'v' } },
        { name: 'empty' },
        { name: 'nulled', configMap: null, emptyDir: undefined },
        { name: 'both', configMap: {}, hostPath: { path: '/' } },
      ]),
    ).toEqual([
      { name: 'data', persistentVolumeClaim: claim },
      { name: 'scratch', ephemeral: { volumeClaimTemplate: {} } },
      { name: 'host', hostPath: {} },
      { name: 'disk', cinder: {} },
      { name: 'empty', emptyDir: {} },
      { name: 'nulled', emptyDir: {} },
      { name: 'both', hostPath: {} },
    ]);
  });

  it('are with what is no volume, so that it is a problem later as well', () => {
    expect(relevantVolumes([7, null, { name: 'config', configMap: {} }])).toEqual([7, null]);
  });
});

const template = {
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
};

describe('volumes of a pod', () => {
  it.each<[string, Raw, boolean]>([
    ['an emptyDir', { emptyDir: {} }, true],
    ['an emptyDir in memory', { emptyDir: { medium: 'Memory' } }, true],
    ['a volume without a source', {}, true],
    ['a hostPath', { hostPath: { path: '/' } }, true],
    ['a config map', { configMap: {} }, false],
    ['a claim', { persistentVolumeClaim: { claimName: 'c' } }, false],
  ])('tell whether %s keeps data on the node', (_, source, expected) => {
    expect(podWith({ name: 'v', ...source }).localStorage).toBe(expected);
  });

  it('name the claims that outlive the pod, and say what those that do not are made from', () => {
    const { claims, constraints } = podWith(
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } },
      { name: 'token', projected: {} },
      { name: 'scratch', ephemeral: { volumeClaimTemplate: template } },
    );
    expect(claims).toEqual([
      { name: 'data-web-1', template: undefined },
      {
        name: 'web-1-scratch',
        template: {
          storageClass: 'fast',
          accessModes: ['ReadWriteOnce'],
          size: 2 ** 30,
          selector: undefined,
          volumeMode: 'Filesystem',
        },
      },
    ]);
    expect(constraints.unsupported).toEqual([]);
  });

  it('of several sources are all that each is', () => {
    const { claims, localStorage, constraints } = podWith({
      name: 'v',
      emptyDir: null,
      configMap: {},
      hostPath: { path: '/' },
      persistentVolumeClaim: { claimName: 'c' },
      rbd: {},
    });
    expect(claims).toEqual([{ name: 'c', template: undefined }]);
    expect(localStorage).toBe(true);
    expect(constraints.unsupported.map(({ filter }) => filter)).toEqual(['VolumeRestrictions']);
  });

  it('keep no data on the node where their only source is null, but for the emptyDir that it stands for', () => {
    expect(podWith({ name: 'v', configMap: null }).localStorage).toBe(true);
    expect(podWith({ name: 'v', configMap: {}, emptyDir: null }).localStorage).toBe(false);
    expect(podWith().localStorage).toBe(false);
  });

  it('leave the class of their claims to the cluster where they name none', () => {
    const { storageClassName: _, ...classless } = template.spec;
    const volumes = [
      { name: 'usual', ephemeral: { volumeClaimTemplate: { spec: classless } } },
      { name: 'none', ephemeral: { volumeClaimTemplate: { spec: { ...classless, storageClassName: '' } } } },
      { name: 'fast', ephemeral: { volumeClaimTemplate: template } },
    ];
    const { pod, claimsWithoutClass } = projectPod(aRawPod('web-1', { spec: { volumes } }), createInterner());
    expect(claimsWithoutClass).toEqual(['web-1-usual']);
    expect(pod.claims.map((claim) => claim.template?.storageClass)).toEqual([undefined, undefined, 'fast']);
    expect(pod.constraints.unsupported).toEqual([]);
  });

  it('are one object for all pods that have none that matters', () => {
    const read = (...volumes: readonly Raw[]) => readVolumes({ volumes }, 'web-1', createInterner());
    expect(read({ name: 'config', configMap: {} })).toBe(read());
    expect(read({ name: 'data', emptyDir: {} })).not.toBe(read());
  });

  it('fit anywhere when no scheduler plugin looks at them', () => {
    const sources = [
      'projected',
      'secret',
      'configMap',
      'downwardAPI',
      'image',
      'nfs',
      'csi',
      'cephfs',
      'fc',
      'vsphereVolume',
    ];
    const pod = podWith(...sources.map((source) => ({ name: source, [source]: {} })));
    expect([pod.claims, pod.localStorage, pod.constraints.unsupported]).toEqual([[], false, []]);
  });

  it.each([
    ['gcePersistentDisk', 'VolumeRestrictions'],
    ['awsElasticBlockStore', 'VolumeRestrictions'],
    ['iscsi', 'VolumeRestrictions'],
    ['rbd', 'VolumeRestrictions'],
    ['azureDisk', 'NodeVolumeLimits'],
    ['cinder', 'NodeVolumeLimits'],
    ['quantumDisk', 'VolumeRestrictions'],
  ])('of kind %s are not supported', (source, filter) => {
    expect(podWith({ name: 'v', [source]: {} }).constraints.unsupported).toEqual([
      { filter, detail: `volume "v" is a ${source}` },
    ]);
  });

  it('are not supported where their claim asks for a VolumeAttributesClass', () => {
    const spec = { ...template.spec, volumeAttributesClassName: 'gold' };
    const { constraints } = podWith({ name: 'v', ephemeral: { volumeClaimTemplate: { spec } } });
    expect(constraints.unsupported).toEqual([
      { filter: 'VolumeBinding', detail: 'volume "v" asks for a VolumeAttributesClass' },
    ]);
  });

  it.each<[string, Raw, string]>([
    ['a claim without a name', { persistentVolumeClaim: {} }, 'persistentVolumeClaim.claimName: undefined is not text'],
    ['an ephemeral volume without a template', { ephemeral: {} }, 'ephemeral.volumeClaimTemplate: is missing'],
    [
      'a size that is none',
      { ephemeral: { volumeClaimTemplate: { spec: { resources: { requests: { storage: 'much' } } } } } },
      'ephemeral.volumeClaimTemplate.spec.resources.requests.storage: "much" is not a quantity',
    ],
    [
      'an unknown mode',
      { ephemeral: { volumeClaimTemplate: { spec: { volumeMode: 'Tape' } } } },
      'ephemeral.volumeClaimTemplate.spec.volumeMode: "Tape" is not a mode',
    ],
    [
      'a class that is no text',
      { ephemeral: { volumeClaimTemplate: { spec: { storageClassName: 7 } } } },
      'ephemeral.volumeClaimTemplate.spec.storageClassName: 7 is not text',
    ],
    [
      'annotations that are none',
      { ephemeral: { volumeClaimTemplate: { metadata: { annotations: 'fast' } } } },
      'ephemeral.volumeClaimTemplate.metadata.annotations: "fast" is not an object',
    ],
    [
      'access modes that are no list',
      { ephemeral: { volumeClaimTemplate: { spec: { accessModes: 'ReadWriteOnce' } } } },
      'ephemeral.volumeClaimTemplate.spec.accessModes: "ReadWriteOnce" is not a list',
    ],
  ])('with %s are a problem that names the field', (_, source, problem) => {
    const { problems } = buildSnapshot([aRawPod('p', { spec: { volumes: [{ name: 'v', ...source }] } })]);
    expect(problems[0]).toContain(`Pod shop/p: spec.volumes[0].${problem}`);
  });
});

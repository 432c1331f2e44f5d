import { describe, expect, it } from 'vitest';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aRawPod, type Raw } from '../../support/builders/raw.ts';

function podWith(...volumes: readonly Raw[]) {
  return projectPod(aRawPod('web-1', { spec: { volumes } }), createInterner()).pod;
}

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
      'access modes that are no list',
      { ephemeral: { volumeClaimTemplate: { spec: { accessModes: 'ReadWriteOnce' } } } },
      'ephemeral.volumeClaimTemplate.spec.accessModes: "ReadWriteOnce" is not a list',
    ],
  ])('with %s are a problem that names the field', (_, source, problem) => {
    const { problems } = buildSnapshot([aRawPod('p', { spec: { volumes: [{ name: 'v', ...source }] } })]);
    expect(problems[0]).toContain(`Pod shop/p: spec.volumes[0].${problem}`);
  });
});

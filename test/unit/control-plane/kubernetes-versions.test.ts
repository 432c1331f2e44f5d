import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  admissionPolicyApi,
  DEFAULT_VERSION,
  KUBERNETES_VERSIONS,
  kubernetesVersion,
} from '../../control-plane/kubernetes-versions.ts';
import { startControlPlane } from '../../control-plane/start.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'control-plane');

describe('a version of Kubernetes', () => {
  it('is known by its minor version', () => {
    expect(KUBERNETES_VERSIONS.map(kubernetesVersion)).toEqual(KUBERNETES_VERSIONS);
  });

  it('that is unknown is refused with those that there are', () => {
    expect(() => kubernetesVersion('1.32')).toThrow(
      'there is no control plane of Kubernetes 1.32: choose one of 1.33, 1.34, 1.35, 1.36, 1.37',
    );
    expect(() => kubernetesVersion('1.36.3')).toThrow(/choose one of/);
  });

  it.each(KUBERNETES_VERSIONS)('%s has a module of one release', (version) => {
    const folder = version === DEFAULT_VERSION ? FOLDER : join(FOLDER, `kubernetes-${version}`);
    const text = readFileSync(join(folder, 'go.mod'), 'utf8');
    const release = /k8s\.io\/kubernetes v(\d+\.\d+)\.(\d+)/.exec(text);
    expect(release?.[1]).toBe(version);
    const staging = [...text.matchAll(/=> k8s\.io\/\S+ v(\S+)/g)].map(([, of]) => of);
    expect(new Set(staging)).toEqual(new Set([`0.${version.replace('1.', '')}.${release?.[2]}`]));
  });
});

it('MutatingAdmissionPolicy cannot be switched on where there is only its alpha version', async () => {
  expect(admissionPolicyApi('1.33')).toBeUndefined();
  await expect(startControlPlane({ kubernetes: '1.33', mutatingAdmissionPolicy: true })).rejects.toThrow(
    'Kubernetes 1.33 has no MutatingAdmissionPolicy to switch on',
  );
});

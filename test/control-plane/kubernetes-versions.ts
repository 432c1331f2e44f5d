/** The minor versions of Kubernetes of which there are control planes, oldest first. */
export const KUBERNETES_VERSIONS = ['1.33', '1.34', '1.35', '1.36', '1.37'] as const;

/** One of the minor versions of Kubernetes of which there are control planes. */
export type KubernetesVersion = (typeof KUBERNETES_VERSIONS)[number];

/** The version that go.mod of this folder pins, with the programs that all versions share. */
export const DEFAULT_VERSION: KubernetesVersion = '1.36';

/** The version of that name. Throws a RangeError that names all of them when there is no control plane of it. */
export function kubernetesVersion(name: string): KubernetesVersion {
  const found = KUBERNETES_VERSIONS.find((version) => version === name);
  if (found === undefined) {
    throw new RangeError(
      `there is no control plane of Kubernetes ${name}: choose one of ${KUBERNETES_VERSIONS.join(', ')}`,
    );
  }
  return found;
}

/** The API version in which a version of Kubernetes serves MutatingAdmissionPolicy; `undefined` for none, or for alpha alone. */
export type AdmissionPolicyApi = 'v1' | 'v1beta1' | undefined;

/** v1beta1 is off until it is switched on. */
const ADMISSION_POLICY_APIS: Readonly<Record<KubernetesVersion, AdmissionPolicyApi>> = {
  '1.33': undefined,
  '1.34': 'v1beta1',
  '1.35': 'v1beta1',
  '1.36': 'v1',
  '1.37': 'v1',
};

/** The API version in which this version of Kubernetes serves MutatingAdmissionPolicy, or can be made to. */
export function admissionPolicyApi(version: KubernetesVersion): AdmissionPolicyApi {
  return ADMISSION_POLICY_APIS[version];
}

import { join } from 'node:path';
import { admissionPolicyApi, type KubernetesVersion } from '../control-plane/kubernetes-versions.ts';
import { applyScenario, loadScenario, waitForMetrics } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import type { CheckContext } from './check.ts';

const SCENARIOS = join(import.meta.dirname, '..', 'scenarios');
const POLICY_DOCUMENT = /^kind: MutatingAdmissionPolicy/m;

/** Runs `work` on a control plane of the version, with MutatingAdmissionPolicy switched on where there is one. */
export async function onControlPlane(
  { kubernetes, log }: CheckContext,
  options: { readonly metricsServer: boolean },
  work: (cp: ControlPlane) => Promise<void>,
): Promise<void> {
  const mutatingAdmissionPolicy = admissionPolicyApi(kubernetes) !== undefined;
  const cp = await startControlPlane({ kubernetes, mutatingAdmissionPolicy, log, ...options });
  try {
    await work(cp);
  } finally {
    await cp.stop();
  }
}

/** Sets up a scenario of test/scenarios, with metrics when the cluster serves them. */
export async function setUp(
  cp: ControlPlane,
  { log }: CheckContext,
  scenario: string,
  measured: boolean,
): Promise<void> {
  await applyScenario(cp, loadScenario(join(SCENARIOS, `${scenario}.yaml`)), { log });
  if (measured) {
    await waitForMetrics(cp, { log });
  }
}

/**
 * Manifests as a version takes them: admission policies in the API version that it serves, or none where it serves none.
 */
export function adaptedTo(version: KubernetesVersion): (manifests: string) => string {
  const api = admissionPolicyApi(version);
  return (manifests) =>
    manifests
      .split(/^---\n/m)
      .flatMap((document) => {
        if (!POLICY_DOCUMENT.test(document)) {
          return [document];
        }
        return api === undefined
          ? []
          : [document.replace(/^apiVersion: .*$/m, `apiVersion: admissionregistration.k8s.io/${api}`)];
      })
      .join('---\n');
}

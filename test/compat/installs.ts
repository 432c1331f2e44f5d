import { admissionPolicyApi, type KubernetesVersion } from '../control-plane/kubernetes-versions.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { helmFor } from '../support/helm.ts';
import { byHelm, byKustomize, type Installation } from '../support/installation.ts';
import { startOperator } from '../support/operator-process.ts';
import { getPlans, policyObject } from '../support/resources.ts';
import type { CheckContext, CheckGroup } from './check.ts';
import { onControlPlane, setUp } from './cluster.ts';

const KUSTOMIZE = 'install with kustomize';
const HELM = 'install with Helm';

/** By the commands of docs/install.md for the version: installed without a warning, the operator plans, uninstalled. */
export const INSTALLS: CheckGroup = {
  name: 'installs',
  checks: [KUSTOMIZE, HELM],
  run: (context) =>
    onControlPlane(context, { metricsServer: false }, async (cp) => {
      const helm = await helmFor(cp.dir, cp.kubeconfig);
      await setUp(cp, context, 'small', false);
      const steers = servesV1(context.kubernetes);
      const overlay = steers ? 'default' : 'webhook';
      await attempt(cp, context, KUSTOMIZE, byKustomize(cp, overlay), `overlay ${overlay}`);
      const settings = steers ? [] : ['--set', 'admissionPolicies=false', '--set', 'webhook.enabled=true'];
      await attempt(cp, context, HELM, byHelm(cp, helm, 'default', settings), ['mode default', ...settings].join(' '));
    }),
};

/** What the overlays of the default install need. */
function servesV1(version: KubernetesVersion): boolean {
  return admissionPolicyApi(version) === 'v1';
}

async function attempt(
  cp: ControlPlane,
  { decide }: CheckContext,
  check: string,
  { install, uninstall }: Installation,
  note: string,
): Promise<void> {
  try {
    await install();
    await plans(cp);
    await uninstall();
    decide(check, { kind: 'Yes', note });
  } catch (error) {
    decide(check, { kind: 'No', why: `${note}: ${error instanceof Error ? error.message : String(error)}` });
  }
}

/** The operator of the installation, with its rights, reports a plan. */
async function plans(cp: ControlPlane): Promise<void> {
  await cp.apply([
    policyObject('installed', {
      interval: '10s',
      load: { source: 'Requests' },
      thresholds: { trigger: '0.05', consecutive: 1 },
      protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
    }),
  ]);
  const operator = await startOperator(cp);
  try {
    await waitUntil(
      'the operator plans',
      async () => ((await getPlans(cp)).length > 0 ? undefined : operator.log().slice(-1000)),
      { timeoutMilliseconds: 60_000 },
    );
  } finally {
    await operator.end('SIGTERM');
  }
}

import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { admissionPolicyApi, type KubernetesVersion } from '../control-plane/kubernetes-versions.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, type Overlay, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject } from '../support/resources.ts';
import { startWithWebhook } from '../support/webhook.ts';
import type { CheckContext, CheckGroup } from './check.ts';
import { adaptedTo, onControlPlane, setUp } from './cluster.ts';
import { type Verdict, yesUnless } from './verdict.ts';
import { startWatchedOperator } from './watched-operator.ts';

/** A way to steer, as the checks try it. */
interface SteeringCheck {
  /** `spec.steering.mode`. */
  readonly mode: string;
  /** Folder in deploy/overlays. */
  readonly overlay: Overlay;
  /** File in test/scenarios, on which one plan brings balance. */
  readonly scenario: string;
  /** Starts the operator for it. */
  readonly start: typeof startWithWebhook;
  /** Why it cannot be had on a version; undefined where it can. */
  readonly missing: (version: KubernetesVersion) => string | undefined;
  /** What else it takes beside the overlay, once the scenario is set up and the operator runs. */
  readonly prepare: (cp: ControlPlane, version: KubernetesVersion) => Promise<void>;
}

const WITHOUT_POLICY = 'MutatingAdmissionPolicy is alpha there';

const MODES: readonly SteeringCheck[] = [
  {
    mode: 'AdmissionPolicy',
    overlay: 'default',
    scenario: 'tilted',
    start: startOperator,
    missing: (version) => (admissionPolicyApi(version) === undefined ? WITHOUT_POLICY : undefined),
    prepare: () => Promise.resolve(),
  },
  {
    mode: 'Webhook',
    overlay: 'webhook',
    scenario: 'tilted',
    start: startWithWebhook,
    missing: () => undefined,
    prepare: () => Promise.resolve(),
  },
  {
    mode: 'Gate',
    overlay: 'gate',
    scenario: 'gated',
    start: startOperator,
    missing: () => undefined,
    prepare: gate,
  },
];

/** Each mode on a cluster of its own: the replacements of one plan land where they should. */
export const STEERING: CheckGroup = {
  name: 'steering',
  checks: MODES.map(titleOf),
  async run(context) {
    for (const mode of MODES) {
      context.decide(titleOf(mode), await verdictOn(mode, context));
    }
  },
};

function titleOf({ mode }: SteeringCheck): string {
  return `steering ${mode}`;
}

async function verdictOn(mode: SteeringCheck, context: CheckContext): Promise<Verdict> {
  const why = mode.missing(context.kubernetes);
  if (why !== undefined) {
    return { kind: 'NotApplicable', why };
  }
  let verdict: Verdict = { kind: 'No', why: 'no plan ended' };
  try {
    await onControlPlane(context, { metricsServer: false }, async (cp) => {
      verdict = await steer(cp, mode, context);
    });
  } catch (error) {
    return { kind: 'No', why: error instanceof Error ? error.message : String(error) };
  }
  return verdict;
}

async function steer(cp: ControlPlane, mode: SteeringCheck, context: CheckContext): Promise<Verdict> {
  await install(cp, mode.overlay, adaptedTo(context.kubernetes));
  await setUp(cp, context, mode.scenario, false);
  const operator = await startWatchedOperator(cp, mode.start);
  try {
    await operator.logged('leading');
    await mode.prepare(cp, context.kubernetes);
    await cp.apply([steeredPolicy(mode.mode)]);
    const plan = await endedPlan(cp);
    return yesUnless([...missesOf(plan, mode.mode), ...operator.forbidden()], landedOf(plan));
  } finally {
    await operator.stop();
  }
}

function steeredPolicy(mode: string): object {
  return policyObject('steered', {
    mode: 'Automatic',
    interval: '24h',
    load: { source: 'Requests' },
    thresholds: { trigger: '0.05', consecutive: 1 },
    budgets: [{ maxMoves: 100, maxConcurrent: 4, perOwner: '100%' }],
    protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
    steering: { mode },
  });
}

async function endedPlan(cp: ControlPlane): Promise<RebalancePlan> {
  let ended: RebalancePlan | undefined;
  await waitUntil(
    'the plan ends',
    async () => {
      const [plan] = await getPlans(cp);
      ended = plan?.status?.phase === 'Completed' ? plan : undefined;
      return ended === undefined ? ((await obstacle(cp)) ?? `plan: ${plan?.status?.phase}`) : undefined;
    },
    { timeoutMilliseconds: 240_000 },
  );
  if (ended === undefined) {
    throw new Error('no plan ended');
  }
  return ended;
}

/** Why the policy is not carried out. Throws it, for it takes a person to change that. */
async function obstacle(cp: ControlPlane): Promise<string | undefined> {
  const { status } = await getPolicy(cp, 'steered');
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.reason === 'SteeringUnavailable') {
    throw new Error(`${ready.reason}: ${ready.message}`);
  }
  return ready?.status === 'False' ? `Ready: ${ready.reason}` : undefined;
}

function phasesOf({ status }: RebalancePlan): readonly string[] {
  return (status?.moves ?? []).map(({ phase }) => phase);
}

function landedOf(plan: RebalancePlan): string {
  const phases = phasesOf(plan);
  return `${phases.filter((phase) => phase === 'Landed').length} of ${phases.length} as planned`;
}

/** At least 95 % of the replacements are to land on their planned node. */
function missesOf(plan: RebalancePlan, mode: string): readonly string[] {
  const phases = phasesOf(plan);
  const landed = phases.filter((phase) => phase === 'Landed').length;
  return [
    ...(plan.status?.steering === mode ? [] : [`steered by ${plan.status?.steering}`]),
    ...(phases.length > 0 && landed >= 0.95 * phases.length ? [] : [landedOf(plan)]),
  ];
}

/** Namespaces are labelled for the gate where a policy adds it; elsewhere it is in the pod templates. */
async function gate(cp: ControlPlane, version: KubernetesVersion): Promise<void> {
  if (admissionPolicyApi(version) !== undefined) {
    await cp.kubectl(['label', 'namespace', 'shop', 'evenkeel.dev/gate=enabled']);
    return;
  }
  const spec = { template: { spec: { schedulingGates: [{ name: 'evenkeel.dev/qos' }] } } };
  const deployments = (await cp.kubectl(['get', 'deployments', '-n', 'shop', '-o', 'name'])).trim().split('\n');
  for (const deployment of deployments) {
    await cp.kubectl(['patch', '-n', 'shop', deployment, '--type=merge', '-p', JSON.stringify({ spec })]);
  }
  for (const deployment of deployments) {
    await cp.kubectl(['rollout', 'status', '-n', 'shop', deployment, '--timeout=120s']);
  }
}

import type { SteeringMode } from '../api/v1alpha1/rebalance-policy.ts';
import { formatInstant } from '../model/instant.ts';
import type { Clock, Gates, HintedMode, Steering } from '../ports.ts';

/** Which steering a policy gets, and why. */
export interface ChosenSteering {
  /** The mode that the policy asks for; with Auto the best one that the cluster offers. */
  readonly mode: SteeringMode;
  /** False when the policy insists on a mode that the cluster does not offer. */
  readonly available: boolean;
  /** For people: what the mode rests on, or what is missing and what to install. */
  readonly message: string;
}

/** A policy insists on steering that the cluster does not have. */
export class SteeringUnavailableError extends Error {
  override readonly name = 'SteeringUnavailableError';
}

type SteeringPorts = { readonly steering: Steering; readonly gates: Gates };

/** What Auto tries, best first. Gate is never chosen unasked: it makes pods wait. */
const AUTOMATIC: readonly HintedMode[] = ['AdmissionPolicy', 'Webhook'];

const OVERLAYS = {
  AdmissionPolicy:
    'deploy/overlays/default (Kubernetes 1.36 or later; on 1.34 and 1.35 with the component admission-policy-v1beta1)',
  Webhook: 'deploy/overlays/webhook (Kubernetes 1.30 or later)',
  Gate: 'deploy/overlays/gate',
} as const satisfies Partial<Record<SteeringMode, string>>;

/** Most who read this only look at plans so far, which is safe: the overlays that steer let the operator evict, too. */
const EITHER_REMEDY = `mode DryRun needs no steering; to evict pods and steer their replacements, install ${OVERLAYS.AdmissionPolicy} or ${OVERLAYS.Webhook}`;

/**
 * The steering that `mode` of a policy means on this cluster at this moment. Rejects with an ApiError when the cluster cannot
 * be asked.
 */
export async function chooseSteering(
  mode: 'Auto' | SteeringMode,
  { steering, gates }: SteeringPorts,
  signal: AbortSignal,
): Promise<ChosenSteering> {
  switch (mode) {
    case 'None':
      return { mode, available: true, message: 'spec.steering.mode is None' };
    case 'Auto':
      return automatic(await steering.offers(signal));
    case 'AdmissionPolicy':
    case 'Webhook':
      return asked(mode, (await steering.offers(signal))[mode]);
    case 'Gate':
      return asked(mode, await gateOffer(gates, signal));
    default:
      return mode satisfies never;
  }
}

/**
 * Fields of a plan whose execution begins: when, and with which steering. Rejects with SteeringUnavailableError when the policy
 * insists on steering that the cluster does not offer, and with an ApiError when it cannot be asked.
 */
export async function startFields(
  mode: 'Auto' | SteeringMode,
  ports: SteeringPorts & { readonly clock: Clock },
  signal: AbortSignal,
): Promise<{ startedAt: string; steering: SteeringMode }> {
  const chosen = await chooseSteering(mode, ports, signal);
  if (!chosen.available) {
    throw new SteeringUnavailableError(`steering.mode is ${mode}, but ${chosen.message}, or write mode: Auto`);
  }
  return { startedAt: formatInstant(ports.clock.now()), steering: chosen.mode };
}

type Offers = Awaited<ReturnType<Steering['offers']>>;

function automatic(offers: Offers): ChosenSteering {
  const mode = AUTOMATIC.find((each) => offers[each].available);
  if (mode !== undefined) {
    return { mode, available: true, message: offers[mode].why };
  }
  const missing = AUTOMATIC.map((each) => offers[each].why).join('; ');
  return { mode: 'None', available: true, message: `${missing}: ${EITHER_REMEDY}` };
}

function asked(mode: keyof typeof OVERLAYS, { available, why }: Offers[HintedMode]): ChosenSteering {
  return { mode, available, message: available ? why : `${why}: install ${OVERLAYS[mode]}` };
}

async function gateOffer(gates: Gates, signal: AbortSignal): Promise<Offers[HintedMode]> {
  const available = await gates.available(signal);
  const why = available
    ? 'the operator may patch pods, and so open their gates'
    : 'the operator may not patch pods and so cannot open their gates';
  return { available, why };
}

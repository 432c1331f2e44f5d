import type { CertificateSource } from '../adapters/http/certificate.ts';
import { CertificateError, createSelfSigned } from '../adapters/http/certificate.ts';
import {
  bundleFor,
  fromEntries,
  type RotationTimes,
  rotate,
  type SharedPairs,
  toEntries,
} from '../adapters/http/rotation.ts';
import { isApiError } from '../adapters/kubernetes/api-error.ts';
import type { ApiClient } from '../adapters/kubernetes/client.ts';
import { readSecret } from '../adapters/kubernetes/secret-store.ts';
import { readConfiguration, WEBHOOK_CONFIGURATION } from '../adapters/kubernetes/webhook-configuration.ts';

/** The Secret that the pairs are kept in; the installation creates it empty, so that no right to create Secrets is needed. */
export const WEBHOOK_SECRET = 'evenkeel-webhook-tls';

/** How often a replica tries again at once when another one wrote first. */
const ATTEMPTS = 5;

/**
 * Pairs that all replicas share through a Secret in `namespace`, and that API servers trust by the caBundle of our
 * MutatingWebhookConfiguration. Each load takes the rotation one step further, whichever replica comes first. Rejects with
 * CertificateError where the Secret is missing, and with ApiError.
 */
export function sharedCertificates(
  client: ApiClient,
  namespace: string,
  names: readonly [string, ...string[]],
  times: RotationTimes,
  signal: AbortSignal,
): CertificateSource {
  const create = (now: number) => createSelfSigned(names, now, times.lifetime);

  /** The configuration is read first: what is written to it then rests on a Secret that is as new. */
  async function step(now: number): Promise<SharedPairs> {
    const configuration = await readConfiguration(client, signal);
    const secret = await readSecret(client, { namespace, name: WEBHOOK_SECRET }, signal);
    if (secret === undefined) {
      throw new CertificateError(
        `there is no Secret ${WEBHOOK_SECRET} in ${namespace}: install deploy/components/webhook`,
      );
    }
    const stored = fromEntries(secret.data);
    const pairs = rotate(stored, commonBundle(configuration?.bundles ?? []), now, times, () => create(now));
    if (pairs !== stored) {
      await secret.write(toEntries(pairs), signal);
    }
    const bundle = bundleFor(pairs);
    if (configuration?.bundles.some((each) => each !== bundle) === true) {
      await configuration.write(bundle, signal);
    }
    return pairs;
  }

  return {
    async load(now) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return (await step(now)).current;
        } catch (error) {
          if (attempt === ATTEMPTS || !isApiError(error, 'Conflict')) {
            throw error;
          }
        }
      }
    },
  };
}

/** What is trusted for every webhook; empty when they differ. */
function commonBundle(bundles: readonly string[]): string {
  const [first = ''] = bundles;
  return bundles.every((bundle) => bundle === first) ? first : '';
}

/** Why API servers cannot verify `cert` by `bundle`, said so that people know what to do. */
export function trustProblem(problem: string | undefined): string | undefined {
  return problem === undefined
    ? undefined
    : `the API server cannot verify the webhook by the caBundle of MutatingWebhookConfiguration ${WEBHOOK_CONFIGURATION}: ${problem}`;
}

import { isObject, type JsonObject } from '../../model/json.ts';
import { ApiError, ifThere } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { RESOURCES } from './resource.ts';

/** Name of our MutatingWebhookConfiguration. */
export const WEBHOOK_CONFIGURATION = 'evenkeel';
/** Name of the webhook in it that steers pods. */
export const PLACEMENT_WEBHOOK = 'placement.evenkeel.dev';

/** The MutatingWebhookConfiguration as it is stored. */
export interface StoredConfiguration {
  /** Certificates in PEM by which each webhook is verified, in the order of the webhooks; empty where there are none. */
  readonly bundles: readonly string[];
  /**
   * Has all webhooks verified by this bundle from now on. Rejects with an ApiError: `Conflict` when somebody else wrote in
   * between.
   */
  write(bundle: string, signal: AbortSignal): Promise<void>;
}

/** Reads our MutatingWebhookConfiguration; undefined when there is none. Rejects with an ApiError. */
export async function readConfiguration(
  client: ApiClient,
  signal: AbortSignal,
): Promise<StoredConfiguration | undefined> {
  const target = { ...RESOURCES.MutatingWebhookConfiguration, name: WEBHOOK_CONFIGURATION };
  const answer = await ifThere(client.read({ verb: 'get', target }, signal));
  if (answer === undefined) {
    return undefined;
  }
  const { body } = answer;
  if (!isObject(body)) {
    throw new ApiError('BadAnswer', 'the API server answered with something that is no MutatingWebhookConfiguration');
  }
  return {
    bundles: webhooksOf(body).map(bundleIn),
    async write(bundle, ownSignal) {
      await client.sendIdempotent({ verb: 'update', target, body: withBundle(body, bundle) }, ownSignal);
    },
  };
}

/** The certificates in PEM by which one webhook of a configuration is verified; undefined when it has no such webhook. */
export function bundleOf(configuration: unknown, webhook: string): string | undefined {
  const found = webhooksOf(configuration).find(({ name }) => name === webhook);
  return found === undefined ? undefined : bundleIn(found);
}

function webhooksOf(configuration: unknown): readonly JsonObject[] {
  const webhooks = isObject(configuration) ? configuration.webhooks : undefined;
  return Array.isArray(webhooks) ? webhooks.filter(isObject) : [];
}

function bundleIn({ clientConfig }: JsonObject): string {
  const bundle = isObject(clientConfig) ? clientConfig.caBundle : undefined;
  return typeof bundle === 'string' ? Buffer.from(bundle, 'base64').toString('utf8') : '';
}

/** The resourceVersion goes back with it, so that nothing is lost that somebody else writes meanwhile. */
function withBundle(configuration: JsonObject, bundle: string): JsonObject {
  const caBundle = Buffer.from(bundle, 'utf8').toString('base64');
  const webhooks = webhooksOf(configuration).map(({ clientConfig, ...rest }) => ({
    ...rest,
    clientConfig: { ...(isObject(clientConfig) ? clientConfig : {}), caBundle },
  }));
  return { ...configuration, webhooks };
}

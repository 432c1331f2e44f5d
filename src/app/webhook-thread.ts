import { parentPort, workerData } from 'node:worker_threads';
import { Failure } from './failure.ts';
import { type ServedFlags, serveWebhook } from './webhook-server.ts';

/** What the thread of the webhook sends to the operator. */
export type FromWebhook =
  | { readonly kind: 'Serving'; readonly port: number }
  /** It is not served: the message of a Failure. */
  | { readonly kind: 'Refused'; readonly message: string }
  | { readonly kind: 'Requested'; readonly verb: string; readonly code: string }
  | { readonly kind: 'Warned'; readonly message: string }
  | { readonly kind: 'Renewed'; readonly certificate: string };

/** Serves the webhook by the flags in `workerData` until the operator sends a message, whatever it says. */
async function main(): Promise<void> {
  const tell = (message: FromWebhook): void => parentPort?.postMessage(message);
  try {
    const server = await serveWebhook(workerData as ServedFlags, {
      onRequest: (verb, code) => tell({ kind: 'Requested', verb, code }),
      warn: (message) => tell({ kind: 'Warned', message }),
      renewed: (certificate) => tell({ kind: 'Renewed', certificate }),
    });
    parentPort?.once('message', () => void server.close());
    tell({ kind: 'Serving', port: server.port });
  } catch (error) {
    if (!(error instanceof Failure)) {
      throw error;
    }
    tell({ kind: 'Refused', message: error.message });
  }
}

await main();

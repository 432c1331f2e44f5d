import type { Guard } from './access-guard.ts';
import type { Endpoint } from './server.ts';

/** Where metrics are served. */
export const METRICS_PATH = '/metrics';

/** Prometheus text and its content type. */
export interface MetricsText {
  readonly type: string;
  readonly body: string;
}

/** /healthz, which is fine as long as it answers, and /readyz: `unreadiness` is undefined when ready, else why not. */
export function healthEndpoints(unreadiness: () => string | undefined): ReadonlyMap<string, Endpoint> {
  return new Map<string, Endpoint>([
    ['/healthz', () => ({ code: 200, body: 'ok\n' })],
    [
      '/readyz',
      () => {
        const reason = unreadiness();
        return { code: reason === undefined ? 200 : 503, body: `${reason ?? 'ok'}\n` };
      },
    ],
  ]);
}

/** /metrics for whoever passes the guard; for everybody without one. */
export function metricsEndpoints(
  metrics: () => Promise<MetricsText>,
  guard: Guard | undefined,
): ReadonlyMap<string, Endpoint> {
  const endpoint: Endpoint = async (request, signal) => {
    const admittance = await guard?.(request, signal);
    return admittance !== undefined && 'refused' in admittance
      ? admittance.refused
      : { code: 200, ...(await metrics()) };
  };
  return new Map([[METRICS_PATH, endpoint]]);
}

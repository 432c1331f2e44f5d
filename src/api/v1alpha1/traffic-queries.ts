import { parseDuration } from '../../model/duration.ts';
import type { AppGraphSpec, TrafficPreset } from './app-graph.ts';

/** Labels of a sample of traffic: names of the controllers that send and receive. */
export const TRAFFIC_LABELS = { source: 'source_workload', destination: 'destination_workload' } as const;

const BETWEEN = `${TRAFFIC_LABELS.source}, ${TRAFFIC_LABELS.destination}`;

/**
 * Bits per second from counters of bytes. Each counter is told apart by a label before `or` joins them, because `or` drops a
 * series that has the labels of one before it.
 */
function bitsOf(counters: readonly string[], ratesOf: (counter: string) => string): string {
  const rates = counters.map((counter) => `label_replace(${ratesOf(counter)}, "counter", "${counter}", "", "")`);
  return `8 * sum by (${BETWEEN}) (${rates.join(' or ')})`;
}

/** https://istio.io/latest/docs/reference/config/metrics; the client's proxy counts both directions. */
const ISTIO = bitsOf(
  [
    'istio_tcp_sent_bytes_total',
    'istio_tcp_received_bytes_total',
    'istio_request_bytes_sum',
    'istio_response_bytes_sum',
  ],
  (counter) =>
    `sum by (${BETWEEN}) (rate(${counter}{reporter="source",source_workload_namespace="$namespace",destination_workload_namespace="$namespace"}[$window]))`,
);

/** Labels by which Linkerd names controllers: a pod has the one of its kind. */
const LINKERD_KINDS = ['deployment', 'statefulset', 'replicaset', 'replicationcontroller', 'k8s_job'];

/**
 * https://linkerd.io/2/reference/proxy-metrics: the proxy of the sender counts what it writes to the receiver and reads from it;
 * labels of the sender come from the relabelling of linkerd-viz.
 */
const LINKERD = bitsOf(['tcp_write_bytes_total', 'tcp_read_bytes_total'], (counter) => {
  const rate = `rate(${counter}{direction="outbound",peer="dst",namespace="$namespace",dst_namespace="$namespace"}[$window])`;
  return joined(joined(rate, TRAFFIC_LABELS.source, ''), TRAFFIC_LABELS.destination, 'dst_');
});

function joined(rate: string, label: string, prefix: string): string {
  return `label_join(${rate}, "${label}", "", ${LINKERD_KINDS.map((kind) => `"${prefix}${kind}"`).join(', ')})`;
}

const PRESETS: Readonly<Record<TrafficPreset, string>> = { Istio: ISTIO, Linkerd: LINKERD };

/** The PromQL of an AppGraph for its namespace and window; `undefined` where the edges are written by hand. */
export function trafficQuery({ traffic }: AppGraphSpec, namespace: string): string | undefined {
  if (traffic === undefined) {
    return undefined;
  }
  const promql = traffic.preset === undefined ? traffic.query : PRESETS[traffic.preset];
  return promql?.replaceAll('$namespace', namespace).replaceAll('$window', `${parseDuration(traffic.window)}s`);
}

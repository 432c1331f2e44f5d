/** A workload of the example cluster. CPU in millicores, memory in MiB, each of one pod. */
export interface CloudWorkload {
  readonly namespace: string;
  readonly name: string;
  readonly kind: 'Deployment' | 'StatefulSet' | 'DaemonSet';
  /** Pods per hundred nodes; a DaemonSet has one on each. */
  readonly perHundred: number;
  readonly request: readonly [cpu: number, memory: number];
  readonly use: readonly [cpu: number, memory: number];
}

type Row = readonly [
  path: string,
  perHundred: number,
  request: CloudWorkload['request'],
  use: CloudWorkload['use'],
  kind?: CloudWorkload['kind'],
];

const ROWS: readonly Row[] = [
  ['checkout/checkout-api', 60, [500, 512], [640, 480]],
  ['checkout/payment-gateway', 40, [500, 512], [420, 400]],
  ['checkout/fraud-scoring-worker', 30, [750, 1024], [1100, 900]],
  ['checkout/invoice-renderer', 20, [250, 256], [310, 240]],
  ['storefront/web-frontend', 90, [250, 256], [380, 300]],
  ['storefront/product-catalog', 60, [300, 512], [340, 520]],
  ['storefront/recommendation-engine', 40, [800, 2048], [950, 1900]],
  ['storefront/image-resizer', 30, [400, 512], [520, 420]],
  ['storefront/session-store', 20, [200, 1024], [150, 900], 'StatefulSet'],
  ['logistics/order-router', 40, [300, 384], [260, 300]],
  ['logistics/shipment-tracking-api', 40, [250, 256], [210, 220]],
  ['logistics/warehouse-inventory-sync', 30, [400, 512], [480, 450]],
  ['search/query-gateway', 40, [400, 512], [460, 500]],
  ['search/opensearch-data', 30, [1000, 4096], [900, 3800], 'StatefulSet'],
  ['data-platform/stream-ingest', 40, [500, 1024], [610, 980]],
  ['data-platform/kafka-broker', 15, [1000, 4096], [820, 3900], 'StatefulSet'],
  ['data-platform/report-builder', 20, [600, 1024], [450, 800]],
  ['identity/token-issuer', 30, [200, 256], [170, 200]],
  ['identity/profile-api', 40, [250, 256], [220, 230]],
  ['kube-system/aws-node', 100, [50, 64], [12, 60], 'DaemonSet'],
  ['kube-system/kube-proxy', 100, [100, 64], [6, 40], 'DaemonSet'],
  ['kube-system/coredns', 4, [100, 70], [40, 60]],
  ['observability/node-exporter', 100, [50, 64], [15, 40], 'DaemonSet'],
];

/** What runs on the example cluster: a shop, as a company of some size has it. */
export const CLOUD_WORKLOADS: readonly CloudWorkload[] = ROWS.map(
  ([path, perHundred, request, use, kind = 'Deployment']) => {
    const [namespace = '', name = ''] = path.split('/');
    return { namespace, name, kind, perHundred, request, use };
  },
);

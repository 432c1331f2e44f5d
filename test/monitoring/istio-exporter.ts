import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a workload sends another one of its namespace. */
export interface TrafficEdge {
  readonly namespace: string;
  readonly from: string;
  readonly to: string;
  /** Bits per second from client to server; the server answers with as much. */
  readonly bits: number;
}

/** A running exporter. */
export interface IstioExporter {
  /** What Prometheus scrapes. */
  readonly scrapeConfigs: readonly object[];
  stop(): void;
}

/** Serves the counters of Istio proxies, of clients and of servers, which count up with time. */
export async function startIstioExporter(edges: readonly TrafficEdge[]): Promise<IstioExporter> {
  const began = Date.now();
  const server = createServer((_, response) => {
    const span = (Date.now() - began) / 1000;
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(`${counters(edges, span).join('\n')}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    scrapeConfigs: [{ job_name: 'istio', static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
    stop: () => void server.close(),
  };
}

function counters(edges: readonly TrafficEdge[], span: number): readonly string[] {
  return ['istio_tcp_sent_bytes_total', 'istio_tcp_received_bytes_total'].flatMap((counter) => [
    `# TYPE ${counter} counter`,
    ...edges.flatMap(({ namespace, from, to, bits }) => {
      const ends = `source_workload="${from}",source_workload_namespace="${namespace}",destination_workload="${to}",destination_workload_namespace="${namespace}"`;
      const bytes = Math.round((bits / 8) * span);
      return ['source', 'destination'].map((reporter) => `${counter}{reporter="${reporter}",${ends}} ${bytes}`);
    }),
  ]);
}

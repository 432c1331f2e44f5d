import { argumentsOf, type ServerSettings } from './arguments.ts';
import type { ProgramName, Programs } from './build.ts';
import type { Kubectl } from './kubectl.ts';
import type { ClusterLayout } from './layout.ts';
import { answersOk } from './probe.ts';
import type { Program, Supervisor } from './supervisor.ts';

/** The programs that keep running. */
export type ServerName = Exclude<ProgramName, 'kubectl'>;

/** What it takes to run the servers of one cluster. */
export interface ServerContext {
  readonly programs: Programs;
  readonly supervisor: Supervisor;
  readonly layout: ClusterLayout;
  readonly kubectl: Kubectl;
  readonly settings: ServerSettings;
}

const startTimeout = 90_000;

/** Starts one server and waits until it does its work; throws with the end of its log if it does not. */
export async function startServer(context: ServerContext, name: ServerName): Promise<Program> {
  const { programs, supervisor, layout, settings } = context;
  const program = supervisor.start(name, programs.bin(name), argumentsOf(name, layout, settings));
  await program.ready(() => answersOk(healthUrl(name, layout)), startTimeout);
  return program;
}

/** Starts metrics-server, registers its API with the API server and waits until that is served. */
export async function startMetricsServer(context: ServerContext): Promise<Program> {
  const { kubectl, layout } = context;
  const registration = metricsRegistration(layout.ports.metricsServer).map((object) => JSON.stringify(object));
  const [program] = await Promise.all([
    startServer(context, 'metrics-server'),
    kubectl(['apply', '--server-side', '--filename=-'], registration.join('\n')),
  ]);
  const served = () =>
    kubectl(['get', '--raw=/apis/metrics.k8s.io/v1beta1']).then(
      () => true,
      () => false,
    );
  await program.ready(served, startTimeout);
  return program;
}

function healthUrl(name: ServerName, { ports }: ClusterLayout): string {
  switch (name) {
    case 'etcd':
      return `http://127.0.0.1:${ports.etcd}/health`;
    case 'kube-apiserver':
      return `https://127.0.0.1:${ports.apiserver}/readyz`;
    case 'kube-controller-manager':
      return `https://127.0.0.1:${ports.controllerManager}/healthz`;
    case 'kube-scheduler':
      return `https://127.0.0.1:${ports.scheduler}/readyz`;
    case 'kwok':
      return `https://127.0.0.1:${ports.kwok}/readyz`;
    case 'metrics-server':
      return `https://127.0.0.1:${ports.metricsServer}/livez`; // its readyz waits for the first nodes
    default:
      return name satisfies never;
  }
}

/** An ExternalName may point to a loopback address, which Endpoints may not. */
function metricsRegistration(port: number): readonly object[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'metrics-server', namespace: 'kube-system' },
      spec: { type: 'ExternalName', externalName: '127.0.0.1' },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.metrics.k8s.io' },
      spec: {
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { name: 'metrics-server', namespace: 'kube-system', port },
      },
    },
  ];
}

import { join } from 'node:path';
import { admissionPolicyApi, type KubernetesVersion } from './kubernetes-versions.ts';
import type { ClusterLayout } from './layout.ts';
import type { ServerName } from './servers.ts';

/** What the command lines of servers depend on beside the layout of their cluster. */
export interface ServerSettings {
  readonly kubernetes: KubernetesVersion;
  /** How often usage is read: a Go duration. */
  readonly metricResolution: string;
  /** Whether MutatingAdmissionPolicy is switched on where that takes flags. */
  readonly mutatingAdmissionPolicy: boolean;
  /** Whether nodes have kubelets; else kwok simulates them. */
  readonly kubelets: boolean;
  /** How kube-scheduler ranks nodes by what is requested there; `undefined`: as Kubernetes configures it. */
  readonly scoring: 'MostAllocated' | undefined;
}

/** The command line of a server, with everything on 127.0.0.1. */
export function argumentsOf(program: ServerName, layout: ClusterLayout, settings: ServerSettings): readonly string[] {
  switch (program) {
    case 'etcd':
      return etcd(layout);
    case 'kube-apiserver':
      return [...apiserver(layout), ...admissionPolicyFlags(settings), ...addressFlags(settings)];
    case 'kube-controller-manager':
      return controllerManager(layout, settings);
    case 'kube-scheduler':
      return scheduler(layout, settings);
    case 'kwok':
      return kwok(layout, settings);
    case 'metrics-server':
      return metricsServer(layout, settings.metricResolution);
    default:
      return program satisfies never;
  }
}

function etcd({ ports, folder }: ClusterLayout): readonly string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync', // the data need not survive a power cut
    '--log-level=warn',
  ];
}

function apiserver({ ports, certificates, auditPolicyFile, auditLogFile }: ClusterLayout): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.apiserver}`,
    `--tls-cert-file=${certificates.apiserver.certificateFile}`,
    `--tls-private-key-file=${certificates.apiserver.keyFile}`,
    `--client-ca-file=${certificates.caFile}`,
    '--endpoint-reconciler-type=none', // Endpoints refuse loopback addresses
    '--allow-privileged=true',
    '--authorization-mode=Node,RBAC',
    '--disable-admission-plugins=ServiceAccount', // pods then need no token volume; tokens are still issued on request
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${certificates.serviceAccountPublicKeyFile}`,
    `--service-account-signing-key-file=${certificates.serviceAccountPrivateKeyFile}`,
    `--requestheader-client-ca-file=${certificates.frontProxyCaFile}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${certificates.frontProxyClient.certificateFile}`,
    `--proxy-client-key-file=${certificates.frontProxyClient.keyFile}`,
    `--audit-policy-file=${auditPolicyFile}`,
    `--audit-log-path=${auditLogFile}`,
    '--audit-log-mode=blocking', // what was answered is in the log
    '--audit-log-maxsize=0', // one file
  ];
}

/** What switches MutatingAdmissionPolicy on. Its beta version is off by default, and v1 needs nothing. */
function admissionPolicyFlags({ kubernetes, mutatingAdmissionPolicy }: ServerSettings): readonly string[] {
  return mutatingAdmissionPolicy && admissionPolicyApi(kubernetes) === 'v1beta1'
    ? ['--feature-gates=MutatingAdmissionPolicy=true', '--runtime-config=admissionregistration.k8s.io/v1beta1=true']
    : [];
}

/** The names of real nodes are known to nobody. */
function addressFlags({ kubelets }: ServerSettings): readonly string[] {
  return kubelets ? ['--kubelet-preferred-address-types=InternalIP'] : [];
}

function controllerManager(
  { ports, certificates, kubeconfigOf }: ClusterLayout,
  { kubelets }: ServerSettings,
): readonly string[] {
  const kubeconfig = kubeconfigOf('kube-controller-manager');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.controllerManager}`,
    '--use-service-account-credentials=true', // its own identity may not do what the controllers do
    `--root-ca-file=${certificates.caFile}`,
    `--service-account-private-key-file=${certificates.serviceAccountPrivateKeyFile}`,
    '--leader-elect=false',
    ...(kubelets
      ? ['--node-monitor-grace-period=30s']
      : ['--node-monitor-period=25s', '--node-monitor-grace-period=200s']), // kwok renews leases of 200 s
    '--kube-api-qps=100',
    '--kube-api-burst=200',
  ];
}

function scheduler(
  { ports, kubeconfigOf, mostAllocatedFile }: ClusterLayout,
  { scoring }: ServerSettings,
): readonly string[] {
  const kubeconfig = kubeconfigOf('kube-scheduler');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.scheduler}`,
    '--leader-elect=false',
    ...(scoring === undefined ? [] : [`--config=${mostAllocatedFile}`]),
  ];
}

function kwok(
  { ports, certificates, kwokConfigFile, kubeconfigOf }: ClusterLayout,
  { kubelets }: ServerSettings,
): readonly string[] {
  return [
    `--kubeconfig=${kubeconfigOf('kwok')}`,
    ...(kubelets
      ? ['--manage-all-nodes=false', '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake']
      : ['--manage-all-nodes=true']),
    '--node-ip=127.0.0.1',
    `--node-port=${ports.kwok}`,
    `--server-address=127.0.0.1:${ports.kwok}`,
    `--tls-cert-file=${certificates.loopback.certificateFile}`,
    `--tls-private-key-file=${certificates.loopback.keyFile}`,
    '--node-lease-duration-seconds=200',
    `--config=${kwokConfigFile}`,
  ];
}

function metricsServer(
  { ports, certificates, kubeconfigOf }: ClusterLayout,
  metricResolution: string,
): readonly string[] {
  const kubeconfig = kubeconfigOf('metrics-server');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.metricsServer}`,
    `--tls-cert-file=${certificates.loopback.certificateFile}`,
    `--tls-private-key-file=${certificates.loopback.keyFile}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--kubelet-use-node-status-port',
    '--kubelet-insecure-tls',
    `--metric-resolution=${metricResolution}`,
    '--kubelet-request-timeout=3s', // must be well below the resolution
  ];
}

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Certificates, createCertificates } from './certificates.ts';
import { claimPorts } from './free-ports.ts';
import { kubeconfig } from './kubeconfig.ts';

/** The ports of 127.0.0.1 that a cluster uses. */
export interface Ports {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly apiserver: number;
  readonly controllerManager: number;
  readonly scheduler: number;
  readonly kwok: number;
  readonly metricsServer: number;
}

/** Where everything of one cluster is: its folder and files, ports and certificates. */
export interface ClusterLayout {
  readonly folder: string;
  readonly url: string;
  readonly ports: Ports;
  readonly certificates: Certificates;
  readonly auditPolicyFile: string;
  readonly auditLogFile: string;
  readonly kwokConfigFile: string;
  /** Of a kube-scheduler that prefers the node with most requests that takes a pod. */
  readonly mostAllocatedFile: string;
  readonly adminKubeconfig: string;
  /** The kubeconfig of one of the programs. */
  kubeconfigOf(program: string): string;
  /** Gives the ports back; for when the programs have ended. */
  releasePorts(): void;
}

/** Who has a client certificate. The programs are users of their own, so that the audit log tells them apart. */
const users = [
  { user: 'admin', group: 'system:masters', program: 'admin' },
  { user: 'kwok', group: 'system:masters', program: 'kwok' },
  { user: 'metrics-server', group: 'system:masters', program: 'metrics-server' },
  { user: 'system:kube-controller-manager', group: undefined, program: 'kube-controller-manager' },
  { user: 'system:kube-scheduler', group: undefined, program: 'kube-scheduler' },
] as const;

/** Picks the ports of a cluster and writes its certificates, kubeconfigs and configuration files into `folder`. */
export async function prepareLayout(folder: string): Promise<ClusterLayout> {
  const claim = await claimPorts(7);
  const ports = assign(claim.ports);
  const url = `https://127.0.0.1:${ports.apiserver}`;
  mkdirSync(join(folder, 'pki'));
  const certificates = createCertificates(join(folder, 'pki'));
  const kubeconfigOf = (program: string) => join(folder, `${program}.kubeconfig`);
  for (const { user, group, program } of users) {
    const text = kubeconfig(url, certificates.ca, user, certificates.client(user, group));
    writeFileSync(kubeconfigOf(program), text, { mode: 0o600 });
  }
  const copied = (file: string) => {
    copyFileSync(join(import.meta.dirname, file), join(folder, file));
    return join(folder, file);
  };
  const mostAllocatedFile = join(folder, 'most-allocated.json');
  writeFileSync(mostAllocatedFile, JSON.stringify(mostAllocated(kubeconfigOf('kube-scheduler'))));
  return {
    folder,
    url,
    ports,
    certificates,
    auditPolicyFile: copied('audit-policy.yaml'),
    auditLogFile: join(folder, 'audit.log'),
    kwokConfigFile: copied('kwok.yaml'),
    mostAllocatedFile,
    adminKubeconfig: kubeconfigOf('admin'),
    kubeconfigOf,
    releasePorts: claim.release,
  };
}

/** A configuration of kube-scheduler; one that is given a file takes its kubeconfig from there. */
function mostAllocated(kubeconfig: string): object {
  const scoringStrategy = {
    type: 'MostAllocated',
    resources: [
      { name: 'cpu', weight: 1 },
      { name: 'memory', weight: 1 },
    ],
  };
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig },
    leaderElection: { leaderElect: false },
    profiles: [
      { schedulerName: 'default-scheduler', pluginConfig: [{ name: 'NodeResourcesFit', args: { scoringStrategy } }] },
    ],
  };
}

function assign(claimed: readonly number[]): Ports {
  const [etcd = 0, etcdPeer = 0, apiserver = 0, controllerManager = 0, scheduler = 0, kwok = 0, metricsServer = 0] =
    claimed;
  return { etcd, etcdPeer, apiserver, controllerManager, scheduler, kwok, metricsServer };
}

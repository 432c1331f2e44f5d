import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerSettings } from './arguments.ts';
import { type AuditEvent, readAudit } from './audit.ts';
import { buildControlPlane } from './build.ts';
import { kubeconfig } from './kubeconfig.ts';
import { type Kubectl, kubectlFor } from './kubectl.ts';
import { admissionPolicyApi, DEFAULT_VERSION, type KubernetesVersion } from './kubernetes-versions.ts';
import { prepareLayout } from './layout.ts';
import { type ServerContext, type ServerName, startMetricsServer, startServer } from './servers.ts';
import { type Program, superviseIn } from './supervisor.ts';

/** A ServiceAccount. */
export interface AccountName {
  readonly namespace: string;
  readonly name: string;
}

/** A running control plane: real Kubernetes, simulated kubelets. */
export interface ControlPlane {
  /** The version of its servers. */
  readonly kubernetes: KubernetesVersion;
  /** The folder of this cluster: data, certificates, kubeconfigs and logs. `stop()` removes it. */
  readonly dir: string;
  /** Path of the kubeconfig of a cluster administrator. */
  readonly kubeconfig: string;
  /** The API server. */
  readonly url: string;
  /** The path of one of the programs, for instance `kubectl`. */
  bin(program: string): string;
  /** Runs kubectl as the administrator; its output, or an error that carries what it wrote to stderr. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Server-side apply of YAML text or of objects. */
  apply(manifests: string | readonly object[]): Promise<void>;
  /** Path of a kubeconfig with a token, good for a day, of a ServiceAccount; throws if that does not exist. */
  kubeconfigFor(account: AccountName): Promise<string>;
  /** Path of a kubeconfig with a client certificate of a user, of a group. */
  kubeconfigAs(user: string, group: string): string;
  /** Ends a program when this process ends without having done so: it does not outlive the cluster. */
  adopt(child: ChildProcess): void;
  /** Every change that anybody asked for since the start. */
  audit(): Promise<readonly AuditEvent[]>;
  /** Kills a server (`kill -9`) for good. */
  end(server: ServerName): Promise<void>;
  /** Kills a server (`kill -9`) and starts it again on the same data and port; resolves when it is ready. */
  restart(server: ServerName): Promise<void>;
  /** Ends all programs and removes the folder. A second call does nothing. */
  stop(): Promise<void>;
}

/** How to start a control plane. */
export interface ControlPlaneOptions {
  /** The version of Kubernetes; default that of go.mod. Another one is built when it is asked for. */
  readonly kubernetes?: KubernetesVersion;
  /**
   * Whether to switch MutatingAdmissionPolicy on where Kubernetes has it as v1beta1, off by default; default false. From 1.36
   * it is always on. Versions without v1beta1 throw a RangeError.
   */
  readonly mutatingAdmissionPolicy?: boolean;
  /** How kube-scheduler ranks nodes by what is requested there; default as Kubernetes configures it. */
  readonly scoring?: 'MostAllocated';
  /** Whether nodes will have kubelets of their own; default false: kwok simulates them. */
  readonly kubelets?: boolean;
  /** Whether to run metrics-server; default true. */
  readonly metricsServer?: boolean;
  /** How often usage is read: a Go duration of at least 10s, which is the default. */
  readonly metricResolution?: string;
  /** Gets progress line by line; default stderr. */
  readonly log?: (line: string) => void;
}

/**
 * Starts etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok and metrics-server on free ports of
 * 127.0.0.1 and waits until each does its work: some six seconds, and minutes for building them the very first time.
 * Throws with the end of a program's log if that program fails; nothing is left running then. Nothing outlives this
 * process either, even if it is killed.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const log = options.log ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const settings = settingsOf(options);
  const programs = await buildControlPlane({ log, kubernetes: settings.kubernetes });
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-cluster-'));
  const supervisor = superviseIn(folder);
  try {
    const layout = await prepareLayout(folder);
    const kubectl = kubectlFor(programs.bin('kubectl'), layout.adminKubeconfig, join(folder, 'kubectl-cache'));
    const context: ServerContext = { programs, supervisor, layout, kubectl, settings };
    return controlPlane(context, await startServers(context, options.metricsServer ?? true));
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

function settingsOf(options: ControlPlaneOptions): ServerSettings {
  const { kubernetes = DEFAULT_VERSION, metricResolution = '10s', mutatingAdmissionPolicy = false } = options;
  const { kubelets = false, scoring } = options;
  if (mutatingAdmissionPolicy && admissionPolicyApi(kubernetes) === undefined) {
    throw new RangeError(`Kubernetes ${kubernetes} has no MutatingAdmissionPolicy to switch on`);
  }
  return { kubernetes, metricResolution, mutatingAdmissionPolicy, kubelets, scoring };
}

async function startServers(context: ServerContext, withMetrics: boolean): Promise<readonly Program[]> {
  const etcd = await startServer(context, 'etcd');
  const apiserver = await startServer(context, 'kube-apiserver');
  const rest = await Promise.all([
    startServer(context, 'kube-controller-manager'),
    startServer(context, 'kube-scheduler'),
    startServer(context, 'kwok'),
    ...(withMetrics ? [startMetricsServer(context)] : []),
  ]);
  return [etcd, apiserver, ...rest];
}

function controlPlane(context: ServerContext, started: readonly Program[]): ControlPlane {
  const { programs, supervisor, layout, kubectl, settings } = context;
  const servers = new Map(started.map((program) => [program.name, program]));
  const end = async (server: ServerName): Promise<void> => servers.get(server)?.kill();
  return {
    kubernetes: settings.kubernetes,
    dir: layout.folder,
    kubeconfig: layout.adminKubeconfig,
    url: layout.url,
    bin: programs.bin,
    kubectl,
    apply: (manifests) => apply(kubectl, manifests),
    kubeconfigFor: (account) => kubeconfigFor(context, account),
    adopt: supervisor.adopt,
    kubeconfigAs: (user, group) => kubeconfigAs(context, user, group),
    audit: () => readAudit(layout.auditLogFile),
    end,
    async restart(server) {
      await end(server);
      servers.set(server, await startServer(context, server));
    },
    async stop() {
      await supervisor.stop();
      layout.releasePorts();
    },
  };
}

async function apply(kubectl: Kubectl, manifests: string | readonly object[]): Promise<void> {
  const input =
    typeof manifests === 'string' ? manifests : manifests.map((object) => JSON.stringify(object)).join('\n');
  await kubectl(['apply', '--server-side', '--force-conflicts', '--filename=-'], input);
}

function kubeconfigAs({ layout }: ServerContext, user: string, group: string): string {
  const { ca, client } = layout.certificates;
  const file = layout.kubeconfigOf(user.replaceAll(':', '.'));
  writeFileSync(file, kubeconfig(layout.url, ca, user, client(user, group)), { mode: 0o600 });
  return file;
}

/** The token comes from a TokenRequest, so that the API server authenticates and authorizes as in production. */
async function kubeconfigFor({ layout, kubectl }: ServerContext, { namespace, name }: AccountName): Promise<string> {
  const token = await kubectl(['create', 'token', name, `--namespace=${namespace}`, '--duration=24h']);
  const user = `system:serviceaccount:${namespace}:${name}`;
  const file = layout.kubeconfigOf(`${namespace}.${name}`);
  const text = kubeconfig(layout.url, layout.certificates.ca, user, { token: token.trim() });
  // Whole or not at all: another process of the account may be reading it.
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
  return file;
}

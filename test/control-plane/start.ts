import { randomUUID } from 'node:crypto';
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuditEvent, readAudit } from './audit.ts';
import { buildControlPlane } from './build.ts';
import { kubeconfig } from './kubeconfig.ts';
import { type Kubectl, kubectlFor } from './kubectl.ts';
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
  /** Every change that anybody asked for since the start. */
  audit(): Promise<readonly AuditEvent[]>;
  /** Kills a server (`kill -9`) and starts it again on the same data and port; resolves when it is ready. */
  restart(server: ServerName): Promise<void>;
  /** Ends all programs and removes the folder. A second call does nothing. */
  stop(): Promise<void>;
}

/** How to start a control plane. */
export interface ControlPlaneOptions {
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
  const programs = await buildControlPlane({ log });
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-cluster-'));
  const supervisor = superviseIn(folder);
  try {
    const layout = await prepareLayout(folder);
    const kubectl = kubectlFor(programs.bin('kubectl'), layout.adminKubeconfig, join(folder, 'kubectl-cache'));
    const metricResolution = options.metricResolution ?? '10s';
    const context: ServerContext = { programs, supervisor, layout, kubectl, metricResolution };
    return controlPlane(context, await startServers(context, options.metricsServer ?? true));
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
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
  const { programs, supervisor, layout, kubectl } = context;
  const servers = new Map(started.map((program) => [program.name, program]));
  return {
    dir: layout.folder,
    kubeconfig: layout.adminKubeconfig,
    url: layout.url,
    bin: programs.bin,
    kubectl,
    apply: (manifests) => apply(kubectl, manifests),
    kubeconfigFor: (account) => kubeconfigFor(context, account),
    audit: () => readAudit(layout.auditLogFile),
    async restart(server) {
      await servers.get(server)?.kill();
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

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import type { ControlPlane } from '../control-plane/start.ts';
import { firstLogged } from './log-file.ts';

/** The bundle that `npm run build` writes. */
export const BUNDLE: string = join(import.meta.dirname, '..', '..', 'dist', 'evenkeel.js');
/** The folder with the kustomize overlays. */
export const OVERLAYS: string = join(import.meta.dirname, '..', '..', 'deploy', 'overlays');
const DEPLOYMENT = join(OVERLAYS, '..', 'base', 'deployment.yaml');
/** The operator's account in deploy/. */
export const OPERATOR_USER = userOf('evenkeel');

/** The user that the API server takes an operator under this account for. */
export function userOf(account: string): string {
  return `system:serviceaccount:evenkeel-system:${account}`;
}

/** A running operator. */
export interface OperatorProcess {
  readonly pid: number;
  /** What it logged so far. */
  log(): string;
  /** The fields of its first log line with this message, as soon as there is one; throws when it ends, or after 30 s. */
  logged(message: string): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves to its exit code when it has ended; null after SIGKILL. */
  readonly exited: Promise<number | null>;
  /** Ends it with a signal and waits; resolves to its exit code, null after SIGKILL. A second call does nothing. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** How to start an operator. */
export interface OperatorOptions {
  /** ServiceAccount in evenkeel-system; default that of deploy/. */
  readonly account?: string;
  readonly args?: readonly string[];
  /** Name of the pod that it is said to run in; the host's unless given. */
  readonly pod?: string;
  /** A file to which `jump` writes; its wall clock can then be set. */
  readonly clockFile?: string;
  /** Path of the kubeconfig to use instead of one made for the account. */
  readonly kubeconfig?: string;
}

/** Sets the wall clock of an operator that was started with `clockFile` to so many seconds beside the true time. */
export function jump(operator: OperatorProcess, clockFile: string, offset: number): void {
  writeFileSync(clockFile, String(offset));
  operator.signal('SIGUSR2');
}

/** A ServiceAccount in evenkeel-system with the roles of deploy/, so that the audit log tells several operators apart. */
export function accountLikeTheOperators(name: string): readonly object[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const subjects = [{ kind: 'ServiceAccount', name, namespace: 'evenkeel-system' }];
  const bind = (kind: 'Role' | 'ClusterRole', role: string) => ({
    apiVersion: `${apiGroup}/v1`,
    kind: `${kind}Binding`,
    metadata: { name: `${name}-${role}`, namespace: kind === 'Role' ? 'evenkeel-system' : undefined },
    roleRef: { apiGroup, kind, name: role },
    subjects,
  });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'evenkeel-system' } },
    bind('ClusterRole', 'evenkeel-read'),
    bind('ClusterRole', 'evenkeel-evict'),
    bind('Role', 'evenkeel-lease'),
  ];
}

/** An overlay of deploy/. */
export type Overlay = 'default' | 'dry-run' | 'gate' | 'webhook' | 'webhook-gate';

/**
 * Installs an overlay of deploy/ as the administrator, with its manifests as `rewrite` makes them. The operator's own Deployment
 * is scaled to nothing: it runs as a process here.
 */
export async function install(
  cp: ControlPlane,
  overlay: Overlay,
  rewrite: (manifests: string) => string = (manifests) => manifests,
): Promise<void> {
  const manifests = await cp.kubectl(['kustomize', join(OVERLAYS, overlay)]);
  await cp.apply(rewrite(manifests));
  await cp.kubectl([
    'wait',
    '--for=condition=Established',
    '--timeout=30s',
    'crd',
    '-l',
    'app.kubernetes.io/name=evenkeel',
  ]);
  await cp.kubectl(['scale', '-n', 'evenkeel-system', 'deployment/evenkeel', '--replicas=0']);
}

/** The same with the rights that replicas need which share policies (`--shard-policies`). */
export async function installShared(cp: ControlPlane, overlay: Overlay): Promise<void> {
  const manifests = await cp.kubectl(['kustomize', withComponent(cp, overlay, 'shard-policies')]);
  await install(cp, overlay, () => manifests);
}

/** Makes a kustomization that adds a component of deploy/ to an overlay. Returns its folder; once for each pair. */
export function withComponent(cp: Pick<ControlPlane, 'dir'>, overlay: Overlay, component: string): string {
  const folder = join(cp.dir, `${overlay}-with-${component}`);
  mkdirSync(folder);
  const from = (path: string): string => JSON.stringify(relative(folder, path));
  const text = `resources: [${from(join(OVERLAYS, overlay))}]\ncomponents: [${from(join(OVERLAYS, '..', 'components', component))}]\n`;
  writeFileSync(join(folder, 'kustomization.yaml'), text);
  return folder;
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly env: readonly { name: string; value?: string }[] }[] };
    };
  };
}

/** The variables of deploy/ that do not depend on the pod. */
function deployedEnvironment(): Readonly<Record<string, string>> {
  const { spec } = parse(readFileSync(DEPLOYMENT, 'utf8')) as Deployment;
  const variables = spec.template.spec.containers.flatMap(({ env }) => env);
  return Object.fromEntries(variables.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}

const logFiles: string[] = [];

/** The last lines that each operator started by this process logged, as far as its control plane still runs. */
export function lastLogs(): readonly string[] {
  const ofLiving = logFiles.filter((file) => existsSync(file));
  return ofLiving.map((file) => `${basename(file)} ends:\n${readFileSync(file, 'utf8').slice(-4000)}`);
}

/** Starts the bundled operator as the ServiceAccount of deploy/, with exactly its rights, or as another account. */
export async function startOperator(
  cp: Pick<ControlPlane, 'dir' | 'kubeconfigFor' | 'adopt'>,
  options: OperatorOptions = {},
): Promise<OperatorProcess> {
  const account = { namespace: 'evenkeel-system', name: options.account ?? 'evenkeel' };
  const kubeconfig = options.kubeconfig ?? (await cp.kubeconfigFor(account));
  const logFile = join(cp.dir, `operator-${logFiles.length + 1}.log`);
  logFiles.push(logFile);
  const output = openSync(logFile, 'a');
  const addresses = ['--health-address', '127.0.0.1:0', '--metrics-address', '127.0.0.1:0'];
  const flags = ['--kubeconfig', kubeconfig, ...addresses, ...(options.args ?? [])];
  const { clockFile } = options;
  const preload = clockFile === undefined ? [] : ['--import', import.meta.resolve('./jumping-clock.ts')];
  const clock = clockFile === undefined ? {} : { EVENKEEL_TEST_CLOCK: clockFile };
  const pod = options.pod === undefined ? {} : { POD_NAME: options.pod };
  const env = { ...process.env, ...deployedEnvironment(), ...clock, ...pod };
  const child = spawn(process.execPath, [...preload, BUNDLE, 'operator', ...flags], {
    stdio: ['ignore', output, output],
    env,
  });
  closeSync(output);
  const exited = once(child, 'exit').then(() => child.exitCode);
  await once(child, 'spawn');
  cp.adopt(child);
  const log = () => readFileSync(logFile, 'utf8');
  return {
    pid: child.pid ?? 0,
    log,
    logged: (message) => firstLine(log, message, child),
    signal: (signal) => void child.kill(signal),
    exited,
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
      }
      return exited;
    },
  };
}

async function firstLine(
  log: () => string,
  message: string,
  child: ChildProcess,
): Promise<Readonly<Record<string, unknown>>> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const line = firstLogged(log(), message);
    if (line !== undefined) {
      return line;
    }
    if (child.exitCode !== null || performance.now() > deadline) {
      throw new Error(`the operator never logged "${message}":\n${log().slice(-4000)}`);
    }
    await sleep(20);
  }
}

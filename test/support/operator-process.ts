import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from '../control-plane/start.ts';

/** The bundle that `npm run build` writes. */
export const BUNDLE: string = join(import.meta.dirname, '..', '..', 'dist', 'evenkeel.js');
/** The folder with the kustomize overlays. */
export const OVERLAYS: string = join(import.meta.dirname, '..', '..', 'deploy', 'overlays');
/** The operator's account in deploy/. */
export const OPERATOR_USER = 'system:serviceaccount:evenkeel-system:evenkeel';

/** A running operator. */
export interface OperatorProcess {
  readonly pid: number;
  /** What it logged so far. */
  log(): string;
  /** Ends it with a signal and waits; resolves to its exit code, null after SIGKILL. A second call does nothing. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** Installs an overlay of deploy/ as the administrator. The operator's own Deployment is scaled to nothing: it runs as a process here. */
export async function install(cp: ControlPlane, overlay: 'default' | 'dry-run'): Promise<void> {
  const manifests = await cp.kubectl(['kustomize', join(OVERLAYS, overlay)]);
  await cp.apply(manifests);
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

let started = 0;

/** Starts the bundled operator as the ServiceAccount of deploy/, with exactly its rights. */
export async function startOperator(cp: ControlPlane): Promise<OperatorProcess> {
  const kubeconfig = await cp.kubeconfigFor({ namespace: 'evenkeel-system', name: 'evenkeel' });
  started += 1;
  const logFile = join(cp.dir, `operator-${started}.log`);
  const output = openSync(logFile, 'a');
  const args = [BUNDLE, 'operator', '--kubeconfig', kubeconfig, '--http-address', '127.0.0.1:0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', output, output] });
  closeSync(output);
  await once(child, 'spawn');
  process.once('exit', () => child.kill('SIGKILL'));
  return { pid: child.pid ?? 0, log: () => readFileSync(logFile, 'utf8'), end: (signal) => end(child, signal) };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
  return child.exitCode;
}

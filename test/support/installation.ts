import { join } from 'node:path';
import type { ControlPlane } from '../control-plane/start.ts';
import { CHART, type Helm } from './helm.ts';
import { OVERLAYS, type Overlay } from './operator-process.ts';

/** The name of an overlay that is also a mode of the chart. */
type Mode = 'dry-run' | 'default' | 'gate';

/** One way to install Evenkeel, by the commands of docs/install.md. */
export interface Installation {
  install(): Promise<void>;
  uninstall(): Promise<void>;
}

const NAMESPACE = 'evenkeel-system';
/** The deletion of a CRD takes more than a minute on a busy machine. */
const PATIENCE = '--timeout=180s';
const RESTRICTED = ['enforce', 'warn', 'audit'].map((use) => `pod-security.kubernetes.io/${use}=restricted`);

/** By kustomize: everything in one folder. A warning of the API server is an error. */
export function byKustomize(cp: ControlPlane, overlay: Overlay): Installation {
  const folder = join(OVERLAYS, overlay);
  return {
    async install() {
      await cp.kubectl(['apply', '--server-side', '--warnings-as-errors', '--validate=strict', '-k', folder]);
    },
    async uninstall() {
      await cp.kubectl(['delete', PATIENCE, 'namespace', NAMESPACE]);
      await cp.kubectl(['delete', PATIENCE, '--ignore-not-found', '-k', folder]);
    },
  };
}

/** By Helm, with these settings. The namespace is its user's to make and to remove, and so are the CRDs in the end. */
export function byHelm(cp: ControlPlane, helm: Helm, mode: Mode, settings: readonly string[] = []): Installation {
  return {
    async install() {
      await cp.kubectl(['create', 'namespace', NAMESPACE]);
      await cp.kubectl(['label', 'namespace', NAMESPACE, ...RESTRICTED]);
      await helm(['install', 'evenkeel', CHART, '-n', NAMESPACE, '--set', `mode=${mode}`, ...settings]);
    },
    async uninstall() {
      await helm(['uninstall', 'evenkeel', '-n', NAMESPACE, '--wait']);
      await cp.kubectl(['delete', PATIENCE, 'namespace', NAMESPACE]);
      await cp.kubectl(['delete', PATIENCE, 'crd', '-l', 'app.kubernetes.io/name=evenkeel']);
    },
  };
}

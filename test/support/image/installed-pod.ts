import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { claimPorts } from '../../control-plane/free-ports.ts';
import type { ControlPlane } from '../../control-plane/start.ts';
import type { Image } from './build-image.ts';
import { type MountedFile, startContainer } from './container.ts';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
}

interface PodSpec {
  readonly serviceAccountName: string;
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number; readonly fsGroup?: number };
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret: { readonly secretName: string; readonly defaultMode: number };
  }[];
  readonly containers: readonly [
    {
      readonly command?: readonly string[];
      readonly args: readonly string[];
      readonly env: readonly EnvironmentVariable[];
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
      readonly livenessProbe: Probe;
      readonly readinessProbe: Probe;
      readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
    },
  ];
}

/** The operator's Deployment as the API server has it. */
export interface StoredDeployment {
  readonly metadata: { readonly namespace: string };
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
  };
}

/** The operator of a Deployment, running. */
export interface InstalledPod {
  /** What the operator logged so far. */
  log(): string;
  /** The port of this machine that stands for a named port of the container. */
  port(name: string): number;
  /** The status codes of liveness and readiness, as the kubelet would ask; 0 where nobody answers. */
  probes(): Promise<readonly [liveness: number, readiness: number]>;
  /** SIGTERM, as a kubelet sends it; resolves to the exit code. */
  stop(): Promise<number | null>;
}

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The Deployment of the operator. */
export async function storedDeployment(cp: ControlPlane): Promise<StoredDeployment> {
  const text = await cp.kubectl(['get', 'deployment', 'evenkeel', '-n', 'evenkeel-system', '-o', 'json']);
  return JSON.parse(text) as StoredDeployment;
}

/**
 * Does a kubelet's part for one pod of a Deployment: the container's command with its arguments and environment, as the user of the
 * pod, in the image's read-only root, with the token that a TokenRequest gives its ServiceAccount and with the Secrets that it mounts,
 * at the paths where it mounts them. Pods have an address each and these have none, so that the container's ports are others.
 */
export async function runInstalled(
  cp: ControlPlane,
  image: Image,
  deployment: StoredDeployment,
): Promise<InstalledPod> {
  const { namespace } = deployment.metadata;
  const { spec } = deployment.spec.template;
  const [container] = spec.containers;
  const claim = await claimPorts(container.ports.length);
  const ports = new Map(container.ports.map(({ name }, index) => [name, claim.ports[index] ?? 0]));
  const port = (name: string): number => ports.get(name) ?? Number.NaN;
  const args = container.ports.reduce<readonly string[]>(
    (all, { name, containerPort }) => all.map((arg) => arg.replace(new RegExp(`:${containerPort}$`), `:${port(name)}`)),
    container.args,
  );
  const { process: child, logFile } = startContainer({
    image,
    command: [...(container.command ?? image.entrypoint), ...args],
    environment: { ...environmentOf(container.env, namespace), ...apiServer(cp) },
    user: `${spec.securityContext.runAsUser}:${spec.securityContext.runAsGroup}`,
    files: [...(await account(cp, namespace, spec.serviceAccountName)), ...(await secrets(cp, namespace, spec))],
    folder: cp.dir,
  });
  const exited = once(child, 'exit').then(() => {
    claim.release();
    return child.exitCode;
  });
  const ask = ({ httpGet }: Probe): Promise<number> =>
    statusOf(`http://127.0.0.1:${port(httpGet.port)}${httpGet.path}`);
  return {
    log: () => readFileSync(logFile, 'utf8'),
    port,
    probes: () => Promise.all([ask(container.livenessProbe), ask(container.readinessProbe)]),
    async stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

function statusOf(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  );
}

function environmentOf(variables: readonly EnvironmentVariable[], namespace: string): Readonly<Record<string, string>> {
  const fields: Readonly<Record<string, string>> = {
    'metadata.namespace': namespace,
    'metadata.name': 'evenkeel-installed',
  };
  return Object.fromEntries(
    variables.map(({ name, value, valueFrom }) => {
      const known = value ?? fields[valueFrom?.fieldRef?.fieldPath ?? ''];
      if (known === undefined) {
        throw new Error(`the variable ${name} comes from where these tests cannot look: ${JSON.stringify(valueFrom)}`);
      }
      return [name, known];
    }),
  );
}

/** What a kubelet tells every container of the Service `kubernetes`. */
function apiServer(cp: ControlPlane): Readonly<Record<string, string>> {
  const { hostname, port } = new URL(cp.url);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
}

/** The projected volume that the ServiceAccount admission adds: a token, the authorities and the namespace. */
async function account(cp: ControlPlane, namespace: string, name: string): Promise<readonly MountedFile[]> {
  const token = await cp.kubectl(['create', 'token', name, `--namespace=${namespace}`, '--duration=1h']);
  const authorities = await cp.kubectl([
    'get',
    'configmap',
    'kube-root-ca.crt',
    `--namespace=${namespace}`,
    '-o',
    'jsonpath={.data.ca\\.crt}',
  ]);
  const file = (key: string, content: string) => ({ path: `${ACCOUNT}/${key}`, content, mode: 0o644, group: 0 });
  return [file('token', token.trim()), file('ca.crt', authorities), file('namespace', namespace)];
}

async function secrets(cp: ControlPlane, namespace: string, spec: PodSpec): Promise<readonly MountedFile[]> {
  const [{ volumeMounts = [] }] = spec.containers;
  const files = volumeMounts.map(async ({ name, mountPath }): Promise<readonly MountedFile[]> => {
    const secret = spec.volumes?.find((volume) => volume.name === name)?.secret;
    if (secret === undefined) {
      throw new Error(`${mountPath} is no Secret, and these tests mount nothing else`);
    }
    const text = await cp.kubectl(['get', 'secret', secret.secretName, `--namespace=${namespace}`, '-o', 'json']);
    const { data } = JSON.parse(text) as { readonly data: Readonly<Record<string, string>> };
    return Object.entries(data).map(([key, value]) => ({
      path: `${mountPath}/${key}`,
      content: Buffer.from(value, 'base64'),
      mode: secret.defaultMode,
      group: spec.securityContext.fsGroup ?? 0,
    }));
  });
  return (await Promise.all(files)).flat();
}

/** A Deployment of burners. */
export interface Burner {
  readonly name: string;
  readonly replicas: number;
  /** What each pod uses. */
  readonly millicores: number;
  /** Seconds until it is ready, and during which it still answers after SIGTERM. */
  readonly start: number;
  readonly drain: number;
  /** Does not follow SIGTERM. */
  readonly ignoresTerm?: boolean;
  /** terminationGracePeriodSeconds. */
  readonly grace: number;
}

/** Where the burners run. */
export const NAMESPACE = 'shop';

/** What runs: together somewhat more than one node can have, requested evenly and used unevenly. */
export const BURNERS: readonly Burner[] = [
  { name: 'web', replicas: 4, millicores: 60, start: 3, drain: 2, grace: 30 },
  { name: 'api', replicas: 4, millicores: 50, start: 5, drain: 1, grace: 30 },
  { name: 'slow', replicas: 3, millicores: 50, start: 12, drain: 0, grace: 30 },
  { name: 'stubborn', replicas: 2, millicores: 40, start: 2, drain: 0, ignoresTerm: true, grace: 5 },
];

/** The namespace, and of each burner its Deployment and Service. Their containers log to `logs`, a folder of the machine. */
export function burnerObjects(logs: string): readonly object[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    ...BURNERS.flatMap((burner) => [deployment(burner, logs), service(burner)]),
  ];
}

function deployment(burner: Burner, logs: string): object {
  const { name, replicas, millicores, start, drain, ignoresTerm, grace } = burner;
  const env = {
    LOGS: logs,
    MILLICORES: String(millicores),
    START: `${start}s`,
    DRAIN: `${drain}s`,
    ...(ignoresTerm === true ? { IGNORE_TERM: 'yes' } : {}),
  };
  const container = {
    name: 'main',
    image: 'kubelets.local/burner:1',
    imagePullPolicy: 'Never',
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    resources: { requests: { cpu: '20m', memory: '16Mi' } },
    volumeMounts: [{ name: 'logs', mountPath: logs }],
    readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          terminationGracePeriodSeconds: grace,
          automountServiceAccountToken: false,
          containers: [container],
          volumes: [{ name: 'logs', hostPath: { path: logs } }],
        },
      },
    },
  };
}

function service({ name }: Burner): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: NAMESPACE },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
  };
}

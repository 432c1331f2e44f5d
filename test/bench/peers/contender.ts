import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import type { ControlPlane } from '../../control-plane/start.ts';
import { install, startOperator } from '../../support/operator-process.ts';
import { policyObject } from '../../support/resources.ts';
import { startsOfBursts } from './bursts.ts';
import { descheduler } from './programs.ts';

/** Who is to put a cluster right, again every `seconds`. */
export interface Contender {
  /** Installs what it needs, before the cluster is filled and the time runs. */
  install(cp: ControlPlane, log: (line: string) => void): Promise<void>;
  /** Begins; the result ends it. */
  start(cp: ControlPlane, task: Task, log: (line: string) => void): Promise<() => Promise<void>>;
  /**
   * When it decided on each of the evictions that it sent at `sentAt`, which ascends; all in milliseconds, and the same for all that
   * it decided on at once. It may carry that out over more than one round of `seconds`.
   */
  decidedAt(cp: ControlPlane, sentAt: readonly number[], seconds: number): Promise<readonly number[]>;
}

/** What is to be put right, in the words of both. */
export interface Task {
  /** Seconds between two rounds. */
  readonly seconds: number;
  /** `spec` of a RebalancePolicy, but for its mode and interval. */
  readonly policy: Readonly<Record<string, unknown>>;
  /** One profile of a DeschedulerPolicy. */
  readonly profile: Readonly<Record<string, unknown>>;
}

/** By the name that the command line takes. */
export const CONTENDERS: Readonly<Record<string, Contender>> = {
  Evenkeel: {
    install: (cp) => install(cp, 'default'),
    start: async (cp, { policy, seconds }) => {
      const operator = await startOperator(cp);
      await operator.logged('leading');
      await cp.apply([policyObject('peer', { ...policy, mode: 'Automatic', interval: `${seconds}s` })]);
      return async () => {
        await operator.end('SIGTERM');
      };
    },
    // Pods of one controller are moved one after the other, each when the replacement of the one before is Ready.
    decidedAt: async (cp, sentAt) => {
      const { items }: PlanList = JSON.parse(await cp.kubectl(['get', 'rebalanceplans', '-o', 'json']));
      const made = items
        .filter(({ spec }) => spec.moves.length > 0)
        .map(({ metadata }) => Date.parse(metadata.creationTimestamp));
      return sentAt.map((sent) => {
        const before = made.filter((at) => at <= sent);
        if (before.length === 0) {
          throw new Error(`no plan with moves was made before the eviction at ${new Date(sent).toISOString()}`);
        }
        return Math.max(...before);
      });
    },
  },
  Descheduler: {
    install: async (cp, log) => {
      await descheduler(log);
      await cp.apply(ACCOUNT);
    },
    start: async (cp, { profile, seconds }, log) => {
      const program = await descheduler(log);
      const kubeconfig = await cp.kubeconfigFor({ namespace: NAMESPACE, name: NAME });
      const file = join(dirname(kubeconfig), 'descheduler-policy.yaml');
      const policy = {
        apiVersion: 'descheduler/v1alpha2',
        kind: 'DeschedulerPolicy',
        metricsProviders: [{ source: 'KubernetesMetrics' }],
        profiles: [profile],
      };
      writeFileSync(file, stringify(policy));
      const output = openSync(join(dirname(kubeconfig), 'descheduler.log'), 'w');
      const args = [
        `--client-connection-kubeconfig=${kubeconfig}`,
        `--policy-config-file=${file}`,
        `--descheduling-interval=${seconds}s`,
        '--secure-port=0',
        '--disable-metrics',
      ];
      const child = spawn(program, args, { stdio: ['ignore', output, output] });
      closeSync(output);
      cp.adopt(child);
      const exited = once(child, 'exit');
      return async () => {
        if (child.exitCode !== null) {
          throw new Error(`the descheduler ended by itself with ${child.exitCode}: see ${file}`);
        }
        child.kill();
        await exited;
      };
    },
    // It sends all evictions of a round at once, and logs no decisions: a pause of half a round comes between two.
    decidedAt: async (_, sentAt, seconds) => startsOfBursts(sentAt, seconds * 500),
  },
};

interface PlanList {
  readonly items: readonly {
    readonly metadata: { readonly creationTimestamp: string };
    readonly spec: { readonly moves: readonly object[] };
  }[];
}

const NAMESPACE = 'descheduler';
const NAME = 'descheduler';

/** The rights that its own manifests give it. */
const ACCOUNT: readonly object[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace: NAMESPACE } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: NAME },
    rules: [
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'update', 'patch'] },
      {
        apiGroups: [''],
        resources: ['nodes', 'namespaces', 'persistentvolumeclaims'],
        verbs: ['get', 'watch', 'list'],
      },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'watch', 'list', 'delete'] },
      { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
      { apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'], verbs: ['get', 'watch', 'list'] },
      { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get', 'watch', 'list'] },
      { apiGroups: ['metrics.k8s.io'], resources: ['nodes', 'pods'], verbs: ['get', 'list'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: NAME },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
    subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }],
  },
];

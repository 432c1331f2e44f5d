import { SCHEDULING_GATE } from '../../src/model/gate.ts';
import { CLASS_LABEL } from '../../src/qos/class-of.ts';

/** Namespace of all requests. */
export const NAMESPACE = 'requests';
/** Seconds between two runs of a contest's policy for which there is no other cause. */
export const CONTEST_INTERVAL = 30;
/** Seconds from bound to Ready, as measured by the authors, and from deleted to gone. */
const STARTUP = '2400ms';
const TERMINATION = '200ms';

/** A workload with a promise of availability, whose pods take a slot each. */
export interface RequestFields {
  /** Of the Deployment, and label `app` of its pods. */
  readonly app: string;
  readonly replicas: number;
  /** ServiceClass, whose pods wait at the scheduling gate; or PriorityClass, which kube-scheduler preempts by. */
  readonly promise: { readonly serviceClass: string } | { readonly priorityClass: string };
}

/** The Deployment of a request. */
export function requestObject({ app, replicas, promise }: RequestFields): object {
  const isClassed = 'serviceClass' in promise;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app, namespace: NAMESPACE },
    spec: {
      replicas,
      selector: { matchLabels: { app } },
      template: {
        metadata: {
          labels: { app, ...(isClassed ? { [CLASS_LABEL]: promise.serviceClass } : {}) },
          annotations: { 'evenkeel.dev/test-startup': STARTUP, 'evenkeel.dev/test-termination': TERMINATION },
        },
        spec: {
          containers: [{ name: 'main', image: 'simulated', resources: { requests: { cpu: '1' } } }],
          ...(isClassed
            ? { schedulingGates: [{ name: SCHEDULING_GATE }] }
            : { priorityClassName: promise.priorityClass }),
        },
      },
    },
  };
}

/** A ServiceClass. */
export function serviceClassObject(name: string, spec: object): object {
  return { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'ServiceClass', metadata: { name }, spec };
}

/** Spec of a policy that lets in who waits as soon as the strategy allows. */
export function contestSpec(refinements: 'None' | 'Standard'): Record<string, unknown> {
  return {
    mode: 'Automatic',
    interval: `${CONTEST_INTERVAL}s`,
    strategy: { type: 'QoSDriven', qosDriven: { refinements } },
    steering: { mode: 'Gate' },
    budgets: [{ maxMoves: 100, maxConcurrent: 100 }],
    protections: { minPodAge: '0s', minReplicas: 1, stabilization: '0s', cooldown: '0s' },
  };
}

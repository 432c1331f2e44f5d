import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { createEvictor } from '../../src/adapters/kubernetes/evictor.ts';
import { createGates } from '../../src/adapters/kubernetes/gates.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import type { PodRef } from '../../src/model/pod.ts';
import type { GateOpening } from '../../src/ports.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install } from '../support/operator-process.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const NEVER = new AbortController().signal;
/** By a rule of the policy, and not because a rule could not be evaluated. */
const REFUSED = /ValidatingAdmissionPolicy 'evenkeel-operator-limits' .*denied request: the operator /;
const GATE = { name: 'evenkeel.dev/qos' };

let cp: ControlPlane;
let operator: ApiClient;
let kubeconfig: string;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'gate');
  kubeconfig = await cp.kubeconfigFor({ namespace: 'evenkeel-system', name: 'evenkeel' });
  const settings = { clock: systemClock, random: Math.random, userAgent: 'evenkeel/test', attempts: 5 };
  operator = new ApiClient(await connect({ kubeconfig, env: {} }), settings);
  await waitUntil(
    'the policy is in force',
    async () => {
      const pod = await aPodThere('probe', {}, 'default');
      const refused = await asOperator(pod, { metadata: { labels: { a: 'b' } } }).catch(String);
      return REFUSED.test(String(refused)) ? undefined : String(refused);
    },
    { timeoutMilliseconds: 60_000 },
  );
});

afterAll(async () => {
  await operator?.close();
  await cp?.stop();
});

let made = 0;

async function aPodThere(prefix: string, spec: object = {}, namespace = 'default'): Promise<PodRef> {
  made += 1;
  const name = `${prefix}-${made}`;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: 'web' }, annotations: { team: 'a' } },
    spec: { containers: [{ name: 'web', image: 'web:1' }], ...spec },
  };
  const created = await cp.kubectl(['create', '-f', '-', '-o', 'jsonpath={.metadata.uid}'], JSON.stringify(pod));
  return { namespace, name, uid: created.trim() };
}

const ZONES = [{ matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a'] }] }];
const NEAR = { weight: 7, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } };
const AFFINITY = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: ZONES },
    preferredDuringSchedulingIgnoredDuringExecution: [NEAR],
  },
};

/** Those that the API server gives each pod. */
const USUAL_TOLERATIONS = ['not-ready', 'unreachable'].map((taint) => ({
  key: `node.kubernetes.io/${taint}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

function asOperator({ namespace, name }: PodRef, patch: object): Promise<string> {
  const args = ['patch', 'pod', name, '-n', namespace, '--type=merge', '-p', JSON.stringify(patch)];
  return cp.kubectl([`--kubeconfig=${kubeconfig}`, ...args]);
}

function evict({ namespace, name }: PodRef, deleteOptions: object): Promise<string> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name }, deleteOptions };
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  return cp.kubectl([`--kubeconfig=${kubeconfig}`, 'create', '--raw', path, '-f', '-'], JSON.stringify(body));
}

const PLACEMENT = { target: 'node-1', fallbacks: ['node-2'], alternatives: ['node-1', 'node-2'] };
const OPENINGS: readonly GateOpening[] = [
  { kind: 'Anywhere' },
  { kind: 'Pinned', node: 'node-1' },
  { kind: 'Steered', placement: PLACEMENT },
  { kind: 'Steered', placement: { ...PLACEMENT, alternatives: undefined } },
];

describe('the account of the operator', () => {
  it.each(
    OPENINGS.flatMap((opening) =>
      [{}, { affinity: AFFINITY }].map((spec) => [opening.kind, Object.keys(spec).join(), opening, spec] as const),
    ),
  )('opens a gate: %s, pod with %s', async (_kind, _what, opening, spec) => {
    const others = [{ name: 'example.com/other' }];
    for (const gates of [[GATE], [...others, GATE]]) {
      const pod = await aPodThere('gated', { ...spec, schedulingGates: gates });
      expect(await createGates(operator, log).open(pod, opening, NEVER)).toBe('Done');
    }
  });

  it('evicts a pod, on trial and in earnest, and lets one go from the queue', async () => {
    const pod = await aPodThere('evicted');
    const evictor = createEvictor(operator);
    expect(await evictor.evict(pod, { dryRun: true }, NEVER)).toEqual({ kind: 'Accepted' });
    expect(await evictor.evict(pod, { dryRun: false }, NEVER)).toEqual({ kind: 'Accepted' });
    const waiting = await aPodThere('waiting', { nodeSelector: { none: 'such' } });
    // The scheduler writes to the pod at the same time: then it has changed, and is looked at again.
    const released = async () => {
      const answer = await createGates(operator, log).release(waiting, NEVER);
      return answer === 'Done' ? undefined : answer;
    };
    await waitUntil('the pod is let go', released, { timeoutMilliseconds: 10_000 });
  });

  it.each<[string, object, object]>([
    ['a label', {}, { metadata: { labels: { app: 'other' } } }],
    ['an annotation', {}, { metadata: { annotations: { team: 'b' } } }],
    ['our annotation, without the gate', {}, { metadata: { annotations: { 'evenkeel.dev/steered-to': 'node-1' } } }],
    ['a finalizer', {}, { metadata: { finalizers: ['example.com/stay'] } }],
    ['an image', {}, { spec: { containers: [{ name: 'web', image: 'evil:1' }] } }],
    ['a deadline', {}, { spec: { activeDeadlineSeconds: 1 } }],
    ['a toleration', {}, { spec: { tolerations: [...USUAL_TOLERATIONS, { operator: 'Exists' }] } }],
  ])('may not change %s of a pod, with the gate or without', async (_what, spec, patch) => {
    for (const gates of [{}, { schedulingGates: [GATE] }]) {
      const pod = await aPodThere('kept', { ...spec, ...gates });
      const opened = { ...patch, spec: { ...('spec' in patch ? (patch.spec as object) : {}), schedulingGates: null } };
      await expect(asOperator(pod, patch)).rejects.toThrow(REFUSED);
      if (!('annotations' in ('metadata' in patch ? (patch.metadata as object) : {})) || _what === 'an annotation') {
        await expect(asOperator(pod, opened)).rejects.toThrow(REFUSED);
      }
    }
  });

  it.each<[string, object]>([
    ['a gate of others', { schedulingGates: null }],
    ['a node selector', { schedulingGates: [{ name: 'example.com/other' }], nodeSelector: { disk: 'ssd' } }],
    [
      'a preference that is there',
      {
        schedulingGates: [{ name: 'example.com/other' }],
        affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: null } },
      },
    ],
    [
      'a preference that names no node',
      {
        schedulingGates: [{ name: 'example.com/other' }],
        affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [NEAR, { ...NEAR, weight: 9 }] } },
      },
    ],
    [
      'a requirement that names no node',
      {
        schedulingGates: [{ name: 'example.com/other' }],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchExpressions: [...(ZONES[0]?.matchExpressions ?? []), { key: 'evil', operator: 'Exists' }] },
              ],
            },
          },
        },
      },
    ],
  ])('may not change %s while it opens its gate', async (_what, spec) => {
    const pod = await aPodThere('kept', { affinity: AFFINITY, schedulingGates: [{ name: 'example.com/other' }, GATE] });
    await expect(asOperator(pod, { spec })).rejects.toThrow(REFUSED);
  });

  it.each<[string, (pod: PodRef) => object]>([
    ['without a precondition', () => ({})],
    ['with no UID', () => ({ preconditions: { resourceVersion: '1' } })],
    ['with no grace', ({ uid }) => ({ gracePeriodSeconds: 0, preconditions: { uid } })],
  ])('may not evict %s', async (_what, options) => {
    const pod = await aPodThere('kept');
    await expect(evict(pod, options(pod))).rejects.toThrow(REFUSED);
  });

  it.each(['kube-system', 'evenkeel-system'])('may not touch pods in %s', async (namespace) => {
    const security = {
      securityContext: { runAsNonRoot: true, runAsUser: 1, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'web',
          image: 'web:1',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    };
    const pod = await aPodThere('kept', { ...security, schedulingGates: [GATE] }, namespace);
    await expect(evict(pod, { preconditions: { uid: pod.uid } })).rejects.toThrow(REFUSED);
    await expect(asOperator(pod, { spec: { schedulingGates: null } })).rejects.toThrow(REFUSED);
  });

  it('is the only one that the policy is about', async () => {
    const pod = await aPodThere('free');
    await cp.kubectl(['label', 'pod', pod.name, '-n', 'default', 'app=other', '--overwrite']);
  });
});

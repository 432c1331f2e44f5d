import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Environment } from '@marcbachmann/cel-js';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

interface AdmissionPolicy {
  readonly kind: string;
  readonly spec: {
    readonly failurePolicy: string;
    readonly matchConditions: readonly NamedExpression[];
    readonly variables: readonly NamedExpression[];
    readonly validations: readonly { readonly expression: string; readonly message: string }[];
  };
}

/** What the API server shows to an admission policy. */
interface Admission {
  readonly request: object;
  readonly object: object;
  readonly oldObject: object | null;
}

const FILE = join(import.meta.dirname, '..', '..', '..', 'deploy', 'overlays', 'default', 'operator-limits.yaml');
const policy = parseAllDocuments(readFileSync(FILE, 'utf8'))
  .map((each) => each.toJS() as AdmissionPolicy)
  .find(({ kind }) => kind === 'ValidatingAdmissionPolicy');
const environment = new Environment({ unlistedVariablesAreDyn: true });

/** JSON as CEL has it: maps, and integers apart from other numbers. */
function toCel(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(toCel);
  }
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([name, item]) => [name, toCel(item)]));
  }
  return typeof value === 'number' ? BigInt(value) : value;
}

/** The message with which the policy refuses a request; undefined where it allows it, or is not about it. */
function refusalOf({ request, object, oldObject }: Admission): string | undefined {
  if (policy === undefined) {
    throw new Error(`${FILE} has no ValidatingAdmissionPolicy`);
  }
  const { matchConditions, variables, validations } = policy.spec;
  const computed = new Map<string, unknown>();
  const known = {
    request: toCel(request),
    object: toCel(object),
    oldObject: toCel(oldObject),
    variables: computed,
  };
  const evaluate = (expression: string): unknown => environment.evaluate(expression, known);
  if (!matchConditions.every(({ expression }) => evaluate(expression) === true)) {
    return undefined;
  }
  for (const { name, expression } of variables) {
    computed.set(name, evaluate(expression));
  }
  return validations.find(({ expression }) => evaluate(expression) !== true)?.message;
}

const OPERATOR = 'system:serviceaccount:evenkeel-system:evenkeel';
const GATE = { name: 'evenkeel.dev/qos' };
const OTHER_GATE = { name: 'example.com/other' };
const ZONE = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a'] };
const NEAR = { weight: 7, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } };
const AFFINITY = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [ZONE] }] },
    preferredDuringSchedulingIgnoredDuringExecution: [NEAR],
  },
};
const toNode = (node: string, weight: number): object => ({
  weight,
  preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] },
});

const GATED = {
  metadata: { name: 'web-1', namespace: 'shop', labels: { app: 'web' }, annotations: { team: 'a' } },
  spec: { containers: [{ name: 'web', image: 'web:1' }], affinity: AFFINITY, schedulingGates: [OTHER_GATE, GATE] },
};

interface Change {
  readonly metadata?: object;
  readonly spec?: object;
}

/** An update of a pod at the gate that opens the gate, and changes something else. */
function opening({ metadata = {}, spec = {} }: Change, { namespace = 'shop', username = OPERATOR } = {}): Admission {
  return {
    request: { namespace, userInfo: { username } },
    oldObject: GATED,
    object: {
      metadata: { ...GATED.metadata, ...metadata },
      spec: { ...GATED.spec, schedulingGates: [OTHER_GATE], ...spec },
    },
  };
}

function eviction(deleteOptions: object | undefined, namespace = 'shop'): Admission {
  return {
    request: { namespace, subResource: 'eviction', userInfo: { username: OPERATOR } },
    oldObject: null,
    object: { metadata: { name: 'web-1' }, ...(deleteOptions === undefined ? {} : { deleteOptions }) },
  };
}

function affinityWith(nodeAffinity: object): Change {
  return { spec: { affinity: { nodeAffinity: { ...AFFINITY.nodeAffinity, ...nodeAffinity } } } };
}

const requiring = (...added: readonly object[]): Change =>
  affinityWith({
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [ZONE, ...added] }] },
  });
const preferring = (...terms: readonly object[]): Change =>
  affinityWith({ preferredDuringSchedulingIgnoredDuringExecution: terms });

describe('the admission policy on the account of the operator', () => {
  it('refuses what it cannot judge', () => {
    expect(policy?.spec.failurePolicy).toBe('Fail');
  });

  it.each<[string, Admission]>([
    ['opens a gate', opening({})],
    [
      'notes where a pod was steered to',
      opening({ metadata: { annotations: { team: 'a', 'evenkeel.dev/steered-to': 'b' } } }),
    ],
    ['prefers nodes by name', opening(preferring(NEAR, toNode('b', 100), toNode('c', 99)))],
    [
      'keeps a pod to nodes by name',
      opening(requiring({ key: 'kubernetes.io/hostname', operator: 'In', values: ['b'] })),
    ],
    ['evicts one incarnation of a pod', eviction({ preconditions: { uid: 'u' } })],
  ])('lets it do what it does: %s', (_, admission) => {
    expect(refusalOf(admission)).toBeUndefined();
  });

  it('is about nobody else', () => {
    const other = opening({ metadata: { labels: {} }, spec: { schedulingGates: [] } }, { username: 'somebody' });
    expect(refusalOf(other)).toBeUndefined();
  });

  it.each<[string, Admission, string]>([
    ['an eviction without options', eviction(undefined), 'one incarnation of a pod'],
    ['an eviction without a precondition', eviction({}), 'one incarnation of a pod'],
    ['an eviction by version alone', eviction({ preconditions: { resourceVersion: '1' } }), 'one incarnation of a pod'],
    ['an eviction of no UID', eviction({ preconditions: { uid: '' } }), 'one incarnation of a pod'],
    [
      'an eviction with a grace of its own',
      eviction({ preconditions: { uid: 'u' }, gracePeriodSeconds: 0 }),
      'grace period',
    ],
    ['an eviction in kube-system', eviction({ preconditions: { uid: 'u' } }, 'kube-system'), 'kube-system'],
    ['an eviction of its own kind', eviction({ preconditions: { uid: 'u' } }, 'evenkeel-system'), 'its own namespace'],
    ['a patch in kube-system', opening({}, { namespace: 'kube-system' }), 'kube-system'],
    ['a patch without its gate', opening({ spec: { schedulingGates: [OTHER_GATE, GATE] } }), 'scheduling gate'],
    ['the gate of others', opening({ spec: { schedulingGates: [] } }), 'scheduling gate'],
    ['a label', opening({ metadata: { labels: { app: 'other' } } }), 'labels'],
    ['an annotation', opening({ metadata: { annotations: { team: 'b' } } }), 'annotation'],
    ['an annotation taken away', opening({ metadata: { annotations: {} } }), 'annotation'],
    ['a finalizer', opening({ metadata: { finalizers: ['example.com/stay'] } }), 'finalizers'],
    ['an owner', opening({ metadata: { ownerReferences: [{ uid: 'u' }] } }), 'owners'],
    ['an image', opening({ spec: { containers: [{ name: 'web', image: 'evil:1' }] } }), 'images'],
    ['a toleration', opening({ spec: { tolerations: [{ operator: 'Exists' }] } }), 'tolerations'],
    ['a node selector', opening({ spec: { nodeSelector: { disk: 'ssd' } } }), 'node selectors'],
    ['a deadline', opening({ spec: { activeDeadlineSeconds: 1 } }), 'deadlines'],
    ['a grace period', opening({ spec: { terminationGracePeriodSeconds: 1 } }), 'deadlines'],
    ['a preference taken away', opening(preferring()), 'preferences for nodes by name'],
    [
      'a preference for something else',
      opening(preferring(NEAR, { ...NEAR, weight: 9 })),
      'preferences for nodes by name',
    ],
    [
      'a requirement that names no node',
      opening(requiring({ key: 'evil', operator: 'Exists' })),
      'names of nodes alone',
    ],
  ])('refuses %s', (_, admission, message) => {
    expect(refusalOf(admission)).toContain(message);
  });
});

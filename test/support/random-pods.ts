import type { JsonObject } from '../../src/model/json.ts';
import { createRandom, type Random } from './random.ts';

/** A pod that is to be created, and the hint for its controller if there is one. */
export interface HintedPod {
  readonly namespace: string;
  readonly pod: JsonObject;
  /** `spec` of the hint. */
  readonly hint: JsonObject | undefined;
}

const GATE = 'evenkeel.dev/qos';
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Pods of all shapes that matter to steering and to the gate, spread over these namespaces; the same for the same seed. */
export function randomPods(count: number, namespaces: readonly string[], seed: number): readonly HintedPod[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const namespace = namespaces[index % namespaces.length] ?? '';
    const owners = ownersOf(index, random);
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `pod-${index}`,
        namespace,
        ...oneOf(random, [{}, {}, { labels: { app: 'a' } }]),
        ...oneOf(random, [{}, {}, { annotations: {} }, { annotations: { note: 'x' } }]),
        ...(owners.length === 0 ? {} : { ownerReferences: owners }),
      },
      spec: {
        containers: [{ name: 'main', image: 'simulated' }],
        ...affinityOf(random),
        ...waitingOf(random),
      },
    };
    const isHinted = owners.some(({ kind }) => kind === 'ReplicaSet') && random.below(10) < 8;
    return { namespace, pod, hint: isHinted ? hintOf(index, random) : undefined };
  });
}

function ownersOf(index: number, random: Random): readonly { readonly kind: string }[] {
  const owner = (kind: string, uid: string, controller: boolean) => ({
    apiVersion: 'apps/v1',
    kind,
    name: 'owner',
    uid,
    ...(controller ? { controller } : {}),
  });
  const other = owner('Other', `other-${index}`, false);
  const controller = owner('ReplicaSet', `owner-${index}`, true);
  return oneOf(random, [
    [controller],
    [controller],
    [controller],
    [controller],
    [controller],
    [controller],
    [other, controller],
    [other],
    [owner('DaemonSet', `owner-${index}`, true)],
    [],
  ]);
}

function hintOf(index: number, random: Random): JsonObject {
  const names = (most: number, prefix: string) =>
    Array.from({ length: 1 + random.below(most) }, (_, place) => `${prefix}-${index}-${place}`);
  return {
    ownerUID: `owner-${index}`,
    nodeName: `target-${index}`,
    plan: 'plan',
    podUID: `pod-${index}`,
    ...oneOf<JsonObject>(random, [{}, { fallbacks: [] }, { fallbacks: names(2, 'next') }]),
    ...oneOf<JsonObject>(random, [{}, { alternatives: names(20, 'host') }]),
  };
}

function affinityOf(random: Random): JsonObject {
  const between = {
    [REQUIRED]: [{ topologyKey: 'zone', labelSelector: { matchLabels: { app: 'a' } } }],
  };
  return oneOf(random, [
    {},
    {},
    { affinity: {} },
    { affinity: { podAffinity: between } },
    { affinity: { nodeAffinity: {} } },
    { affinity: { nodeAffinity: nodeAffinity(random), podAntiAffinity: between } },
    ...Array.from({ length: 6 }, () => ({ affinity: { nodeAffinity: nodeAffinity(random) } })),
  ]);
}

/** Up to nine required terms, one more than are narrowed. */
function nodeAffinity(random: Random): JsonObject {
  const required = Array.from({ length: random.below(10) }, () => term(random, random.below(12) === 0));
  const preferred = Array.from({ length: random.below(3) }, () => ({
    weight: 1 + random.below(100),
    preference: term(random, false),
  }));
  return {
    ...(required.length === 0 ? {} : { [REQUIRED]: { nodeSelectorTerms: required } }),
    ...(preferred.length === 0 ? {} : { [PREFERRED]: preferred }),
  };
}

function term(random: Random, isEmpty: boolean): JsonObject {
  const expressions = { matchExpressions: [expression(random), expression(random)].slice(random.below(2)) };
  const fields = { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['some-node'] }] };
  return isEmpty ? {} : oneOf<JsonObject>(random, [expressions, fields, { ...expressions, ...fields }]);
}

function expression(random: Random): JsonObject {
  return oneOf(random, [
    { key: 'zone', operator: 'In', values: ['a', 'b'] },
    { key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['c'] },
    { key: 'disk', operator: 'Exists' },
    { key: 'size', operator: 'Gt', values: ['3'] },
  ]);
}

/** A pod with a node may have no gates. */
function waitingOf(random: Random): JsonObject {
  return oneOf(random, [
    {},
    {},
    {},
    { nodeName: 'node-1' },
    { schedulingGates: [{ name: 'example.com/other' }] },
    { schedulingGates: [{ name: GATE }] },
    { schedulingGates: [{ name: 'example.com/other' }, { name: GATE }] },
  ]);
}

function oneOf<Value>(random: Random, values: readonly [Value, ...Value[]]): Value {
  return values[random.below(values.length)] ?? values[0];
}

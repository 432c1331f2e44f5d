import { Ajv, type ErrorObject } from 'ajv';
import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false } as const;
const text = Type.String({ minLength: 1 });
const quantity = Type.Unsafe<string | number>({ type: ['string', 'number'], pattern: '^[0-9]', minimum: 0 });
const duration = Type.String({ pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$' });
const stringMap = Type.Record(Type.String(), Type.String());
const anyObject = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });

const taint = Type.Object(
  {
    key: text,
    value: Type.Optional(Type.String()),
    effect: Type.Unsafe<'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'>({
      type: 'string',
      enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'],
    }),
  },
  closed,
);

const namespace = Type.Object(
  { name: text, labels: Type.Optional(stringMap), annotations: Type.Optional(stringMap) },
  closed,
);

const node = Type.Object(
  {
    /** One node; or `prefix` and `count` for several, numbered from 1. */
    name: Type.Optional(text),
    prefix: Type.Optional(text),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    cpu: quantity,
    memory: quantity,
    /** How many pods it holds; default 110. */
    pods: Type.Optional(Type.Integer({ minimum: 0 })),
    labels: Type.Optional(stringMap),
    /** Values of `topology.kubernetes.io/zone`, dealt out in turn. */
    zones: Type.Optional(Type.Array(text, { minItems: 1 })),
    taints: Type.Optional(Type.Array(taint)),
    /** Cordoned until all workloads have been placed, so that only a DaemonSet's pods are on it then. */
    startEmpty: Type.Optional(Type.Boolean()),
  },
  closed,
);

const logNormal = Type.Object(
  { mu: Type.Number(), sigma: Type.Number({ minimum: 0 }), max: Type.Optional(Type.Number({ exclusiveMinimum: 0 })) },
  closed,
);

type AmountSchema = string | number | { readonly logNormal: Static<typeof logNormal> };

/** Fixed, or one seeded log-normal value per workload in millicores or MiB, for all its pods. */
const amount = Type.Unsafe<AmountSchema>({
  type: ['string', 'number', 'object'],
  pattern: '^[0-9]',
  minimum: 0,
  properties: { logNormal },
  required: ['logNormal'],
  additionalProperties: false,
});

const replicas = Type.Unsafe<number | { readonly min: number; readonly max: number }>({
  type: ['integer', 'object'],
  minimum: 0,
  properties: { min: { type: 'integer', minimum: 0 }, max: { type: 'integer', minimum: 0 } },
  required: ['min', 'max'],
  additionalProperties: false,
});

const budgetLimit = Type.Unsafe<string | number>({ type: ['string', 'integer'], pattern: '^[0-9]+%$', minimum: 0 });

const workload = Type.Object(
  {
    name: text,
    /** Makes so many workloads of this kind, with a number after the name. */
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    namespace: Type.Optional(text),
    kind: Type.Optional(
      Type.Unsafe<'Deployment' | 'StatefulSet' | 'DaemonSet'>({
        type: 'string',
        enum: ['Deployment', 'StatefulSet', 'DaemonSet'],
      }),
    ),
    /** Default 1; `{min, max}` for a seeded number. */
    replicas: Type.Optional(replicas),
    requests: Type.Optional(Type.Object({ cpu: Type.Optional(quantity), memory: Type.Optional(quantity) }, closed)),
    /** What each pod really uses; default 1m and 1Mi. */
    usage: Type.Optional(Type.Object({ cpu: Type.Optional(amount), memory: Type.Optional(amount) }, closed)),
    /** From bound to Ready, and from deleted to gone. */
    startup: Type.Optional(duration),
    termination: Type.Optional(duration),
    pdb: Type.Optional(
      Type.Object(
        { minAvailable: Type.Optional(budgetLimit), maxUnavailable: Type.Optional(budgetLimit) },
        { ...closed, minProperties: 1, maxProperties: 1 },
      ),
    ),
    /** On the workload and its pods. */
    labels: Type.Optional(stringMap),
    /** On the pods. */
    annotations: Type.Optional(stringMap),
    priorityClassName: Type.Optional(text),
    tolerations: Type.Optional(Type.Array(anyObject)),
    /** More of the pod template's spec: nodeSelector, affinity, schedulingGates, volumes. */
    podSpec: Type.Optional(anyObject),
    /** The only nodes that the pods can go to at first; nothing of it remains in the pod template. */
    startOn: Type.Optional(Type.Array(text, { minItems: 1 })),
  },
  closed,
);

const scenario = Type.Object(
  {
    description: Type.Optional(Type.String()),
    /** For all that is drawn at random; default 1. */
    seed: Type.Optional(Type.Integer()),
    /** Names or `{name, labels, annotations}`; those that workloads name need not be listed. */
    namespaces: Type.Optional(
      Type.Array(
        Type.Unsafe<string | Static<typeof namespace>>({ ...namespace, type: ['string', 'object'], minLength: 1 }),
      ),
    ),
    nodes: Type.Array(node, { minItems: 1 }),
    workloads: Type.Optional(Type.Array(workload)),
    /** Any other objects, applied before the workloads. */
    manifests: Type.Optional(Type.Array(anyObject)),
  },
  closed,
);

/** A scenario file as written. */
export type ScenarioFile = Static<typeof scenario>;
/** An entry of `nodes`. */
export type NodeEntry = Static<typeof node>;
/** An entry of `workloads`. */
export type WorkloadEntry = Static<typeof workload>;
/** An entry of `namespaces` in its long form. */
export type NamespaceEntry = Static<typeof namespace>;
/** A resource amount: fixed or log-normal. */
export type Amount = AmountSchema;

const validate = new Ajv({ allErrors: true, allowUnionTypes: true, strictTypes: false }).compile(scenario);

/** The content of a scenario file, checked against the schema; throws with one line per problem. */
export function parseScenarioFile(content: unknown, name: string): ScenarioFile {
  if (!validate(content)) {
    throw new Error([`${name} is not a scenario:`, ...(validate.errors ?? []).map(problem)].join('\n  '));
  }
  return content as ScenarioFile; // just validated
}

function problem({ instancePath, keyword, params, message }: ErrorObject): string {
  const where = instancePath === '' ? 'the file' : instancePath.slice(1).replaceAll('/', '.');
  switch (keyword) {
    case 'additionalProperties':
      return `${where} has the unknown field "${params['additionalProperty']}"`;
    case 'required':
      return `${where} lacks the field "${params['missingProperty']}"`;
    case 'enum':
      return `${where} must be one of ${[params['allowedValues']].flat().join(', ')}`;
    case 'type':
      return `${where} must be of type ${[params['type']].flat().join(' or ')}`;
    default:
      return `${where} ${message ?? 'is not valid'}`;
  }
}

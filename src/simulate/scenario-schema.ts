import Type, { type Static, type TSchema } from 'typebox';
import { TRAFFIC_DEFAULTS, twoDomains } from '../api/v1alpha1/rebalance-policy.ts';
import {
  bandwidth,
  CEL_KEYWORD,
  decimal,
  duration,
  HINT_KEYWORD,
  instant,
  integer,
  type KindDefinition,
  oneOf,
  type Resource,
  text,
} from '../api/v1alpha1/schema.ts';

const QUANTITY = '^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$';

function quantity(description: string) {
  return Type.String({
    pattern: QUANTITY,
    maxLength: 20,
    description,
    [HINT_KEYWORD]: 'write a Kubernetes quantity in quotes, such as "500m", "2" or "512Mi"',
  });
}

/** Anything that Kubernetes itself says the form of. */
function object(description: string) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', description });
}

function textMap(description: string) {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    default: {},
    description,
  });
}

/** How a value goes over time. */
function trace<Value extends TSchema>(value: Value, description: string) {
  const point = Type.Object({ at: duration('0s', '168h', { description: 'Time since the beginning.' }), value });
  return Type.Object(
    {
      constant: Type.Optional(value),
      from: Type.Optional(value),
      to: Type.Optional(value),
      steps: Type.Optional(Type.Array(point, { minItems: 1, description: 'Values that hold from their time on.' })),
      points: Type.Optional(
        Type.Array(point, { minItems: 1, description: 'Values with straight lines between them.' }),
      ),
      file: Type.Optional(
        text(1000, { description: 'File with a line `second,value` for each point; straight lines between them.' }),
      ),
    },
    {
      description,
      [CEL_KEYWORD]: [
        {
          rule: '[has(self.constant), has(self.from), has(self.steps), has(self.points), has(self.file)].filter(each, each).size() == 1',
          message:
            'says how the value goes in no way or in several: write one of constant, from with to, steps, points or file',
        },
        {
          rule: 'has(self.from) == has(self.to)',
          message: 'from and to belong together: write both, for linear growth',
        },
      ],
    },
  );
}

const delay = (description: string, mean: string) =>
  Type.Object(
    {
      mean: decimal('0', '3600', { description: `Seconds. Default "${mean}".`, default: mean }),
      p95: Type.Optional(
        decimal('0', '36000', { description: 'Seconds that 95 % stay below: drawn from a log-normal distribution.' }),
      ),
    },
    {
      description,
      default: {},
      [CEL_KEYWORD]: [
        {
          rule: '!has(self.p95) || (double(self.p95) > double(self.mean) && double(self.p95) < 3.8 * double(self.mean))',
          message: 'no log-normal distribution has this p95: write one between mean and 3.8 times mean',
        },
      ],
    },
  );

const node = Type.Object({
  name: text(200, { description: 'Name; with count, name-1, name-2 and so on.' }),
  count: integer(1, 5000, { description: 'How many of them. Default 1.', default: 1 }),
  cpu: quantity('Allocatable CPU.'),
  memory: quantity('Allocatable memory.'),
  pods: integer(1, 1000, { description: 'Pod slots. Default 110.', default: 110 }),
  resources: textMap('Further allocatable resources.'),
  labels: textMap('Labels; kubernetes.io/hostname is there anyway.'),
  taints: Type.Array(object('As in a Node.'), { default: [], description: 'Taints.' }),
  joins: Type.Optional(duration('0s', '168h', { description: 'When it joins. Default from the beginning.' })),
});

const amount = Type.Number({ minimum: 0, maximum: 1e9 });

const workload = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$',
      description: 'Name; with count, name-1, name-2 and so on.',
      [HINT_KEYWORD]: 'write a name of lower-case letters, digits and "-", at most 52 characters',
    }),
    kind: oneOf(['Deployment', 'StatefulSet', 'Job'], { description: 'Default Deployment.', default: 'Deployment' }),
    namespace: text(63, { description: 'Default default.', default: 'default' }),
    count: integer(1, 5000, { description: 'How many of them. Default 1.', default: 1 }),
    replicas: integer(0, 5000, { description: 'Pods of each. Default 1.', default: 1 }),
    minReadySeconds: integer(0, 3600, { description: 'Default 0.', default: 0 }),
    serviceClass: Type.Optional(text(63, { description: 'Name of a ServiceClass in the file.' })),
    cpu: Type.Optional(quantity('What each pod requests.')),
    memory: Type.Optional(quantity('What each pod requests.')),
    image: text(255, { description: 'Image of each pod. Default app:1.', default: 'app:1' }),
    gated: Type.Boolean({
      description: 'Its pods carry the scheduling gate evenkeel.dev/qos. Default false.',
      default: false,
    }),
    template: Type.Optional(object('Pod template as in a Deployment, instead of cpu, memory and image.')),
    arrives: duration('0s', '168h', { description: 'When the first of them arrives. Default 0s.', default: '0s' }),
    every: duration('0s', '24h', { description: 'Time between two of them. Default 0s.', default: '0s' }),
    duration: Type.Optional(duration('1s', '168h', { description: 'A service is gone this long after it arrived.' })),
    runTime: Type.Optional(
      duration('1s', '168h', { description: 'Each pod of a Job runs this long without a break.' }),
    ),
    usage: Type.Optional(
      Type.Object(
        {
          cpu: Type.Optional(trace(quantity('CPU.'), 'CPU of each pod.')),
          memory: Type.Optional(trace(quantity('Memory.'), 'Memory of each pod.')),
        },
        { description: 'What each pod uses while it runs, apart from requests. Default what it requests.' },
      ),
    ),
    requests: Type.Optional(
      Type.Object(
        {
          rate: trace(amount, 'Requests per second to the workload.'),
          arrivals: oneOf(['Even', 'Poisson'], { description: 'Default Even.', default: 'Even' }),
          cpu: Type.Optional(quantity('What one request per second takes. Default nothing.')),
          memory: Type.Optional(quantity('What one request per second takes. Default nothing.')),
        },
        { description: 'Requests of users; they fail while no pod serves.' },
      ),
    ),
  },
  {
    [CEL_KEYWORD]: [
      {
        rule: "(self.kind == 'Job') == has(self.runTime)",
        message:
          'a Job needs runTime, and nothing else takes it: write kind: Job with runTime, or duration for a service',
      },
      {
        rule: '!has(self.template) || !(has(self.cpu) || has(self.memory))',
        message: 'template says what the pods request: write cpu and memory there, or leave template out',
      },
    ],
  },
);

const incident = Type.Object(
  {
    at: duration('0s', '168h', { description: 'Time since the beginning.' }),
    type: oneOf(['NodeFails', 'NodeReturns', 'Cordon', 'Uncordon', 'Taint', 'Untaint', 'Scale'], {
      description: 'What happens.',
    }),
    node: Type.Optional(text(253, { description: 'Node that it happens to.' })),
    taint: Type.Optional(
      Type.Object(
        {
          key: text(316, { description: 'Key.' }),
          value: Type.String({ maxLength: 63, description: 'Value. Default none.', default: '' }),
          effect: oneOf(['NoSchedule', 'PreferNoSchedule'], {
            description: 'Effect. Default NoSchedule.',
            default: 'NoSchedule',
          }),
        },
        { description: 'Taint that the node gets, or that is removed from it by key and effect.' },
      ),
    ),
    workload: Type.Optional(text(253, { description: 'Workload that is scaled.' })),
    replicas: Type.Optional(integer(0, 5000, { description: 'Pods that it has from then on.' })),
  },
  {
    [CEL_KEYWORD]: [
      {
        rule: "self.type == 'Scale' ? has(self.workload) && has(self.replicas) && !has(self.node) : has(self.node) && !has(self.workload) && !has(self.replicas)",
        message: 'Scale takes workload and replicas, everything else takes node: write those',
      },
      {
        rule: "(self.type in ['Taint', 'Untaint']) == has(self.taint)",
        message: 'Taint and Untaint need taint, and nothing else takes it: write taint: {key: KEY}, or remove it',
      },
    ],
  },
);

const variant = Type.Object(
  {
    name: text(63, { description: 'Name in the report.' }),
    scheduler: oneOf(['None', 'Priority'], {
      description: 'Priority: the scheduler preempts pods of lower priority. None: it preempts nobody. Default None.',
      default: 'None',
    }),
    policies: Type.Array(text(253, { description: 'Name of a RebalancePolicy in the file.' }), {
      default: [],
      description:
        'Policies in force, whatever their mode; the first owns what several select. Without any, gates are left out.',
    }),
  },
  { description: 'One of what is compared.' },
);

/** `spec` of a Scenario, before defaulting everything has one but duration. */
const ScenarioSpec = Type.Object(
  {
    seed: integer(0, 2147483647, { description: 'Seed of all that is random. Default 1.', default: 1 }),
    duration: duration('1s', '168h', { description: 'How long it plays.' }),
    start: Type.Optional(instant({ description: 'Wall-clock time of the beginning. Default 2026-01-01T00:00:00Z.' })),
    snapshot: Type.Optional(
      text(1000, {
        description: 'File of ordinary Kubernetes objects: nodes, pods and controllers as they stand at the beginning.',
      }),
    ),
    requestLog: Type.Optional(
      text(1000, {
        description:
          'File with a line for each request: second, id, job, user, anti-affinity, priority, duration, reserved, cpu, memory, class name, SLO. Each becomes one pod with the gate; its class is the ServiceClass of that name, or one of defaults.',
      }),
    ),
    nodes: Type.Array(node, { default: [], description: 'Nodes beside those of the snapshot.' }),
    workloads: Type.Array(workload, { default: [], description: 'Workloads beside those of the snapshot.' }),
    disruptionBudgets: Type.Array(object('A PodDisruptionBudget.'), {
      default: [],
      description: 'PodDisruptionBudgets as Kubernetes has them.',
    }),
    incidents: Type.Array(incident, { default: [], description: 'What befalls the cluster.' }),
    startup: Type.Object(
      {
        hot: delay('With all images on the node.', '2.4'),
        cold: delay('With an image that the node has not run.', '5.4'),
      },
      { default: {}, description: 'From the binding of a pod until it is Ready.' },
    ),
    termination: delay('From an eviction until the pod is gone.', '1'),
    scheduling: decimal('0', '60', {
      description: 'Seconds until the scheduler looks at a pod. Default "0.01".',
      default: '0.01',
    }),
    reaction: decimal('0', '60', {
      description:
        'Seconds between two looks of the operator at a plan under way; "0": it sees every change at once. Default "1".',
      default: '1',
    }),
    nodeGrace: duration('0s', '1h', { description: 'Until a silent node is not Ready. Default 50s.', default: '50s' }),
    nodeToleration: duration('0s', '24h', {
      description: 'From there until its pods are deleted. Default 5m.',
      default: '5m',
    }),
    metrics: Type.Object(
      {
        served: Type.Boolean({ description: 'Whether there is a Metrics API. Default true.', default: true }),
        window: duration('1s', '5m', {
          description: 'Time between two samples, over which each is taken. Default 15s.',
          default: '15s',
        }),
      },
      { default: {}, description: 'What the Metrics API sees.' },
    ),
    starvation: Type.Boolean({
      description:
        'Whether pods that use more CPU than they request fail their readiness probes while more is wanted of their node than it has, judged window by window of the metrics. Default false.',
      default: false,
    }),
    memory: Type.Optional(
      Type.Object(
        {
          fill: duration('1s', '1h', {
            description: 'Time in which a pod takes 63 % of the memory that it wants and has not yet. Default 1m.',
            default: '1m',
          }),
        },
        {
          description:
            'Memory of pods as working sets: empty after each start, then filling, and never given back. The kubelet of a node without memory evicts pods, judged window by window of the metrics. Without this field pods use and give back at once what usage and requests say, and none is evicted.',
        },
      ),
    ),
    traffic: Type.Object(
      {
        domain: text(316, {
          description: 'Node label whose values are the domains. Default topology.kubernetes.io/zone.',
          default: TRAFFIC_DEFAULTS.domain,
        }),
        links: Type.Array(
          Type.Object({
            between: twoDomains,
            capacity: bandwidth({ description: 'Bits per second, both directions together.' }),
          }),
          { default: [], maxItems: 64, description: 'Links between two domains. Default all carry everything.' },
        ),
      },
      {
        default: {},
        description:
          'How the traffic of AppGraphs is measured. What workloads of the scenario say to each other stands in AppGraphs of the file or the snapshot.',
      },
    ),
    variants: Type.Array(variant, {
      default: [],
      description: 'What is compared. Default the scheduler alone, and each RebalancePolicy of the file by itself.',
    }),
  },
  { description: 'What is simulated.' },
);

/** `spec` of a Scenario after defaulting. */
export type ScenarioSpec = Static<typeof ScenarioSpec>;
/** A Scenario as it stands in a file. */
export type ScenarioResource = Resource<'Scenario', ScenarioSpec, never>;
/** A trace as it stands in a file; values are quantities or numbers. */
export type TraceSpec<Value> = {
  readonly constant?: Value;
  readonly from?: Value;
  readonly to?: Value;
  readonly steps?: readonly { readonly at: string; readonly value: Value }[];
  readonly points?: readonly { readonly at: string; readonly value: Value }[];
  readonly file?: string;
};
/** A workload as it stands in a file. */
export type WorkloadEntry = ScenarioSpec['workloads'][number];

/** A kind of files alone: no cluster has it. */
export const scenarioKind: KindDefinition = {
  kind: 'Scenario',
  plural: 'scenarios',
  shortNames: [],
  scope: 'Cluster',
  description: 'What evenkeel simulate plays.',
  columns: [],
  spec: ScenarioSpec,
  status: undefined,
};

import Type, { type Static } from 'typebox';
import { CONDITION_REASONS, CONDITION_TYPES } from './conditions.ts';
import { makesRoomForOfMove } from './make-room.ts';
import { Repair, repairsOfMove } from './repair.ts';
import { RUN_REQUEST_ANNOTATION, RUN_REQUEST_LENGTH } from './run-request.ts';
import {
  bandwidth,
  CEL_KEYWORD,
  column,
  countOrPercent,
  decimal,
  duration,
  fraction,
  HINT_KEYWORD,
  instant,
  integer,
  type KindDefinition,
  labelSelector,
  oneOf,
  quantityOrPercent,
  type Resource,
  text,
} from './schema.ts';

/** Strategies that a policy may name; the registry in plan/strategies must have each that balances. */
export const STRATEGY_NAMES = ['GreedyLB', 'RefineLB', 'QoSDriven', 'Pack', 'TrafficAware', 'None'] as const;
/** Name of a strategy. */
export type StrategyName = (typeof STRATEGY_NAMES)[number];

/** What the operator does with a plan. */
export const MODES = ['DryRun', 'Approve', 'Automatic'] as const;
/** Ways of steering that may be in force; the schemas of policies and of plans both take them from here. */
export const STEERING_MODES = ['AdmissionPolicy', 'Webhook', 'Gate', 'None'] as const;
/** Steering that is in force. */
export type SteeringMode = (typeof STEERING_MODES)[number];

/** PromQL for what kubelets' cAdvisor exports, with the label node that common scrape configurations add. */
export const DEFAULT_QUERIES = {
  nodeCPU: 'sum by (node) (rate(container_cpu_usage_seconds_total{id="/"}[$window]))',
  nodeMemory: 'sum by (node) (last_over_time(container_memory_working_set_bytes{id="/"}[$window]))',
  podCPU: 'sum by (namespace, pod) (rate(container_cpu_usage_seconds_total{container!="",pod!=""}[$window]))',
  podMemory:
    'sum by (namespace, pod) (last_over_time(container_memory_working_set_bytes{container!="",pod!=""}[$window]))',
} as const;

const DOMAIN_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

const resourceName = Type.String({
  pattern: `^(cpu|memory|pods|ephemeral-storage|hugepages-[1-9][0-9]*[KMGT]i|${DOMAIN_LABEL}(\\.${DOMAIN_LABEL})*/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)$`,
  maxLength: 253,
  description:
    'cpu, memory, pods (the number of pods of the slots for them), ephemeral-storage, hugepages-SIZE, or an extended resource such as nvidia.com/gpu.',
  [HINT_KEYWORD]:
    'write cpu, memory, pods, ephemeral-storage, hugepages-2Mi, or an extended resource such as nvidia.com/gpu',
});

/** What `strategy.pack` is without being written. */
export const PACK_DEFAULTS = {
  resources: [
    { name: 'cpu', below: '0.50' },
    { name: 'memory', below: '0.50' },
  ],
  headroom: '0.10',
  minNodeAge: '10m',
} as const;

const pack = Type.Object(
  {
    resources: Type.Array(
      Type.Object({
        name: resourceName,
        below: fraction({
          description:
            'A node may be emptied while its pods request less than this share of what it offers. Default "0.50".',
          default: '0.50',
        }),
      }),
      {
        description:
          'Resources by whose requests nodes are judged: a node may be emptied while each of them is below its share. Default cpu and memory.',
        default: PACK_DEFAULTS.resources,
        minItems: 1,
        maxItems: 8,
        [HINT_KEYWORD]: 'write one to eight resources, or leave resources out for cpu and memory',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    ),
    headroom: fraction({
      description:
        'Share of what a node offers of each of these resources that stays free of requests when pods are moved there. Default "0.10".',
      default: PACK_DEFAULTS.headroom,
    }),
    minNodeAge: duration('0s', '24h', {
      description:
        'Younger nodes are not emptied: an autoscaler has just added them for pods that had no room. Default 10m.',
      default: PACK_DEFAULTS.minNodeAge,
    }),
  },
  { description: 'Settings of Pack.' },
);

/** What `strategy.trafficAware` is without being written. */
export const TRAFFIC_DEFAULTS = {
  domain: 'topology.kubernetes.io/zone',
  links: [],
  nodes: [],
  minSaving: '1M',
} as const;

/** Two values of a node label. */
export const twoDomains = Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
  description: 'Two domains: values of the label. Required.',
  minItems: 2,
  maxItems: 2,
  [HINT_KEYWORD]: 'write two values of the label, such as [eu-west-1a, eu-west-1b]',
  'x-kubernetes-list-type': 'atomic',
  [CEL_KEYWORD]: [
    { rule: 'self[0] != self[1]', message: 'traffic within a domain is free: write two domains that differ' },
  ],
});

const trafficAware = Type.Object(
  {
    domain: text(316, {
      description:
        'Node label whose values are the domains. Within a domain traffic costs nothing: topology.kubernetes.io/zone, or kubernetes.io/hostname for nodes. Default topology.kubernetes.io/zone.',
      default: TRAFFIC_DEFAULTS.domain,
    }),
    perGiB: Type.Optional(
      decimal('0', '1000', {
        description:
          'Price of one GiB between two domains that links does not name, in any currency. Default: traffic is counted in bits per second, without prices.',
      }),
    ),
    links: Type.Array(
      Type.Object(
        {
          between: twoDomains,
          perGiB: Type.Optional(
            decimal('0', '1000', {
              description:
                'Price of one GiB between these two domains, in either direction. Default: perGiB of trafficAware.',
            }),
          ),
          capacity: Type.Optional(
            bandwidth({
              description:
                'Bits per second that AppGraphs may send between these two domains, both directions together. Default: no limit.',
            }),
          ),
        },
        {
          [CEL_KEYWORD]: [
            {
              rule: 'has(self.perGiB) || has(self.capacity)',
              message: 'the link says nothing: write perGiB, capacity, or both',
            },
          ],
        },
      ),
      {
        description: 'Pairs of domains with a price or a capacity of their own. Default none.',
        default: TRAFFIC_DEFAULTS.links,
        maxItems: 64,
        'x-kubernetes-list-type': 'atomic',
      },
    ),
    nodes: Type.Array(
      Type.Object({
        nodeSelector: labelSelector('Nodes that this price is of; the first that selects a node counts. Default all.'),
        cpuHour: decimal('0', '1000', {
          description: 'Price of a core that a pod requests, for an hour, in the currency of perGiB. Required.',
        }),
        memoryGiBHour: decimal('0', '1000', {
          description: 'Price of a GiB of memory that a pod requests, for an hour. Default "0".',
          default: '0',
        }),
      }),
      {
        description:
          'Prices of nodes. A domain costs the mean of its nodes. The last price must be that of all other nodes. Default none: running costs the same everywhere.',
        default: TRAFFIC_DEFAULTS.nodes,
        maxItems: 32,
        'x-kubernetes-list-type': 'atomic',
      },
    ),
    minSaving: bandwidth({
      description:
        'Traffic between domains that the moves of an application must save at least, for each of its moves, in bits per second; with prices, as much of the most expensive traffic. Default 1M.',
      default: TRAFFIC_DEFAULTS.minSaving,
    }),
  },
  {
    description: 'Settings of TrafficAware.',
    [CEL_KEYWORD]: [
      {
        rule: '!has(self.links) || self.links.all(link, !has(link.perGiB)) || has(self.perGiB)',
        message: 'links[].perGiB needs a price for all other traffic, too: write perGiB beside links',
      },
      {
        rule: '!has(self.nodes) || size(self.nodes) == 0 || has(self.perGiB)',
        message: 'nodes need a price of traffic, too, to be weighed against: write perGiB beside nodes',
      },
      {
        rule: '!has(self.nodes) || size(self.nodes) == 0 || self.nodes.exists(node, !has(node.nodeSelector) || (!has(node.nodeSelector.matchLabels) && !has(node.nodeSelector.matchExpressions)))',
        message: 'nodes that no price selects would seem free: write a last price without nodeSelector, for all others',
      },
    ],
  },
);

const strategy = Type.Object(
  {
    type: oneOf(STRATEGY_NAMES, {
      description:
        'RefineLB takes pods only from nodes above the mean and moves few of them. GreedyLB assigns all pods anew, largest first. QoSDriven lets pods that wait at the scheduling gate evenkeel.dev/qos go where they fit, and evicts others for them so that every workload gets the availability of its ServiceClass; it also moves pods off overloaded nodes before they miss theirs; the minRunTime of the class stands in for protections.minPodAge, and the class itself for protections.stabilization and cooldown. Pack empties whole nodes that request little, so that an autoscaler can remove them. TrafficAware brings workloads together that send much to each other, as AppGraphs say, so that less traffic passes between zones. None only repairs what repair says. Default RefineLB.',
      default: 'RefineLB',
    }),
    refineLB: Type.Optional(
      Type.Object(
        {
          overload: decimal('1.0', '10.0', {
            description: 'A node is heavy when its load exceeds the mean times this factor. Default "1.05".',
            default: '1.05',
          }),
          refinements: oneOf(['Standard', 'None'], {
            description:
              'None is the algorithm as published: the largest pod first, to the light node that it fills best. Standard also looks for the pair with the largest gain. Default Standard.',
            default: 'Standard',
          }),
        },
        { description: 'Settings of RefineLB.' },
      ),
    ),
    greedyLB: Type.Optional(
      Type.Object(
        {
          minimizeMoves: Type.Boolean({
            description:
              'Keep the balance of the greedy assignment and give up the reshuffling. False is the algorithm as published, which moves nearly every pod. Default true.',
            default: true,
          }),
          tolerance: fraction({
            description:
              'Points of node capacity (0.01 = one percentage point) within which nodes count as equally loaded, so that a pod stays where it is. Default "0.02".',
            default: '0.02',
          }),
        },
        { description: 'Settings of GreedyLB.' },
      ),
    ),
    qosDriven: Type.Optional(
      Type.Object(
        {
          refinements: oneOf(['Standard', 'None'], {
            description:
              'None is the policy as published: the workload with the least time to violate its SLO since admission replaces the one with the most. Standard evicts only when a pod has nearly used up the time that its SLO lets it wait within the window of its ServiceClass, and evicts the pod that can wait longest. Default Standard.',
            default: 'Standard',
          }),
          overload: decimal('0.1', '2.0', {
            description:
              'With refinements Standard and load.source MetricsAPI: a node is overloaded when its measured load exceeds this share of its allocatable. Pods there that will not be able to afford a start any more before the next run, or that have been not Ready for longer than a start takes, are moved to nodes that are not, by load.resources and load.aggregate. Default "0.90".',
            default: '0.90',
          }),
        },
        { description: 'Settings of QoSDriven.' },
      ),
    ),
    pack: Type.Optional(pack),
    trafficAware: Type.Optional(trafficAware),
  },
  {
    description: 'How the plan is computed.',
    default: {},
    [CEL_KEYWORD]: [
      {
        rule: "!has(self.refineLB) || self.type == 'RefineLB'",
        message: 'refineLB has no effect with this type: remove refineLB, or write type: RefineLB',
      },
      {
        rule: "!has(self.greedyLB) || self.type == 'GreedyLB'",
        message: 'greedyLB has no effect with this type: remove greedyLB, or write type: GreedyLB',
      },
      {
        rule: "!has(self.qosDriven) || self.type == 'QoSDriven'",
        message: 'qosDriven has no effect with this type: remove qosDriven, or write type: QoSDriven',
      },
      {
        rule: "!has(self.pack) || self.type == 'Pack'",
        message: 'pack has no effect with this type: remove pack, or write type: Pack',
      },
      {
        rule: "!has(self.trafficAware) || self.type == 'TrafficAware'",
        message: 'trafficAware has no effect with this type: remove trafficAware, or write type: TrafficAware',
      },
    ],
  },
);

const query = (what: string, name: keyof typeof DEFAULT_QUERIES) =>
  Type.Optional(
    text(2048, {
      description: `PromQL that gives the ${what}; $window stands for load.maxAge as a range. Default ${DEFAULT_QUERIES[name]}`,
    }),
  );

const load = Type.Object(
  {
    source: oneOf(['MetricsAPI', 'Requests', 'Prometheus'], {
      description:
        'Where the load of pods and nodes is read. MetricsAPI: use as metrics-server measures it. Requests: what pods request. Prometheus: what queries to a Prometheus server give, as `prometheus` says. Default MetricsAPI.',
      default: 'MetricsAPI',
    }),
    prometheus: Type.Optional(
      Type.Object(
        {
          server: text(63, {
            description: 'Name of a server that the operator was started with (--prometheus NAME=URL). Required.',
          }),
          queries: Type.Optional(
            Type.Object(
              {
                node: Type.Optional(
                  text(2048, {
                    description:
                      'PromQL that gives the load of each node, with the label node, as a share of the node (0.4 is 40 %), such as its CPU pressure or what is stolen from it. Stands for the load of cpu; a pod counts for as much of it as it uses of the CPU that is used there. $window stands for load.maxAge as a range. Default: the load of cpu is the CPU that is used.',
                  }),
                ),
                nodeCPU: query('cores used by each node, with the label node', 'nodeCPU'),
                nodeMemory: query('bytes in the working set of each node, with the label node', 'nodeMemory'),
                podCPU: query('cores used by each pod, with the labels namespace and pod', 'podCPU'),
                podMemory: query(
                  'bytes in the working set of each pod, with the labels namespace and pod',
                  'podMemory',
                ),
              },
              { description: 'PromQL where the defaults do not fit the labels of the cluster.' },
            ),
          ),
        },
        {
          description:
            'Which Prometheus server is asked for load, and how. Only resources that are balanced are asked for. Nodes without a value have no sample.',
        },
      ),
    ),
    resources: Type.Array(
      Type.Object({
        name: resourceName,
        weight: integer(1, 100, { description: 'Share in the weighted mean. Default 1.', default: 1 }),
      }),
      {
        description:
          'Resources to balance. The use of cpu and memory is measured, as `source` says; of all others counts what pods request. Default cpu with weight 1.',
        default: [{ name: 'cpu', weight: 1 }],
        minItems: 1,
        maxItems: 8,
        [HINT_KEYWORD]: 'write one to eight resources, or leave resources out for cpu',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    ),
    aggregate: oneOf(['Weighted', 'Dominant'], {
      description:
        'How several resources become one load: their weighted mean, or the largest of them. Default Weighted.',
      default: 'Weighted',
    }),
    maxAge: duration('10s', '1h', {
      description:
        'Oldest sample that still counts; with source Prometheus, the range over which queries look back ($window). Default 90s.',
      default: '90s',
    }),
    smoothing: duration('0s', '1h', {
      description:
        'Time constant of the exponentially weighted mean by which samples are smoothed: they are then read every 15s, or 20 times within it. The longer, the fewer moves for what is over soon, and the later those for what lasts. 0s takes the newest samples as they are. Default 0s.',
      default: '0s',
    }),
    minCoverage: fraction({
      description: 'Share of the Ready nodes that must have a valid sample, else there is no plan. Default "0.95".',
      default: '0.95',
    }),
  },
  {
    description: 'What counts as load.',
    default: {},
    [CEL_KEYWORD]: [
      {
        rule: "!has(self.source) || self.source != 'Requests' || !has(self.smoothing) || duration(self.smoothing) == duration('0s')",
        message: 'smoothing has no effect with this source: remove smoothing, or write source: MetricsAPI',
      },
      {
        rule: "has(self.prometheus) == (has(self.source) && self.source == 'Prometheus')",
        message:
          'source: Prometheus and prometheus belong together: write prometheus: {server: NAME} with source: Prometheus, or neither',
      },
      {
        rule: "!has(self.prometheus) || !has(self.prometheus.queries) || !has(self.prometheus.queries.node) || !has(self.resources) || self.resources.exists(resource, resource.name == 'cpu')",
        message: 'queries.node gives the load of cpu: add {name: cpu} to resources, or remove queries.node',
      },
    ],
  },
);

const headroom = Type.Object(
  {
    nodeSelector: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string', maxLength: 63 },
      maxProperties: 50,
      description: 'Labels of the nodes, as in the nodeSelector of a pod. Default {}: all nodes.',
      default: {},
    }),
    cpu: Type.Optional(
      quantityOrPercent({ description: 'CPU that stays free, such as 500m, or a share of allocatable. Default 0.' }),
    ),
    memory: Type.Optional(
      quantityOrPercent({ description: 'Memory that stays free, such as 2Gi, or a share of allocatable. Default 0.' }),
    ),
  },
  {
    [CEL_KEYWORD]: [
      {
        rule: 'has(self.cpu) || has(self.memory)',
        message: 'the entry leaves nothing free: write cpu, memory, or both',
      },
    ],
  },
);

const thresholds = Type.Object(
  {
    trigger: fraction({
      description:
        'Nothing is planned while the highest and the lowest node are less than this apart, in points of node capacity (0.10 = ten percentage points). Default "0.10".',
      default: '0.10',
    }),
    minGain: fraction({
      description:
        'A move must lower the higher of its two nodes by at least this much, in points of node capacity. Default "0.005".',
      default: '0.005',
    }),
    minImprovement: fraction({
      description:
        'A plan whose moves gain less than this in sum, in points of node capacity, is not carried out. Default "0.02".',
      default: '0.02',
    }),
    minReduction: fraction({
      description:
        'Minimum share by which a plan reduces the standard deviation of the loads of the nodes. A plan that reduces it by less is executed only if it lowers the load of a node by the trigger, or if a budget cuts it short. So a cluster with a few pods that are too large comes to rest. Default "0.05".',
      default: '0.05',
    }),
    consecutive: integer(1, 100, {
      description: 'Runs in a row that must find the cluster above the trigger before pods are moved. Default 3.',
      default: 3,
    }),
    headroom: Type.Optional(
      Type.Array(headroom, {
        description:
          'What stays free of requests on the targets of moves, whatever a move is for. Every entry whose nodeSelector matches a node applies. An entry with labels does not apply to pods whose nodeSelector or required node affinity names all of these labels: the room is kept for them. Default none: moves may fill a node.',
        minItems: 1,
        maxItems: 32,
        [HINT_KEYWORD]: 'write one to thirty-two entries, or leave headroom out',
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
  },
  {
    description:
      'When to act, and how full moves may make a node. trigger, minGain and minImprovement are points of node capacity, not percent of the mean.',
    default: {},
  },
);

const scope = Type.Object(
  {
    namespaceSelector: labelSelector('Namespaces whose pods may be moved. kube-system never takes part. Default all.'),
    podSelector: labelSelector('Pods that may be moved. Default all.'),
    nodeSelector: labelSelector('Nodes that take part, as source and as target. Default all.'),
  },
  { description: 'What the policy is about.', default: {} },
);

const limits = {
  maxMoves: Type.Optional(
    integer(0, 1000, {
      description:
        'Moves of one plan, with those that older plans of the policy have begun and not ended. Default no limit but 1000.',
    }),
  ),
  maxConcurrent: Type.Optional(
    integer(1, 100, { description: 'Moves in flight at a time. Default 2 when no budget says otherwise.' }),
  ),
  perOwner: Type.Optional(
    countOrPercent({
      description:
        'Pods of one controller that a plan moves. A percentage is of its replicas and is rounded up, as that of a PodDisruptionBudget is: 25% of 2 is 1, of 5 is 2; only 0% is 0. Pods that QoSDriven evicts to make room for one pod count as one. Default no limit.',
    }),
  ),
  perNode: Type.Optional(
    integer(0, 1000, {
      description:
        'Pods that a plan takes from one node. Pods that QoSDriven evicts to make room for one pod count as one. Default no limit.',
    }),
  ),
  perNamespace: Type.Optional(
    integer(0, 1000, {
      description:
        'Pods of one namespace that a plan moves. Pods that QoSDriven evicts to make room for one pod count as one. Default no limit.',
    }),
  ),
  maxOverhead: Type.Optional(
    duration('0s', '1000h', {
      description:
        'Pod-seconds of service that moves may cost within `window`: the seconds from each eviction until its replacement is Ready, in sum over all moves of all policies that the RebalancePlans on the cluster record. Measured; what is not measured yet counts as the measured start-up time of its controller, or 30s where nothing was measured. Default no limit.',
    }),
  ),
};
const LIMIT_NAMES = Object.keys(limits);

const budget = Type.Object(
  {
    ...limits,
    window: Type.Optional(
      duration('1m', '24h', {
        description: 'How far maxOverhead looks back, sliding, such as 1h. It needs maxOverhead and the reverse.',
      }),
    ),
    schedule: Type.Optional(
      text(100, {
        description:
          'When the entry begins to apply, for `duration`: a cron expression with five fields (minute, hour, day of month, month, day of week), not both days restricted. Outside of these windows the entry does not limit. A beginning at a local time that a change of clocks skips is at the change; one that comes twice counts once. Default: it applies always.',
      }),
    ),
    duration: Type.Optional(
      duration('1m', '168h', {
        description:
          'How long the entry applies from each beginning, in elapsed time: a window over a change of clocks is as long as any other. It needs schedule and the reverse.',
      }),
    ),
    timeZone: Type.Optional(text(64, { description: 'IANA time zone of the schedule. Default Etc/UTC.' })),
  },
  {
    description: 'Limits that apply together, always or in windows of time.',
    [CEL_KEYWORD]: [
      {
        rule: LIMIT_NAMES.map((name) => `has(self.${name})`).join(' || '),
        message: `a budget must limit something: write ${LIMIT_NAMES.slice(0, -1).join(', ')} or ${LIMIT_NAMES.at(-1)}`,
      },
      {
        rule: 'has(self.maxOverhead) == has(self.window)',
        message:
          'maxOverhead and window belong together: write both, such as maxOverhead: 10m with window: 1h, or neither',
      },
      {
        rule: 'has(self.schedule) == has(self.duration)',
        message:
          'schedule and duration belong together: write both, such as schedule: "0 8 * * 1-5" with duration: 10h, or neither',
      },
      {
        rule: '!has(self.timeZone) || has(self.schedule)',
        message: 'timeZone needs a schedule: add schedule and duration, or remove timeZone',
      },
    ],
  },
);

const protections = Type.Object(
  {
    minPodAge: duration('0s', '168h', {
      description: 'Pods younger than this are not moved. Default 5m.',
      default: '5m',
    }),
    minReplicas: integer(1, 1000, {
      description: 'Pods of controllers with fewer replicas are not moved. Default 2.',
      default: 2,
    }),
    priorityThreshold: integer(-2147483648, 2147483647, {
      description: 'Pods of this priority or higher are not moved. Default 1000000.',
      default: 1000000,
    }),
    localStorage: oneOf(['Protect', 'Allow'], {
      description: 'Whether pods with emptyDir or hostPath volumes stay; a move loses that data. Default Protect.',
      default: 'Protect',
    }),
    pvc: oneOf(['Protect', 'Allow'], {
      description:
        'Whether pods with a PersistentVolumeClaim stay: their volumes take time to be attached elsewhere. Default Allow.',
      default: 'Allow',
    }),
    protectedStorageClasses: Type.Optional(
      Type.Array(text(253, { description: 'Name of a StorageClass.' }), {
        description: 'Pods with a PersistentVolumeClaim of one of these classes stay. Default none.',
        minItems: 1,
        maxItems: 20,
        [HINT_KEYWORD]: 'write one to twenty names of classes, or leave protectedStorageClasses out',
        'x-kubernetes-list-type': 'set',
      }),
    ),
    withoutPDB: oneOf(['Protect', 'Allow'], {
      description: 'Whether pods stay that no PodDisruptionBudget selects. Default Allow.',
      default: 'Allow',
    }),
    stabilization: duration('0s', '168h', {
      description:
        'Pods of a controller are not moved while it or its Deployment rolls out or scales (its spec is not observed yet, or updated, ready or available replicas differ from it), nor for this long after it was created or rolled out (condition Progressing), or after it got a pod that is not the replacement of a move. 0s: they are moved all the same. Default 10m.',
      default: '10m',
    }),
    cooldown: duration('0s', '24h', {
      description:
        'For this long after pods of a controller were moved from or to a node, its pods do not leave that node, and do not go to a node that they were moved away from. Doubled with each change of direction within 24h, up to 24h. Two misses in a row (the replacement landed elsewhere) hold all of its pods as long. A pod that came back to a node that it had left holds them for 24h (quarantine). 0s: none of this. Default 10m.',
      default: '10m',
    }),
  },
  {
    description:
      'What is never moved. A pod with the annotation descheduler.alpha.kubernetes.io/evict is moved in spite of minPodAge, minReplicas, priorityThreshold, localStorage, pvc, protectedStorageClasses and withoutPDB.',
    default: {},
    [CEL_KEYWORD]: [
      {
        rule: "!has(self.protectedStorageClasses) || !has(self.pvc) || self.pvc == 'Allow'",
        message: 'protectedStorageClasses has no effect where all claims protect: remove it, or write pvc: Allow',
      },
    ],
  },
);

const steering = Type.Object(
  {
    mode: oneOf(['Auto', ...STEERING_MODES], {
      description:
        'How a replacement is brought to the planned node. AdmissionPolicy: a MutatingAdmissionPolicy prefers that node (Kubernetes 1.36 or later, and 1.34 with v1beta1 switched on). Webhook: an admission webhook that the operator serves does the same (Kubernetes 1.30 or later, overlay webhook). Gate: replacements that carry the scheduling gate evenkeel.dev/qos, in their template or because their namespace has the label evenkeel.dev/gate: enabled, wait until the operator opens it for the planned node alone (Kubernetes 1.30 or later, overlay gate); such pods are moved in no other mode. None: the scheduler chooses. Auto: AdmissionPolicy where it is installed, else Webhook where that is, else None; status.steering says which. Default Auto.',
      default: 'Auto',
    }),
  },
  { description: 'How replacements find their node.', default: {} },
);

/** `spec` of a RebalancePolicy. */
export const RebalancePolicySpec = Type.Object(
  {
    mode: oneOf(MODES, {
      description:
        'DryRun plans and reports. Approve waits for spec.approved of each plan. Automatic moves pods. Default DryRun.',
      default: 'DryRun',
    }),
    interval: Type.Optional(
      duration('10s', '24h', { description: 'Time between two runs. Default 5m when there is no schedule.' }),
    ),
    schedule: Type.Optional(
      text(100, {
        description:
          'Cron expression with five fields (minute, hour, day of month, month, day of week). Day of month and day of week must not both be restricted.',
      }),
    ),
    timeZone: Type.Optional(text(64, { description: 'IANA time zone of the schedule. Default Etc/UTC.' })),
    suspend: Type.Boolean({
      description: 'Stop: no new runs and no new evictions; moves in flight are verified to their end. Default false.',
      default: false,
    }),
    strategy,
    repair: Type.Optional(Repair),
    makeRoom: oneOf(['None', 'Pinned'], {
      description:
        'Pinned: pods that can run elsewhere are moved away from full nodes for pods in scope that fit nowhere else, before the strategy and spec.repair have their turn. A pod is served if the scheduler has found no node for it (PodScheduled False, Unschedulable) and if node selector, affinity, taints or other filters allow it some nodes of the policy, but not all. As few pods are moved as make room, each only to a node with room for it; pods are served by priority, then age; a plan leaves their room free. Not with QoSDriven, which makes room by ServiceClass. Default None.',
      default: 'None',
    }),
    load,
    thresholds,
    scope,
    budgets: Type.Array(budget, {
      description:
        'All that are in force apply and the most restrictive wins; one that cannot be evaluated allows nothing. Default one budget: 10 moves, 2 at a time, 25% of an owner, 2 per node, 5 per namespace.',
      default: [{ maxMoves: 10, maxConcurrent: 2, perOwner: '25%', perNode: 2, perNamespace: 5 }],
      minItems: 1,
      maxItems: 20,
      [HINT_KEYWORD]: 'write one to twenty budgets, or leave budgets out for the default',
      'x-kubernetes-list-type': 'atomic',
    }),
    protections,
    steering,
    historyLimit: integer(1, 100, {
      description:
        'Finished plans that are kept. Plans of the last 24h that evicted pods are kept besides, the newest hundred of them: cooldown, quarantine and maxOverhead are worked out from them, and what is deleted by hand is forgotten. Default 10.',
      default: 10,
    }),
  },
  {
    description:
      'What to balance and to repair, how, when, and within which limits. Everything has a default; {} only reports.',
    default: {},
    [CEL_KEYWORD]: [
      {
        rule: '!(has(self.interval) && has(self.schedule))',
        message: 'interval and schedule exclude each other: keep one of them',
      },
      {
        rule: '!has(self.timeZone) || has(self.schedule)',
        message: 'timeZone needs a schedule: add schedule, or remove timeZone',
      },
      {
        rule: "!has(self.strategy) || !has(self.strategy.type) || self.strategy.type != 'None' || has(self.repair) || (has(self.makeRoom) && self.makeRoom != 'None')",
        message:
          'strategy.type None only repairs and makes room: write repair, such as repair: {podAntiAffinity: Required}, or makeRoom: Pinned',
      },
      {
        rule: "!has(self.makeRoom) || self.makeRoom == 'None' || !has(self.strategy) || !has(self.strategy.type) || self.strategy.type != 'QoSDriven'",
        message:
          'QoSDriven makes room by ServiceClass: remove makeRoom, or write it in a policy with another strategy and other pods in scope',
      },
    ],
  },
);

const measures = Type.Object(
  {
    mean: text(32, { description: 'Capacity-weighted mean, a fraction of capacity.' }),
    ema: text(32, { description: 'Mean absolute error against the mean.' }),
    stddev: text(32, { description: 'Standard deviation.' }),
    range: text(32, { description: 'Highest minus lowest node.' }),
    max: text(32, { description: 'Highest node.' }),
  },
  { description: 'How uneven the load of a resource is.' },
);

const byResource = (description: string) =>
  Type.Unsafe<Record<string, Static<typeof measures>>>({
    type: 'object',
    additionalProperties: measures,
    maxProperties: 8,
    description,
  });

/** Imbalance before, as planned, and as measured afterwards. */
export const ImbalanceStatus = Type.Object(
  {
    before: Type.Optional(byResource('When the plan was made, by resource.')),
    planned: Type.Optional(byResource('What the plan leads to, by resource.')),
    actual: Type.Optional(byResource('Measured after the plan was carried out, by resource.')),
  },
  { description: 'Imbalance per resource, decimal fractions of node capacity.' },
);

/** A standard Kubernetes condition with our own types and reasons. */
export const Condition = Type.Object({
  type: oneOf(CONDITION_TYPES, { description: 'Condition.' }),
  status: oneOf(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
  reason: oneOf(CONDITION_REASONS, { description: 'Why, out of a fixed list.' }),
  message: text(1024, { description: 'Why, for people.' }),
  lastTransitionTime: instant({ description: 'When status last changed.' }),
  observedGeneration: Type.Integer({ format: 'int64', description: 'Generation that the condition is about.' }),
});

const run = Type.Object({
  time: instant({ description: 'When the run began.' }),
  outcome: text(64, { description: 'Outcome of the planner: Moves, Balanced, and so on.' }),
  plan: Type.Optional(text(253, { description: 'Name of its RebalancePlan.' })),
  moves: Type.Integer({ format: 'int32', description: 'Moves of the plan.' }),
  before: text(32, { description: 'Spread (highest minus lowest node) before.' }),
  planned: text(32, { description: 'Spread that the plan predicted.' }),
  actual: Type.Optional(text(32, { description: 'Spread measured when the next run began.' })),
});

/** Most classes that a policy's status lists: the most important ones. */
export const MAX_SERVICE_CLASSES = 32;

const serviceClassStatus = Type.Object({
  name: text(253, { description: 'Name of the ServiceClass.' }),
  slo: text(32, { description: 'Availability that it promises.' }),
  workloads: Type.Integer({ format: 'int32', description: 'Workloads of the class that have a ledger.' }),
  fulfilment: text(32, {
    description:
      'Share of those that reach the SLO over the window of the class, within 0.002 (a start takes time); in mode Independent each replica since its admission.',
  }),
  availability: Type.Optional(
    text(32, { description: 'Mean availability since admission; absent while nothing was observed.' }),
  ),
  availabilityOverWindow: Type.Optional(
    text(32, { description: 'Mean availability over the window of the class; absent while nothing was observed.' }),
  ),
  worstDeficit: text(32, {
    description: 'What the workload that falls short of the SLO the furthest lacks; "0" when none does.',
  }),
  worstWorkload: Type.Optional(text(400, { description: 'That workload: Kind namespace/name.' })),
  minAvailability: Type.Optional(
    text(32, {
      description: 'The least availability that is held against the SLO; absent while nothing was observed.',
    }),
  ),
  gini: Type.Optional(
    text(32, { description: 'Gini coefficient of those availabilities: 0 when all workloads got the same.' }),
  ),
  penalty: Type.Optional(
    text(32, {
      description: 'Core-seconds that are owed for the window of the class, by spec.penalties of the ServiceClass.',
    }),
  ),
  waiting: Type.Optional(Type.Integer({ format: 'int32', description: 'Pods of these workloads without a node.' })),
  longestWaitSeconds: Type.Optional(
    Type.Integer({ format: 'int64', description: 'Age of the oldest of those; 0 without any.' }),
  ),
  preemptions: Type.Integer({
    format: 'int64',
    description: 'Evictions of these workloads on behalf of others, since their admission.',
  }),
});

/** `status` of a RebalancePolicy. */
export const RebalancePolicyStatus = Type.Object(
  {
    observedGeneration: Type.Optional(
      Type.Integer({ format: 'int64', description: 'Generation that this status is about.' }),
    ),
    leader: Type.Optional(
      text(253, {
        description:
          'Replica of the operator that leads the policy and wrote this status, by the name of its pod. Absent without leader election.',
      }),
    ),
    conditions: Type.Optional(
      Type.Array(Condition, {
        description: 'Conditions.',
        maxItems: 16,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      }),
    ),
    lastRun: Type.Optional(instant({ description: 'When the last run began.' })),
    lastRunRequest: Type.Optional(
      text(RUN_REQUEST_LENGTH, {
        description: `Value of the annotation ${RUN_REQUEST_ANNOTATION} when the last run began: a run has answered it.`,
      }),
    ),
    nextRun: Type.Optional(instant({ description: 'When the next run is due.' })),
    aboveTrigger: Type.Optional(
      Type.Integer({ format: 'int32', description: 'Runs in a row that found the cluster above the trigger.' }),
    ),
    imbalance: Type.Optional(
      text(32, { description: 'Spread of the aggregated load at the last run: highest minus lowest node.' }),
    ),
    plan: Type.Optional(
      Type.Object(
        {
          name: text(253, { description: 'Name of the RebalancePlan.' }),
          hash: text(64, { description: 'SHA-256 of the plan.' }),
          phase: text(32, { description: 'Phase of the plan.' }),
          moves: Type.Object(
            {
              total: Type.Integer({ format: 'int32', description: 'Moves of the plan.' }),
              done: Type.Integer({
                format: 'int32',
                description: 'Replacements that run, on the planned node or not.',
              }),
              failed: Type.Integer({ format: 'int32', description: 'Moves that failed or were aborted.' }),
              skipped: Type.Integer({ format: 'int32', description: 'Moves that were given up before the eviction.' }),
            },
            { description: 'Its moves in numbers.' },
          ),
          imbalance: ImbalanceStatus,
          packing: Type.Optional(
            Type.Object(
              {
                emptied: Type.Integer({ format: 'int32', description: 'Nodes that the plan empties.' }),
                removable: Type.Integer({
                  format: 'int32',
                  description: 'Nodes that an autoscaler can remove once the plan is carried out.',
                }),
                nodes: Type.Array(text(253, { description: 'Name of a node.' }), {
                  maxItems: 20,
                  description: 'Those nodes, the first 20 by name.',
                  'x-kubernetes-list-type': 'atomic',
                }),
              },
              { description: 'Nodes that strategy Pack frees. Absent with other strategies.' },
            ),
          ),
          traffic: Type.Optional(
            Type.Object(
              {
                before: text(32, { description: 'Bits per second between domains when the plan was made.' }),
                planned: text(32, { description: 'Bits per second between domains once it is carried out.' }),
                applications: Type.Integer({ format: 'int32', description: 'AppGraphs whose pods it moves.' }),
              },
              { description: 'What strategy TrafficAware saves. Absent with other strategies.' },
            ),
          ),
          topMoves: Type.Array(
            Type.Object({
              pod: text(400, { description: 'namespace/name.' }),
              from: Type.Optional(text(253, { description: 'Node; absent for a pod that is let in from the queue.' })),
              to: Type.Optional(
                text(253, { description: 'Node; absent for a pod that goes back to the queue, or is removed.' }),
              ),
              gain: text(32, { description: 'Points of node capacity.' }),
              repairs: repairsOfMove,
              makesRoomFor: makesRoomForOfMove,
            }),
            {
              maxItems: 20,
              description: 'Moves that repair or make room first, then those with the largest gain.',
              'x-kubernetes-list-type': 'atomic',
            },
          ),
          skipped: Type.Unsafe<Record<string, number>>({
            type: 'object',
            additionalProperties: { type: 'integer', format: 'int32' },
            maxProperties: 64,
            description: 'Pods that stay, counted by reason code.',
          }),
        },
        { description: 'The newest plan.' },
      ),
    ),
    serviceClasses: Type.Optional(
      Type.Array(serviceClassStatus, {
        description:
          'What workloads in scope got that have a ServiceClass, at the last run, by class, the most important first. Absent when there are none.',
        maxItems: MAX_SERVICE_CLASSES,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
    ),
    sloMissed: Type.Optional(
      Type.Integer({
        format: 'int32',
        description: 'Workloads in scope that fall short of the SLO of their class, at the last run.',
      }),
    ),
    steering: Type.Optional(
      Type.Object(
        {
          mode: oneOf(STEERING_MODES, { description: 'Steering of plans that start now.' }),
          message: text(1024, { description: 'Why it is this one, or what is missing for it.' }),
        },
        { description: 'How replacements are brought to their node, as of the last run.' },
      ),
    ),
    hitRatio: Type.Optional(
      text(32, { description: 'Share of the replacements of kept plans that landed on their planned node.' }),
    ),
    pastOverhead: Type.Optional(
      Type.Array(
        Type.Object({
          from: instant({ description: 'When the five minutes begin.' }),
          seconds: integer(0, 2_147_483_647, { description: 'Pod-seconds.' }),
        }),
        {
          maxItems: 300,
          description:
            'Pod-seconds of service that the moves of deleted plans of this policy have cost in the last 24 h, by five minutes: maxOverhead goes on counting them.',
          'x-kubernetes-list-type': 'atomic',
        },
      ),
    ),
    deletedPlans: Type.Optional(
      Type.Array(text(253, { description: 'Name of a plan.' }), {
        maxItems: 1000,
        description: 'Plans that pastOverhead has counted and that are being deleted.',
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
    history: Type.Optional(
      Type.Array(run, { maxItems: 10, description: 'Last runs, newest first.', 'x-kubernetes-list-type': 'atomic' }),
    ),
  },
  { description: 'What the operator saw and did.' },
);

/** `spec` of a RebalancePolicy after defaulting. */
export type RebalancePolicySpec = Static<typeof RebalancePolicySpec>;
/** `status` of a RebalancePolicy. */
export type RebalancePolicyStatus = Static<typeof RebalancePolicyStatus>;
/** `status.imbalance`, `status.plan.imbalance`. */
export type ImbalanceStatus = Static<typeof ImbalanceStatus>;
/** A condition of a policy. */
export type Condition = Static<typeof Condition>;
/** A RebalancePolicy. */
export type RebalancePolicy = Resource<'RebalancePolicy', RebalancePolicySpec, RebalancePolicyStatus>;

/** What the CRD says about RebalancePolicy. */
export const rebalancePolicyKind: KindDefinition = {
  kind: 'RebalancePolicy',
  plural: 'rebalancepolicies',
  shortNames: ['rbp'],
  scope: 'Cluster',
  description: 'RebalancePolicy says which nodes to keep evenly loaded, by which strategy and within which budgets.',
  columns: [
    column('Strategy', 'string', '.spec.strategy.type', 'Strategy.'),
    column('Mode', 'string', '.spec.mode', 'What is done with a plan.'),
    column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status', 'Whether the policy is in force.'),
    column('Imbalance', 'string', '.status.imbalance', 'Highest minus lowest node, fraction of capacity.'),
    column('SLO-Missed', 'integer', '.status.sloMissed', 'Workloads below their SLO.'),
    column('Moves', 'integer', '.status.plan.moves.total', 'Moves of the newest plan.'),
    column('Next', 'string', '.status.nextRun', 'Next run.'),
    column('Age', 'date', '.metadata.creationTimestamp', 'Age.'),
    column('Reason', 'string', '.status.conditions[?(@.type=="Ready")].reason', 'Why it is, or is not, Ready.', 1),
    column('Plan', 'string', '.status.plan.name', 'Newest plan.', 1),
    column('Phase', 'string', '.status.plan.phase', 'Its phase.', 1),
    column('Steering', 'string', '.status.steering.mode', 'Steering of plans that start now.', 1),
    column('Hit Ratio', 'string', '.status.hitRatio', 'Landed as planned.', 1),
    column('Leader', 'string', '.status.leader', 'Replica of the operator that leads it.', 1),
  ],
  spec: RebalancePolicySpec,
  status: RebalancePolicyStatus,
};

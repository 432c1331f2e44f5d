import Type, { type Static } from 'typebox';
import {
  bandwidth,
  CEL_KEYWORD,
  column,
  duration,
  instant,
  type KindDefinition,
  labelSelector,
  oneOf,
  type Resource,
  text,
} from './schema.ts';

/** Most members of an AppGraph. */
const MAX_MEMBERS = 64;
/** Most edges of an AppGraph. */
const MAX_EDGES = 256;

/** Kinds of controllers that a member may name. */
export const MEMBER_KINDS = ['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController', 'Job'] as const;

const memberName = (description: string) => text(63, { description, hint: 'write the name of a member' });

const member = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 63,
      description: 'Name of the member in this graph; edges use it. Required.',
    }),
    workload: Type.Optional(
      Type.Object(
        {
          kind: oneOf(MEMBER_KINDS, {
            description: 'Kind of the controller. Default Deployment.',
            default: 'Deployment',
          }),
          name: Type.String({
            minLength: 1,
            maxLength: 253,
            description: 'Name of the controller, in the namespace of the AppGraph. Required.',
          }),
        },
        { description: 'The member is all pods of this controller.' },
      ),
    ),
    selector: Type.Optional(labelSelector('The member is all pods of the namespace that these labels select.', null)),
  },
  {
    [CEL_KEYWORD]: [
      {
        rule: 'has(self.workload) != has(self.selector)',
        message: 'a member is one controller or the pods of a selector: write either workload or selector',
      },
    ],
  },
);

const edge = Type.Object(
  {
    from: memberName('Member that sends. Required.'),
    to: memberName('Member that receives. Required.'),
    bandwidth: bandwidth({
      description: 'What all pods of `from` send to all pods of `to`, in bits per second. Required.',
    }),
  },
  {
    [CEL_KEYWORD]: [
      {
        rule: 'self.from != self.to',
        message: 'traffic within a member is not considered: remove the edge, or name another member in to',
      },
    ],
  },
);

/** Service meshes whose metrics say how many bytes two workloads send to each other. */
export const TRAFFIC_PRESETS = ['Istio', 'Linkerd'] as const;
/** A service mesh with a query of ours. */
export type TrafficPreset = (typeof TRAFFIC_PRESETS)[number];

const traffic = Type.Object(
  {
    server: Type.String({
      minLength: 1,
      maxLength: 63,
      description: 'Name of a Prometheus server that the operator was started with (--prometheus NAME=URL). Required.',
    }),
    preset: Type.Optional(
      oneOf(TRAFFIC_PRESETS, { description: 'The query for the metrics of this service mesh; or write query.' }),
    ),
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description:
          'PromQL that gives bits per second, with the labels source_workload and destination_workload; $namespace stands for the namespace of the AppGraph, and $window for window.',
      }),
    ),
    window: duration('1m', '24h', {
      description: 'Time over which traffic is averaged. Default 1h.',
      default: '1h',
    }),
  },
  {
    description: 'Has the operator ask a Prometheus server for the traffic between members, in place of edges.',
    [CEL_KEYWORD]: [
      {
        rule: 'has(self.preset) != has(self.query)',
        message: 'traffic is asked for by one query: write either preset or query',
      },
    ],
  },
);

/** `spec` of an AppGraph: the workloads of an application, and which of them talk to each other. */
export const AppGraphSpec = Type.Object(
  {
    members: Type.Array(member, {
      description: 'Workloads of the application. Required.',
      minItems: 1,
      maxItems: MAX_MEMBERS,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }),
    edges: Type.Optional(
      Type.Array(edge, {
        description: 'Traffic between members, each pair and direction once.',
        maxItems: MAX_EDGES,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['from', 'to'],
      }),
    ),
    traffic: Type.Optional(traffic),
  },
  {
    description: 'The workloads of an application, and which of them talk to each other.',
    [CEL_KEYWORD]: [
      {
        rule: 'has(self.edges) != has(self.traffic)',
        message: 'the traffic between members is written in edges or learnt by traffic: write one of them',
      },
      {
        rule: '!has(self.edges) || self.edges.all(edge, self.members.exists(member, member.name == edge.from) && self.members.exists(member, member.name == edge.to))',
        message: 'an edge names a member that does not exist: write names of members in edges[].from and edges[].to',
      },
    ],
  },
);

/** `spec` of an AppGraph after defaulting. */
export type AppGraphSpec = Static<typeof AppGraphSpec>;

/** Conditions of an AppGraph. */
export const GRAPH_CONDITION_TYPES = [
  /** No earlier AppGraph has one of its pods. */
  'Valid',
  /** The traffic between its members was learnt; of AppGraphs with `traffic`. */
  'Learnt',
] as const;

/** Every reason that a condition of an AppGraph can give. */
export const GRAPH_CONDITION_REASONS = [
  'AsExpected',
  'SharedWorkload',
  'Answered',
  'UnknownServer',
  'ServerFailed',
  'NoSamples',
  'NoLabels',
  'NoMembers',
] as const;
/** Reason of a condition of an AppGraph. */
export type GraphConditionReason = (typeof GRAPH_CONDITION_REASONS)[number];

const condition = Type.Object({
  type: oneOf(GRAPH_CONDITION_TYPES, { description: 'Condition.' }),
  status: oneOf(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
  reason: oneOf(GRAPH_CONDITION_REASONS, { description: 'Why, out of a fixed list.' }),
  message: text(1024, { description: 'Why, for people.' }),
  lastTransitionTime: instant({ description: 'When status last changed.' }),
  observedGeneration: Type.Integer({ format: 'int64', description: 'Generation that the condition is about.' }),
});

/** Most edges that the status lists: the largest ones. */
export const MAX_LEARNT_EDGES = 50;
/** Most domains for which the status has the traffic between them: of the policies that planned last. */
export const MAX_CROSSED_DOMAINS = 4;

/** `status` of an AppGraph, written when a TrafficAware policy runs and something has changed. */
export const AppGraphStatus = Type.Object(
  {
    observedGeneration: Type.Optional(
      Type.Integer({ format: 'int64', description: 'Generation of the spec that this is about.' }),
    ),
    conditions: Type.Optional(
      Type.Array(condition, {
        maxItems: GRAPH_CONDITION_TYPES.length,
        description: 'Valid and, with spec.traffic, Learnt.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      }),
    ),
    learntAt: Type.Optional(instant({ description: 'When the server gave what is written here.' })),
    edges: Type.Optional(
      Type.Array(edge, {
        maxItems: MAX_LEARNT_EDGES,
        description: 'What was learnt, both directions of a pair together: the largest edges.',
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
    moreEdges: Type.Optional(
      Type.Integer({ format: 'int32', description: 'Learnt edges that are not listed, since they are smaller.' }),
    ),
    ignoredSamples: Type.Optional(
      Type.Integer({
        format: 'int32',
        description: 'Samples of the last answer that are not between two members: of other workloads, or within one.',
      }),
    ),
    traffic: Type.Optional(bandwidth({ description: 'All traffic between members, in bits per second.' })),
    crossDomain: Type.Optional(
      Type.Array(
        Type.Object({
          domain: text(316, { description: 'Node label whose values are the domains.' }),
          bandwidth: bandwidth({ description: 'Bits per second that pass between domains.' }),
        }),
        {
          maxItems: MAX_CROSSED_DOMAINS,
          description: 'Traffic between domains, when a TrafficAware policy with this domain last ran.',
          'x-kubernetes-list-type': 'atomic',
        },
      ),
    ),
  },
  { description: 'What was learnt of the traffic, and how much of it passes between domains.' },
);

/** `status` of an AppGraph. */
export type AppGraphStatus = Static<typeof AppGraphStatus>;
/** An AppGraph as stored on the API server. */
export type AppGraph = Resource<'AppGraph', AppGraphSpec, AppGraphStatus>;

/** What the CRD says about AppGraph. */
export const appGraphKind: KindDefinition = {
  kind: 'AppGraph',
  plural: 'appgraphs',
  shortNames: ['appg'],
  scope: 'Namespaced',
  description:
    'AppGraph says which workloads of its namespace form an application and how much they send to each other. A RebalancePolicy of type TrafficAware brings those together that talk.',
  columns: [
    column('Valid', 'string', '.status.conditions[?(@.type=="Valid")].status', 'Whether plans go by it.'),
    column('Learnt', 'string', '.status.conditions[?(@.type=="Learnt")].status', 'Whether traffic was learnt.'),
    column('Traffic', 'string', '.status.traffic', 'Bits per second between members.'),
    column('Cross-Domain', 'string', '.status.crossDomain[0].bandwidth', 'Bits per second between domains.'),
    column('Age', 'date', '.metadata.creationTimestamp', 'Age.'),
    column('Domain', 'string', '.status.crossDomain[0].domain', 'Node label of the domains.', 1),
    column('Ignored', 'integer', '.status.ignoredSamples', 'Samples that are not between two members.', 1),
  ],
  spec: AppGraphSpec,
  status: AppGraphStatus,
};

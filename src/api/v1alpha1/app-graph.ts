import Type, { type Static } from 'typebox';
import { bandwidth, CEL_KEYWORD, column, type KindDefinition, labelSelector, oneOf, text } from './schema.ts';

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
    edges: Type.Array(edge, {
      description: 'Traffic between members, each pair and direction once. Default none.',
      default: [],
      maxItems: MAX_EDGES,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['from', 'to'],
    }),
  },
  {
    description: 'The workloads of an application, and which of them talk to each other.',
    [CEL_KEYWORD]: [
      {
        rule: 'self.edges.all(edge, self.members.exists(member, member.name == edge.from) && self.members.exists(member, member.name == edge.to))',
        message: 'an edge names a member that does not exist: write names of members in edges[].from and edges[].to',
      },
    ],
  },
);

/** `spec` of an AppGraph after defaulting. */
export type AppGraphSpec = Static<typeof AppGraphSpec>;

/** What the CRD says about AppGraph. */
export const appGraphKind: KindDefinition = {
  kind: 'AppGraph',
  plural: 'appgraphs',
  shortNames: ['appg'],
  scope: 'Namespaced',
  description:
    'AppGraph says which workloads of its namespace form an application and how much they send to each other. A RebalancePolicy of type TrafficAware brings those together that talk.',
  columns: [column('Age', 'date', '.metadata.creationTimestamp', 'Age.')],
  spec: AppGraphSpec,
  status: undefined,
};

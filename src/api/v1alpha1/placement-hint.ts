import Type, { type Static } from 'typebox';
import { CEL_KEYWORD, type KindDefinition, type Resource, text } from './schema.ts';

/** Most nodes that a replacement prefers after the planned one. */
export const MAX_FALLBACKS = 2;

/** Most nodes that a hint keeps a pod to: the scheduler looks at all of up to 100 feasible ones. */
export const MAX_ALTERNATIVES = 50;

/** `spec` of a PlacementHint. */
export const PlacementHintSpec = Type.Object(
  {
    ownerUID: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'UID of the controller whose next pod is meant.',
    }),
    nodeName: Type.String({ minLength: 1, maxLength: 253, description: 'Node that the pod should prefer.' }),
    fallbacks: Type.Optional(
      Type.Array(Type.String({ maxLength: 253 }), {
        maxItems: MAX_FALLBACKS,
        description: 'Nodes that it should prefer next, the better one first.',
      }),
    ),
    alternatives: Type.Optional(
      Type.Array(Type.String({ maxLength: 63 }), {
        minItems: 1,
        maxItems: MAX_ALTERNATIVES,
        description:
          'Values of the label kubernetes.io/hostname that the pod is kept to, that of nodeName first; absent: it is kept to none.',
      }),
    ),
    plan: text(253, { description: 'RebalancePlan that the move belongs to.' }),
    podUID: text(64, { description: 'UID of the evicted pod.' }),
  },
  {
    description: 'Which pod, and where to. Immutable.',
    [CEL_KEYWORD]: [{ rule: 'self == oldSelf', message: 'a hint cannot be edited: delete it and create another' }],
  },
);

/** `spec` of a PlacementHint. */
export type PlacementHintSpec = Static<typeof PlacementHintSpec>;
/** A PlacementHint. */
export type PlacementHint = Resource<'PlacementHint', PlacementHintSpec, never>;

/** What the CRD says about PlacementHint. */
export const placementHintKind: KindDefinition = {
  kind: 'PlacementHint',
  plural: 'placementhints',
  shortNames: ['phint'],
  scope: 'Namespaced',
  description:
    'PlacementHint ties the next pod of one controller to a node while a move is in flight. Made and removed by the operator.',
  columns: [
    { name: 'Node', type: 'string', jsonPath: '.spec.nodeName', description: 'Preferred node.', priority: 0 },
    { name: 'Plan', type: 'string', jsonPath: '.spec.plan', description: 'Plan.', priority: 0 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age.', priority: 0 },
  ],
  spec: PlacementHintSpec,
  status: undefined,
};

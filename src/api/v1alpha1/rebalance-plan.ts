import Type, { type Static } from 'typebox';
import { makesRoomForOfMove } from './make-room.ts';
import { MAX_FALLBACKS } from './placement-hint.ts';
import { ImbalanceStatus, STEERING_MODES, STRATEGY_NAMES } from './rebalance-policy.ts';
import { repairsOfMove } from './repair.ts';
import { CEL_KEYWORD, instant, integer, type KindDefinition, oneOf, type Resource, text } from './schema.ts';

/** Most moves that one plan holds. */
export const MAX_MOVES = 1000;
/** Most characters of spec.message. */
export const MAX_MESSAGE = 1024;
/** Most moves that one move is said to need. */
export const MAX_NEEDS = 16;
/** Most rejections that a plan lists one by one; `rejectionCounts` counts all of them. */
export const MAX_REJECTIONS = 1000;

/** Phases of a plan. */
export const PLAN_PHASES = ['Proposed', 'AwaitingApproval', 'Executing', 'Completed', 'Aborted', 'Superseded'] as const;
/** Phase of a plan. */
export type PlanPhase = (typeof PLAN_PHASES)[number];

/** How far the pods of an application have been moved. */
export const APPLICATION_PHASES = ['Complete', 'Partial', 'Unmoved'] as const;

/** Phases of a move (execution.md, the journal). */
export const MOVE_PHASES = [
  'Planned',
  'Intent',
  'Evicting',
  'AwaitingReplacement',
  'Verifying',
  'Vacated',
  'Landed',
  'Missed',
  'Failed',
  'Skipped',
  'Aborted',
] as const;
/** Phase of a move. */
export type MovePhase = (typeof MOVE_PHASES)[number];

/** Why a replacement runs on another node than planned. */
export const MISS_REASONS = ['RoomTaken', 'TargetRefused', 'OutscoredBy', 'NotScored', 'NotSteered'] as const;
/** Why a replacement runs on another node than planned. */
export type MissReason = (typeof MISS_REASONS)[number];

const podRef = Type.Object(
  {
    namespace: text(63, { description: 'Namespace.' }),
    name: text(253, { description: 'Name.' }),
    uid: text(64, { description: 'UID of this incarnation.' }),
  },
  { description: 'One incarnation of a pod.' },
);

const ownerRef = (description: string) =>
  Type.Object(
    {
      kind: text(63, { description: 'Kind of the controller.' }),
      name: text(253, { description: 'Name.' }),
      uid: text(64, { description: 'UID.' }),
    },
    { description },
  );

/** Most nodes that a plan names of those that can be removed, and of those that keep their pods. */
export const MAX_NAMED_NODES = 50;

const packing = Type.Object(
  {
    emptied: Type.Array(text(253, { description: 'Name of a node.' }), {
      maxItems: MAX_MOVES,
      description: 'Nodes that the plan empties, in that order.',
      'x-kubernetes-list-type': 'atomic',
    }),
    removable: Type.Array(text(253, { description: 'Name of a node.' }), {
      maxItems: MAX_NAMED_NODES,
      description:
        'Nodes that run nothing after the plan but pods of DaemonSets and mirror pods, so that an autoscaler can remove them: the first 50 by name.',
      'x-kubernetes-list-type': 'atomic',
    }),
    removableTotal: Type.Integer({ format: 'int32', minimum: 0, description: 'How many nodes can be removed.' }),
    kept: Type.Array(
      Type.Object({
        node: text(253, { description: 'Name of the node.' }),
        pod: Type.Optional(podRef),
        code: text(64, { description: 'Filter, protection, budget or rule that keeps the pod, or the node.' }),
        message: text(512, { description: 'Why, with numbers.' }),
      }),
      {
        maxItems: MAX_NAMED_NODES,
        description:
          'Nodes whose requests are below strategy.pack and that keep their pods all the same, and the pod that keeps them: the 50 least used.',
        'x-kubernetes-list-type': 'atomic',
      },
    ),
  },
  { description: 'Of a plan that empties nodes: which, and what an autoscaler can remove.' },
);

/** Most applications that a plan names. */
export const MAX_NAMED_APPLICATIONS = 50;

/** Most pairs of domains that a plan names. */
export const MAX_NAMED_PAIRS = 50;

const trafficAmount = (description: string) =>
  Type.Object(
    {
      bandwidth: text(32, { description: 'Bits per second.' }),
      cost: Type.Optional(text(32, { description: 'For an hour; absent without prices.' })),
    },
    { description },
  );

const traffic = Type.Object(
  {
    domain: text(316, { description: 'Node label whose values are the domains.' }),
    before: trafficAmount('Between domains when the plan was made.'),
    planned: trafficAmount('Between domains once it is carried out.'),
    between: Type.Optional(
      Type.Array(
        Type.Object({
          domains: Type.Array(text(63, { description: 'Value of the node label.' }), {
            minItems: 2,
            maxItems: 2,
            description: 'Two domains.',
            'x-kubernetes-list-type': 'atomic',
          }),
          before: text(32, { description: 'Bits per second between the two when the plan was made.' }),
          planned: text(32, { description: 'Bits per second between the two once it is carried out.' }),
        }),
        {
          maxItems: MAX_NAMED_PAIRS,
          description:
            'Pairs of domains with traffic between them: the 50 with the most of it. Absent where there is none.',
          'x-kubernetes-list-type': 'atomic',
        },
      ),
    ),
    applications: Type.Array(
      Type.Object({
        namespace: text(63, { description: 'Namespace of the AppGraph.' }),
        name: text(253, { description: 'Name of the AppGraph.' }),
        moves: Type.Integer({ format: 'int32', minimum: 0, description: 'Moves of its pods.' }),
        before: trafficAmount('Between domains when the plan was made.'),
        planned: trafficAmount('Between domains once it is carried out.'),
        code: Type.Optional(text(64, { description: 'What keeps it spread, where none of its pods is moved.' })),
        message: Type.Optional(text(512, { description: 'The same with numbers.' })),
      }),
      {
        maxItems: MAX_NAMED_APPLICATIONS,
        description: 'Applications with traffic between domains: the 50 with the most of it.',
        'x-kubernetes-list-type': 'atomic',
      },
    ),
  },
  { description: 'Of a plan that brings applications together: what passes between domains.' },
);

const PlanSpec = Type.Object(
  {
    policy: Type.Object(
      {
        name: text(253, { description: 'Name.' }),
        uid: text(64, { description: 'UID; empty when the policy came from a file.' }),
        generation: Type.Integer({ format: 'int64', description: 'Generation; 0 when the policy came from a file.' }),
      },
      { description: 'The policy that the plan belongs to.' },
    ),
    strategy: oneOf(STRATEGY_NAMES, { description: 'Strategy that made the plan.' }),
    takenAt: instant({ description: 'Time of the snapshot.' }),
    outcome: text(64, { description: 'Moves, or why there are none.' }),
    message: text(MAX_MESSAGE, { description: 'The outcome, for people.' }),
    expectedHitRatio: Type.Optional(
      text(32, {
        description: 'Share of the moves that the scheduler would make without steering; absent without moves.',
      }),
    ),
    hash: Type.String({ maxLength: 64, description: 'SHA-256 over strategy and moves.' }),
    approved: Type.Boolean({
      description: 'Set to true to carry out a plan of a policy in mode Approve. Default false.',
      default: false,
      [CEL_KEYWORD]: [
        { rule: 'self || !oldSelf', message: 'an approval cannot be withdrawn: suspend the policy (evenkeel stop)' },
      ],
    }),
    moves: Type.Array(
      Type.Object({
        pod: podRef,
        owner: ownerRef('Controller of the pod.'),
        workload: Type.Optional(
          ownerRef(
            'Controller above that one, such as the Deployment of a ReplicaSet: whose QoSLedger counts what the move costs. Absent where there is none.',
          ),
        ),
        labelsHash: Type.Optional(
          text(64, { description: 'Hash of the labels that the pod had: with others it is not moved.' }),
        ),
        from: Type.Optional(
          text(253, {
            description: 'Node that the pod leaves. Absent for an admission: the pod waits at the scheduling gate.',
          }),
        ),
        to: Type.Optional(
          text(253, {
            description:
              'Node that its replacement, or an admitted pod, should land on. Absent for a preemption, whose replacement waits at the scheduling gate, and for a removal.',
          }),
        ),
        failover: Type.Optional(
          Type.Boolean({
            description:
              'The node `from` has failed: the pod does not run any more, so that its eviction costs no service and counts against no budget.',
          }),
        ),
        removal: Type.Optional(
          Type.Boolean({
            description: 'The pod has failed: it is removed, and nothing is to take its place.',
          }),
        ),
        fallbacks: Type.Optional(
          Type.Array(Type.String({ maxLength: 253 }), {
            maxItems: MAX_FALLBACKS,
            description: 'Nodes that would be good ones, too, the better one first: a replacement prefers them next.',
            'x-kubernetes-list-type': 'atomic',
          }),
        ),
        load: text(32, { description: 'What the pod adds to the load of `from`, fraction of capacity.' }),
        gain: text(32, { description: 'Points of node capacity by which the higher of the two nodes falls.' }),
        cost: Type.Optional(
          text(32, {
            description:
              'Seconds of service that the move is expected to cost: from the eviction to a Ready replacement.',
          }),
        ),
        reason: text(512, { description: 'Why, with numbers.' }),
        repairs: repairsOfMove,
        makesRoomFor: makesRoomForOfMove,
        after: Type.Optional(
          Type.Array(integer(0, MAX_MOVES - 1, { description: 'Position in moves, from 0.' }), {
            maxItems: MAX_NEEDS,
            description:
              'Positions of earlier moves that must have landed, or vacated their node, first: they make room, meet a constraint, or make this move worth it. A move whose need fails is skipped.',
            'x-kubernetes-list-type': 'atomic',
          }),
        ),
        partner: Type.Optional(
          integer(0, MAX_MOVES - 1, {
            description:
              'Position of the other move, from 0, when two go together: each is worth it only with the other.',
          }),
        ),
        application: Type.Optional(
          text(317, {
            description:
              'The AppGraph, as namespace/name, with whose other moves it goes. Once one of them is skipped before any has begun, none begins.',
          }),
        ),
      }),
      {
        maxItems: MAX_MOVES,
        description: 'Moves in the order in which they begin.',
        'x-kubernetes-list-type': 'atomic',
      },
    ),
    packing: Type.Optional(packing),
    traffic: Type.Optional(traffic),
    rejections: Type.Array(
      Type.Object({
        pod: podRef,
        code: text(64, { description: 'Filter, protection, budget or balance rule that stopped it.' }),
        message: text(512, { description: 'Why, with numbers.' }),
        numbers: Type.Unsafe<Record<string, string>>({
          type: 'object',
          additionalProperties: { type: 'string', maxLength: 32 },
          maxProperties: 16,
          description: 'The numbers by name, decimal.',
        }),
      }),
      {
        maxItems: MAX_REJECTIONS,
        description: 'Examples of pods that were considered and stay: 50 at most, some for each code.',
        'x-kubernetes-list-type': 'atomic',
      },
    ),
    rejectionCounts: Type.Unsafe<Record<string, number>>({
      type: 'object',
      additionalProperties: { type: 'integer', format: 'int32' },
      maxProperties: 64,
      description: 'All pods that were considered and stay, counted by code.',
    }),
  },
  { description: 'What the planner decided. Immutable but for approved.' },
);

/** Every field but `approved`. Rules of the fields themselves would not see one that is added or taken away. */
const immutable = Object.keys(PlanSpec.properties)
  .filter((field) => field !== 'approved')
  .map((field) => ({
    rule: new Set<string>(PlanSpec.required).has(field)
      ? `self.${field} == oldSelf.${field}`
      : `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    message: `a plan cannot be edited: change the policy and plan again (spec.${field})`,
  }));

/** `spec` of a RebalancePlan: what the planner decided. */
export const RebalancePlanSpec = Object.assign(PlanSpec, { [CEL_KEYWORD]: immutable });

/** One move in the journal. */
export const MoveStatus = Type.Object({
  podUID: text(64, { description: 'UID of the pod to evict.' }),
  phase: oneOf(MOVE_PHASES, { description: 'Phase.' }),
  attempt: integer(0, 1000, { description: 'Evictions that were tried and refused.' }),
  startedAt: Type.Optional(
    instant({
      description:
        "When the eviction was accepted, by the API server's clock; while that is not known, and where its answer was lost, when the intent was written.",
    }),
  ),
  sentAt: Type.Optional(
    instant({
      description:
        "Until when the eviction may have been on its way, by the API server's clock; while it is not known whether the pod is going.",
    }),
  ),
  waitingFor: Type.Optional(
    text(512, { description: 'What a move waits for that takes longer than a minute, and since when.' }),
  ),
  goneAt: Type.Optional(
    instant({
      description: 'When the pod was gone that the move has waited for: the replacement has ten minutes from then.',
    }),
  ),
  siblings: Type.Optional(
    Type.Object(
      {
        digests: text(384, { description: 'Digests of their UIDs, six characters each, of the 64 youngest at most.' }),
        since: Type.Optional(
          instant({ description: 'What was created before is one of them, too. Absent when all pods are recorded.' }),
        ),
      },
      {
        description:
          'Pods that the owner had before the eviction: its replacement is none of them. While the move is in flight.',
      },
    ),
  ),
  leaderEpoch: Type.Optional(
    integer(0, 2 ** 31 - 1, {
      description:
        'Which leader wrote the intent: leaseTransitions of the Lease that it held. Absent without leader election.',
    }),
  ),
  notBefore: Type.Optional(instant({ description: 'When a refused eviction is tried again.' })),
  finishedAt: Type.Optional(instant({ description: 'When the final phase was reached.' })),
  replacement: Type.Optional(
    Type.Object(
      {
        name: text(253, { description: 'Name.' }),
        uid: text(64, { description: 'UID.' }),
        node: Type.Optional(text(253, { description: 'Node that it was bound to.' })),
      },
      { description: 'The pod that its controller made instead.' },
    ),
  ),
  miss: Type.Optional(
    Type.Object(
      {
        reason: oneOf(MISS_REASONS, {
          description:
            'RoomTaken: the planned node had no room any more. TargetRefused: another filter of the scheduler refused it. OutscoredBy: the scheduler ranked its node higher, or alike. NotScored: it did not look at the planned node. NotSteered: the replacement was created without the preference.',
        }),
        message: text(512, { description: 'The same with names and numbers.' }),
      },
      { description: 'Why the scheduler put the replacement elsewhere, as far as our filters and scores can tell.' },
    ),
  ),
  unavailableSeconds: Type.Optional(
    integer(0, 86400, {
      description:
        'Service that the move cost: seconds from startedAt until the replacement was Ready, or until it was given up.',
    }),
  ),
  outcome: Type.Optional(text(512, { description: 'What came of it, for people.' })),
});

/** Moves in numbers. */
export const MoveSummary = Type.Object(
  {
    total: Type.Integer({ format: 'int32', description: 'Moves of the plan.' }),
    done: Type.Integer({ format: 'int32', description: 'Moves in a final phase.' }),
    landed: Type.Integer({ format: 'int32', description: 'Replacements on their planned node.' }),
  },
  { description: 'The journal in numbers.' },
);

/** `status` of a RebalancePlan: the journal and the measured result. */
export const RebalancePlanStatus = Type.Object(
  {
    phase: Type.Optional(oneOf(PLAN_PHASES, { description: 'Phase.' })),
    message: Type.Optional(text(1024, { description: 'Why it is in this phase.' })),
    stopped: Type.Optional(text(64, { description: 'Which rule stopped an Aborted plan.' })),
    steering: Type.Optional(oneOf(STEERING_MODES, { description: 'Steering in use.' })),
    startedAt: Type.Optional(instant({ description: 'When execution began.' })),
    finishedAt: Type.Optional(instant({ description: 'When it ended.' })),
    imbalance: Type.Optional(ImbalanceStatus),
    moves: Type.Optional(
      Type.Array(MoveStatus, {
        maxItems: MAX_MOVES,
        description: 'The journal, in the order of spec.moves.',
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
    summary: Type.Optional(MoveSummary),
    applications: Type.Optional(
      Type.Array(
        Type.Object({
          namespace: text(63, { description: 'Namespace of the AppGraph.' }),
          name: text(253, { description: 'Name of the AppGraph.' }),
          phase: oneOf(APPLICATION_PHASES, {
            description:
              'Complete: all of its moves have landed. Partial: some have: the next run starts from where its pods are. Unmoved: none of its pods was evicted.',
          }),
          landed: integer(0, MAX_MOVES, { description: 'Moves that have landed.' }),
          moves: integer(1, MAX_MOVES, { description: 'Moves of its pods.' }),
        }),
        {
          maxItems: MAX_MOVES,
          description:
            'How far the applications are moved whose pods the plan moves, once it has ended: those that are not Complete first.',
          'x-kubernetes-list-type': 'atomic',
        },
      ),
    ),
    journal: Type.Optional(
      Type.Object(
        {
          uid: text(64, { description: 'UID of the MoveJournal.' }),
          sequence: Type.Integer({
            format: 'int64',
            minimum: 0,
            description: 'spec.sequence of the MoveJournal that is in moves already: a higher one goes on from here.',
          }),
        },
        {
          description:
            'The MoveJournal of the same name that has what has changed since. While a plan with more than 20 moves is carried out.',
        },
      ),
    ),
  },
  { description: 'The journal of every move and the measured result.' },
);

/** `spec` of a RebalancePlan. */
export type RebalancePlanSpec = Static<typeof RebalancePlanSpec>;
/** `status` of a RebalancePlan. */
export type RebalancePlanStatus = Static<typeof RebalancePlanStatus>;
/** One move of `status.moves`. */
export type MoveStatus = Static<typeof MoveStatus>;
/** A RebalancePlan. */
export type RebalancePlan = Resource<'RebalancePlan', RebalancePlanSpec, RebalancePlanStatus>;

/** What the CRD says about RebalancePlan. */
export const rebalancePlanKind: KindDefinition = {
  kind: 'RebalancePlan',
  plural: 'rebalanceplans',
  shortNames: ['rbpl'],
  scope: 'Cluster',
  description: 'RebalancePlan is one plan of a policy, the journal of its execution, and its measured result.',
  columns: [
    { name: 'Policy', type: 'string', jsonPath: '.spec.policy.name', description: 'Policy.', priority: 0 },
    { name: 'Strategy', type: 'string', jsonPath: '.spec.strategy', description: 'Strategy.', priority: 0 },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Phase.', priority: 0 },
    { name: 'Moves', type: 'integer', jsonPath: '.status.summary.total', description: 'Moves.', priority: 0 },
    { name: 'Done', type: 'integer', jsonPath: '.status.summary.done', description: 'Ended.', priority: 0 },
    { name: 'Landed', type: 'integer', jsonPath: '.status.summary.landed', description: 'As planned.', priority: 0 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age.', priority: 0 },
    { name: 'Message', type: 'string', jsonPath: '.status.message', description: 'Why.', priority: 1 },
  ],
  spec: RebalancePlanSpec,
  status: RebalancePlanStatus,
};

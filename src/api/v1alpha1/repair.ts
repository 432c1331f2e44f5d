import Type, { type Static } from 'typebox';
import { CEL_KEYWORD, duration, HINT_KEYWORD, integer, oneOf, text } from './schema.ts';

/** What a move may repair; `moves[].repairs` names these. */
export const REPAIR_NAMES = [
  'Taints',
  'NodeAffinity',
  'PodAntiAffinity',
  'TopologySpread',
  'Duplicates',
  'Restarts',
  'MaxLifetime',
  'Failed',
] as const;
/** What a move may repair. */
export type RepairName = (typeof REPAIR_NAMES)[number];

/** `repairs` of a move: optional, a set of names. */
export const repairsOfMove = Type.Optional(
  Type.Array(oneOf(REPAIR_NAMES, { description: 'A field of spec.repair.' }), {
    maxItems: REPAIR_NAMES.length,
    description: 'What the move repairs. Absent for a move of the strategy.',
    'x-kubernetes-list-type': 'set',
  }),
);

/** Phases, reasons of a pod's status, and reasons for which containers wait or were terminated: what a lifetime may ask for. */
export const LIFETIME_STATES = [
  'Pending',
  'Running',
  'Failed',
  'Unknown',
  'NodeAffinity',
  'NodeLost',
  'Shutdown',
  'UnexpectedAdmissionError',
  'PodInitializing',
  'ContainerCreating',
  'ImagePullBackOff',
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'ErrImagePull',
  'CreateContainerError',
  'InvalidImageName',
  'OOMKilled',
  'Error',
  'Completed',
  'DeadlineExceeded',
  'Evicted',
  'ContainerCannotRun',
  'StartError',
] as const;

const RESTART_STATES = ['Running', 'CrashLoopBackOff'] as const;

/** A key of up to 317 characters, and a value of up to 63; of these no character is `=` or `:`. */
const TAINT = '^[^=:]+(=[^=:]*)?$';

const taintList = (description: string) =>
  Type.Optional(
    Type.Array(
      Type.String({
        maxLength: 381,
        pattern: TAINT,
        description: 'A taint as key, whatever its value, or as key=value.',
        [HINT_KEYWORD]: 'write key or key=value; repair.taints.effect selects the effects',
      }),
      {
        description,
        minItems: 1,
        maxItems: 50,
        [HINT_KEYWORD]: 'write one to fifty taints, or leave the list out',
        'x-kubernetes-list-type': 'set',
      },
    ),
  );

const taints = Type.Object(
  {
    effect: oneOf(['NoSchedule', 'PreferNoSchedule'], {
      description:
        'NoSchedule: taints with this effect. PreferNoSchedule: these, and those that only rank nodes. Taints with NoExecute are left to Kubernetes, which evicts by itself. Default NoSchedule.',
      default: 'NoSchedule',
    }),
    includedTaints: taintList(
      'Only these taints, each as key or key=value. Default all but node.kubernetes.io/unschedulable, which cordoned nodes have.',
    ),
    excludedTaints: taintList('All taints but these, each as key or key=value. Default none.'),
  },
  {
    description: 'Pods that do not tolerate a taint of their node.',
    [CEL_KEYWORD]: [
      {
        rule: '!(has(self.includedTaints) && has(self.excludedTaints))',
        message: 'includedTaints and excludedTaints exclude each other: keep one of them',
      },
    ],
  },
);

const topologySpread = Type.Object(
  {
    constraints: oneOf(['Hard', 'All'], {
      description:
        'Hard: constraints with whenUnsatisfiable DoNotSchedule. All: those with ScheduleAnyway, too, which are never kept at the price of a hard one. Default Hard.',
      default: 'Hard',
    }),
    tolerance: integer(0, 100, {
      description: 'Pods by which the skew may exceed maxSkew before pods are moved. Default 0.',
      default: 0,
    }),
  },
  {
    description:
      'Pods whose topologySpreadConstraints are broken: the fewest moves that bring each within its maxSkew.',
  },
);

const restarts = Type.Object(
  {
    atLeast: integer(1, 100_000, {
      description: 'Pods whose containers were started anew so many times in sum, or more often, are moved. Required.',
    }),
    includingInit: Type.Boolean({
      description: 'Count init containers, too, and look at their states. Default false.',
      default: false,
    }),
    states: Type.Optional(
      Type.Array(oneOf(RESTART_STATES, { description: 'A phase of pods, or why a container waits.' }), {
        description: 'Only pods in one of these phases, or with a container that waits for this reason. Default all.',
        minItems: 1,
        maxItems: RESTART_STATES.length,
        [HINT_KEYWORD]: 'write Running, CrashLoopBackOff or both, or leave the list out',
        'x-kubernetes-list-type': 'set',
      }),
    ),
  },
  { description: 'Pods that fail again and again: they start anew on another node, also while they are not Ready.' },
);

const maxLifetime = Type.Object(
  {
    age: duration('1m', '100000h', { description: 'Pods older than this are moved, the oldest first. Required.' }),
    states: Type.Optional(
      Type.Array(oneOf(LIFETIME_STATES, { description: 'A phase, or a reason of a pod or container.' }), {
        description:
          'Only pods in one of these phases, or whose status or a container of which names this reason for waiting or ending; also while they are not Ready. Failed pods are removed. Default all pods that run and are Ready.',
        minItems: 1,
        maxItems: LIFETIME_STATES.length,
        [HINT_KEYWORD]: 'write at least one state, or leave the list out',
        'x-kubernetes-list-type': 'set',
      }),
    ),
    includingInit: Type.Boolean({
      description: 'Look at the states of init containers, too. Default false.',
      default: false,
    }),
  },
  { description: 'Pods that have existed for long: they start anew on another node.' },
);

const failed = Type.Object(
  {
    reasons: Type.Optional(
      Type.Array(text(128, { description: 'Reason, such as Evicted or OOMKilled.' }), {
        description:
          'Only pods with one of these reasons in their status, or for which a container waits or was terminated. Default all.',
        minItems: 1,
        maxItems: 50,
        [HINT_KEYWORD]: 'write one to fifty reasons, or leave the list out',
        'x-kubernetes-list-type': 'set',
      }),
    ),
    exitCodes: Type.Optional(
      Type.Array(integer(-2_147_483_648, 2_147_483_647, { description: 'Exit code.' }), {
        description: 'Only pods with a container that was terminated with one of these exit codes. Default all.',
        minItems: 1,
        maxItems: 50,
        [HINT_KEYWORD]: 'write one to fifty exit codes, or leave the list out',
        'x-kubernetes-list-type': 'set',
      }),
    ),
    includingInit: Type.Boolean({
      description: 'Look at the reasons and exit codes of init containers, too. Default false.',
      default: false,
    }),
    minAge: duration('0s', '100000h', {
      description: 'Only pods that were created at least this long ago. Default 0s.',
      default: '0s',
    }),
    excludedOwnerKinds: Type.Optional(
      Type.Array(text(63, { description: 'Kind of a controller, such as Job.' }), {
        description: 'Pods with a controller of one of these kinds stay. Default none.',
        minItems: 1,
        maxItems: 50,
        [HINT_KEYWORD]: 'write one to fifty kinds, or leave the list out',
        'x-kubernetes-list-type': 'set',
      }),
    ),
  },
  { description: 'Pods in phase Failed that have a controller: they are removed.' },
);

/** `spec.repair` of a RebalancePolicy. */
export const Repair = Type.Object(
  {
    taints: Type.Optional(taints),
    nodeAffinity: Type.Optional(
      oneOf(['Required', 'Preferred'], {
        description:
          'Required: pods whose node does not meet their nodeSelector or required node affinity any more. Preferred: also pods for which a node that takes them meets more of what they prefer.',
      }),
    ),
    podAntiAffinity: Type.Optional(
      oneOf(['Required'], {
        description:
          'Pods that run beside others although the required anti-affinity of either forbids it: the fewest moves that end it.',
      }),
    ),
    topologySpread: Type.Optional(topologySpread),
    duplicates: Type.Optional(
      Type.Boolean({
        description:
          'Pods of one controller with the same images that share a node beyond what an even spread over the nodes that take them has there. Default false.',
      }),
    ),
    restarts: Type.Optional(restarts),
    maxLifetime: Type.Optional(maxLifetime),
    failed: Type.Optional(failed),
  },
  {
    description:
      'Pods that run where they should not, or not any more: moved to where they should before the strategy has its turn, whatever the load of nodes is. Failed pods are removed. Each is off unless it is written; budgets, protections and scope hold as for any move.',
  },
);

/** `spec.repair` of a RebalancePolicy after defaulting. */
export type Repair = Static<typeof Repair>;

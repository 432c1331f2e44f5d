import Type, { type Static } from 'typebox';
import { LEDGER_MODES } from '../../model/service-level.ts';
import { CEL_KEYWORD, column, decimal, duration, fraction, integer, type KindDefinition, oneOf } from './schema.ts';

const penalty = Type.Object({
  below: fraction({
    description: 'Availability below which the tier applies, a fraction, down to the next lower tier.',
  }),
  surcharge: decimal('0', '100', {
    description: 'Share by which the price of the missing service rises: 0.3 makes it 1.3 times as much.',
  }),
});

/** `spec` of a ServiceClass: what its workloads were promised, and what they may cost others. */
export const ServiceClassSpec = Type.Object(
  {
    slo: fraction({
      description:
        'Availability that is promised, a fraction: useful run time by all time since admission. "0" is best effort. Required.',
    }),
    importance: integer(1, 1000, {
      description: 'Rank among the classes: 1 is the most important. Classes may share one. Required.',
    }),
    safetyMargin: duration('0s', '24h', {
      description: 'A workload with less time to violate than this is in danger. Default 10s.',
      default: '10s',
    }),
    maxPreemptionOverhead: Type.Optional(
      fraction({
        description:
          'Share of its time that a workload may lose to start-ups after preemptions before its equals may take its place no more. Default 1 - slo.',
      }),
    ),
    minRunTime: duration('0s', '24h', {
      description: 'How long a pod runs before it may be preempted. Default 0s.',
      default: '0s',
    }),
    window: duration('1m', '720h', {
      description:
        'Time over which the SLO is to hold. As long a ledger outlives its workload, to be taken up again. Default 1h.',
      default: '1h',
    }),
    mode: oneOf(LEDGER_MODES, {
      description:
        'How several replicas count. Aggregated: replica-seconds. Independent: each by itself, the worst one decides. Concurrent: only time with all replicas up. Task: the run time of pods that failed or were evicted is lost. Default Aggregated.',
      default: 'Aggregated',
    }),
    expectedStartup: duration('0s', '1h', {
      description: 'Time from the creation of a pod until it is Ready, until it was measured. Default 10s.',
      default: '10s',
    }),
    penalties: Type.Array(penalty, {
      description: 'Tiers of a service-level agreement, in any order. Default none.',
      default: [],
      maxItems: 8,
      'x-kubernetes-list-type': 'atomic',
    }),
    default: Type.Boolean({
      description:
        'Whether workloads that have no other class are of this one, but for those of kube-system and of the operator. At most one class should be. Default false.',
      default: false,
    }),
    priorityClassNames: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
      description:
        'PriorityClasses whose pods are of this class where neither the pod nor its namespace has the label evenkeel.dev/service-class. Default none.',
      default: [],
      maxItems: 32,
      'x-kubernetes-list-type': 'set',
    }),
  },
  {
    description: 'What workloads of the class were promised, and what they may cost others.',
    [CEL_KEYWORD]: [
      {
        rule: 'duration(self.minRunTime) < duration(self.window)',
        message: 'minRunTime would fill the window, so that nothing is ever preempted: write a shorter minRunTime',
      },
      {
        rule: 'duration(self.safetyMargin) < duration(self.window)',
        message: 'safetyMargin would fill the window, so that all is always in danger: write a shorter safetyMargin',
      },
      {
        rule: 'self.penalties.all(tier, double(tier.below) <= double(self.slo))',
        message: 'a penalty applies where the SLO is met: write penalties[].below not above slo',
      },
    ],
  },
);

/** `spec` of a ServiceClass after defaulting. */
export type ServiceClassSpec = Static<typeof ServiceClassSpec>;

/** What the CRD says about ServiceClass. */
export const serviceClassKind: KindDefinition = {
  kind: 'ServiceClass',
  plural: 'serviceclasses',
  shortNames: ['sclass'],
  scope: 'Cluster',
  description:
    'ServiceClass says which availability workloads were promised. A workload gets its class by the label evenkeel.dev/service-class on its pods, else on its namespace, else by the PriorityClass of its pods, else it is of the default class.',
  columns: [
    column('SLO', 'string', '.spec.slo', 'Promised availability.'),
    column('Importance', 'integer', '.spec.importance', '1 is the most.'),
    column('Mode', 'string', '.spec.mode', 'How replicas count.'),
    column('Window', 'string', '.spec.window', 'Over which it holds.'),
    column('Default', 'boolean', '.spec.default', 'Whether workloads without another class have it.'),
    column('Age', 'date', '.metadata.creationTimestamp', 'Age.'),
    column('Margin', 'string', '.spec.safetyMargin', 'Safety margin.', 1),
  ],
  spec: ServiceClassSpec,
  status: undefined,
};

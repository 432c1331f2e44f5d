import Type, { type Static, type TInteger } from 'typebox';
import { CEL_KEYWORD, column, instant, integer, type KindDefinition, type Resource, text } from './schema.ts';

/** Most instances that a ledger lists, and counts. */
export const MAX_INSTANCES = 1000;
/** Most earlier instants that a ledger remembers. */
export const MAX_CHECKPOINTS = 16;

/** Far more than a thousand instances gather in a thousand years; sums of them are exact. */
const MOST_SECONDS = 1e15;

function total(description: string): TInteger {
  return Type.Integer({ format: 'int64', minimum: 0, maximum: MOST_SECONDS, description });
}

const times = {
  useful: total('Useful run time, in seconds.'),
  discarded: total('Run time that was lost, in seconds: of pods that failed or were evicted, in mode Task.'),
  pending: total('Time in which an instance was wanted and did not run, in seconds.'),
};

const starts = (what: string) =>
  Type.Object(
    {
      count: integer(0, 1_000_000, { description: 'Starts that were measured.' }),
      total: total('Their sum, in seconds.'),
      squares: Type.Optional(total('The sum of their squares, in square seconds, by which they differ.')),
    },
    { description: what },
  );

const instanceStatus = Type.Object({
  ...times,
  pod: Type.Optional(text(64, { description: 'UID of the pod that is its incarnation; absent while it has none.' })),
  running: Type.Boolean({ description: 'Whether that pod is Ready.' }),
  attempt: Type.Optional(
    total('Of the useful time, what is lost when this pod fails or is evicted, in seconds; in mode Task.'),
  ),
  left: Type.Optional(
    Type.Object(
      {
        pod: text(64, { description: 'UID of the incarnation that went.' }),
        at: instant({ description: 'When it was asked to go.' }),
        preempted: Type.Boolean({ description: 'Whether it went on behalf of another workload.' }),
      },
      { description: 'What the instance had before, until it is Ready again.' },
    ),
  ),
});

/** `spec` of a QoSLedger: whose ledger it is. */
export const QoSLedgerSpec = Type.Object(
  {
    owner: Type.Object(
      {
        kind: Type.String({ minLength: 1, maxLength: 63, description: 'Kind: a Deployment, not its ReplicaSet.' }),
        name: Type.String({ minLength: 1, maxLength: 253, description: 'Name.' }),
        uid: Type.String({
          minLength: 1,
          maxLength: 64,
          description: 'UID; another one when the workload was deleted and came back.',
        }),
      },
      {
        description: 'The workload at the top.',
        [CEL_KEYWORD]: [
          {
            rule: 'self.kind == oldSelf.kind && self.name == oldSelf.name',
            message: 'a ledger belongs to one workload: delete it, and the operator begins another',
          },
        ],
      },
    ),
    className: Type.String({ minLength: 1, maxLength: 253, description: 'ServiceClass of the workload.' }),
  },
  { description: 'Whose ledger it is. Written by the operator.' },
);

/** `status` of a QoSLedger: what the workload has got. Times go on from asOf, with the numbers of instances. */
export const QoSLedgerStatus = Type.Object(
  {
    slo: Type.Optional(text(8, { description: 'SLO of the class.' })),
    availability: Type.Optional(
      text(32, { description: 'Useful time by all time since admission, when the status was last written.' }),
    ),
    timeToViolate: Type.Optional(
      text(32, {
        description:
          'When the status was last written. Positive: the time to violate, which is how long the workload can be down before it falls below its SLO. Negative: the recoverability, which is how much time it has lost beyond what its SLO allows. The expected time of a start is subtracted.',
      }),
    ),
    admittedAt: instant({ description: 'Since when it is counted.' }),
    asOf: instant({ description: 'Last change: up to when the times are counted.' }),
    ...times,
    running: integer(0, MAX_INSTANCES, { description: 'Instances that run since asOf.' }),
    waiting: integer(0, MAX_INSTANCES, { description: 'Instances that wait since asOf.' }),
    instances: Type.Array(instanceStatus, {
      maxItems: MAX_INSTANCES,
      description: 'Each replica by itself, up to asOf.',
      'x-kubernetes-list-type': 'atomic',
    }),
    checkpoints: Type.Array(Type.Object({ at: instant({ description: 'When.' }), ...times }), {
      maxItems: MAX_CHECKPOINTS,
      description: "The times at earlier instants, oldest first, over the class's window.",
      'x-kubernetes-list-type': 'atomic',
    }),
    preemptions: integer(0, 2 ** 31 - 1, { description: 'Evictions on behalf of other workloads.' }),
    overhead: total('Sum of the start-up times that followed them, in seconds.'),
    startup: Type.Optional(
      Type.Object(
        {
          hot: Type.Optional(starts('Starts on nodes that had the image.')),
          cold: Type.Optional(starts('Starts on nodes that had to fetch the image.')),
        },
        { description: 'Measured start-up times: from the creation of a pod to Ready, without its time in queues.' },
      ),
    ),
    endedAt: Type.Optional(
      instant({ description: 'Since when there is nothing to count: the workload is gone, or has no class.' }),
    ),
    message: Type.Optional(text(512, { description: 'Why it stopped, or what it does not count, for people.' })),
  },
  { description: 'What the workload has got since it was admitted. Times go on from asOf.' },
);

/** `spec` of a QoSLedger. */
export type QoSLedgerSpec = Static<typeof QoSLedgerSpec>;
/** `status` of a QoSLedger. */
export type QoSLedgerStatus = Static<typeof QoSLedgerStatus>;
/** A QoSLedger. */
export type QoSLedger = Resource<'QoSLedger', QoSLedgerSpec, QoSLedgerStatus>;

/** What the CRD says about QoSLedger. */
export const qosLedgerKind: KindDefinition = {
  kind: 'QoSLedger',
  plural: 'qosledgers',
  shortNames: ['qosl'],
  scope: 'Namespaced',
  description:
    'QoSLedger is what one workload with a ServiceClass has got since it was admitted. Kept by the operator.',
  columns: [
    column('Class', 'string', '.spec.className', 'ServiceClass.'),
    column('SLO', 'string', '.status.slo', 'Promised availability.'),
    column('Availability', 'string', '.status.availability', 'Since admission, at the last change.'),
    column('TTV', 'string', '.status.timeToViolate', 'Time to violate at the last change; negative: recoverability.'),
    column('Preemptions', 'integer', '.status.preemptions', 'Evictions on behalf of others.'),
    column('Age', 'date', '.metadata.creationTimestamp', 'Age.'),
    column('Running', 'integer', '.status.running', 'Instances.', 1),
    column('Waiting', 'integer', '.status.waiting', 'Instances.', 1),
    column('As Of', 'string', '.status.asOf', 'Last change.', 1),
    column('Message', 'string', '.status.message', 'What is amiss.', 1),
  ],
  spec: QoSLedgerSpec,
  status: QoSLedgerStatus,
};

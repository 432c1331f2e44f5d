/** Levels at which the operator logs. */
export type LogLevel = 'info' | 'warn' | 'error';

/** What the fields of log lines mean, for people. Names of objects carry their namespace: `shop/app-1`. */
export const LOG_FIELDS = {
  action: 'What was done at the gate, as in `evenkeel_gate_actions_total`',
  added: 'Objects that the cache lacked',
  apiServer: 'URL of the API server',
  attempt: 'Tries so far',
  cause:
    'Why the run was due: `Schedule`, `Request`, `News` of the gate or of free room, or `Again` for ledgers that were missing',
  certificate: 'SHA-256 of the certificate',
  epoch: '`leaseTransitions` of the Lease',
  err: 'The error: type, message, stack and cause',
  from: 'Node that the pod leaves',
  healthPort: 'Port of `/healthz` and `/readyz`',
  graph: 'AppGraph',
  hint: 'PlacementHint',
  holder: 'Identity in the Lease',
  ledger: 'QoSLedger',
  metricsPort: 'Port of `/metrics` and the page',
  moves: 'Number of moves',
  nodeVersion: 'Version of Node',
  notBefore: 'When the move is tried again at the earliest',
  outcome: 'What the run found, as in `status.history` of the policy',
  phase: 'Phase of the plan',
  plan: 'RebalancePlan',
  pod: 'Pod that is moved, or that waits at the gate',
  podUID: 'Its uid',
  policy: 'RebalancePolicy',
  problem: 'What is wrong, in one sentence',
  reason: 'What the move is for, as in `evenkeel_moves_total`',
  removed: 'Objects that the cache had and the API server had not',
  replacement: 'Pod that its controller created instead',
  resource: 'What is listed and watched, such as `pods`',
  result: 'What came of it, in one sentence',
  steering: 'Mode of steering',
  stopped: 'The rule that stopped the plan, as in `status.stopped` of the plan',
  to: 'Planned node',
  unavailableSeconds: 'Service that the move cost',
  updated: 'Objects of which the cache had an old version',
  version: 'Version of Evenkeel',
  webhookPort: 'Port of the webhook',
  why: 'Why the plan has the move',
} as const satisfies Readonly<Record<string, string>>;

type LogField = keyof typeof LOG_FIELDS;

interface LineKind {
  readonly level: LogLevel;
  /** When it is logged, for people. */
  readonly when: string;
  readonly fields: readonly LogField[];
}

const MOVE = ['policy', 'plan', 'pod', 'podUID', 'from', 'to', 'reason', 'result'] as const;
const SERVED = [...MOVE, 'replacement', 'unavailableSeconds'] as const;

/** Every line that the operator logs, by its message. */
export const LOG_LINES = {
  'operator started': {
    level: 'info',
    when: 'The operator serves its ports. It changes nothing before `leading`.',
    fields: ['version', 'nodeVersion', 'apiServer', 'healthPort', 'metricsPort', 'webhookPort', 'certificate'],
  },
  'another replica leads': { level: 'info', when: 'This replica waits for the lease.', fields: ['holder'] },
  leading: {
    level: 'info',
    when: 'This replica has the lease and begins to act. With `--shard-policies`: it leads the rest, ledgers, gates and the policies of QoSDriven.',
    fields: ['epoch'],
  },
  'member joined': {
    level: 'info',
    when: 'This replica shares the work with others (`--shard-policies`).',
    fields: ['holder'],
  },
  'policy led': {
    level: 'info',
    when: 'This replica leads the policy from now on (`--shard-policies`).',
    fields: ['policy'],
  },
  'policy handed over': {
    level: 'info',
    when: 'This replica does not lead the policy any more (`--shard-policies`), or it is gone.',
    fields: ['policy'],
  },
  'shard lost': {
    level: 'error',
    when: 'Somebody else has written the Lease of a policy, or of the rest, that this replica leads. It does nothing more for it.',
    fields: ['err'],
  },
  'lease released': { level: 'info', when: 'A leader has stopped, and the next one need not wait.', fields: [] },
  'operator stopped': { level: 'info', when: 'The process ends. Moves in flight stay in the journal.', fields: [] },
  'certificate of /metrics renewed': {
    level: 'info',
    when: '`/metrics` is served with another certificate.',
    fields: ['certificate'],
  },
  'certificate of the webhook renewed': {
    level: 'info',
    when: 'The webhook is served with another certificate.',
    fields: ['certificate'],
  },

  'run finished': {
    level: 'info',
    when: 'A run came to a result, which is in `status.history` of the policy. A run between two scheduled ones that changes nothing is not logged.',
    fields: ['policy', 'cause', 'outcome', 'moves', 'plan', 'result'],
  },
  'run postponed': {
    level: 'info',
    when: 'A run is due and waits for newer samples. It is tried again every few seconds and logged once.',
    fields: ['policy', 'cause', 'result'],
  },
  'plan computed': {
    level: 'info',
    when: 'A plan was stored. In phase `Executing` its moves begin at once.',
    fields: ['policy', 'plan', 'phase', 'moves', 'steering', 'result'],
  },
  'plan approved': {
    level: 'info',
    when: 'A person has approved the plan, and its moves begin.',
    fields: ['policy', 'plan', 'moves', 'steering'],
  },
  'plan stopped': {
    level: 'info',
    when: 'A rule lets no further move of the plan begin.',
    fields: ['policy', 'plan', 'stopped', 'result'],
  },
  'plan finished': {
    level: 'info',
    when: 'All moves of the plan have ended, or a later plan replaces it.',
    fields: ['policy', 'plan', 'phase', 'result'],
  },
  'plan deleted': {
    level: 'info',
    when: 'The plan is older than `historyLimit`, or its policy is gone.',
    fields: ['policy', 'plan'],
  },

  'pod evicted': {
    level: 'info',
    when: 'The API server has accepted the eviction, or the pod was found to be gone after an eviction without an answer.',
    fields: [...MOVE, 'why'],
  },
  'eviction unanswered': {
    level: 'info',
    when: 'The eviction was sent, and its answer was lost. The operator looks at the pod until it knows more.',
    fields: [...MOVE, 'why'],
  },
  'move postponed': {
    level: 'info',
    when: 'A PodDisruptionBudget or a check refuses the move for now.',
    fields: [...MOVE, 'attempt', 'notBefore'],
  },
  'move landed': { level: 'info', when: 'The replacement serves on the planned node.', fields: SERVED },
  'move missed': { level: 'info', when: 'The replacement serves on another node.', fields: SERVED },
  'move vacated': { level: 'info', when: 'The pod is gone, and nothing is to take its place.', fields: MOVE },
  'move skipped': { level: 'info', when: 'The pod stays: the move is not possible any more.', fields: MOVE },
  'move aborted': { level: 'info', when: 'The plan was stopped or replaced before the move began.', fields: MOVE },
  'move failed': { level: 'warn', when: 'The replacement does not serve.', fields: SERVED },
  'gate opened': {
    level: 'info',
    when: 'A pod at the gate `evenkeel.dev/qos` may be scheduled. Without a plan, no move waits for it.',
    fields: ['policy', 'plan', 'pod', 'podUID', 'to', 'action', 'result'],
  },
  'pod released': {
    level: 'info',
    when: 'A pod that waited for a node without room was evicted before it ran. Its controller creates another one.',
    fields: ['policy', 'plan', 'pod', 'podUID', 'to', 'result'],
  },

  'write conflict': {
    level: 'info',
    when: 'Another client changed the object first. It is read again.',
    fields: ['policy', 'ledger', 'problem'],
  },
  'request failed': {
    level: 'warn',
    when: 'A request to the API server failed, and the operator goes on: an event was lost, or a watch broke.',
    fields: ['problem'],
  },
  'serving problem': {
    level: 'warn',
    when: 'A connection, a certificate or an access check of a served port failed.',
    fields: ['problem'],
  },
  'list or watch failed': {
    level: 'warn',
    when: 'A cache cannot be kept current. It is tried again with increasing waits.',
    fields: ['resource', 'err'],
  },
  'caches not filled': {
    level: 'warn',
    when: 'Ten seconds after the start, objects are still missing. Nothing is planned without them.',
    fields: ['err'],
  },
  'cache drifted': {
    level: 'warn',
    when: 'The hourly audit found a cache wrong and corrected it.',
    fields: ['resource', 'added', 'updated', 'removed'],
  },
  'lease request failed': { level: 'warn', when: 'The lease was not reached. It is tried again.', fields: ['err'] },
  'leadership lost': {
    level: 'error',
    when: 'The lease was not renewed in time, or another replica has it. The process ends.',
    fields: ['err'],
  },
  'page incomplete': { level: 'warn', when: 'A part of the page cannot be read.', fields: ['err'] },
  'ServiceClass not valid': { level: 'warn', when: 'A ServiceClass cannot be read.', fields: ['problem'] },
  'object not counted': {
    level: 'warn',
    when: 'Ledgers do without an object that cannot be read.',
    fields: ['problem'],
  },
  'ledger not readable': {
    level: 'warn',
    when: 'A QoSLedger cannot be read. It begins anew.',
    fields: ['ledger', 'problem'],
  },
  'ledger not written': {
    level: 'error',
    when: 'A QoSLedger was not stored. It is tried again.',
    fields: ['ledger', 'err'],
  },
  'graph status not stored': {
    level: 'warn',
    when: 'What a run found of the traffic of an AppGraph was not stored in its status. The next run tries again.',
    fields: ['policy', 'graph', 'err'],
  },
  'ledgers failed': { level: 'error', when: 'No ledger can be kept. It is tried again.', fields: ['err'] },
  'journal not stored': {
    level: 'warn',
    when: 'At the end, notes about moves were lost. The next leader finds them out by looking.',
    fields: ['err'],
  },
  'hints not listed': { level: 'error', when: 'Left-over PlacementHints cannot be looked for.', fields: ['err'] },
  'hint remains': {
    level: 'error',
    when: 'A left-over PlacementHint cannot be deleted and goes on steering pods.',
    fields: ['hint', 'problem'],
  },
  'gates failed': { level: 'error', when: 'Gates cannot be looked at or opened. It is tried again.', fields: ['err'] },
  'policy failed': {
    level: 'error',
    when: 'A run, a sample or a plan of the policy failed. The condition `Degraded` has the reason.',
    fields: ['policy', 'err'],
  },
  'plan failed': {
    level: 'error',
    when: 'A plan whose policy is gone cannot be brought to its end. It is tried again.',
    fields: ['policy', 'plan', 'err'],
  },
  'pass failed': { level: 'error', when: 'Policies or plans cannot be read. It is tried again.', fields: ['err'] },
} as const satisfies Readonly<Record<string, LineKind>>;

/** The message of a log line. */
export type LogLine = keyof typeof LOG_LINES;

/** The fields that a line has; those that are undefined are left out. */
export type FieldsOf<Line extends LogLine> = {
  readonly [Field in (typeof LOG_LINES)[Line]['fields'][number]]: Field extends 'err'
    ? unknown
    : string | number | undefined;
};

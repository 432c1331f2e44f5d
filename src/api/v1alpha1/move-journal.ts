import Type, { type Static } from 'typebox';
import { MAX_MOVES, MoveStatus, MoveSummary } from './rebalance-plan.ts';
import { CEL_KEYWORD, column, type KindDefinition, type Resource, text } from './schema.ts';

/** `spec` of a MoveJournal. */
export const MoveJournalSpec = Type.Object(
  {
    sequence: Type.Integer({ format: 'int64', minimum: 0, description: 'Counts the writes of the journal.' }),
    base: Type.Integer({
      format: 'int64',
      minimum: 0,
      description: 'status.journal.sequence of the plan that the moves are changes of, or of a later one.',
    }),
    moves: Type.Array(MoveStatus, {
      maxItems: MAX_MOVES,
      description: 'Moves that have changed since then, as they are now.',
      'x-kubernetes-list-type': 'atomic',
    }),
    stopped: Type.Optional(text(64, { description: 'Which rule has stopped the plan.' })),
    summary: Type.Optional(MoveSummary),
  },
  {
    description: 'What the status of the plan does not say yet. It counts while sequence is above that of the plan.',
    [CEL_KEYWORD]: [
      { rule: 'self.base <= self.sequence', message: 'base is a sequence of the past: write none above sequence' },
      {
        rule: 'self.sequence >= oldSelf.sequence',
        message: 'a journal only goes on: write a sequence that is not below the one before',
      },
    ],
  },
);

/** `spec` of a MoveJournal. */
export type MoveJournalSpec = Static<typeof MoveJournalSpec>;
/** A MoveJournal. */
export type MoveJournal = Resource<'MoveJournal', MoveJournalSpec, never>;

/** What the CRD says about MoveJournal. */
export const moveJournalKind: KindDefinition = {
  kind: 'MoveJournal',
  plural: 'movejournals',
  shortNames: ['mjrn'],
  scope: 'Cluster',
  description:
    'MoveJournal has the moves of the executing RebalancePlan of the same name that have changed since its status was written. Made and removed by the operator.',
  columns: [
    column('Moves', 'integer', '.spec.summary.total', 'Moves of the plan.'),
    column('Done', 'integer', '.spec.summary.done', 'Ended.'),
    column('Landed', 'integer', '.spec.summary.landed', 'As planned.'),
    column('Age', 'date', '.metadata.creationTimestamp', 'Age.'),
  ],
  spec: MoveJournalSpec,
  status: undefined,
};

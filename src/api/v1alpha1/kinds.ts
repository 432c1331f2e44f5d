import { appGraphKind } from './app-graph.ts';
import { moveJournalKind } from './move-journal.ts';
import { placementHintKind } from './placement-hint.ts';
import { qosLedgerKind } from './qos-ledger.ts';
import { rebalancePlanKind } from './rebalance-plan.ts';
import { rebalancePolicyKind } from './rebalance-policy.ts';
import type { KindDefinition } from './schema.ts';
import { serviceClassKind } from './service-class.ts';

/** All our kinds: the one list that CRDs, validators and documentation are made from. */
export const KINDS: readonly KindDefinition[] = [
  rebalancePolicyKind,
  rebalancePlanKind,
  moveJournalKind,
  serviceClassKind,
  qosLedgerKind,
  placementHintKind,
  appGraphKind,
];

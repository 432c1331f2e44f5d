import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { failedAdmissions } from '../execute/failed-admissions.ts';
import { pastMovesOf } from '../observe/project/past-moves.ts';
import { hitRatio } from '../report/hit-ratio.ts';
import { preemptionsOf } from './ledgers.ts';
import { hasEvicted } from './retention.ts';

/** Works out what every pass asks of a plan that has ended, so that its moves need not be unpacked for it (packed-plan.ts). */
export function digestEnded(plan: RebalancePlan): void {
  pastMovesOf([plan]);
  failedAdmissions(plan);
  hitRatio([plan]);
  preemptionsOf(plan);
  hasEvicted(plan);
}

import type { PodInfo } from '../../model/pod.ts';
import { type EpochSeconds, elapsed } from '../../model/units.ts';
import { inSeconds } from '../format.ts';
import { itemAt } from '../indices.ts';
import type { LifetimeRepair } from '../options.ts';
import { moveEach, type RepairRule } from './rule.ts';
import { stateNote } from './states.ts';
import { movesUnready } from './unready.ts';

/** Pods older than `age` in one of the states, the oldest first. */
export function maxLifetimeRule(repair: LifetimeRepair): RepairRule {
  const rule: RepairRule = {
    name: 'MaxLifetime',
    endsAnywhere: true,
    ofNodeAlone: true,
    movesUnready: movesUnready('MaxLifetime', { maxLifetime: repair }),
    clauseOf: ({ where, now }, pod) => lifetimeClause(itemAt(where.sites.pods, pod), repair, now),
    repair: (run, suspects) => {
      const { pods } = run.state.cluster;
      const oldest = suspects.toSorted(
        (left, right) => itemAt(pods, left).createdAt - itemAt(pods, right).createdAt || left - right,
      );
      moveEach(run, rule, oldest, () => ({}));
    },
  };
  return rule;
}

/** Why a pod has existed for too long, as a clause; `undefined`: it has not. */
export function lifetimeClause(pod: PodInfo, repair: LifetimeRepair, now: EpochSeconds): string | undefined {
  const lived = elapsed(pod.createdAt, now);
  const note = lived > repair.age ? stateNote(pod, repair) : undefined;
  return note === undefined
    ? undefined
    : `${inSeconds(Math.round(lived))} old${note}, repair.maxLifetime.age is ${inSeconds(repair.age)}`;
}

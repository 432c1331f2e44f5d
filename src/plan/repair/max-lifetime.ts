import { elapsed, type Seconds } from '../../model/units.ts';
import { inSeconds } from '../format.ts';
import { itemAt } from '../indices.ts';
import { moveEach, type RepairRule } from './rule.ts';

/** Pods older than `age`, the oldest first. */
export function maxLifetimeRule(age: Seconds): RepairRule {
  const rule: RepairRule = {
    name: 'MaxLifetime',
    endsAnywhere: true,
    movesUnready: false,
    clauseOf: ({ where, now }, pod) => {
      const lived = elapsed(itemAt(where.sites.pods, pod).createdAt, now);
      return lived > age
        ? `${inSeconds(Math.round(lived))} old, repair.maxLifetime.age is ${inSeconds(age)}`
        : undefined;
    },
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

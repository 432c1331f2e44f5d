import { count } from '../format.ts';
import { itemAt } from '../indices.ts';
import { moveEach, type RepairRule } from './rule.ts';

/** Pods whose containers were started anew `atLeast` times: most are not Ready, and are moved all the same. */
export function restartsRule({
  atLeast,
  includingInit,
}: {
  readonly atLeast: number;
  readonly includingInit: boolean;
}): RepairRule {
  const rule: RepairRule = {
    name: 'Restarts',
    endsAnywhere: true,
    movesUnready: true,
    clauseOf: ({ where }, pod) => {
      const { restarts, initRestarts } = itemAt(where.sites.pods, pod);
      const all = restarts + (includingInit ? initRestarts : 0);
      return all < atLeast ? undefined : `${count(all, 'restart')}, repair.restarts.atLeast is ${atLeast}`;
    },
    repair: (run, suspects) => moveEach(run, rule, suspects, () => ({})),
  };
  return rule;
}

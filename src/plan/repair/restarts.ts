import { count } from '../format.ts';
import { itemAt } from '../indices.ts';
import type { RestartsRepair } from '../options.ts';
import { moveEach, type RepairRule } from './rule.ts';
import { stateNote } from './states.ts';

/** Pods in one of the states whose containers were started anew `atLeast` times: most are not Ready, and are moved all the same. */
export function restartsRule(repair: RestartsRepair): RepairRule {
  const { atLeast, includingInit } = repair;
  const rule: RepairRule = {
    name: 'Restarts',
    endsAnywhere: true,
    ofNodeAlone: true,
    movesUnready: true,
    clauseOf: ({ where }, pod) => {
      const info = itemAt(where.sites.pods, pod);
      const all = info.restarts + (includingInit ? info.initRestarts : 0);
      const note = all < atLeast ? undefined : stateNote(info, repair);
      return note === undefined ? undefined : `${count(all, 'restart')}${note}, repair.restarts.atLeast is ${atLeast}`;
    },
    repair: (run, suspects) => moveEach(run, rule, suspects, () => ({})),
  };
  return rule;
}

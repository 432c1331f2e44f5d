import type { AddCommand } from '../command.ts';
import { addApply } from './apply.ts';
import { addApprove } from './approve.ts';
import { addCompletion } from './completion.ts';
import { addDashboard } from './dashboard.ts';
import { addDiff } from './diff.ts';
import { addExplain } from './explain.ts';
import { addHistory } from './history.ts';
import { addImport } from './import.ts';
import { addLint } from './lint.ts';
import { addOperator } from './operator.ts';
import { addPlan } from './plan.ts';
import { addSimulate } from './simulate.ts';
import { addSnapshot } from './snapshot.ts';
import { addStop } from './stop.ts';
import { addTop } from './top.ts';
import { addVersion } from './version.ts';

/** Every command, in the order of the help. To add one, write its file in this folder and a line here. */
export const COMMANDS: readonly AddCommand[] = [
  addPlan,
  addDiff,
  addExplain,
  addTop,
  addSimulate,
  addSnapshot,
  addLint,
  addImport,
  addApply,
  addApprove,
  addStop,
  addHistory,
  addDashboard,
  addOperator,
  addCompletion,
  addVersion,
];

import type { AddCommand } from '../command.ts';
import { addApply } from './apply.ts';
import { addApprove } from './approve.ts';
import { addExplain } from './explain.ts';
import { addHistory } from './history.ts';
import { addImport } from './import.ts';
import { addLint } from './lint.ts';
import { addOperator } from './operator.ts';
import { addPlan } from './plan.ts';
import { addSimulate } from './simulate.ts';
import { addSnapshot } from './snapshot.ts';
import { addStop } from './stop.ts';
import { addVersion } from './version.ts';

/** Every command, in the order of the help. To add one, write its file in this folder and a line here. */
export const COMMANDS: readonly AddCommand[] = [
  addPlan,
  addExplain,
  addSimulate,
  addSnapshot,
  addLint,
  addImport,
  addApply,
  addApprove,
  addStop,
  addHistory,
  addOperator,
  addVersion,
];

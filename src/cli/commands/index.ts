import { Command } from 'commander';
import type { AddCommand, CommandContext } from '../command.ts';
import { harmless } from '../screen.ts';
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
import { addRun } from './run.ts';
import { addSimulate } from './simulate.ts';
import { addSnapshot } from './snapshot.ts';
import { addStop } from './stop.ts';
import { addTop } from './top.ts';
import { addVersion } from './version.ts';

/** Every command, in the order of the help. To add one, write its file in this folder and a line here. */
const COMMANDS: readonly AddCommand[] = [
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
  addRun,
  addStop,
  addHistory,
  addDashboard,
  addOperator,
  addCompletion,
  addVersion,
];

const EXIT_CODES = `
Exit codes: 0 done, 1 error; with --exit-code 2 moves are needed, or differ; 3 a --fail-on condition is true; 4 what
--exit-code, --fail-on or a JUnit or SARIF report asks for is unknown: metrics are missing or stale, or no node is Ready.`;

/** The command line with every command declared; nothing runs before it parses. */
export function buildProgram(context: CommandContext): Command {
  const program = new Command('evenkeel')
    .description('Keeps a Kubernetes cluster on an even keel. Also found by kubectl as kubectl evenkeel.')
    .showHelpAfterError('(evenkeel --help and evenkeel COMMAND --help list what there is)')
    .addHelpText('after', EXIT_CODES)
    .enablePositionalOptions()
    .configureOutput({ outputError: (text, write) => write(harmless(text)) })
    .exitOverride();
  for (const add of COMMANDS) {
    add(program, context);
  }
  return program;
}

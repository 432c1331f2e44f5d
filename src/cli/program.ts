import { Command } from 'commander';
import type { CommandContext } from './command.ts';
import { COMMANDS } from './commands/index.ts';

const EXIT_CODES = `
Exit codes: 0 done, 1 error; with --exit-code 2 moves are needed, or differ, and 4 the input is stale or incomplete;
3 what --fail-on names holds.`;

/** The command line with every command declared; nothing runs before it parses. */
export function buildProgram(context: CommandContext): Command {
  const program = new Command('evenkeel')
    .description('Keeps a Kubernetes cluster on an even keel. Also found by kubectl as kubectl evenkeel.')
    .showHelpAfterError('(evenkeel --help and evenkeel COMMAND --help list what there is)')
    .addHelpText('after', EXIT_CODES)
    .enablePositionalOptions()
    .exitOverride();
  for (const add of COMMANDS) {
    add(program, context);
  }
  return program;
}

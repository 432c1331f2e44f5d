import { Command, CommanderError } from 'commander';
import { ApiError } from './adapters/kubernetes/api-error.ts';
import { ConnectError } from './adapters/kubernetes/connect-error.ts';
import { InputError } from './adapters/snapshot-file/input-error.ts';
import type { CommandContext, CommandResult } from './cli/command.ts';
import { COMMANDS } from './cli/commands/index.ts';
import { Failure } from './cli/failure.ts';

/** Runs the command line `argv` (without node and script). Resolves to the exit code; prints, never throws for users' mistakes. */
export async function main(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Failure('interrupted', 130));
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  let result: CommandResult = { stdout: '', exitCode: 0 };
  try {
    const program = buildProgram({
      signal: stop.signal,
      print: (produced) => {
        result = produced;
      },
    });
    await program.parseAsync([...argv], { from: 'user' });
    await write(process.stderr, result.stderr ?? '');
    await write(process.stdout, result.stdout);
    return result.exitCode;
  } catch (error) {
    return explain(error);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (text === '') {
      resolve();
    } else {
      stream.write(text, () => resolve());
    }
  });
}

/** One message and an exit code for what went wrong; a bug keeps its stack trace. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : 1;
  }
  if (error instanceof Failure) {
    process.stderr.write(`error: ${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof ApiError && error.kind === 'NotServed' && error.message.includes('evenkeel.dev')) {
    process.stderr.write(`error: ${error.message}: install them with kubectl apply -k deploy/overlays/default\n`);
    return 1;
  }
  if (error instanceof InputError || error instanceof ApiError || error instanceof ConnectError) {
    process.stderr.write(`error: ${error.message}\n`);
    return 1;
  }
  process.stderr.write(
    `evenkeel has a bug; please report this:\n${error instanceof Error ? error.stack : String(error)}\n`,
  );
  return 1;
}

function buildProgram(context: CommandContext): Command {
  const program = new Command('evenkeel')
    .description('Keeps a Kubernetes cluster on an even keel. Also found by kubectl as kubectl evenkeel.')
    .showHelpAfterError('(evenkeel --help and evenkeel COMMAND --help list what there is)')
    .exitOverride();
  for (const add of COMMANDS) {
    add(program, context);
  }
  return program;
}

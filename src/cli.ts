import { CommanderError } from 'commander';
import { ApiError } from './adapters/kubernetes/api-error.ts';
import { ConnectError } from './adapters/kubernetes/connect-error.ts';
import { Failure } from './app/failure.ts';
import type { CommandResult } from './cli/command.ts';
import { buildProgram } from './cli/commands/index.ts';
import { grantCommand } from './cli/grant.ts';
import { screenOf } from './cli/screen.ts';
import { escapeLines, escapeText } from './model/escape.ts';
import { InputError } from './model/input-error.ts';

/** Runs the command line `argv` (without node and script). Resolves to the exit code; prints, never throws for users' mistakes. */
export async function main(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Failure('interrupted', 130));
  endQuietlyWithoutReader(process.stdout);
  endQuietlyWithoutReader(process.stderr);
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  const screen = screenOf(process.stdout, process.stderr);
  let result: CommandResult = { stdout: '', exitCode: 0 };
  try {
    const program = buildProgram({
      signal: stop.signal,
      screen,
      print: (produced) => {
        result = produced;
      },
    });
    await program.parseAsync([...argv], { from: 'user' });
    await screen.writeError(escapeLines(result.stderr ?? ''));
    await screen.write(result.stdout);
    return result.exitCode;
  } catch (error) {
    return explain(error);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

/** Nobody reads on, as behind `| head`: that is no mistake of anybody. */
function endQuietlyWithoutReader(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      throw error;
    }
    process.exit(0);
  });
}

/** One message and an exit code for what went wrong; a bug keeps its stack trace. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : 1;
  }
  if (error instanceof Failure) {
    process.stderr.write(`error: ${escapeLines(error.message)}\n`);
    return error.exitCode;
  }
  if (error instanceof ApiError) {
    const grant = grantCommand(error);
    process.stderr.write(`error: ${escapeText(error.message)}${grant === undefined ? '' : `: ${grant}`}\n`);
    return 1;
  }
  if (error instanceof InputError || error instanceof ConnectError) {
    process.stderr.write(`error: ${escapeText(error.message)}\n`);
    return 1;
  }
  process.stderr.write(
    `evenkeel has a bug; please report this:\n${escapeLines(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`,
  );
  return 1;
}

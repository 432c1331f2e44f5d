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
    const { stderr = '', exitCode } = failureOf(error);
    await screen.writeError(stderr);
    return exitCode;
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
export function failureOf(error: unknown): CommandResult {
  if (error instanceof CommanderError) {
    return { stdout: '', exitCode: error.exitCode === 0 ? 0 : 1 }; // commander has written its message
  }
  if (error instanceof Failure) {
    return failed(error.lines.map(escapeText).join('\n'), error.exitCode);
  }
  if (error instanceof ApiError) {
    const grant = grantCommand(error);
    return failed(`${escapeText(error.message)}${grant === undefined ? '' : `: ${grant}`}`);
  }
  if (error instanceof InputError || error instanceof ConnectError) {
    return failed(escapeText(error.message));
  }
  const trace = escapeLines(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return { stdout: '', stderr: `evenkeel has a bug; please report this:\n${trace}\n`, exitCode: 1 };
}

function failed(message: string, exitCode = 1): CommandResult {
  return { stdout: '', stderr: `error: ${message}\n`, exitCode };
}

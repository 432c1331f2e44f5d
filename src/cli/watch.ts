import { Failure } from '../app/failure.ts';
import { escapeLines } from '../model/escape.ts';
import type { CommandResult } from './command.ts';
import { pause } from './pause.ts';
import type { Screen } from './screen.ts';

const CLEAR = '\u001b[H\u001b[2J\u001b[3J';

/** Whether, and how often, something is shown again. */
export interface WatchFlags {
  readonly watch: boolean;
  /** Seconds between the end of one look and the next. */
  readonly interval: number;
  readonly output: string;
  readonly files: readonly string[];
}

/**
 * What `look` gives once; with -w, shown again and again until interrupted: on a terminal in place of what was there, elsewhere
 * as a further block under a timestamp. A failure of the first look is thrown; later ones are shown, and it goes on.
 */
export async function watched(
  flags: WatchFlags,
  screen: Screen,
  signal: AbortSignal,
  look: () => Promise<CommandResult>,
): Promise<CommandResult> {
  if (!flags.watch) {
    return look();
  }
  if (flags.output !== 'table' && flags.output !== 'wide') {
    throw new Failure(`-w shows tables: write -o table or -o wide, or leave out -w`);
  }
  if (flags.files.includes('-')) {
    throw new Failure(
      '-w looks again and again, but standard input can be read only once: write a file name, or no -f',
    );
  }
  await show(await look(), screen);
  while (await pause(flags.interval, signal)) {
    await show(await lookAgain(look, signal), screen);
  }
  return { stdout: '', exitCode: 0 };
}

async function lookAgain(look: () => Promise<CommandResult>, signal: AbortSignal): Promise<CommandResult> {
  try {
    return await look();
  } catch (error) {
    const message = signal.aborted ? '' : `error: ${error instanceof Error ? error.message : String(error)}\n`;
    return { stdout: '', stderr: message, exitCode: 0 };
  }
}

async function show({ stdout, stderr = '' }: CommandResult, screen: Screen): Promise<void> {
  const head = screen.isTerminal ? CLEAR : `--- ${new Date().toISOString()}\n`;
  await screen.write(stdout === '' ? '' : `${head}${stdout}`);
  await screen.writeError(escapeLines(stderr));
}

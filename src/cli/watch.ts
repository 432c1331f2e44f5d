import { Failure } from '../app/failure.ts';
import { escapeLines } from '../model/escape.ts';
import type { CommandResult } from './command.ts';
import { pause } from './pause.ts';
import type { Screen } from './screen.ts';

/** The second buffer of a terminal, which leaves the first one and what was scrolled out of it as they are. */
const ENTER = '\u001b[?1049h';
const LEAVE = '\u001b[?1049l';
const CLEAR = '\u001b[H\u001b[2J';

/** Whether, and how often, something is shown again. */
export interface WatchFlags {
  readonly watch: boolean;
  /** Seconds between the end of one look and the next. */
  readonly interval: number;
  readonly output: string;
  readonly files: readonly string[];
}

/**
 * What `look` gives once; with -w, shown again and again until interrupted, each time under the time of the look: on a terminal in
 * its second buffer, with the last look printed at the end; elsewhere as a further block. A failure of the first look is thrown;
 * later ones are shown, and it goes on.
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
  let last = stamped(await look(), screen);
  const { isTerminal } = screen;
  await screen.write(isTerminal ? ENTER : '');
  try {
    await show(last, screen);
    while (await pause(flags.interval, signal)) {
      last = stamped(await lookAgain(look, signal), screen, last);
      await show(last, screen);
    }
  } finally {
    await screen.write(isTerminal ? LEAVE : '');
  }
  return isTerminal ? last : { stdout: '', exitCode: 0 };
}

async function lookAgain(look: () => Promise<CommandResult>, signal: AbortSignal): Promise<CommandResult> {
  try {
    return await look();
  } catch (error) {
    const message = signal.aborted ? '' : `error: ${error instanceof Error ? error.message : String(error)}\n`;
    return { stdout: '', stderr: message, exitCode: 0 };
  }
}

/** The look under its time; one that failed on a terminal leaves there what the one before it showed. */
function stamped(result: CommandResult, { isTerminal }: Screen, last?: CommandResult): CommandResult {
  if (result.stdout === '') {
    return isTerminal && last !== undefined ? { ...result, stdout: last.stdout } : result;
  }
  return { ...result, stdout: `--- ${new Date().toISOString()}\n${result.stdout}` };
}

async function show({ stdout, stderr = '' }: CommandResult, screen: Screen): Promise<void> {
  await screen.write(screen.isTerminal ? `${CLEAR}${toRows(stdout, screen.rows)}` : stdout);
  await screen.writeError(escapeLines(stderr));
}

/** The first lines, as many as the terminal has room for above a last one that counts the others. */
function toRows(text: string, rows: number | undefined): string {
  const lines = text.trimEnd().split('\n');
  if (rows === undefined || lines.length < rows) {
    return text;
  }
  const shown = lines.slice(0, Math.max(1, rows - 2));
  return `${shown.join('\n')}\n... ${lines.length - shown.length} more lines\n`;
}

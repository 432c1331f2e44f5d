import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { escapeLines } from '../model/escape.ts';
import type { Look, Tone } from '../report/table.ts';

/** Where output goes, as far as it matters to how it looks. */
export interface Screen {
  /** Whether a person looks at standard output. */
  readonly isTerminal: boolean;
  readonly look: Look;
  /** Lines of the terminal; `undefined` elsewhere. */
  readonly rows?: number | undefined;
  /** Whether a person looks at standard error, where progress is shown. */
  readonly showsProgress: boolean;
  readonly write: (text: string) => Promise<void>;
  readonly writeError: (text: string) => Promise<void>;
}

const STYLES = {
  heading: 'bold',
  good: 'green',
  bad: 'red',
  notice: 'yellow',
  quiet: 'dim',
} as const satisfies Record<Tone, string>;

type Stream = NodeJS.WriteStream & Pick<Partial<WriteStream>, 'columns' | 'rows'>;

/**
 * What these streams are. Colours as NO_COLOR and FORCE_COLOR ask for, else on terminals alone; tables are cut to the width of
 * a terminal, and never in a file.
 */
export function screenOf(stdout: Stream, stderr: Stream): Screen {
  return {
    isTerminal: stdout.isTTY === true,
    look: {
      columns: stdout.isTTY === true ? stdout.columns : undefined,
      paint: (tone, text) => styleText(STYLES[tone], text, { stream: stdout, validateStream: true }),
    },
    rows: stdout.isTTY === true ? stdout.rows : undefined,
    showsProgress: stderr.isTTY === true,
    write: (text) => writeTo(stdout, text),
    writeError: (text) => writeTo(stderr, text),
  };
}

function writeTo(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (text === '') {
      resolve();
    } else {
      stream.write(text, () => resolve());
    }
  });
}

/** Lines that quote what users have written, without what a terminal acts on. */
export function harmless(text: string): string {
  return escapeLines(text);
}

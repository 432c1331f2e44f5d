import { escapeMarkdown, escapeText } from '../model/escape.ts';

/** Says what a cell means; `undefined`: nothing in particular. */
export type ToneOf = (column: string, cell: string) => Tone | undefined;

const NO_TONES: ToneOf = () => undefined;
const GAP = '  ';

/**
 * Rows as text with aligned columns, two spaces apart; numbers (columns named in `right`) to the right. Where the look is narrower,
 * cells of text and headings wrap; where even that is too wide, every row becomes a list of its cells. Nothing is cut off.
 */
export function renderTable(
  header: readonly string[],
  content: readonly (readonly string[])[],
  right: ReadonlySet<string> = new Set(),
  look: Look = PLAIN,
  toneOf: ToneOf = NO_TONES,
): string {
  const rows = content.map((cells) => cells.map(escapeText));
  const widths = fittingWidths(header, rows, right, look.columns);
  if (widths === undefined) {
    return records(header, rows, look);
  }
  const lines = (cells: readonly string[], toneFor: ToneOf): readonly string[] => {
    const wrapped = header.map((_name, column) => wrap(cells[column] ?? '', widths[column] ?? 0));
    const height = Math.max(...wrapped.map(({ length }) => length));
    return Array.from({ length: height }, (_, index) => {
      const padded = header.map((name, column) => {
        const cell = wrapped[column]?.[index] ?? '';
        const width = widths[column] ?? 0;
        return right.has(name) ? cell.padStart(width) : cell.padEnd(width);
      });
      return trimmedEnd(padded)
        .map((text, column) => painted(text, toneFor(header[column] ?? '', (cells[column] ?? '').trim()), look))
        .join(GAP);
    });
  };
  return [lines(header, () => 'heading'), ...rows.map((row) => lines(row, toneOf))].flat().join('\n');
}

/** Cells without spaces at the end of the line. */
function trimmedEnd(cells: readonly string[]): readonly string[] {
  const last = cells.findLastIndex((cell) => cell.trim() !== '');
  return cells.slice(0, last + 1).map((cell, column) => (column === last ? cell.trimEnd() : cell));
}

/** Text is not made narrower than that, since a word a line is hard to read. */
const NARROWEST_TEXT = 10;

/** Widths of the columns, the widest texts made narrower until a line fits; `undefined` when it cannot fit. */
function fittingWidths(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  right: ReadonlySet<string>,
  columns: number | undefined,
): readonly number[] | undefined {
  const longest = (column: number): number => rows.reduce((most, row) => Math.max(most, (row[column] ?? '').length), 0);
  const widths = header.map((name, column) => Math.max(name.length, longest(column)));
  const least = header.map((name, column) => {
    const word = Math.max(...name.split(' ').map(({ length }) => length));
    return Math.max(word, right.has(name) ? longest(column) : Math.min(longest(column), NARROWEST_TEXT));
  });
  const room = (columns ?? Number.POSITIVE_INFINITY) - GAP.length * (header.length - 1);
  for (let total = widths.reduce((sum, width) => sum + width, 0); total > room; total--) {
    const slack = widths.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const widest = slack.indexOf(Math.max(...slack));
    if (slack[widest] === 0) {
      return undefined;
    }
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** Every row as a block of `COLUMN: cell`. */
function records(header: readonly string[], rows: readonly (readonly string[])[], look: Look): string {
  const blocks = rows.map((row) =>
    header
      .flatMap((name, column) => wrap(`${name}: ${row[column] ?? ''}`, look.columns ?? Number.POSITIVE_INFINITY))
      .join('\n'),
  );
  return blocks.join('\n\n');
}

/** Where a line may end: after a space, after what joins the parts of a name, and inside of CamelCase. */
const PARTS = /(?<=[ /,;:_-])|(?<=[a-z])(?=[A-Z])/;

/** The text in lines of at most `width`, at least one character each. */
function wrap(text: string, width: number): readonly string[] {
  const most = Math.max(1, width);
  if (text.length <= most) {
    return [text];
  }
  const lines: string[] = [];
  let line = '';
  for (const part of text.split(PARTS)) {
    if (line !== '' && `${line}${part}`.trimEnd().length > most) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += part;
    while (line.trimEnd().length > most) {
      lines.push(line.slice(0, most));
      line = line.slice(most);
    }
  }
  return line.trimEnd() === '' ? lines : [...lines, line.trimEnd()];
}

function painted(text: string, tone: Tone | undefined, { paint }: Look): string {
  return tone === undefined || text === '' ? text : paint(tone, text);
}

/** Rows as a Markdown table; what cells say is text, whatever Markdown would make of it. */
export function renderMarkdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** What a piece of text means, for those who show it in colours. */
export type Tone = 'heading' | 'good' | 'bad' | 'notice' | 'quiet';

/** How text is shown: how wide it may be, and in which colours. */
export interface Look {
  /** Characters of a line of a table; `undefined`: as long as it is. */
  readonly columns: number | undefined;
  readonly paint: (tone: Tone, text: string) => string;
}

/** As files and other programs get it: whole and without colours. */
export const PLAIN: Look = { columns: undefined, paint: (_tone, text) => text };

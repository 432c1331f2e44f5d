import { escapeMarkdown, escapeText } from '../model/escape.ts';
import { wordsOf, wrap } from './wrap.ts';

/** Header and rows of a table. */
export type Table = readonly [header: readonly string[], rows: readonly (readonly string[])[]];

/** Says what a cell means; `undefined`: nothing in particular. */
export type ToneOf = (column: string, cell: string) => Tone | undefined;

const NO_TONES: ToneOf = () => undefined;
const GAP = '  ';

/**
 * Rows as text with aligned columns, two spaces apart; numbers (columns named in `right`) to the right. Where the look is narrower,
 * headings wrap, then cells of text; where even that is too wide, every row becomes a list of its cells. Nothing is cut off.
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

/** Widths of the columns, headings made narrower first and then the widest texts; `undefined` when no line can fit. */
function fittingWidths(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  right: ReadonlySet<string>,
  columns: number | undefined,
): readonly number[] | undefined {
  const longest = header.map((_name, column) =>
    rows.reduce((most, row) => Math.max(most, (row[column] ?? '').length), 0),
  );
  const word = header.map((name) => Math.max(...wordsOf(name).map((each) => each.trimEnd().length)));
  const atLeast = (widths: readonly number[], others: readonly number[]): readonly number[] =>
    widths.map((width, column) => Math.max(width, others[column] ?? 0));
  const whole = atLeast(
    longest,
    header.map(({ length }) => length),
  );
  const contents = atLeast(longest, word);
  const least = atLeast(
    longest.map((width, column) => (right.has(header[column] ?? '') ? width : Math.min(width, NARROWEST_TEXT))),
    word,
  );
  const room = (columns ?? Number.POSITIVE_INFINITY) - GAP.length * (header.length - 1);
  const widths = narrowed(narrowed(whole, contents, room), least, room);
  return sum(widths) > room ? undefined : widths;
}

/** The widths with the widest made narrower, none below its least, until together they fit into the room or no more can be done. */
function narrowed(widths: readonly number[], least: readonly number[], room: number): readonly number[] {
  const result = [...widths];
  for (let total = sum(result); total > room; total--) {
    const slack = result.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const widest = slack.indexOf(Math.max(...slack));
    if (slack[widest] === 0) {
      break;
    }
    result[widest] = (result[widest] ?? 0) - 1;
  }
  return result;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
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

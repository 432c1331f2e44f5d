import { escapeMarkdown, escapeText } from '../model/escape.ts';

/** Says what a cell means; `undefined`: nothing in particular. */
export type ToneOf = (column: string, cell: string) => Tone | undefined;

const NO_TONES: ToneOf = () => undefined;
const GAP = '  ';

/**
 * Rows as text with aligned columns, two spaces apart; numbers (columns named in `right`) to the right. Lines longer than the
 * look allows end in an ellipsis.
 */
export function renderTable(
  header: readonly string[],
  content: readonly (readonly string[])[],
  right: ReadonlySet<string> = new Set(),
  look: Look = PLAIN,
  toneOf: ToneOf = NO_TONES,
): string {
  const rows = content.map((cells) => cells.map(escapeText));
  const widths = header.map((name, column) =>
    rows.reduce((most, row) => Math.max(most, (row[column] ?? '').length), name.length),
  );
  const padded = (cells: readonly string[]): readonly string[] =>
    trimmedEnd(
      header.map((name, column) => {
        const cell = cells[column] ?? '';
        const width = widths[column] ?? 0;
        return right.has(name) ? cell.padStart(width) : cell.padEnd(width);
      }),
    );
  const line = (cells: readonly string[], tones: (column: string, cell: string) => Tone | undefined): string =>
    cut(padded(cells), look.columns)
      .map((text, column) => painted(text, tones(header[column] ?? '', text.trim()), look))
      .join(GAP);
  return [line(header, () => 'heading'), ...rows.map((row) => line(row, toneOf))].join('\n');
}

/** Cells without spaces at the end of the line. */
function trimmedEnd(cells: readonly string[]): readonly string[] {
  const last = cells.findLastIndex((cell) => cell.trim() !== '');
  return cells.slice(0, last + 1).map((cell, column) => (column === last ? cell.trimEnd() : cell));
}

/** The cells of a line that fit into so many columns, the last of them with an ellipsis where something was cut. */
function cut(cells: readonly string[], columns: number | undefined): readonly string[] {
  const whole = cells.reduce((sum, cell) => sum + cell.length, GAP.length * Math.max(0, cells.length - 1));
  if (columns === undefined || whole <= columns) {
    return cells;
  }
  const kept: string[] = [];
  let room = Math.max(1, columns);
  for (const cell of cells) {
    if (cell.length + GAP.length >= room) {
      return [...kept, `${cell.slice(0, room - 1)}…`];
    }
    kept.push(cell);
    room -= cell.length + GAP.length;
  }
  return kept;
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

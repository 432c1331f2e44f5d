/** Colours that can be told apart on white and on dark pages, and by readers who do not tell red from green. */
export const COLOURS = ['#0072b2', '#d55e00', '#009e73'] as const;
/** Grey that can be read on white and on dark pages. */
const INK = '#7d8590';

/** What a text of a picture looks like. */
export interface TextLook {
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly size?: number;
  readonly bold?: boolean;
  readonly colour?: string;
}

/** A whole picture in SVG with a transparent ground; `label` says what is to be seen to those who cannot see it. */
export function picture(width: number, height: number, label: string, parts: readonly string[]): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${escaped(label)}">`;
  const font = `<g font-family="system-ui, sans-serif" font-size="13" fill="${INK}">`;
  return `${head}\n<title>${escaped(label)}</title>\n${font}\n${parts.join('\n')}\n</g>\n</svg>\n`;
}

/** Text with its base line at y. */
export function text(x: number, y: number, content: string, look: TextLook = {}): string {
  const { anchor = 'start', size, bold = false, colour } = look;
  const more = [
    size === undefined ? '' : ` font-size="${size}"`,
    bold ? ' font-weight="600"' : '',
    colour === undefined ? '' : ` fill="${colour}"`,
  ].join('');
  return `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}"${more}>${escaped(content)}</text>`;
}

/** A filled rectangle. */
export function bar(x: number, y: number, width: number, height: number, colour: string, opacity = 1): string {
  const faint = opacity === 1 ? '' : ` fill-opacity="${opacity}"`;
  return `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" rx="2" fill="${colour}"${faint}/>`;
}

/** The outline of a box with a name in it, centred at x, y. */
export function box(x: number, y: number, width: number, name: string, colour = INK): string {
  const outline = `<rect x="${at(x - width / 2)}" y="${at(y - 16)}" width="${at(width)}" height="32" rx="6" fill="none" stroke="${colour}" stroke-width="1.5"/>`;
  return `${outline}\n${text(x, y + 4.5, name, { anchor: 'middle', colour })}`;
}

/** A line along an SVG path. */
export function line(path: string, { colour = INK, width = 1.2, dashed = false, arrow = false } = {}): string {
  const more = `${dashed ? ' stroke-dasharray="4 3"' : ''}${arrow ? ' marker-end="url(#arrow)"' : ''}`;
  return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width}"${more}/>`;
}

/** The head of arrows, which a picture with arrows has to begin with. */
export const ARROW_HEAD = `<defs><marker id="arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="${INK}"/></marker></defs>`;

/** A coordinate with one decimal at most. */
export function at(value: number): string {
  return String(Number(value.toFixed(1)));
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

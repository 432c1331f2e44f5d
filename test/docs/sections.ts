/** The text of a section up to the next heading of the same depth or above. */
export function sectionOf(text: string, depth: number, heading: string): string {
  const [, rest = ''] = text.split(`\n${'#'.repeat(depth)} ${heading}\n`);
  return rest.split(new RegExp(`\n#{1,${depth}} `))[0] ?? '';
}

/** What the first column of the tables of a section names in backticks. */
export function firstCells(section: string): readonly string[] {
  return [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, cell = '']) => cell);
}

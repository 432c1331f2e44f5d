/** Where a line may end: after a space, but not between a number and its percent sign. */
const WORDS = /(?<= )(?!%)/;
/** Where a word that is longer than a line may end: after what joins the parts of a name, and inside of CamelCase. */
const PARTS = /(?<=[ /,;:_-])|(?<=[a-z])(?=[A-Z])/;

/** The words of a text, each with the space that follows it. */
export function wordsOf(text: string): readonly string[] {
  return text.split(WORDS);
}

/**
 * The text in lines of at most `width` characters, at least one character each. Only a word that is longer than a line is broken,
 * so that names stay whole.
 */
export function wrap(text: string, width: number): readonly string[] {
  const most = Math.max(1, width);
  const fits = (line: string): boolean => line.trimEnd().length <= most;
  const lines: string[] = [];
  let line = '';
  const add = (part: string): void => {
    if (line !== '' && !fits(`${line}${part}`)) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += part;
    while (!fits(line)) {
      lines.push(line.slice(0, most));
      line = line.slice(most);
    }
  };
  for (const word of wordsOf(text)) {
    for (const part of fits(word) ? [word] : word.split(PARTS)) {
      add(part);
    }
  }
  return line.trimEnd() === '' && lines.length > 0 ? lines : [...lines, line.trimEnd()];
}

/** Sentences in lines of at most `columns` characters, `indent` before each but the first. A word that is longer stays whole. */
export function wrapSentences(text: string, columns = Number.POSITIVE_INFINITY, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of wordsOf(text)) {
    if (line.trim() !== '' && `${line}${word}`.trimEnd().length > columns) {
      lines.push(line.trimEnd());
      line = indent;
    }
    line += word;
  }
  return [...lines, line.trimEnd()].join('\n');
}

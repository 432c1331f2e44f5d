import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Test files of the fast project that may be likely: those of scenarios and campaigns take too long to be asked first. */
const TESTS = 'test/{unit,property,contract}/**/*.test.ts';
const SLOW = /^test\/contract\/kubernetes|^test\/unit\/(cli|deploy|compat|control-plane)\//;
/** Test files that are asked first. */
const MOST = 8;

/** Names of a path's folders and file, without endings. */
export function wordsOf(path: string): ReadonlySet<string> {
  return new Set(path.replaceAll(/\.test\.ts$|\.ts$/g, '').split(/[/-]/));
}

/** How many names two paths have in common. */
export function likeness(path: string, words: ReadonlySet<string>): number {
  return [...wordsOf(path)].filter((word) => words.has(word)).length;
}

/** The few test files that most likely notice a change of a source: those that import it, or stand where its tests do. */
export function likelyTests(top: string): (source: string) => readonly string[] {
  const texts = new Map(
    globSync(TESTS, { cwd: top })
      .filter((path) => !SLOW.test(path))
      .map((path) => [path, readFileSync(join(top, path), 'utf8')] as const),
  );
  return (source) => {
    const place = dirname(source).replace(/^src/, 'test/unit');
    const words = wordsOf(source);
    const rank = (path: string): number =>
      (texts.get(path)?.includes(`/${source}'`) === true ? 10 : 0) +
      (dirname(path) === place ? 1 : 0) +
      likeness(path, words);
    return [...texts.keys()]
      .filter((path) => texts.get(path)?.includes(`/${source}'`) === true || dirname(path).startsWith(place))
      .sort((a, b) => rank(b) - rank(a) || (a < b ? -1 : 1))
      .slice(0, MOST);
  };
}

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Test files of the fast project that may be likely. Properties take long, and those of the command line start the build, which no
 * mutation is in.
 */
const TESTS = 'test/{unit,contract}/**/*.test.ts';
const BLIND = /^test\/contract\/kubernetes|^test\/unit\/(cli|deploy|compat|control-plane)\//;
/** Test files that are asked first. */
const MOST = 12;

/** Names of a path's folders and file, without endings. */
export function wordsOf(path: string): ReadonlySet<string> {
  return new Set(path.replaceAll(/\.test\.ts$|\.ts$/g, '').split(/[/-]/));
}

/** How many names two paths have in common. */
export function likeness(path: string, words: ReadonlySet<string>): number {
  return [...wordsOf(path)].filter((word) => words.has(word)).length;
}

/** The few test files that most likely notice a change of a source: those with the fewest imports between them and it. */
export function likelyTests(top: string): (source: string) => readonly string[] {
  const imports = new Map<string, readonly string[]>();
  const importsOf = (path: string): readonly string[] => {
    const known = imports.get(path) ?? readImports(top, path);
    imports.set(path, known);
    return known;
  };
  const distances = globSync(TESTS, { cwd: top })
    .filter((path) => !BLIND.test(path))
    .map((path) => [path, distancesFrom(path, importsOf)] as const);
  return (source) => {
    const words = wordsOf(source);
    return distances
      .flatMap(([path, to]) => {
        const distance = to.get(source);
        return distance === undefined ? [] : [{ path, distance, likeness: likeness(path, words) }];
      })
      .sort((a, b) => a.distance - a.likeness - (b.distance - b.likeness) || (a.path < b.path ? -1 : 1))
      .slice(0, MOST)
      .map(({ path }) => path);
  };
}

/** Files of the repository that a file imports values from. */
function readImports(top: string, path: string): readonly string[] {
  const text = readFileSync(join(top, path), 'utf8');
  return [...text.matchAll(/^(?:import|export|\}) (?!type )[^;]*?from '(\.[^']+\.ts)';$/gm)].map(([, to = '']) =>
    join(dirname(path), to),
  );
}

/** Imports between a file and all that it reaches. */
function distancesFrom(path: string, importsOf: (path: string) => readonly string[]): ReadonlyMap<string, number> {
  const distances = new Map([[path, 0]]);
  for (const [reached, distance] of distances) {
    for (const next of importsOf(reached)) {
      if (!distances.has(next)) {
        distances.set(next, distance + 1);
      }
    }
  }
  return distances;
}

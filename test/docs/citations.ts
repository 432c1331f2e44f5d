import { posix } from 'node:path';
import type { Page } from './pages.ts';

/** Sources by path from the top of the checkout. */
export type Sources = ReadonlyMap<string, string>;

/** A page, and the numbers or the name of the section in it: `algorithms.md 5, start-up times`. */
const CITATION = /(?<![\w./#-])((?:[\w.-]+\/)*[a-z][\w-]*\.md)(?:,? (\d+(?:, \d+)*))?(?:, ([a-z][^).:;,`]*))?/g;
/** A paper by its abbreviation, with chapter or equation, or an enhancement proposal: `T 7.2`, `KSE eq. 1`, `KEP-2876`. */
const SOURCE = /\b(?:(?:T|QoS|KSE|KMS|PHARE) (?:eq\. )?\d+(?:\.\d+)*|KEP-\d+)/g;
const INVARIANT = /\binvariants? (\d+)/g;

/** Where design pages are, which are cited by their name alone. */
const DESIGN = 'docs/design';

/** What comments and names of tests cite and is not there, one sentence each. */
export function citationProblems(sources: Sources, pages: readonly Page[]): readonly string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  return [...sources].flatMap(([file, source]) =>
    [...commentsOf(source), ...titlesOf(source)].flatMap((text) =>
      problemsIn(text, byPath).map((problem) => `${file} cites ${problem}`),
    ),
  );
}

function problemsIn(text: string, pages: ReadonlyMap<string, Page>): readonly string[] {
  const cited = [...text.matchAll(CITATION)].flatMap(([, path = '', numbers, name]) =>
    path.includes('/') ? pageProblem(path, pages) : sectionProblems(path, numbers, name, pages),
  );
  const invariants = [...text.matchAll(INVARIANT)].flatMap(([, number]) =>
    sectionProblems('quality.md', number, undefined, pages),
  );
  const sources = pages.get(`${DESIGN}/sources.md`)?.text ?? '';
  const named = [...text.matchAll(SOURCE)].flatMap(([source]) =>
    new RegExp(`^\\| \`?${source.replaceAll('.', '\\.')}\`? \\|`, 'm').test(sources)
      ? []
      : [`${source}, which ${DESIGN}/sources.md does not list`],
  );
  return [...cited, ...invariants, ...named];
}

function pageProblem(path: string, pages: ReadonlyMap<string, Page>): readonly string[] {
  return pages.has(path) ? [] : [`${path}, which is not there`];
}

function sectionProblems(
  name: string,
  numbers: string | undefined,
  section: string | undefined,
  pages: ReadonlyMap<string, Page>,
): readonly string[] {
  const path = posix.join(DESIGN, name);
  const headings = pages.get(path)?.headings;
  if (headings === undefined) {
    return [`${path}, which is not there`];
  }
  const wanted = [...(numbers?.split(', ') ?? []), ...(section === undefined ? [] : [section])];
  if (wanted.length === 0) {
    return [`${path} without a section`];
  }
  const known = new Set(headings.flatMap(namesOf));
  return wanted.filter((each) => !known.has(each)).map((each) => `${path}, ${each}, which has no such section`);
}

/** What a section is cited by: its number, if it has one, and its heading. */
function namesOf(heading: string): readonly string[] {
  const [, number, name = ''] = /^(?:(\d+)\. )?(.*)$/.exec(heading.toLowerCase()) ?? [];
  return number === undefined ? [name] : [number, name];
}

/** The comments of a source, each as one line: what is written over several lines is one comment. */
function commentsOf(source: string): readonly string[] {
  const comments: string[] = [];
  let previous = -1;
  source.split('\n').forEach((line, index) => {
    const text = /(?:^|\s)(?:\/\*\*?|\/\/)\s?(.*)$/.exec(line)?.[1] ?? /^\s*\*\s?(.*)$/.exec(line)?.[1];
    if (text === undefined) {
      return;
    }
    const whole = previous === index - 1 ? `${comments.pop()} ${text}` : text;
    comments.push(whole.replace(/\s*\*\/$/, ''));
    previous = index;
  });
  return comments;
}

/** What describe and it are given as names. */
function titlesOf(source: string): readonly string[] {
  return [...source.matchAll(/\b(?:describe|it)(?:\.\w+)?\((['"`])(.*?)\1/g)].map(([, , title = '']) => title);
}

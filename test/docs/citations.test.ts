import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { citationProblems } from './citations.ts';
import { pages, ROOT, readPage } from './pages.ts';

const code = globSync('{src,test,docs,crds,deploy}/**/*.{ts,tsx}', { cwd: ROOT }).sort();
const sources = new Map(code.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

describe('comments', () => {
  it('cite pages, sections and sources that are there', () => {
    const others = new Map([...sources].filter(([file]) => file !== 'test/docs/citations.test.ts'));
    expect(citationProblems(others, pages())).toEqual([]);
  });
});

describe('the check of citations', () => {
  const known = [
    readPage('docs/design/rules.md', '# Rules\n\n## 5. QoS ledger\n\n### Start-up times\n\n## The journal\n'),
    readPage('docs/design/quality.md', '# Quality\n\n## 9. Nodes\n'),
    readPage('docs/design/sources.md', '| `T 7.2` | x |\n| KEP-12 | y |\n'),
    readPage('docs/install.md', '# Installing\n'),
  ];
  const problemsOf = (source: string) => citationProblems(new Map([['src/a.ts', source]]), known);

  it.each([
    '/** A rule (rules.md 5, T 7.2). */',
    '/** Written before (rules.md, the\n * journal), as KEP-12 has it. */',
    'const a = 1; // rules.md 5, start-up times: hot and cold',
    '// See docs/install.md and rules.md 5.',
    "it('keeps out (invariant 9)', () => undefined);",
    "const file = 'gone.md';",
  ])('finds nothing in %j', (source) => {
    expect(problemsOf(source)).toEqual([]);
  });

  it.each([
    ['a page', '/** Told elsewhere (gone.md 5). */', 'docs/design/gone.md, which is not there'],
    ['a page by its path', '// See docs/gone.md.', 'docs/gone.md, which is not there'],
    ['a number', '// rules.md 5, 6', 'docs/design/rules.md, 6, which has no such section'],
    [
      'a heading',
      '/**\n * (rules.md, the\n * diary)\n */',
      'docs/design/rules.md, the diary, which has no such section',
    ],
    ['the whole heading', '// (rules.md, the)', 'docs/design/rules.md, the, which has no such section'],
    ['any section', '// (rules.md)', 'docs/design/rules.md without a section'],
    ['an invariant', "it('moves (invariant 3)')", 'docs/design/quality.md, 3, which has no such section'],
    ['a chapter', '// (T 7.3)', 'T 7.3, which docs/design/sources.md does not list'],
    ['a proposal', '// KEP-123', 'KEP-123, which docs/design/sources.md does not list'],
  ])('finds a citation without %s', (_, source, problem) => {
    expect(problemsOf(source)).toEqual([`src/a.ts cites ${problem}`]);
  });
});

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importCircles, layerProblems, type Room, type Sources } from './support/layers.ts';
import { ROOMS } from './support/rooms.ts';

const root = join(import.meta.dirname, '..');
const files = globSync('src/**/*.{ts,tsx}', { cwd: root }).sort();
const src: Sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

describe('src', () => {
  it('imports only what the table of rooms allows, and all of that', () => {
    expect(layerProblems(src, ROOMS)).toEqual([]);
  });

  it('has no circle of imports', () => {
    expect(importCircles(src)).toEqual([]);
  });
});

describe('the check of the table', () => {
  it.each([
    ['src/execute/ready-moves.ts', '../adapters/kubernetes/client.ts', 'adapters/kubernetes'],
    ['src/execute/verify.ts', '../adapters/system-clock.ts', 'adapters/system-clock.ts'],
    ['src/model/units.ts', '../qos/times.ts', 'qos'],
    ['src/adapters/kubernetes/client.ts', '../../cli/input.ts', 'cli'],
    ['src/plan/planner.ts', 'node:fs', 'node:fs'],
    ['src/report/plan-text.ts', 'prom-client', 'prom-client'],
    ['src/page/page.tsx', '../report/page/explain.ts', 'report/page'],
    ['src/app/cluster.ts', '@kubernetes/client-node', '@kubernetes/client-node'],
  ])('names %s when it imports %s', (file, specifier, target) => {
    const problems = layerProblems(new Map([[file, `import { one } from '${specifier}';\n`]]), ROOMS);
    expect(problems.filter((problem) => problem.startsWith('src/'))).toEqual([
      expect.stringContaining(`${file} imports ${specifier} (${target}); `),
    ]);
  });

  const table: readonly Room[] = [
    { path: 'low' },
    { path: 'low/inner', packages: ['@scope/package'] },
    { path: 'high', rooms: ['low'], types: ['low/inner', 'pino'] },
  ];
  const clean = {
    'src/low/a.ts': "import { b } from './b.ts';\n",
    'src/low/b.ts': '',
    'src/low/inner/c.ts': "import x from '@scope/package/part';\n",
    'src/high/d.ts': [
      "import type { Logger } from 'pino';",
      "import {\n  type A,\n  a,\n} from '../low/a.ts';",
      "export type { C } from '../low/inner/c.ts';",
    ].join('\n'),
  };
  const problemsWith = (changed: Readonly<Record<string, string>>) =>
    layerProblems(new Map(Object.entries({ ...clean, ...changed })), table);

  it('finds nothing in files that keep to it', () => {
    expect(problemsWith({})).toEqual([]);
  });

  it.each([
    ['a named import', "import { d } from '../high/d.ts';\n", '../high/d.ts (high)'],
    ['an import for its effect', "import '../high/d.ts';\n", '../high/d.ts (high)'],
    ['an import of types', "import type { D } from '../high/d.ts';\n", 'types of ../high/d.ts (high)'],
    ['an export of another file', "export * from '../high/d.ts';\n", '../high/d.ts (high)'],
    ['a dynamic import', "const d = async () => await import('../high/d.ts');\n", '../high/d.ts (high)'],
    ['a computed import', 'const d = (name: string) => import(name);\n', '(computed) ((computed))'],
    ['a file outside src', "import x from '../../package.json';\n", '../../package.json (package.json)'],
    ['a room inside its own', "import { c } from './inner/c.ts';\n", './inner/c.ts (low/inner)'],
  ])('finds %s', (_, source, found) => {
    expect(problemsWith({ 'src/low/b.ts': source })).toEqual([
      `src/low/b.ts imports ${found}; low may import nothing else`,
    ]);
  });

  it('finds an import of values where only types are allowed', () => {
    const source = clean['src/high/d.ts'].replace('import type { Logger }', 'import pino');
    expect(problemsWith({ 'src/high/d.ts': source })).toContain(
      'src/high/d.ts imports pino (pino); high may import low, and types of low/inner, pino',
    );
  });

  it('finds a file that is in no room', () => {
    expect(problemsWith({ 'src/new/e.ts': '', 'src/lower.ts': '' })).toEqual([
      'src/new/e.ts is in no room: add it to the table',
      'src/lower.ts is in no room: add it to the table',
    ]);
  });

  it('finds a line of the table that nothing needs', () => {
    expect(problemsWith({ 'src/low/inner/c.ts': '' })).toEqual([
      'low/inner may import @scope/package and does not: take it off the table',
    ]);
  });

  it('finds a room without a file, and one that is in the table twice', () => {
    const rooms: readonly Room[] = [{ path: 'low' }, { path: 'gone' }, { path: 'low' }];
    expect(layerProblems(new Map([['src/low/a.ts', '']]), rooms)).toEqual([
      'gone has no file: take it off the table',
      'low has no file: take it off the table',
    ]);
  });

  it('finds a room that names one below it', () => {
    const upside = [{ path: 'low', rooms: ['high'] }, { path: 'high' }];
    const sources = new Map([
      ['src/low/a.ts', "import { d } from '../high/d.ts';\n"],
      ['src/high/d.ts', ''],
    ]);
    expect(layerProblems(sources, upside)).toEqual(['low names high, which is not above it']);
  });

  it('finds a circle, one of types and dynamic imports too', () => {
    const sources = new Map([
      ['src/low/a.ts', "import type { B } from './b.ts';\n"],
      ['src/low/b.ts', "export { C } from './c.ts';\n"],
      ['src/low/c.ts', "const a = async () => await import('./a.ts');\n"],
      ['src/low/d.ts', "import { a } from './a.ts';\n"],
    ]);
    expect(importCircles(sources)).toEqual([['src/low/a.ts', 'src/low/b.ts', 'src/low/c.ts', 'src/low/a.ts']]);
  });
});

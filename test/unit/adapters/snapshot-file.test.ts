import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { expandFolders } from '../../../src/adapters/snapshot-file/folders.ts';
import { parseObjects, readObjectFiles } from '../../../src/adapters/snapshot-file/read-files.ts';
import { EMPTY_METRICS, writeSnapshot } from '../../../src/adapters/snapshot-file/write-snapshot.ts';
import { InputError } from '../../../src/model/input-error.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { RAW_OTHERS, rawPods } from './raw-objects.ts';

const NOON = epochSeconds(Date.parse('2026-01-01T12:00:00Z') / 1000);

function mistakeIn(text: string): string {
  try {
    parseObjects(text, 'file.yaml');
  } catch (error) {
    if (error instanceof InputError) {
      return error.message;
    }
    throw error;
  }
  return 'none';
}

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } };
/** A list that is large enough for the fast ways of reading. */
const large = {
  apiVersion: 'v1',
  kind: 'List',
  metadata: { resourceVersion: '' },
  items: Array.from({ length: 3000 }, (_, index) => ({ ...node, metadata: { name: `node-${index}` } })),
};

describe('parseObjects', () => {
  it.each<[string, string, readonly unknown[]]>([
    ['a YAML document', 'apiVersion: v1\nkind: Node\nmetadata: {name: a}\n', [node]],
    [
      'many, some empty',
      '---\n# nothing\n---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n---\nkind: Pod\n',
      [node, { kind: 'Pod' }],
    ],
    ['a JSON object', JSON.stringify(node, null, 2), [node]],
    ['a JSON array', JSON.stringify([node, node]), [node, node]],
    ['a byte-order mark', `\ufeff${JSON.stringify(node)}`, [node]],
    ['a large JSON list', JSON.stringify(large), [large]],
    ['large JSON lines', `${JSON.stringify(large)}\n${JSON.stringify(node)}\n`, [large, node]],
    ['a large YAML list', stringify(large), [large]],
    ['a large YAML list in the style of kubectl', stringify(large, { indentSeq: false }), [large]],
    [
      'a large YAML list among others',
      `${stringify(node)}---\n${stringify(large, { indentSeq: false })}---\n${stringify(node)}`,
      [node, large, node],
    ],
    [
      'a large list with a comment between its items',
      stringify(large, { indentSeq: false }).replace('- apiVersion', '# first\n- apiVersion'),
      [large],
    ],
  ])('reads %s', (_, text, expected) => {
    expect(parseObjects(text, 'file.yaml')).toEqual(expected);
  });

  it('keeps the same value of every item whatever its style', () => {
    const odd = [
      { ...node, note: 'two\nlines\n' },
      { ...node, note: "it's: #odd" },
      { ...node, list: [[], {}, [[1]]] },
      node,
    ];
    const list = { ...large, items: [...odd, ...large.items] };
    expect(parseObjects(stringify(list, { indentSeq: false }), 'f')).toEqual([list]);
    expect(parseObjects(stringify(list, { lineWidth: 20 }), 'f')).toEqual([list]);
  });

  it.each<[string, string, string]>([
    [
      'nothing',
      '# only a comment\n',
      'file.yaml: holds no objects: write what `kubectl get nodes,pods -A -o yaml` prints',
    ],
    ['a word', 'kind: Pod\n---\nhello\n', 'file.yaml:3: "hello" is not an object: write'],
    ['an object without a kind', 'kind: Pod\n---\n\nreplicas: 3\n', 'file.yaml:4: this object names no kind'],
    ['a duplicate key', 'kind: Pod\nmetadata: {}\nkind: Node\n', 'file.yaml:3: not valid YAML: this key appears twice'],
    [
      'a duplicate key in JSON',
      '{"kind": "Pod",\n"kind": "Node"}',
      'file.yaml:2: not valid YAML: this key appears twice',
    ],
    ['a tab', 'kind: Pod\nmetadata:\n\tname: x\n', 'file.yaml:3: not valid YAML: a tab indents this line'],
    ['an open quote', 'kind: "Pod\nmetadata: {}\n', 'file.yaml'],
    ['an unknown alias', 'kind: *x\n', 'file.yaml:1: '],
    ['a mistake deep in a large list', stringify(large).replace('node-2500', '"node'), 'file.yaml:'],
    [
      'a mistake in large JSON',
      JSON.stringify(large, null, 1).replace('"node-2500"', '"node-2500'),
      'file.yaml:17512: not valid JSON:',
    ],
  ])('says where %s is wrong', (_, text, expected) => {
    expect(mistakeIn(text)).toContain(expected);
  });

  it('names the right line in a later document of a large file', () => {
    const first = stringify(large, { indentSeq: false });
    const lines = first.split('\n').length - 1;
    expect(mistakeIn(`${first}---\nkind: Pod\nkind: Pod\n`)).toContain(
      `file.yaml:${lines + 3}: not valid YAML: duplicated mapping key`,
    );
  });

  it('refuses aliases that multiply', () => {
    const bomb = [
      'a0: &a0 [x]',
      ...Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(', ')}]`),
      'kind: Pod',
    ].join('\n');
    expect(mistakeIn(bomb)).toContain('aliases cannot be resolved');
  });

  it('gives objects or an InputError for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 200 }),
          fc.json(),
          fc.string({ unit: fc.constantFrom(...'ab:-{}[]"\'\n |>&*!#?%@,') }),
        ),
        (text) => {
          mistakeIn(text);
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe('writeSnapshot', () => {
  it('gives the same snapshot when read back, and holds no secret', () => {
    fc.assert(
      fc.property(fc.array(rawPods, { maxLength: 6 }), (pods) => {
        const objects = [...RAW_OTHERS, ...pods];
        const text = writeSnapshot(objects, NOON);
        const { problems: _, ...expected } = buildSnapshot(objects, NOON);
        const { problems: __, ...actual } = buildSnapshot(parseObjects(text, 'snapshot.yaml'));
        expect(actual).toEqual(expected);
        expect(text.replace(/"(kubernetes.io\/config|evenkeel.dev)[^,}]*/g, '')).not.toContain('hunter2');
      }),
      { numRuns: 400 },
    );
  });

  it('gives the same by the fast way of reading', () => {
    const items = Array.from({ length: 400 }, (_, index) => ({
      ...node,
      metadata: { name: `node-${index}`, uid: `${index}`, labels: { long: 'x'.repeat(200) } },
    }));
    const text = writeSnapshot(items, NOON);
    expect(text.length).toBeGreaterThan(64 * 1024);
    expect(buildSnapshot(parseObjects(text, 'f'))).toEqual(buildSnapshot(items, NOON));
  });

  it('can be edited by hand', () => {
    const items = Array.from({ length: 400 }, (_, index) => ({
      ...node,
      metadata: { name: `node-${index}`, labels: { long: 'x'.repeat(200) } },
    }));
    const text = writeSnapshot(items, NOON);
    const edited = `${text.replace('node-7"', 'node-seven"')}- kind: Node\n  apiVersion: v1\n  metadata:\n    name: added # mine\n`;
    const names = buildSnapshot(parseObjects(edited, 'f')).nodes.map(({ name }) => name);
    expect(names).toHaveLength(401);
    expect(names).toEqual(expect.arrayContaining(['added', 'node-seven']));
    expect(mistakeIn(text.replace('"node-7"', '"node-7'))).toContain('file.yaml:15: not valid YAML');
  });

  it('remembers that the Metrics API was there without samples', () => {
    const read = (objects: readonly unknown[]) => buildSnapshot(parseObjects(writeSnapshot(objects, NOON), 'f'));
    expect(read([node]).usage).toBeUndefined();
    expect(read([node, EMPTY_METRICS]).usage).toEqual({ nodes: new Map(), pods: new Map() });
  });

  it('of nothing is a list without items', () => {
    expect(parseObjects(writeSnapshot([], NOON), 'f')).toMatchObject([{ kind: 'List', items: [] }]);
  });
});

describe('expandFolders', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'evenkeel-'));
    await mkdir(join(folder, 'empty'));
    await mkdir(join(folder, 'hidden'));
    await writeFile(join(folder, 'hidden', '.gitlab-ci.yml'), '{}');
    await mkdir(join(folder, 'not-in-here.yaml'));
    await Promise.all(
      ['c.yml', 'a.yaml', 'b.json', 'README.md', '.ci.yml'].map((name) => writeFile(join(folder, name), '{}')),
    );
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('puts the YAML and JSON files right in a folder in its place, by name', async () => {
    const files = await expandFolders(['-', folder, 'missing.yaml']);
    expect(files).toEqual(['-', ...['a.yaml', 'b.json', 'c.yml'].map((name) => join(folder, name)), 'missing.yaml']);
  });

  it.each(['empty', 'hidden'])('refuses the folder %s, which has none', async (name) => {
    await expect(expandFolders([join(folder, name)])).rejects.toThrow(
      `${name}: is a folder without .yaml, .yml or .json files (hidden files and subfolders are not read): name the files`,
    );
  });
});

describe('readObjectFiles', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'evenkeel-'));
    await writeFile(join(folder, 'a.json'), JSON.stringify(node));
    await writeFile(join(folder, 'latin1.yaml'), Buffer.from([0x6b, 0xe9]));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function* stdin() {
    yield 'kind: P';
    yield Buffer.from('od\n');
  }

  it('reads files and standard input in their order', async () => {
    expect(await readObjectFiles([join(folder, 'a.json'), '-'], stdin())).toEqual([node, { kind: 'Pod' }]);
  });

  it.each([
    ['missing.yaml', 'missing.yaml: there is no such file'],
    ['', 'is a folder: name one file in it'],
    ['latin1.yaml', 'latin1.yaml: is not UTF-8 text'],
  ])('says why %j cannot be read', async (name, expected) => {
    await expect(readObjectFiles([join(folder, name)], stdin())).rejects.toThrow(expected);
  });
});

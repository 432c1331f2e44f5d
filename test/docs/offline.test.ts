import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PLUGINS } from '../../src/import/descheduler/plugins.ts';
import {
  blocksOf,
  consoleCommands,
  ELSEWHERE,
  IN_CONSOLE,
  NOT_RUNNABLE,
  OFFLINE,
  ON_CLUSTER,
  pages,
  ROOT,
  shellBlocks,
} from './pages.ts';
import { shellIn } from './shell.ts';

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-docs-'));
const shell = shellIn(folder);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(OFFLINE)('%s', (section) => {
  it('has blocks that run as they are written, and print what is shown', async () => {
    let printed = '';
    for (const block of shellBlocks(section)) {
      const { stdout, stderr, code } = await shell(block);
      expect(code, `${block}\n${stderr}`).toBe(0);
      printed += stdout;
    }
    for (const { text } of blocksOf(section, 'text')) {
      expect(printed).toContain(text);
    }
  });
});

describe('every block marked sh', () => {
  const sections = new Set(
    pages().flatMap(({ blocks }) => blocks.flatMap(({ language, section }) => (language === 'sh' ? [section] : []))),
  );
  const declared = [...OFFLINE, ...Object.values(ON_CLUSTER).flat(), ...ELSEWHERE.keys()];

  it('is run by a test, and each section that a test runs is there', () => {
    expect([...sections].sort()).toEqual([...declared].sort());
  });

  it.each([...ELSEWHERE])('of %s is run by %s', (section, test) => {
    const [path = ''] = section.split('#');
    expect(readFileSync(join(ROOT, test), 'utf8')).toContain(path.split('/').at(-1));
  });
});

describe('every command of a block marked console', () => {
  const sections = pages().flatMap(({ blocks }) =>
    blocks.filter(({ language }) => language === 'console').map(({ section }) => section),
  );

  it('is run by a test, where a test machine can', () => {
    const runnable = sections.filter((section) =>
      consoleCommands(section).some((each) => !NOT_RUNNABLE.test(`${each} `)),
    );
    expect([...new Set(runnable)].sort()).toEqual(Object.values(IN_CONSOLE).sort());
  });
});

describe('commands outside of blocks', () => {
  const indented = pages().flatMap(
    ({ prose }) => prose.match(/^ {4}(?:npm|npx|kubectl|helm|evenkeel|docker) .*$/gm) ?? [],
  );

  it('are those of the README that install, run the demo and run the tests, the last as CI does', () => {
    const tests = readFileSync(join(ROOT, '.ci', 'run'), 'utf8')
      .trimEnd()
      .split('\n')
      .at(-1);
    expect(indented.map((line) => line.trim())).toEqual(['npm ci', 'npm ci && npm run demo', tests]);
  });
});

describe('docs/descheduler.md', () => {
  it('has the counterpart of each plugin', () => {
    const rows = PLUGINS.map(({ name, becomes }) => `| \`${name}\` | \`spec.${becomes}\` |`).join('\n');
    expect(readFileSync(join(ROOT, 'docs', 'descheduler.md'), 'utf8')).toContain(`|---|---|\n${rows}\n\n`);
  });
});

describe('the imported example of docs/descheduler.md', () => {
  it('is what the command writes', async () => {
    const { stdout } = await shell(
      'evenkeel import descheduler-policy /tmp/evenkeel-descheduler.yaml 2>/dev/null | sed "1,/^---$/d"',
    );
    const [shown] = blocksOf('docs/descheduler.md#Moving over from the descheduler', 'yaml');
    expect(stdout.trim()).toBe(shown?.text);
  });
});

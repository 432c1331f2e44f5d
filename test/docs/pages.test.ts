import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { CONDITION_REASONS, CONDITION_TYPES } from '../../src/api/v1alpha1/conditions.ts';
import { runCli } from '../support/run-cli.ts';
import { type Page, pages, ROOT } from './pages.ts';
import { firstCells, sectionOf } from './sections.ts';

const all = pages();
const docs = all.filter(({ path }) => path.startsWith('docs/') || path === 'README.md');
const byPath = new Map(all.map((page) => [page.path, page]));

/** The anchor that a heading gets. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function brokenLinks({ path, prose }: Page): readonly string[] {
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) =>
    /^[a-z]+:/.test(link) ? [] : [link],
  );
  return links.filter((link) => {
    const [file = '', fragment] = link.split('#');
    const target = file === '' ? path : relative(ROOT, join(ROOT, dirname(path), file));
    if (!existsSync(join(ROOT, target))) {
      return true;
    }
    const headings = byPath.get(target)?.headings ?? [];
    return fragment !== undefined && !headings.map(anchor).includes(fragment);
  });
}

describe('links', () => {
  it.each(all.map((page) => [page.path, page] as const))('of %s lead to what is there', (_path, page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it('of docs/README.md lead to every page of docs', () => {
    const linked = byPath.get('docs/README.md')?.text ?? '';
    const unlinked = docs
      .filter(({ path }) => path.startsWith('docs/') && path !== 'docs/README.md')
      .filter(({ path }) => !linked.includes(`](${relative('docs', path)})`));
    expect(unlinked.map(({ path }) => path)).toEqual([]);
  });
});

describe('fields', () => {
  const reference = byPath.get('docs/reference/fields.md')?.text ?? '';
  const known = new Set(
    [...reference.matchAll(/^\| `((?:spec|status)[^`]*)` \|/gm)].map(([, field = '']) => plain(field)),
  );
  /** Fields of pods, which pages name as such. */
  const ofPods = new Set(['status.nominatedNodeName', 'spec.schedulingGroup', 'spec.workloadRef']);
  const named = docs
    .filter(({ path }) => !path.startsWith('docs/reference/'))
    .flatMap(({ path, prose }) =>
      [...prose.matchAll(/`((?:spec|status)\.[A-Za-z][\w.[\]]*)/g)].map(([, field = '']) => ({ path, field })),
    );

  it('that pages name are in the schemas', () => {
    const unknown = named.filter(({ field }) => !known.has(plain(field)) && !ofPods.has(field));
    expect(unknown).toEqual([]);
  });
});

function plain(field: string): string {
  return field.replaceAll('[]', '');
}

describe('examples of our kinds', () => {
  const examples = all.flatMap(({ blocks }) =>
    blocks.filter(({ language, text }) => language === 'yaml' && text.includes('evenkeel.dev/v1alpha1')),
  );

  it.each(examples.map(({ section, text }) => [section, text] as const))('of %s pass lint', async (_section, text) => {
    expect(await runCli(['lint', '-'], text)).toMatchObject({ code: 0 });
  });

  it('are documents that are whole', () => {
    const kinds = examples.flatMap(({ text }) => parseAllDocuments(text).map((document) => document.get('kind')));
    expect(kinds.filter((kind) => typeof kind !== 'string')).toEqual([]);
  });
});

function subheadings(section: string): readonly string[] {
  return [...section.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading);
}

describe('the runbook', () => {
  const text = byPath.get('docs/runbook.md')?.text ?? '';
  const conditions = sectionOf(text, 2, 'Conditions of a RebalancePolicy');
  const sources = [
    'src/execute/stop-rules.ts',
    'src/execute/metrics-stop.ts',
    'src/execute/service-stop.ts',
    'src/control/budget-stop.ts',
  ];

  it('has every condition', () => {
    expect(subheadings(conditions)).toEqual([...CONDITION_TYPES]);
  });

  it('has every reason, and none that there is not', () => {
    expect([...new Set(firstCells(conditions))].sort()).toEqual([...CONDITION_REASONS].sort());
  });

  it.each(CONDITION_TYPES)('has no reason twice under %s', (type) => {
    const reasons = firstCells(sectionOf(text, 3, type));
    expect(reasons.length).toBeGreaterThan(1);
    expect(new Set(reasons).size).toBe(reasons.length);
  });

  it('has every rule that stops a plan', () => {
    const rules = sources.flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/reason: '(\w+)'/g)].map(([, reason = '']) => reason),
    );
    const stops = firstCells(sectionOf(text, 2, 'When a plan stops'));
    expect([...stops].sort()).toEqual([...new Set(rules)].sort());
    expect(stops.filter((reason) => !firstCells(sectionOf(text, 3, 'Executing')).includes(reason))).toEqual([]);
  });

  it('has every alert, and none that there is not', () => {
    const file = readFileSync(join(ROOT, 'deploy', 'monitoring', 'alerts.yaml'), 'utf8');
    const { groups } = parse(file) as { groups: readonly { rules: readonly { alert: string }[] }[] };
    const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    expect(subheadings(sectionOf(text, 2, 'Alerts'))).toEqual(alerts);
  });
});

describe('the tables of dependencies', () => {
  it('have every package that package.json has, and no other', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly dependencies: object;
      readonly devDependencies: object;
    };
    const section = sectionOf(byPath.get('CONTRIBUTING.md')?.text ?? '', 2, 'Dependencies');
    const named = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name);
    expect(named.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
  });
});

describe('pictures', () => {
  const used = docs.flatMap(({ prose, path }) =>
    [...prose.matchAll(/\(([^)]*images\/[^)]+)\)/g)].map(([, link = '']) => join(ROOT, dirname(path), link)),
  );

  it('that pages show are not empty', () => {
    expect(used.length).toBeGreaterThan(3);
    expect(used.filter((file) => statSync(file).size === 0)).toEqual([]);
  });
});

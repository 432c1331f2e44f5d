import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** The top of the checkout. */
export const ROOT: string = join(import.meta.dirname, '..', '..');
const SKIPPED = new Set(['node_modules', 'dist', 'release', '.git']);

/** A fenced block of a page. */
export interface Block {
  /** `docs/ci.md#In CI`: the page and the heading that the block stands under. */
  readonly section: string;
  readonly language: string;
  readonly text: string;
}

/** A page in Markdown. */
export interface Page {
  /** From the top of the checkout. */
  readonly path: string;
  readonly text: string;
  /** Headings, as they are written. */
  readonly headings: readonly string[];
  readonly blocks: readonly Block[];
  /** The text without fenced blocks. */
  readonly prose: string;
}

/** Every Markdown file of the checkout. */
export function pages(): readonly Page[] {
  return markdownIn(ROOT).map((file) => readPage(relative(ROOT, file), readFileSync(file, 'utf8')));
}

function markdownIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return SKIPPED.has(entry.name) ? [] : markdownIn(path);
    }
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** A page of this path and text. */
export function readPage(path: string, text: string): Page {
  const headings: string[] = [];
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open: { readonly language: string; readonly lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const fence = /^```(\w*)$/.exec(line);
    if (fence !== null && open === undefined) {
      open = { language: fence[1] ?? '', lines: [] };
    } else if (fence !== null && open !== undefined) {
      blocks.push({
        section: `${path}#${headings.at(-1) ?? ''}`,
        language: open.language,
        text: open.lines.join('\n'),
      });
      open = undefined;
    } else if (open !== undefined) {
      open.lines.push(line);
    } else {
      const heading = /^#+ (.+)$/.exec(line)?.[1];
      headings.push(...(heading === undefined ? [] : [heading]));
      prose.push(line);
    }
  }
  return { path, text, headings, blocks, prose: prose.join('\n') };
}

/** Where the blocks of a section are run. */
export const OFFLINE: readonly string[] = [
  'README.md#In a minute, without a cluster',
  'docs/quick-start.md#Without a cluster',
  'docs/strategies.md#Choosing a strategy',
  'docs/strategies.md#Trying a policy on a scenario',
  'docs/budgets.md#Too small, too large',
  'docs/service-levels.md#From OpenSLO',
  'docs/descheduler.md#Moving over from the descheduler',
  'docs/applications.md#Bringing applications together',
  'docs/applications.md#Importing from scheduler-plugins',
  'docs/ci.md#In CI',
];

/** Sections whose blocks test/e2e/docs.test.ts runs on a control plane, in its order. */
export const ON_CLUSTER = {
  installed: ['docs/install.md#With Helm', 'docs/install.md#First steps', 'docs/install.md#Uninstall'],
  kustomized: ['docs/install.md#With kustomize', 'docs/install.md#What waits at gates'],
  dryRun: ['docs/quick-start.md#On your cluster', 'docs/runbook.md#Runbook'],
  looked: [
    'docs/security.md#Permissions',
    'docs/install.md#Rights of people',
    'docs/monitoring.md#Metrics',
    'docs/page.md#From the operator',
    'docs/replicas.md#Who leads what',
  ],
  rolledOut: [
    'docs/roll-out.md#1. DryRun: a few days',
    'docs/roll-out.md#2. Approve: until you would approve every plan',
    'docs/roll-out.md#3. Automatic',
    'docs/roll-out.md#Run now',
    'docs/roll-out.md#How to stop',
  ],
  overlays: ['README.md#On your cluster'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Sections whose blocks a test of their own runs. */
export const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['examples/README.md#A repository for the policies of a cluster', 'test/unit/cli/examples.test.ts'],
]);

/** Sections whose blocks marked `console` test/e2e/docs-console.test.ts runs, but for those commands that it cannot. */
export const IN_CONSOLE = {
  cluster: 'docs/quick-start.md#On a control plane of its own',
  printed: 'docs/ci.md#What kubectl prints is enough',
  rules: 'docs/monitoring.md#Alerts and dashboard',
  prometheus: 'docs/monitoring.md#Prometheus as the source of load',
  page: 'docs/page.md#On your machine',
} as const satisfies Readonly<Record<string, string>>;

/**
 * Commands that need a container engine, krew, cosign, or a kubelet, or that install for the whole machine; krew.test.ts and
 * release.test.ts in test/e2e pack what they are about, and run it.
 */
export const NOT_RUNNABLE =
  /^(docker|kubectl krew|kubectl evenkeel|kubectl port-forward|npm run release:krew|npm pack|npm install|cosign|sha256sum)\b/;

/** Commands of the blocks of a section that are marked `console`, in order. */
export function consoleCommands(section: string): readonly string[] {
  return blocksOf(section, 'console').flatMap(({ text }) =>
    [...text.matchAll(/^\$ (.*)$/gm)].map(([, command = '']) => command),
  );
}

/** The blocks of a section in one language, in order. */
export function blocksOf(section: string, language: string): readonly Block[] {
  return pages()
    .flatMap(({ blocks }) => blocks)
    .filter((block) => block.section === section && block.language === language);
}

/** The `sh` blocks of a section, in order. Throws when there are none. */
export function shellBlocks(section: string): readonly string[] {
  const found = blocksOf(section, 'sh').map(({ text }) => text);
  if (found.length === 0) {
    throw new Error(`${section} has no block marked sh: correct test/docs/pages.ts`);
  }
  return found;
}

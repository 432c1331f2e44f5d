/**
 * `npm run release -- --base-url URL --image IMAGE [--tag vX.Y.Z] [--output FOLDER]`: writes what a release consists of, beside the image,
 * from dist/: the npm package, the plugin of kubectl with its krew manifest, the Helm chart, manifests to install, CRDs, SBOM, licences,
 * the notes of CHANGELOG.md and checksums. Needs helm and kubectl. Pushes and publishes nothing.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseDocument } from 'yaml';
import { writeAttribution } from './attribution.ts';
import { changesOf } from './changes.ts';
import { packPlugin } from './krew.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DIST = join(ROOT, 'dist');
/** Manifests, by the overlays that they are built from. */
const MANIFESTS = { 'install.yaml': 'default', 'dry-run.yaml': 'dry-run' };

interface Release {
  readonly version: string;
  /** Where people will download the files, without their names. */
  readonly baseUrl: string;
  /** The image without its tag. */
  readonly image: string;
  readonly output: string;
}

function release({ version, baseUrl, image, output }: Release): void {
  const notes = changesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version);
  mkdirSync(output, { recursive: true });
  if (readdirSync(output).length > 0) {
    throw new Error(`${output} has files already: remove them, or name another folder with --output`);
  }
  writeFileSync(join(output, 'notes.md'), notes);
  writeAttribution(DIST);
  for (const file of ['sbom.cdx.json', 'licences.txt']) {
    copyFileSync(join(DIST, file), join(output, file));
  }
  packNpm(output);
  packPlugin(baseUrl, output);
  packChart(image, output);
  for (const [file, overlay] of Object.entries(MANIFESTS)) {
    writeFileSync(join(output, file), manifests(overlay, image, version));
  }
  writeFileSync(join(output, 'crds.yaml'), kustomize(join(ROOT, 'crds')));
  writeFileSync(join(output, 'checksums.txt'), checksums(output));
}

/** `npm pack` of dist/ as it is, with its SBOM and licences. */
function packNpm(output: string): void {
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', output], { cwd: ROOT });
}

/** The chart, whose image is the one of this release. */
function packChart(image: string, output: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-chart-'));
  try {
    const chart = join(folder, 'evenkeel');
    cpSync(join(ROOT, 'deploy', 'chart', 'evenkeel'), chart, { recursive: true });
    const values = parseDocument(readFileSync(join(chart, 'values.yaml'), 'utf8'));
    values.setIn(['image', 'repository'], image);
    writeFileSync(join(chart, 'values.yaml'), String(values));
    const charts = join(output, 'chart');
    execFileSync('helm', ['package', chart, '--destination', charts]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function manifests(overlay: string, image: string, version: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-manifests-'));
  try {
    const base = relative(folder, join(ROOT, 'deploy', 'overlays', overlay));
    const images = [{ name: 'evenkeel', newName: image, newTag: version }];
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify({ resources: [base], images }));
    return kustomize(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function kustomize(folder: string): string {
  return execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
}

/** As `sha256sum` writes and checks them. */
function checksums(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
  const hash = (path: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
  return paths.map((path) => `${hash(path)}  ${path}\n`).join('');
}

/** What is wrong with the flags, and undefined for flags with which a release can be made. */
function problemOf(version: string, tag: string | undefined, baseUrl: unknown, image: unknown): string | undefined {
  if (!baseUrl || !image) {
    return 'release needs --base-url URL, where people will download its files, and --image IMAGE without a tag, such as registry.example/evenkeel';
  }
  return tag === undefined || tag === `v${version}`
    ? undefined
    : `the tag is ${tag}, and package.json has version ${version}: tag v${version}, or change the version`;
}

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    image: { type: 'string' },
    tag: { type: 'string' },
    output: { type: 'string', default: 'release' },
  },
});
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
const problem = problemOf(version, values.tag, values['base-url'], values.image);
try {
  if (problem !== undefined) {
    throw new Error(problem);
  }
  const { 'base-url': baseUrl = '', image = '', output } = values;
  release({ version, baseUrl, image, output: resolve(output) });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

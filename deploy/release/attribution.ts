import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly 'bom-ref': string;
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[];
}

interface Sbom {
  readonly serialNumber?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

interface Metafile {
  readonly inputs: Readonly<Record<string, unknown>>;
}

const ROOT = join(import.meta.dirname, '..', '..');
/** What esbuild writes of a bundle: the files that are in it. */
const METAFILES = ['.bundle.json', '.page.json'].map((name) => join(ROOT, 'dist', name));
const LICENCE_FILE = /^(licen[cs]e|notice|copying)/i;

/**
 * Writes into a folder what is shipped in dist/: `sbom.cdx.json`, npm's own CycloneDX document without its random number and with the
 * instant of SOURCE_DATE_EPOCH (seconds; 0 without), and `licences.txt`, the licences of all packages in it. The same for the same
 * sources. Throws when npm does, when dist/ has not been built, or when a package that is in it is not installed.
 */
export function writeAttribution(folder: string): void {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const { serialNumber: _random, metadata, ...rest } = shipped(npmSbom(), lock);
  const timestamp = new Date(Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) * 1000).toISOString();
  const sbom = { ...rest, metadata: { ...metadata, timestamp } };
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, undefined, 1)}\n`);
  writeFileSync(join(folder, 'licences.txt'), rest.components.map((each) => licenceOf(each, lock)).join('\n'));
}

function npmSbom(): Sbom {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=error'];
  const text = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  return JSON.parse(text) as Sbom;
}

/** Packages of which at least one file is in a bundle. All are development dependencies: an installed bundle needs none. */
function shipped(sbom: Sbom, lock: Lock): Sbom {
  const folders = bundledFolders();
  const components = sbom.components.filter((each) => foldersOf(each, lock).some((folder) => folders.has(folder)));
  const bundled = new Set(components.map((each) => each['bom-ref']));
  const dropped = new Set(sbom.components.map((each) => each['bom-ref']).filter((ref) => !bundled.has(ref)));
  const dependencies = sbom.dependencies
    .filter(({ ref }) => !dropped.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => !dropped.has(each)) }));
  return { ...sbom, components, dependencies };
}

/** Folders of packages, such as `node_modules/ajv/node_modules/fast-uri`. */
function bundledFolders(): ReadonlySet<string> {
  const files = METAFILES.flatMap((path) => Object.keys((JSON.parse(readFileSync(path, 'utf8')) as Metafile).inputs));
  return new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
}

/** Folders in which a version of a package is installed. */
function foldersOf({ version, ...component }: Component, { packages }: Lock): readonly string[] {
  const suffix = `node_modules/${nameOf(component)}`;
  return Object.keys(packages).filter((path) => path.endsWith(suffix) && packages[path]?.version === version);
}

function licenceOf(component: Component, lock: Lock): string {
  const [folder = ''] = foldersOf(component, lock);
  const files = readdirSync(join(ROOT, folder)).filter((name) => LICENCE_FILE.test(name));
  const texts = files.sort().map((name) => readFileSync(join(ROOT, folder, name), 'utf8').trim());
  return [`${'='.repeat(80)}\n${titleOf(component)}: ${identifiersOf(component)}`, ...texts, ''].join('\n\n');
}

function nameOf({ group, name }: Pick<Component, 'group' | 'name'>): string {
  return group === undefined || name.startsWith('@') ? name : `${group}/${name}`;
}

function titleOf(component: Component): string {
  return `${nameOf(component)} ${component.version}`;
}

function identifiersOf({ licenses = [] }: Component): string {
  const names = licenses.map(({ license, expression }) => license?.id ?? expression ?? 'see below');
  return names.length === 0 ? 'see below' : names.join(', ');
}

if (import.meta.main) {
  const folder = process.argv[2];
  if (folder === undefined) {
    console.error('usage: node deploy/release/attribution.ts FOLDER');
    process.exitCode = 1;
  } else {
    writeAttribution(folder);
  }
}

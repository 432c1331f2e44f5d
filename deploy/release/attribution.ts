import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly 'bom-ref': string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
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

const ROOT = join(import.meta.dirname, '..', '..');
const LICENCE_FILE = /^(licen[cs]e|notice|copying)/i;

/**
 * Writes into a folder what is shipped: `sbom.cdx.json`, npm's own CycloneDX document without its random number and with the
 * instant of SOURCE_DATE_EPOCH (seconds; 0 without), and `licences.txt`, the licences of all packages in it. The same for the same
 * package-lock.json. Throws when npm does, or when a package that is in the document is not installed.
 */
export function writeAttribution(folder: string): void {
  const { serialNumber: _random, metadata, ...rest } = shipped(npmSbom());
  const timestamp = new Date(Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) * 1000).toISOString();
  const sbom = { ...rest, metadata: { ...metadata, timestamp } };
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, undefined, 1)}\n`);
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  writeFileSync(join(folder, 'licences.txt'), rest.components.map((each) => licenceOf(each, lock)).join('\n'));
}

function npmSbom(): Sbom {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=error'];
  const text = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  return JSON.parse(text) as Sbom;
}

/** Without what only development needs. Not by `--omit=dev`, which loses a dependency of ours that a package for tests has too. */
function shipped(sbom: Sbom): Sbom {
  const components = sbom.components.filter(
    ({ properties = [] }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'),
  );
  const dropped = new Set(sbom.components.filter((each) => !components.includes(each)).map((each) => each['bom-ref']));
  const dependencies = sbom.dependencies
    .filter(({ ref }) => !dropped.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => !dropped.has(each)) }));
  return { ...sbom, components, dependencies };
}

function licenceOf(component: Component, lock: Lock): string {
  const folder = join(ROOT, pathOf(component, lock));
  const files = readdirSync(folder).filter((name) => LICENCE_FILE.test(name));
  const texts = files.sort().map((name) => readFileSync(join(folder, name), 'utf8').trim());
  return [`${'='.repeat(80)}\n${titleOf(component)}: ${identifiersOf(component)}`, ...texts, ''].join('\n\n');
}

function pathOf(component: Component, { packages }: Lock): string {
  const suffix = `node_modules/${nameOf(component)}`;
  const found = Object.keys(packages).find(
    (path) => path.endsWith(suffix) && packages[path]?.version === component.version,
  );
  if (found === undefined) {
    throw new Error(`${titleOf(component)} is in npm's SBOM and not in package-lock.json: run npm ci`);
  }
  return found;
}

function nameOf({ group, name }: Component): string {
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

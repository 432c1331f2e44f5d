import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..', '..');

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface LockedPackage {
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
}

const read = (...path: readonly string[]): string => readFileSync(join(ROOT, ...path), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;

it.each([
  ['the base', ['deploy', 'base', 'deployment.yaml'], /image: evenkeel:(\S+)/g],
  ['the chart', ['deploy', 'chart', 'evenkeel', 'Chart.yaml'], /^(?:version|appVersion): (\S+)$/gm],
  ['the label of the image', ['deploy', 'Dockerfile'], /image\.version="([^"]+)"/g],
  ['the comment in the Dockerfile', ['deploy', 'Dockerfile'], /-t evenkeel:(\S+)/g],
  ['the documentation', ['docs', 'install.md'], /evenkeel[:-](\d+\.\d+\.\d+)/g],
])('%s names the version of package.json', (_what, path, pattern) => {
  const versions = [...read(...path).matchAll(pattern)].map(([, version]) => version);
  expect(new Set(versions)).toEqual(new Set([manifest.version]));
});

it('the image is built on the Node that everything is tested with', () => {
  const bases = [...read('deploy', 'Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  expect(bases).toEqual([`node:${manifest.devDependencies['node']}-bookworm-slim`, 'scratch']);
});

it('nothing in deploy/ asks for whatever is latest', () => {
  const files = readdirSync(join(ROOT, 'deploy'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.schema.json'))
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.filter((file) => /:latest\b/.test(readFileSync(file, 'utf8')))).toEqual([]);
  expect(files.length).toBeGreaterThan(20);
});

it('every package in the lock has a hash, but programs of development tools for other platforms', () => {
  const lock = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const without = Object.entries(lock.packages)
    .filter(([path, { integrity }]) => path !== '' && !integrity?.startsWith('sha512-'))
    .filter(([, { dev, optional, os }]) => !(dev === true && optional === true && os !== undefined))
    .map(([path]) => path);
  expect(without).toEqual([]);
});

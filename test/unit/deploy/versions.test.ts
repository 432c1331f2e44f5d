import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

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
  const named = [...read('docs', 'install.md').matchAll(/node:\d[\w.-]+/g)].map(([image]) => image);
  const image = `node:${manifest.devDependencies['node']}-bookworm-slim`;
  expect(bases).toEqual([image, 'scratch']);
  expect(new Set(named)).toEqual(new Set([image]));
});

describe('the release', () => {
  interface Step {
    readonly name?: string;
    readonly run?: string;
  }
  const workflow = parse(read('.github', 'workflows', 'release.yml')) as {
    readonly jobs: { readonly release: { readonly steps: readonly Step[] } };
  };
  const scriptOf = (name: string): string =>
    workflow.jobs.release.steps.find((step) => step.name === name)?.run ?? expect.fail(`no step ${name}`);

  /** What the step that names the base image leaves to the steps after it, as GitHub runs it. */
  function named(digest: string): { readonly code: number | null; readonly said: string; readonly left: string } {
    const folder = mkdtempSync(join(tmpdir(), 'evenkeel-release-'));
    const left = join(folder, 'env');
    writeFileSync(left, '');
    const env = { ...process.env, DIGEST: digest, GITHUB_ENV: left };
    const script = scriptOf('Name the base image by its digest');
    const { status, stdout } = spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    });
    const result = { code: status, said: stdout, left: readFileSync(left, 'utf8') };
    rmSync(folder, { recursive: true });
    return result;
  }

  it('is built on the base image that a digest names, in place of the tag in the Dockerfile', () => {
    const base = `node:${manifest.devDependencies['node']}-bookworm-slim`;
    const digest = `sha256:${'0a'.repeat(32)}`;
    expect(named(digest)).toEqual({ code: 0, said: '', left: `BASE_IMAGE=${base}=docker-image://${base}@${digest}\n` });
    expect(scriptOf('Build and push the image')).toContain('--build-context "$BASE_IMAGE"');
  });

  it.each(['', 'latest', 'sha256:', `sha256:${'0a'.repeat(31)}`])('is not built with %j for a digest', (digest) => {
    const { code, said, left } = named(digest);
    expect([code, left]).toEqual([1, '']);
    expect(said).toMatch(
      /^::error::set the variable NODE_IMAGE_DIGEST to the digest of node:\S+-bookworm-slim: docker buildx /,
    );
  });
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

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { buildImage, DOCKERFILE, type Image } from '../support/image/build-image.ts';
import { buildCopy, hashesOf } from '../support/image/bundle-copies.ts';
import { startContainer } from '../support/image/container.ts';
import { parseDockerfile } from '../support/image/dockerfile.ts';
import { installLinter } from '../tools/pypi.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const log = (line: string): void => void process.stderr.write(`${line}\n`);

let folder: string;
let image: Image;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-image-test-'));
  image = await buildImage({ SOURCE_DATE_EPOCH: '1700000000' });
});

afterAll(() => {
  image?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command in the image as its user; what it wrote, and its exit code. */
async function inImage(
  ...command: readonly string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { process: child, logFile } = startContainer({
    image,
    command,
    environment: {},
    user: image.user,
    files: [],
    folder,
  });
  await once(child, 'exit');
  return { code: child.exitCode, output: readFileSync(logFile, 'utf8') };
}

function filesBelow(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** Packages whose code, and not only types, the sources import. */
function importedPackages(): readonly string[] {
  const sources = filesBelow(join(ROOT, 'src')).filter((name) => /\.tsx?$/.test(name));
  const text = sources.map((name) => readFileSync(join(ROOT, 'src', name), 'utf8')).join('\n');
  const imports = text.matchAll(/^import (?!type )[^;]*? from '((?!\.|node:)(?:@[^/']+\/)?[^/']+)/gm);
  return [...new Set([...imports].map(([, name = '']) => name))];
}

describe('the Dockerfile', () => {
  it('passes hadolint', async () => {
    const { stdout } = await run(await installLinter('hadolint', log), ['--failure-threshold=style', DOCKERFILE]);
    expect(stdout).toBe('');
  });

  it('copies only what its ignore file lets through', () => {
    const allowed = readFileSync(`${DOCKERFILE}.dockerignore`, 'utf8').match(/(?<=^!).*$/gm);
    const copied = parseDockerfile(readFileSync(DOCKERFILE, 'utf8'))
      .flatMap(({ instructions }) => instructions)
      .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from='))
      .flatMap(({ text }) => text.split(/\s+/).slice(0, -1));
    expect([...copied].sort()).toEqual([...(allowed ?? [])].sort());
  });
});

describe('the image', () => {
  it('says its version, in its label too', async () => {
    expect(await inImage(...image.entrypoint, 'version')).toEqual({
      code: 0,
      output: `evenkeel ${VERSION} (Node ${process.version})\n`,
    });
    expect(image.labels['org.opencontainers.image.version']).toBe(VERSION);
  });

  it('knows all that the operator takes', async () => {
    const { code, output } = await inImage(...image.entrypoint, 'operator', '--help');
    expect(code).toBe(0);
    expect(output).toContain('--metrics-address');
  });

  it('runs as a numeric user that is not root, on a root that it cannot write to', async () => {
    expect(image.user).toBe('65532:65532');
    const write =
      'process.stdout.write(String(process.getuid())); require("fs").writeFileSync("/opt/evenkeel/new", "")';
    const { code, output } = await inImage('/usr/local/bin/node', '-e', write);
    expect(code).toBe(1);
    expect(output).toMatch(/^65532[\s\S]*EROFS/);
  });

  it('verifies servers on the internet, with the authorities that Node has', async () => {
    const { output } = await inImage('/usr/local/bin/node', '-p', 'require("tls").rootCertificates.length > 100');
    expect(output).toBe('true\n');
  });

  it('has Node, its libraries, the bundle and licences, and nothing else', async () => {
    const libraries = (await run('ldd', [join(image.root, 'usr/local/bin/node')])).stdout.match(/(?<=\s)\/\S+/g) ?? [];
    expect(filesBelow(image.root).filter((file) => !file.startsWith('opt/evenkeel/'))).toEqual(
      [
        ...['passwd', 'group', 'nsswitch.conf'].map((name) => `etc/${name}`),
        ...new Set(libraries.map((path) => path.slice(1))),
        'usr/local/bin/node',
        ...['libc6', 'libgcc-s1', 'libstdc++6'].map((name) => `usr/share/doc/${name}/copyright`),
      ].sort(),
    );
    const others = filesBelow(join(image.root, 'opt/evenkeel')).filter((file) => !/^evenkeel.*\.js$/.test(file));
    expect(others).toEqual([
      ...['LICENSE', 'licences.txt', 'package.json'],
      ...['icon.svg', 'index.html', 'page.css', 'page.js'].map((name) => `page/${name}`),
      'sbom.cdx.json',
      'webhook-thread.js',
    ]);
  });

  it('lists what the bundle is made of, and its licences', () => {
    const text = readFileSync(join(image.root, 'opt/evenkeel/sbom.cdx.json'), 'utf8');
    const sbom = JSON.parse(text) as Sbom;
    const manifest = readFileSync(join(ROOT, 'package.json'), 'utf8');
    const { devDependencies: versions } = JSON.parse(manifest) as Manifest;
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { timestamp: '2023-11-14T22:13:20.000Z' } });
    const refs = new Set(sbom.components.map(({ name, version }) => `${name}@${version}`));
    expect(importedPackages()).toContain('undici');
    expect(importedPackages().filter((name) => !refs.has(`${name}@${versions[name]}`))).toEqual([]);
    expect(sbom.components.map(({ name }) => name)).not.toContain('vitest');
    const licences = readFileSync(join(image.root, 'opt/evenkeel/licences.txt'), 'utf8');
    expect(sbom.components.filter(({ name, version }) => !licences.includes(`${name} ${version}: `))).toEqual([]);
    expect(licences).toContain('Permission is hereby granted');
  });

  it('is the same whenever and wherever it is built', async () => {
    const built = hashesOf(join(image.root, 'opt/evenkeel'));
    expect(Object.keys(built)).toContain('evenkeel.js');
    expect(await buildCopy(1)).toEqual(built);
    expect(await buildCopy(3)).toEqual(built);
    const times = filesBelow(image.root).map((file) => statSync(join(image.root, file)).mtimeMs);
    expect([...new Set(times)]).toEqual([1_700_000_000_000]);
  });
});

interface Sbom {
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
}

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { VERSION } from '../../src/version.ts';
import { buildControlPlane } from '../control-plane/build.ts';
import { buildInstallTools, type Tools } from '../tools/build.ts';
import { installLinter } from '../tools/pypi.ts';

interface Step {
  readonly name?: string;
  readonly run?: string;
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps?: readonly Step[] }>>;
}

/** Settings of the repository that the workflow runs in. */
const IMAGE = 'registry.example/organisation/evenkeel';
const REPOSITORY = { GITHUB_SERVER_URL: 'https://code.example', GITHUB_REPOSITORY: 'organisation/evenkeel' };
/** The oldest Node that Evenkeel runs on, and one that is too old. */
const [OLDEST, TOO_OLD] = ['22.19.0', '20.20.2'];

const run = promisify(execFile);
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const ROOT = join(import.meta.dirname, '..', '..');
const WORKFLOWS = [
  '.github/workflows/ci.yml',
  '.github/workflows/release.yml',
  'examples/.github/workflows/rebalancing.yml',
];

let folder: string;
let checkout: string;
let path: string;
let tools: Tools;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-release-'));
  checkout = await checkOut('checkout');
  tools = await buildInstallTools(log);
  const { bin } = await buildControlPlane({ log });
  path = [dirname(process.execPath), dirname(tools.bin('helm')), dirname(bin('kubectl')), process.env['PATH']].join(
    ':',
  );
}, 1_200_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A clone with the files as they are here, and a changelog of the version that is released. */
async function checkOut(name: string): Promise<string> {
  const clone = join(folder, name);
  await run('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone]);
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: ROOT });
  for (const file of stdout.split('\0').filter(Boolean)) {
    cpSync(join(ROOT, file), join(clone, file), { force: true });
  }
  const changelog = join(clone, 'CHANGELOG.md');
  writeFileSync(changelog, readFileSync(changelog, 'utf8').replace('## [Unreleased]', `## [${VERSION}] - 2026-01-02`));
  return clone;
}

/** Runs a step of the release workflow in the checkout as a runner does: bash, ending at the first command that fails. */
async function runStep(name: string, tag: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const { jobs } = parse(readFileSync(join(checkout, '.github/workflows/release.yml'), 'utf8')) as Workflow;
  const step = jobs['release']?.steps?.find((each) => each.name === name);
  const env = { ...process.env, ...REPOSITORY, PATH: path, IMAGE, TAG: tag, GITHUB_ENV: join(folder, 'github-env') };
  return await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step?.run ?? 'exit 9'], {
    cwd: checkout,
    env,
    maxBuffer: 64 * 2 ** 20,
  });
}

/** The folder of the programs of a Node of this version, from npm. */
async function installNode(version: string): Promise<string> {
  const home = join(folder, `node-${version}`);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{"private": true, "allowScripts": {"node": true}}');
  await run('npm', ['install', '--silent', `node@${version}`], { cwd: home });
  return join(home, 'node_modules', '.bin');
}

describe('workflows', () => {
  it('pass actionlint, and their shell steps ShellCheck', async () => {
    const shellcheck = await installLinter('shellcheck', log);
    const { stdout } = await run(tools.bin('actionlint'), ['-no-color', '-shellcheck', shellcheck, ...WORKFLOWS], {
      cwd: ROOT,
    });
    expect(stdout).toBe('');
  });

  it('are not passed when they are wrong', async () => {
    const broken = join(folder, 'broken.yml');
    const text = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8');
    writeFileSync(broken, text.replace('needs: test', 'needs: tests').replace('"$digest"', '$digest'));
    await expect(run(tools.bin('actionlint'), ['-no-color', broken], { cwd: ROOT })).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining('tests'),
    });
  });

  it('name scripts that pass ShellCheck', async () => {
    const { stdout: files } = await run('git', ['grep', '-lE', '^#!.*(bash|/sh)$'], { cwd: ROOT });
    const scripts = files.trim().split('\n');
    expect(scripts).toContain('.ci/run');
    const { stdout } = await run(await installLinter('shellcheck', log), scripts, { cwd: ROOT });
    expect(stdout).toBe('');
  });
});

describe('a release', () => {
  const output = () => join(checkout, 'release');

  beforeAll(async () => {
    await runStep('Build the files', `v${VERSION}`);
  }, 600_000);

  it('has the files of all installers, and their checksums', async () => {
    expect(readdirSync(output()).sort()).toEqual(
      [
        'chart',
        'checksums.txt',
        'crds.yaml',
        'dry-run.yaml',
        'evenkeel.yaml',
        `evenkeel-${VERSION}.tar.gz`,
        `evenkeel-${VERSION}.tgz`,
        'install.yaml',
        'licences.txt',
        'notes.md',
        'sbom.cdx.json',
      ].sort(),
    );
    const { stdout } = await run('sha256sum', ['--check', 'checksums.txt'], { cwd: output() });
    expect(stdout.split('\n').filter((line) => line.endsWith(': OK')).length).toBe(10);
    expect(readFileSync(join(output(), 'notes.md'), 'utf8')).toMatch(/^### Added\n/m);
  });

  it('names its own image and address', async () => {
    expect(readFileSync(join(output(), 'install.yaml'), 'utf8')).toContain(`image: ${IMAGE}:${VERSION}\n`);
    expect(readFileSync(join(output(), 'dry-run.yaml'), 'utf8')).toContain(`image: ${IMAGE}:${VERSION}\n`);
    const chart = join(output(), 'chart', `evenkeel-${VERSION}.tgz`);
    const { stdout } = await run(tools.bin('helm'), ['template', 'evenkeel', chart], { maxBuffer: 64 * 2 ** 20 });
    expect(stdout).toContain(`image: "${IMAGE}:${VERSION}"`);
    const address = `https://code.example/organisation/evenkeel/releases/download/v${VERSION}/evenkeel-${VERSION}.tar.gz`;
    expect(readFileSync(join(output(), 'evenkeel.yaml'), 'utf8')).toContain(address);
  });

  it('installs from its npm package alone, for evenkeel and for kubectl evenkeel', { timeout: 300_000 }, async () => {
    const app = join(folder, 'app');
    mkdirSync(app);
    const own = ['.bin', 'bin'].map((name) => join(app, 'node_modules', name)).join(':');
    const withNode = (programs: string) => ({ cwd: app, env: { ...process.env, PATH: `${programs}:${own}:${path}` } });
    const npm = ['install', '--silent', '--offline', join(output(), `evenkeel-${VERSION}.tgz`)];
    await run('npm', npm, withNode(dirname(process.execPath)));
    expect(readdirSync(join(app, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['evenkeel']);
    const cluster = join(ROOT, 'examples', 'snapshot', 'cluster.yaml');
    for (const programs of [dirname(process.execPath), await installNode(OLDEST)]) {
      const { stdout } = await run('npx', ['evenkeel', 'plan', '-f', cluster, '-o', 'json'], withNode(programs));
      expect(JSON.parse(stdout)).toMatchObject({ kind: 'RebalancePlan' });
      const plugin = await run('kubectl', ['evenkeel', 'version'], withNode(programs));
      expect(plugin.stdout).toMatch(`evenkeel ${VERSION} (Node v`);
    }
    const refused = run('evenkeel', ['version'], withNode(await installNode(TOO_OLD)));
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^evenkeel needs Node 22\.19 or later, but this is v20\.20\.2[^\n]*\n$/),
    });
  });

  it('does not replace files that are there', async () => {
    const script = join(checkout, 'deploy', 'release', 'release.ts');
    const again = run(process.execPath, [script, '--base-url', 'https://downloads.example', '--image', IMAGE], {
      cwd: checkout,
    });
    await expect(again).rejects.toMatchObject({
      stderr: expect.stringContaining('has files already: remove them, or name another folder with --output'),
    });
  });
});

describe('a release that cannot be made', () => {
  const release = (...flags: readonly string[]) =>
    run(process.execPath, [join(ROOT, 'deploy', 'release', 'release.ts'), ...flags, '--output', join(folder, 'none')]);
  const flags = ['--base-url', 'https://downloads.example', '--image', IMAGE];

  it.each([
    [[], 'release needs --base-url URL'],
    [[...flags, '--tag', 'v9.9.9'], `the tag is v9.9.9, and package.json has version ${VERSION}: tag v${VERSION}`],
    [flags, `CHANGELOG.md says nothing of ${VERSION}: rename its section Unreleased`],
  ])('says why: %j', async (args, message) => {
    await expect(release(...args)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
    expect(readdirSync(folder)).not.toContain(basename(join(folder, 'none')));
  });
});

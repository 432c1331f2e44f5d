import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { VERSION } from '../../src/version.ts';
import { buildControlPlane } from '../control-plane/build.ts';
import { policyObject } from '../support/resources.ts';

/** Four pods of one core each on one of two nodes. */
const CLUSTER = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    ...['a', 'b'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { allocatable: { cpu: '10', memory: '8Gi', pods: '110' } },
    })),
    ...[1, 2, 3, 4].map((index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `web-${index}`, ownerReferences: [{ kind: 'ReplicaSet', name: 'web', controller: true }] },
      spec: { nodeName: 'a', containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
    })),
    policyObject('even', { load: { source: 'Requests' } }),
  ],
};

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const BASE_URL = 'https://downloads.example/v0.1.0/';

interface Platform {
  readonly uri: string;
  readonly sha256: string;
  readonly files: readonly { readonly from: string; readonly to: string }[];
  readonly bin: string;
}

interface Plugin {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly platforms: readonly [Platform];
  };
}

let folder: string;
let kubectl: string;
let plugin: Plugin;
let archive: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-krew-'));
  kubectl = (await buildControlPlane({ log: (line) => void process.stderr.write(`${line}\n`) })).bin('kubectl');
  await pack(join(folder, 'release'));
  plugin = parse(readFileSync(join(folder, 'release', 'evenkeel.yaml'), 'utf8')) as Plugin;
  archive = join(folder, 'release', basename(new URL(plugin.spec.platforms[0].uri).pathname));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The script of `npm run release:krew`, without the build before it: dist/ is there. */
async function pack(output: string, ...flags: readonly string[]): Promise<void> {
  const args = flags.length === 0 ? ['--base-url', BASE_URL] : flags;
  await run(process.execPath, [join(ROOT, 'deploy', 'release', 'krew.ts'), ...args, '--output', output]);
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** What krew does with a manifest: unpacks the archive, moves the files that it names and links its program as kubectl-NAME. */
async function install(): Promise<string> {
  const { files, bin } = plugin.spec.platforms[0];
  const [unpacked, installed, path] = ['unpacked', 'installed', 'bin'].map((name) => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  }) as [string, string, string];
  await run('tar', ['-xzf', archive, '-C', unpacked]);
  for (const { from, to } of files) {
    expect(from).toBe('*');
    for (const name of readdirSync(unpacked)) {
      cpSync(join(unpacked, name), join(installed, to, name), { recursive: true });
    }
  }
  symlinkSync(join(installed, bin), join(path, `kubectl-${plugin.metadata.name}`));
  return path;
}

it('the manifest names the archive and its hash', () => {
  const [{ uri, sha256: hash }] = plugin.spec.platforms;
  expect(uri).toBe(`${BASE_URL}evenkeel-${VERSION}.tar.gz`);
  expect(hash).toBe(sha256(archive));
  expect(plugin).toMatchObject({ kind: 'Plugin', metadata: { name: 'evenkeel' }, spec: { version: `v${VERSION}` } });
  expect(plugin.spec.shortDescription.length).toBeLessThanOrEqual(50);
  expect(JSON.stringify(plugin)).not.toContain('${');
});

it('the same bundle makes the same archive', async () => {
  await pack(join(folder, 'again'));
  expect(sha256(join(folder, 'again', basename(archive)))).toBe(sha256(archive));
});

it('the script says what it needs', async () => {
  const packing = pack(join(folder, 'nowhere'), '--base-url=');
  await expect(packing).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('--base-url URL'),
  });
  expect(existsSync(join(folder, 'nowhere'))).toBe(false);
});

it('kubectl evenkeel runs from what krew installs', async () => {
  const path = [await install(), dirname(process.execPath), process.env['PATH']].join(':');
  const env = { ...process.env, PATH: path, KUBECONFIG: '', HOME: folder };
  const version = await run(kubectl, ['evenkeel', 'version'], { env });
  expect(version.stdout).toBe(`evenkeel ${VERSION} (Node ${process.version})\n`);
  const cluster = join(folder, 'cluster.yaml');
  writeFileSync(cluster, JSON.stringify(CLUSTER));
  const plan = await run(kubectl, ['evenkeel', 'plan', '-f', cluster, '-o', 'json'], { env });
  expect(JSON.parse(plan.stdout)).toMatchObject({ kind: 'RebalancePlan' });
  const list = await run(kubectl, ['plugin', 'list'], { env });
  expect(list.stdout).toContain('kubectl-evenkeel');
});

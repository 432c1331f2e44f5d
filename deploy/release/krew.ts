import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { writeAttribution } from './attribution.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DIST = join(ROOT, 'dist');
const TEMPLATE = join(ROOT, 'deploy', 'krew', 'evenkeel.template.yaml');

/**
 * Packs dist/ as a plugin of kubectl and writes `evenkeel-VERSION.tar.gz` and its krew manifest `evenkeel.yaml` into a folder. The
 * archive is the same for the same bundle, on every machine with GNU tar. `baseUrl` is where the archive will be, without its name.
 */
export function packPlugin(baseUrl: string, output: string): void {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
  const name = `evenkeel-${version}.tar.gz`;
  const archive = archiveOf();
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const values: Readonly<Record<string, string>> = {
    VERSION: version,
    SHA256: sha256,
    URI: `${baseUrl.replace(/\/$/, '')}/${name}`,
  };
  const manifest = readFileSync(TEMPLATE, 'utf8').replace(
    /\$\{(\w+)\}/g,
    (_, key: string) => values[key] ?? `\${${key}}`,
  );
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, name), archive);
  writeFileSync(join(output, 'evenkeel.yaml'), manifest);
}

function archiveOf(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-krew-'));
  try {
    // What begins with a dot is no part of the build.
    cpSync(DIST, folder, { recursive: true, filter: (path) => !basename(path).startsWith('.') });
    chmodSync(join(folder, 'evenkeel.js'), 0o755);
    copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
    writeAttribution(folder);
    return gzipSync(tarOf(folder), { level: 9 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tarOf(folder: string): Buffer {
  const same = ['--sort=name', '--format=ustar', '--owner=0', '--group=0', '--numeric-owner', '--mode=go=rX,u+rw'];
  const time = `--mtime=@${process.env['SOURCE_DATE_EPOCH'] ?? 0}`;
  return execFileSync('tar', ['--create', ...same, time, '--directory', folder, '.'], { maxBuffer: 256 * 2 ** 20 });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { 'base-url': { type: 'string' }, output: { type: 'string', default: 'release' } },
  });
  if (!values['base-url']) {
    console.error(
      'release:krew needs --base-url URL: where people will download the archive, such as https://example.com/v0.1.0',
    );
    process.exitCode = 1;
  } else {
    packPlugin(values['base-url'], values.output);
  }
}

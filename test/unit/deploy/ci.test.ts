import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '..', '..', '..', 'deploy', 'ci', 'evenkeel');

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'evenkeel-ci-'));
  mkdirSync(join(home, 'deploy', 'ci'), { recursive: true });
  mkdirSync(join(home, 'bin'));
  cpSync(SCRIPT, join(home, 'deploy', 'ci', 'evenkeel'));
  // An npm that writes down what it was asked, and does as much of it as the script needs.
  const npm = [
    '#!/bin/sh',
    `echo "$*" >> '${join(home, 'asked')}'`,
    `case "$1" in ci) mkdir -p node_modules/.bin && ln -sf '${process.execPath}' node_modules/.bin/node ;;`,
    "run) mkdir -p dist && echo 'console.log(1)' > dist/evenkeel.js ;; esac",
  ];
  writeFileSync(join(home, 'bin', 'npm'), npm.join('\n'));
  chmodSync(join(home, 'bin', 'npm'), 0o755);
});

afterEach(() => rmSync(home, { recursive: true }));

async function askedOfNpm(): Promise<readonly string[]> {
  const PATH = [join(home, 'bin'), process.env['PATH']].join(delimiter);
  const { stdout } = await promisify(execFile)(join(home, 'deploy', 'ci', 'evenkeel'), ['version'], {
    env: { ...process.env, PATH },
  });
  expect(stdout).toBe('1\n');
  return readFileSync(join(home, 'asked'), 'utf8').trim().split('\n');
}

it('installs and builds a checkout that has nothing', async () => {
  expect(await askedOfNpm()).toEqual(['ci --no-audit --no-fund', 'run build']);
});

it('installs nothing anew under those who use it', async () => {
  mkdirSync(join(home, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(process.execPath, join(home, 'node_modules', '.bin', 'node'));
  expect(await askedOfNpm()).toEqual(['run build']);
});

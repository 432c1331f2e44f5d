import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { BUNDLE } from '../../support/operator-process.ts';
import { runCli } from '../../support/run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-completion-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'evenkeel'), `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`, { mode: 0o755 });
writeFileSync(join(folder, 'snapshot.yaml'), '');

/** What bash offers when Tab is pressed at the end of the line. */
async function pressTab(line: string): Promise<readonly string[]> {
  const words = line.split(/ |(=)/).filter((word) => word !== undefined);
  const script = [
    'eval "$(evenkeel completion bash)"',
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})`,
    `COMP_CWORD=${words.length - 1}`,
    '_evenkeel',
    `printf "%s\\n" "\${COMPREPLY[@]}"`,
  ].join('\n');
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, HOME: folder, KUBECONFIG: '' };
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', script], { cwd: folder, env });
  expect(stderr).toBe('');
  return stdout.trimEnd().split('\n');
}

describe('completion in bash', () => {
  it.each([
    ['commands', 'evenkeel pl', ['plan']],
    ['flags', 'evenkeel plan --ex', ['--exit-code']],
    ['values of flags', 'evenkeel plan -o j', ['json', 'junit']],
    ['values behind an equals sign', 'evenkeel lint --output=s', ['sarif']],
    ['all values behind an equals sign', 'evenkeel diff --output=', ['table', 'json', 'markdown']],
    ['file names', 'evenkeel plan -f sn', ['snapshot.yaml']],
    ['words of arguments', 'evenkeel top w', ['workloads']],
    ['kinds of what is explained', 'evenkeel explain n', ['node/']],
    ['shells', 'evenkeel completion b', ['bash']],
    ['nothing where there is nothing', 'evenkeel approve x y', ['']],
  ])('offers %s', async (_what, line, offered) => {
    expect(await pressTab(line)).toEqual(offered);
  });

  it('offers every command that the help lists', async () => {
    const { stdout } = await runCli(['--help']);
    expect([...(await pressTab('evenkeel '))].sort()).toEqual([...commandsIn(stdout)].sort());
  });
});

/** Names of the commands that a help lists. */
function commandsIn(help: string): ReadonlySet<string> {
  return new Set([...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name));
}

describe('evenkeel COMMAND --help', () => {
  it('has an example of every command', async () => {
    const { stdout } = await runCli(['--help']);
    const commands = [...commandsIn(stdout)].filter((name) => name !== 'help');
    const helps = await Promise.all(commands.map((name) => runCli([name, '--help'])));
    expect(commands.filter((name, place) => !helps[place]?.stdout.includes(`evenkeel ${name}`))).toEqual([]);
    expect(helps.filter(({ stdout: text }) => !/^Examples?:$/m.test(text))).toEqual([]);
  });
});

describe('evenkeel completion', () => {
  it.each(['zsh', 'fish'])('prints a script for %s that asks the program', async (shell) => {
    const { stdout, code } = await runCli(['completion', shell]);
    expect(stdout).toContain('__complete');
    expect(stdout).toContain('kubectl-evenkeel');
    expect(code).toBe(0);
  });

  it('answers as kubectl wants it: a word and its meaning a line, and a directive', async () => {
    const { stdout } = await runCli(['__complete', 'plan', '--wat']);
    expect(stdout).toBe('--watch\tshow it again and again, until interrupted\n:4\n');
  });

  it('is silent about a cluster that cannot be asked', async () => {
    expect(await runCli(['__complete', 'approve', ''])).toEqual({ stdout: ':4\n', stderr: '', code: 0 });
  });
});

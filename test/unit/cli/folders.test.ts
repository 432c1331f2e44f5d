import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { policyObject } from '../../support/resources.ts';
import { runCli } from '../../support/run-cli.ts';

const root = mkdtempSync(join(tmpdir(), 'evenkeel-folders-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A folder with files of this content, by name. */
function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  const path = join(root, name);
  mkdirSync(path);
  for (const [file, content] of Object.entries(files)) {
    writeFileSync(join(path, file), content);
  }
  return path;
}

const node = (name: string): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: {
      allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
const policy = (name: string): string => stringify(policyObject(name, { strategy: { type: 'GreedyLB' } }));
const NOT_OURS = 'stages: [test]\n';

const snapshot = folderOf('snapshot', { 'one.yaml': node('node-1'), 'two.yml': node('node-2'), '.ci.yml': NOT_OURS });
const policies = folderOf('policies', { 'even.yaml': policy('even'), '.ci.yml': NOT_OURS, 'README.md': 'Policies\n' });
const several = folderOf('several', { 'a.yaml': policy('even'), 'b.yaml': policy('odd') });
const hidden = folderOf('hidden', { '.policy.yaml': policy('even') });
const none = folderOf('none', {});

describe('folders of files', () => {
  it('are read for -f and -p without hidden files and files of other kinds', async () => {
    const { code, stdout, stderr } = await runCli(['plan', '-f', snapshot, '-p', policies, '-o', 'json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('ci.yml') });
    expect(JSON.parse(stdout).spec.policy.name).toBe('even');
    const { stdout: top } = await runCli(['top', '-f', snapshot]);
    expect(top).toMatch(/node-1[\s\S]*node-2/);
  });

  it('give findings the file of the policy, not the folder', async () => {
    const { stdout } = await runCli(['plan', '-f', snapshot, '-p', policies, '-o', 'sarif']);
    expect(stdout).toContain('policies/even.yaml');
  });

  it.each([
    ['-f', none, 'none: is a folder without .yaml, .yml or .json files (hidden files and subfolders are not read)'],
    ['-p', hidden, 'hidden: is a folder without .yaml, .yml or .json files (hidden files and subfolders are not read)'],
    ['-p', several, 'several: contains 2 RebalancePolicies (even in '],
    ['-p', snapshot, 'one.yaml:2:7: kind: is "Node"'],
  ])('are refused for %s %s', async (flag, folder, message) => {
    const given = flag === '-f' ? ['-f', folder] : ['-f', snapshot, flag, folder];
    const { code, stderr } = await runCli(['plan', ...given]);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  it('may be the current one', async () => {
    const { stderr } = await runCli(['plan', '-f', snapshot, '-p', '.']);
    expect(stderr).toContain('package.json');
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { superviseIn } from './supervisor.ts';

const supervisorFile = join(import.meta.dirname, 'supervisor.ts');

it.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)('leaves nothing behind when its process gets %s', async (signal) => {
  const folder = newFolder();
  const script = `
    import { superviseIn } from ${JSON.stringify(supervisorFile)};
    import { spawn } from 'node:child_process';
    const supervisor = superviseIn(${JSON.stringify(folder)});
    const { pid } = supervisor.start('sleeper', '/bin/sleep', ['1000']);
    const adopted = spawn('/bin/sleep', ['1000']);
    supervisor.adopt(adopted);
    process.stdout.write(pid + ' ' + adopted.pid);
    setInterval(() => undefined, 1000);
  `;
  const runner = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  const [output] = await once(runner.stdout, 'data');
  const pids = String(output).split(' ').map(Number);
  expect(pids.map(isAlive)).toEqual([true, true]);
  runner.kill(signal);
  await vi.waitUntil(() => !pids.some(isAlive) && !existsSync(folder), { timeout: 10_000 });
});

it('ends its programs and removes the folder', async () => {
  const folder = newFolder();
  const supervisor = superviseIn(folder);
  const { pid } = supervisor.start('sleeper', '/bin/sleep', ['1000']);
  await supervisor.stop();
  expect(isAlive(pid)).toBe(false);
  expect(existsSync(folder)).toBe(false);
});

it('says which program cannot be started', async () => {
  const supervisor = superviseIn(newFolder());
  expect(() => supervisor.start('etcd', '/nowhere/etcd', [])).toThrow(/cannot start etcd: \/nowhere\/etcd is missing/);
  await supervisor.stop();
});

it('shows the end of the log of a program that dies before it is ready', async () => {
  const supervisor = superviseIn(newFolder());
  const program = supervisor.start('etcd', '/bin/sh', ['-c', 'echo the disk is full; exit 3']);
  const ready = program.ready(() => Promise.resolve(false), 10_000);
  await expect(ready).rejects.toThrow(/etcd ended with 3 while starting[\s\S]*the disk is full/);
  await supervisor.stop();
});

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'evenkeel-supervisor-'));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

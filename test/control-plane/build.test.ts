import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildControlPlane, programs } from './build.ts';
import { withLock } from './build-lock.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-build-'));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

describe('ready programs', () => {
  it('are used where EVENKEEL_ASSETS points', async () => {
    for (const name of programs) {
      writeFileSync(join(folder, name), '', { mode: 0o755 });
    }
    vi.stubEnv('EVENKEEL_ASSETS', folder);
    const built = await buildControlPlane({ log: () => undefined });
    expect(built.bin('etcd')).toBe(join(folder, 'etcd'));
    expect(() => built.bin('docker')).toThrow(/no program "docker"; it has etcd, kube-apiserver/);
  });

  it('must be complete', async () => {
    for (const name of programs.filter((program) => program !== 'kwok')) {
      writeFileSync(join(folder, name), '', { mode: 0o755 });
    }
    vi.stubEnv('EVENKEEL_ASSETS', folder);
    await expect(buildControlPlane({ log: () => undefined })).rejects.toThrow(/EVENKEEL_ASSETS lacks kwok: add them/);
  });
});

it('says which Go is needed and both ways out where there is neither Go nor Python', async () => {
  vi.stubEnv('EVENKEEL_ASSETS', '');
  vi.stubEnv('KUBEBUILDER_ASSETS', '');
  vi.stubEnv('PATH', folder);
  vi.stubEnv('XDG_CACHE_HOME', folder);
  const building = buildControlPlane({ log: () => undefined });
  await expect(building).rejects.toThrow(/needs Go 1\.26[\s\S]*install Go[\s\S]*EVENKEEL_ASSETS/);
});

describe('the build lock', () => {
  it('lets one go on after the other', async () => {
    const lock = join(folder, 'lock');
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      events.push(`${name} ends`);
    };
    const waiting = vi.fn();
    await Promise.all([withLock(lock, work('one'), waiting), withLock(lock, work('two'), waiting)]);
    const [first = ''] = events;
    const last = first.startsWith('one') ? 'two' : 'one';
    expect(events).toEqual([first, first.replace('begins', 'ends'), `${last} begins`, `${last} ends`]);
    expect(waiting).toHaveBeenCalledOnce();
    expect(existsSync(lock)).toBe(false);
  });

  it('is taken over from a process that is gone', async () => {
    const lock = join(folder, 'lock');
    const { pid } = spawnSync('/bin/true');
    writeFileSync(lock, `${hostname()} ${pid}`);
    const waiting = vi.fn();
    const holder = await withLock(lock, () => Promise.resolve(readFileSync(lock, 'utf8')), waiting);
    expect(holder).toBe(`${hostname()} ${process.pid}`);
    expect(waiting).not.toHaveBeenCalled();
  });

  it('is released when the work fails', async () => {
    const lock = join(folder, 'lock');
    const failing = withLock(
      lock,
      () => Promise.reject(new Error('no space')),
      () => undefined,
    );
    await expect(failing).rejects.toThrow('no space');
    expect(existsSync(lock)).toBe(false);
  });
});

import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The holder touches its lock this often; a lock untouched for `abandonedAfter` milliseconds has no holder. */
const heartbeat = 5_000;
const abandonedAfter = 60_000;

/**
 * Runs `work` while holding the lock file at `path`; waits while another process holds it, calling `waiting` about
 * every 15 s. A lock whose process is gone is taken over. Two waiters that take over the same lock in the same instant
 * can both go on, so `work` must publish its result atomically: it is then done twice, never wrongly.
 */
export async function withLock<T>(path: string, work: () => Promise<T>, waiting: () => void): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 0; !(await tryLock(path)); attempt += 1) {
    if (await isAbandoned(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (attempt % 30 === 0) {
      waiting();
    }
    await delay(500);
  }
  const touching = setInterval(() => void touch(path), heartbeat);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(`${hostname()} ${process.pid}`);
    await file.close();
    return true;
  } catch (error) {
    if (isFileError(error, 'EEXIST')) {
      return false;
    }
    throw new Error(`cannot create the lock file ${path}`, { cause: error });
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const [host, pid] = (await readFile(path, 'utf8')).split(' ');
    const age = Date.now() - (await stat(path)).mtimeMs;
    return age > abandonedAfter || (host === hostname() && pid !== undefined && !isAlive(Number(pid)));
  } catch (error) {
    if (isFileError(error, 'ENOENT')) {
      return false;
    }
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isFileError(error, 'ESRCH');
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined); // a lock that was taken over is no longer ours to keep
}

function isFileError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

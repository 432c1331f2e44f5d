import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createMutex } from '../../../src/model/mutex.ts';
import { forever } from '../../support/execution.ts';

describe('a mutex', () => {
  it('lets one piece of work run at a time, in the order in which they came', async () => {
    const mutex = createMutex();
    const seen: string[] = [];
    const work = (name: string, ms: number) => async () => {
      seen.push(`${name} begins`);
      await delay(ms);
      seen.push(`${name} ends`);
      return name;
    };
    const all = [mutex.runExclusive(work('long', 20), forever), mutex.runExclusive(work('short', 0), forever)];
    expect(await Promise.all(all)).toEqual(['long', 'short']);
    expect(seen).toEqual(['long begins', 'long ends', 'short begins', 'short ends']);
  });

  it('rejects for whoever fails, and lets the next one run', async () => {
    const mutex = createMutex();
    const failing = mutex.runExclusive(async () => {
      throw new Error('no answer');
    }, forever);
    const next = mutex.runExclusive(async () => 'next', forever);
    await expect(failing).rejects.toThrow('no answer');
    expect(await next).toBe('next');
  });
});

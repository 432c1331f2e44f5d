import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { watchObjects } from '../../support/object-watch.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) {
    rmSync(folder, { recursive: true });
  }
});

/** A watch of a kubectl that prints this, and then waits or ends; and the names that it told of. */
async function watching(text: string, then: 'waits' | 'ends') {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-object-watch-'));
  folders.push(folder);
  const kubectl = join(folder, 'kubectl');
  writeFileSync(kubectl, `#!/bin/sh\nprintf '%s' '${text}'\n${then === 'waits' ? 'exec sleep 60' : ''}\n`);
  chmodSync(kubectl, 0o755);
  const names: string[] = [];
  const plane = { kubeconfig: 'none', bin: () => kubectl };
  const watch = await watchObjects<{ readonly name: string }>(plane, '/api/v1/pods', ({ object }) => {
    names.push(object.name);
  });
  return { watch, names };
}

const event = (name: string): string => `${JSON.stringify({ type: 'ADDED', object: { name } })}\n`;

describe('a watch of objects', () => {
  it('that is stopped in the middle of an event has told of all before it', async () => {
    const { watch, names } = await watching(`${event('a')}${event('b')}{"type":"ADDED","obj`, 'waits');
    await watch.begun;
    await vi.waitFor(() => expect(names).toEqual(['a', 'b']));
    await watch.stop();
    expect(names).toEqual(['a', 'b']);
  });

  it.each([
    ['ended by itself', ''],
    ['broke off in the middle of an event', '{"type":"ADDED","obj'],
    ['told of something else', '{"type":"ERROR","object":{}}\n'],
  ])('that %s proves nothing', async (_, text) => {
    const { watch } = await watching(text, 'ends');
    // It has told of no object, so it has begun only as it ended.
    await watch.begun;
    await expect(watch.stop()).rejects.toThrow('the watch of /api/v1/pods ended early');
  });
});

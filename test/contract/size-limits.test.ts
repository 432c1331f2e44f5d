import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readLines } from '../../src/adapters/kubernetes/body.ts';
import type { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { createItemScanner } from '../../src/adapters/kubernetes/json-items.ts';
import { readKubeconfig } from '../../src/adapters/kubernetes/kubeconfig-file.ts';
import { listAll, listObjects } from '../../src/adapters/kubernetes/list.ts';
import { RESOURCES } from '../../src/adapters/kubernetes/resource.ts';
import { readText } from '../../src/adapters/snapshot-file/read-files.ts';
import { parseResources } from '../../src/cli/policy-file.ts';
import { clientOf, type Handler, json, listOf, NEVER, startFakeApiServer } from './fake-api-server.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

const MIB = 2 ** 20;

async function clientFor(...handlers: readonly Handler[]): Promise<ApiClient> {
  const server = await startFakeApiServer(...handlers);
  const client = clientOf(server.url, { attempts: 1 });
  cleanups.push(() => client.close(), server.stop);
  return client;
}

async function* chunksOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < text.length; start += size) {
    yield Buffer.from(text.slice(start, start + size));
  }
}

async function collect(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const line of lines) {
    found.push(line);
  }
  return found;
}

describe('an answer of the API server', () => {
  it('with an object of more than 16 MiB is refused before all of it is here', async () => {
    const scanner = createItemScanner(() => undefined);
    const begin = Buffer.from('{"items":[{"a":"');
    scanner.push(begin);
    const chunk = Buffer.alloc(MIB, 'x');
    for (let sent = 0; sent < 15; sent += 1) {
      scanner.push(chunk);
    }
    expect(() => {
      scanner.push(chunk);
      scanner.push(chunk);
    }).toThrow('the API server sent an object of more than 16777216 bytes');
  });

  it('with more than 1 MiB around its objects is refused', async () => {
    const client = await clientFor(json({ ...(listOf([]) as object), padding: 'x'.repeat(2 * MIB) }));
    await expect(listObjects(client, RESOURCES.Pod, {}, NEVER)).rejects.toThrow(
      'the API server sent a list without its items of more than 1048576 bytes',
    );
  });

  it('with a hundred objects of 1 MiB takes the memory of one', () => {
    const sizes: number[] = [];
    const scanner = createItemScanner((text) => sizes.push(text.length));
    scanner.push(Buffer.from('{"items":['));
    const item = Buffer.from(`{"a":"${'x'.repeat(MIB)}"},`);
    for (let sent = 0; sent < 100; sent += 1) {
      scanner.push(item);
    }
    expect(new Set(sizes)).toEqual(new Set([MIB + 8]));
    expect(sizes).toHaveLength(100);
  });

  it('whose pages never end is given up', async () => {
    const endless = json(listOf([], { resourceVersion: '7', continue: 'next' }));
    const client = await clientFor(endless);
    const listener = { item: () => undefined, restart: () => undefined };
    await expect(listAll(client, RESOURCES.Pod, {}, listener, NEVER)).rejects.toThrow(
      'list of pods does not end after 10000 pages',
    );
  });

  it('that is too long to be held says what to do', async () => {
    const plan = { metadata: { name: 'p' }, spec: { message: 'x'.repeat(1000) } };
    const client = await clientFor(json(listOf([plan, plan, plan])));
    await expect(listObjects(client, RESOURCES.RebalancePlan, {}, NEVER, 2500)).rejects.toThrow(
      'the rebalanceplans on the API server are longer than 2500 characters together: delete those that',
    );
  });

  it('with a line that is too long is refused', async () => {
    const line = 'x'.repeat(15 * MIB);
    await expect(collect(readLines(chunksOf(line, 65_536), 10 * MIB))).rejects.toThrow('is longer than 10485760 bytes');
  });

  it('in one line is read at the cost of its length, not of the length squared', async () => {
    const line = 'x'.repeat(15 * MIB);
    const short = Array.from({ length: 15 * 64 }, () => 'x'.repeat(MIB / 64 - 1));
    const long = await cheapest(`${line}\nshort\n`, [line, 'short']);
    // 960 chunks: a reader that searched the whole line with every chunk would need some 480 times as long.
    expect(long).toBeLessThan(48 * (await cheapest(`${short.join('\n')}\n`, short)));
  });

  /** Microseconds of this thread's processor time that the cheapest of three readings of `text` takes. */
  async function cheapest(text: string, wanted: readonly string[]): Promise<number> {
    const costs: number[] = [];
    for (let reading = 0; reading < 3; reading += 1) {
      const before = process.cpuUsage();
      const found = await collect(readLines(chunksOf(text, 16_384), 16 * MIB));
      const { user, system } = process.cpuUsage(before);
      costs.push(user + system);
      expect(found).toEqual(wanted);
    }
    return Math.min(...costs);
  }
});

describe('a file', () => {
  function fileOf(size: number): string {
    const folder = mkdtempSync(join(tmpdir(), 'evenkeel-large-'));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'large.yaml');
    writeFileSync(path, '');
    truncateSync(path, size); // sparse: takes no room
    return path;
  }

  it('with a snapshot of more than 500 MiB is refused unread', async () => {
    await expect(readText(fileOf(501 * MIB))).rejects.toThrow('is larger than 500 MiB: split it');
  });

  it('with resources of ours of more than 10 MiB is refused', () => {
    const { problems } = parseResources('p.yaml', '#'.repeat(10 * MIB + 1));
    expect(problems.map(({ message }) => message)).toEqual(['is larger than 10 MiB: split it']);
  });

  it('with a kubeconfig of more than 10 MiB is refused unread', () => {
    expect(() => readKubeconfig(fileOf(11 * MIB))).toThrow('is larger than 10 MiB: keep the contexts that you need');
  });

  it('whose aliases would expand to billions of values is refused', () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh', 'hi']) {
      bomb.push(`${to}: &${to} [${`*${from}, `.repeat(8)}*${from}]`);
    }
    const { problems } = parseResources('p.yaml', bomb.join('\n'));
    expect(problems[0]?.message).toMatch(/cannot be expanded/);
  });
});

import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBytes } from '../../src/adapters/kubernetes/body.ts';
import { createItemScanner } from '../../src/adapters/kubernetes/json-items.ts';
import { printTable } from '../support/print-table.ts';
import { POPULATIONS } from './full-size-objects.ts';

/**
 * Whether lists need a scanner of their own: pages of full-size pods, read in the chunks in which a connection gives them,
 * item by item with `createItemScanner` and as a whole with JSON.parse. Each way has processes of its own, which have the
 * heap of deploy/base, in turns. Run with `npm run bench:json-items`; nothing is asserted.
 */
const PAGE_SIZES = [100, 500, 2000];
const PODS = 20_000;
const ROUNDS = 5;
const CHUNK_BYTES = 64 * 1024;
const HEAP = ['--max-semi-space-size=8', '--max-old-space-size=384'];

/** How a page is read: answers how many objects it has. */
type ReadPage = (chunks: AsyncIterable<Uint8Array>) => Promise<number>;

const WAYS: Readonly<Record<string, ReadPage>> = { 'item by item': readItems, 'JSON.parse': readWhole };

/** What one process measured. */
interface Measured {
  readonly seconds: number;
  /** The longest that the event loop was blocked, in milliseconds. */
  readonly stall: number;
  /** RSS at its highest beyond that at the start, in bytes. */
  readonly peak: number;
}

let stall = 0;

/** Gives the chunks of a file, and notes how long their reader keeps each. */
async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  const opened = openSync(file, 'r');
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      const size = readSync(opened, chunk);
      const began = performance.now();
      if (size === 0) {
        return;
      }
      yield chunk.subarray(0, size);
      stall = Math.max(stall, performance.now() - began);
    }
  } finally {
    closeSync(opened);
  }
}

async function readItems(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let count = 0;
  const scanner = createItemScanner((text) => {
    count += Object.keys(JSON.parse(text) as object).length > 0 ? 1 : 0;
  });
  for await (const chunk of chunks) {
    scanner.push(chunk);
  }
  return count;
}

async function readWhole(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let began = 0;
  const text = await readBytes(
    noting(chunks, () => {
      began = performance.now();
    }),
  );
  const { items } = JSON.parse(text) as { readonly items: readonly object[] };
  const count = items.filter((item) => Object.keys(item).length > 0).length;
  stall = Math.max(stall, performance.now() - began);
  return count;
}

async function* noting(chunks: AsyncIterable<Uint8Array>, ended: () => void): AsyncGenerator<Uint8Array> {
  yield* chunks;
  ended();
}

async function measure(read: ReadPage, file: string, size: number): Promise<Measured> {
  const before = process.memoryUsage.rss();
  const began = performance.now();
  for (let pods = 0; pods < PODS; pods += size) {
    const count = await read(chunksOf(file));
    if (count !== size) {
      throw new Error(`a page of ${size} pods was read as ${count}`);
    }
  }
  const took = (performance.now() - began) / 1000;
  return { seconds: took, stall, peak: process.resourceUsage().maxRSS * 1024 - before };
}

function writePage(file: string, size: number): void {
  const population = POPULATIONS.get('/api/v1/pods');
  const items = Array.from({ length: size }, (_, index) => population?.make(PODS + 2 * index));
  writeFileSync(file, JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items }));
}

function inProcess(way: string, file: string, size: number): Measured {
  const args = [...HEAP, import.meta.filename, way, file, String(size)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(`${way} ended with ${status}: ${stderr}`);
  }
  return JSON.parse(stdout) as Measured;
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function rowsOf(size: number, file: string): readonly (readonly string[])[] {
  const runs = Array.from({ length: ROUNDS }, () => Object.keys(WAYS).map((way) => inProcess(way, file, size)));
  const base = median(runs.map(([first]) => first?.seconds ?? Number.NaN));
  return Object.keys(WAYS).map((way, index) => {
    const of = (field: keyof Measured): number => median(runs.map((run) => run[index]?.[field] ?? Number.NaN));
    return [
      `${size} pods, ${(statSync(file).size / 2 ** 20).toFixed(1)} MiB, ${way}`,
      `${of('seconds').toFixed(2)} s`,
      (of('seconds') / base).toFixed(2),
      `${of('stall').toFixed(0)} ms`,
      `${(of('peak') / 2 ** 20).toFixed(0)} MiB`,
    ];
  });
}

function report(): void {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-bench-items-'));
  try {
    const rows = PAGE_SIZES.flatMap((size) => {
      const file = join(folder, `${size}.json`);
      writePage(file, size);
      return rowsOf(size, file);
    });
    console.log(`${PODS} pods, medians of ${ROUNDS} processes each; Node ${process.version}\n`);
    printTable(['page', 'time', 'x item by item', 'longest stall', 'peak RSS'], rows);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const [way = '', file = '', size = ''] = process.argv.slice(2);
const read = WAYS[way];
if (read === undefined) {
  report();
} else {
  console.log(JSON.stringify(await measure(read, file, Number(size))));
}

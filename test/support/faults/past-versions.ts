import type { IncomingMessage } from 'node:http';
import { type FaultyRequest, isWatch } from './kinds.ts';

/** Versions of the store that lists were answered with, and when. */
export interface PastVersions {
  /** Reads the version from the head of the answer to a list; other answers tell nothing. */
  learnFrom(request: FaultyRequest, answer: IncomingMessage): void;
  /** A version of some seconds ago, the newest of those; undefined while none is known. */
  past(): string | undefined;
}

/** Milliseconds that a version has to be old. */
const AGE = 3000;
/** Milliseconds after which the API server may know it no more: it compacts every five minutes. */
const LIFETIME = 120_000;
/** Built-in kinds come with the metadata of the list first. */
const HEAD = /^\{"kind":"\w+List","apiVersion":"[\w./]+","metadata":\{"resourceVersion":"(\d+)"/;

/** None yet. */
export function createPastVersions(): PastVersions {
  let known: { readonly at: number; readonly version: string }[] = [];
  return {
    learnFrom: (request, answer) => {
      if (request.method !== 'GET' || isWatch(request)) {
        return;
      }
      answer.once('data', (chunk: Buffer) => {
        const [, version] = HEAD.exec(chunk.toString('utf8', 0, 300)) ?? [];
        if (version !== undefined) {
          const now = performance.now();
          known = [...known.filter(({ at }) => now - at < LIFETIME), { at: now, version }];
        }
      });
    },
    past: () => known.findLast(({ at }) => at < performance.now() - AGE && at > performance.now() - LIFETIME)?.version,
  };
}

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const FILES = [
  '*.md',
  'docs/**/*.md',
  'src/**/*.{ts,tsx}',
  'deploy/**/*.{ts,md,yaml,tpl}',
  'examples/**/*.{md,yaml}',
  'crds/*',
];

/** Wordings that made readers stop, and what to write instead. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\b1 moves\b/, '1 move'],
  [/take the spread between the highest and the lowest node/, 'narrow the spread from 40 % to 31 %'],
  [/the plan has its\b/, 'the plan already has 2 moves'],
  [/\bstay apart\b/, 'node-1 remains at 55 %'],
  [/are expected to land as planned/, 'the scheduler would choose the planned node for 1 of 7 moves'],
  [/what other tools are told/, "another tool's configuration"],
  [/what --fail-on names holds/, 'a --fail-on condition is true'],
  [/least level that is logged/, 'minimum log level'],
  [/certificates that it is trusted by/, 'CA bundle that verifies the server'],
  [/carried out by nobody/, 'preview only'],
  [/need what a (test )?machine has not/, 'need tools that a machine lacks'],
  [/in which nothing shall move/, 'to block moves at certain hours'],
  [/room of who has most/, 'capacity from the workload with the most slack'],
  [/the server will not have changed/, 'a rejected update does not block the others'],
  [/the terms of which others match/, 'index from affinity terms to the pods that they match'],
];

/** Files whose text users read: pages, manifests, and the sources of fields, help, messages and the page. */
const READ_BY_USERS = [
  '*.md',
  'docs/**/*.md',
  'crds/*',
  'deploy/**/*.{md,yaml,tpl}',
  'src/{api,cli,report,page}/**/*.{ts,tsx}',
];

/** Constructions that made readers stop. */
const CONSTRUCTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bwhoever\b/, 'the pod that, a user who'],
  [/(?:^|[.:] )Besides\b/, 'also'],
  [/(?:^|[.:] )Such (?!as\b)/, 'these pods'],
  [/\bit takes (?:one|two|three|at least)\b/, 'it needs two'],
  [/\bcan be believed\b/, 'is valid'],
  [/\bmay not be, since\b/, 'is not supported, because'],
];

interface Finding {
  readonly place: string;
  readonly instead: string;
}

/** Phrases are found across line ends, with the marks of comments between. */
function phrasesIn(path: string, text: string, phrases = PHRASES): readonly Finding[] {
  const prose = text.replaceAll(/\s*\n\s*(\*|\/\/|#|>)?\s*/g, ' ');
  return phrases.flatMap(([phrase, instead]) =>
    phrase.test(prose) ? [{ place: `${path}: ${phrase.source}`, instead }] : [],
  );
}

describe('plain English', () => {
  it('avoids the phrases that made readers stop', () => {
    const paths = globSync(FILES, { cwd: ROOT, exclude: (path) => String(path).includes('node_modules') });
    expect(paths.length).toBeGreaterThan(500);
    expect(paths.flatMap((path) => phrasesIn(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });

  it('avoids the constructions that made readers stop, where users read', () => {
    const paths = globSync(READ_BY_USERS, { cwd: ROOT, exclude: (path) => String(path).includes('node_modules') });
    expect(paths.length).toBeGreaterThan(200);
    const found = paths.flatMap((path) => phrasesIn(path, readFileSync(join(ROOT, path), 'utf8'), CONSTRUCTIONS));
    expect(found).toEqual([]);
  });

  it('would find each of them, also over two lines', () => {
    const text =
      'The plan is\n * carried out\n * by nobody: 1 moves take the spread between the highest and the lowest node.';
    expect(phrasesIn('a.ts', text).map(({ instead }) => instead)).toEqual([
      '1 move',
      'narrow the spread from 40 % to 31 %',
      'preview only',
    ]);
  });
});

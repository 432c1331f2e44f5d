import { readFile } from 'node:fs/promises';
import type { Answer, Endpoint } from './server.ts';

/** The page as `npm run build` has written it: content by path. */
export type PageFiles = ReadonlyMap<string, { readonly type: string; readonly body: Uint8Array }>;

/** What the page may do: show itself, and ask the server that it came from. Nothing inline, nothing from elsewhere. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const FILES = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page.js', 'page.js', 'text/javascript; charset=utf-8'],
  ['/page.css', 'page.css', 'text/css; charset=utf-8'],
  ['/icon.svg', 'icon.svg', 'image/svg+xml'],
] as const;

/** The page was not built, or its files cannot be read. */
export class PageMissingError extends Error {
  override readonly name = 'PageMissingError';
}

/** Reads the built page from its folder. Rejects with PageMissingError. */
export async function readPageFiles(folder: URL): Promise<PageFiles> {
  try {
    const files = FILES.map(async ([path, name, type]) => {
      return [path, { type, body: await readFile(new URL(name, folder)) }] as const;
    });
    return new Map(await Promise.all(files));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PageMissingError(`the page cannot be read: ${why}: npm run build makes it`, { cause: error });
  }
}

/** The page itself, which is the same for everybody and says nothing of the cluster. */
export function fileEndpoints(files: PageFiles): ReadonlyMap<string, Endpoint> {
  return new Map(
    [...files].map(([path, { type, body }]) => {
      const answer: Answer = { code: 200, type, body, headers: { 'content-security-policy': PAGE_POLICY } };
      return [path, () => answer];
    }),
  );
}

import type { IncomingMessage } from 'node:http';
import type { PageFeed, PageQuestion, PageUpdate } from '../../control/page-feed.ts';
import type { Guard } from './access-guard.ts';
import { fileEndpoints, type PageFiles } from './page-files.ts';
import type { Answer, Endpoint } from './server.ts';

/**
 * Paths under which the page asks what it shows: those that the ClusterRole evenkeel-page-reader names. Not below /api or
 * /apis, which every user may get of an API server (ClusterRole system:discovery), and so here too.
 */
export const PAGE_PATHS = ['/page/state', '/page/stream', '/page/explain'] as const;
/** One of them. */
export type PagePath = (typeof PAGE_PATHS)[number];

/** Pages that are open at a time; of the server's connections enough are left for scrapers. */
const MAX_WATCHERS = 24;
/** A stream ends after so many milliseconds and is opened again: whoever may no longer read it is told then. */
const STREAM_LIFETIME = 300_000;

const JSON_TYPE = 'application/json; charset=utf-8';

/** The page, and what it asks for. `guardOf` gives the guard of a path; without one everybody who reaches the server may ask. */
export function pageEndpoints(
  files: PageFiles,
  feed: PageFeed,
  guardOf: (path: PagePath) => Guard | undefined,
): ReadonlyMap<string, Endpoint> {
  const answers: Readonly<Record<PagePath, Endpoint>> = {
    '/page/state': async (_, signal) => ({ code: 200, type: JSON_TYPE, body: await feed.state(signal) }),
    '/page/stream': streamEndpoint(feed),
    '/page/explain': (request, signal) => explain(feed, request, signal),
  };
  const withBackOff = PAGE_PATHS.map((path): [string, Endpoint] => {
    const guard = guardOf(path);
    return [path, async (request, signal) => (await guard?.(request, signal)) ?? answers[path](request, signal)];
  });
  return new Map([...fileEndpoints(files), ...withBackOff]);
}

function streamEndpoint(feed: PageFeed): Endpoint {
  let watchers = 0;
  async function* frames(signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    watchers += 1;
    try {
      for await (const update of feed.updates(AbortSignal.any([signal, AbortSignal.timeout(STREAM_LIFETIME)]))) {
        yield frameOf(update);
      }
    } finally {
      watchers -= 1;
    }
  }
  return () =>
    watchers >= MAX_WATCHERS
      ? { code: 503, body: `${MAX_WATCHERS} pages are open already\n`, headers: { 'retry-after': '10' } }
      : { code: 200, type: 'text/event-stream; charset=utf-8', body: frames };
}

/** As server-sent events are written (HTML Living Standard, 9.2.6). */
function frameOf({ event, data }: PageUpdate): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

async function explain(feed: PageFeed, request: IncomingMessage, signal: AbortSignal): Promise<Answer> {
  const question = questionIn(request.url ?? '');
  if (question === undefined) {
    return { code: 400, body: 'ask for one of ?node=NAME, ?pod=NAMESPACE/NAME and ?stays, and &policy=NAME\n' };
  }
  const found = await feed.explain(question, signal);
  return found === undefined
    ? { code: 404, body: 'there is no such node, pod or policy any more\n' }
    : { code: 200, type: JSON_TYPE, body: JSON.stringify(found) };
}

function questionIn(target: string): PageQuestion | undefined {
  const query = new URLSearchParams(target.split('?')[1] ?? '');
  const asked = (['node', 'pod', 'stays'] as const).filter((about) => query.has(about));
  const [about] = asked;
  return about === undefined || asked.length > 1
    ? undefined
    : { about, name: query.get(about) ?? '', policy: query.get('policy') ?? undefined };
}

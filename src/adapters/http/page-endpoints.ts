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

/** Pages that are open at a time, and of one reader; of the server's connections enough are left for scrapers. */
const MAX_WATCHERS = 24;
const MAX_WATCHERS_OF_READER = 6;
/** A stream ends after so many milliseconds and is opened again: whoever may no longer read it is told then. */
const STREAM_LIFETIME = 300_000;

const JSON_TYPE = 'application/json; charset=utf-8';

/** The page, and what it asks for. `guardOf` gives the guard of a path; without one everybody who reaches the server may ask. */
export function pageEndpoints(
  files: PageFiles,
  feed: PageFeed,
  guardOf: (path: PagePath) => Guard | undefined,
): ReadonlyMap<string, Endpoint> {
  const answers: Readonly<Record<PagePath, PageEndpoint>> = {
    '/page/state': async (_request, signal) => ({ code: 200, type: JSON_TYPE, body: await feed.state(signal) }),
    '/page/stream': streamEndpoint(feed),
    '/page/explain': (request, signal) => explain(feed, request, signal),
  };
  const withBackOff = PAGE_PATHS.map((path): [string, Endpoint] => {
    const guard = guardOf(path);
    return [
      path,
      async (request, signal) => {
        const admittance = await guard?.(request, signal);
        return admittance !== undefined && 'refused' in admittance
          ? admittance.refused
          : answers[path](request, signal, admittance?.reader);
      },
    ];
  });
  return new Map([...fileEndpoints(files), ...withBackOff]);
}

/** Answers a reader of this name; `undefined` where nobody has to say who they are. */
type PageEndpoint = (
  request: IncomingMessage,
  signal: AbortSignal,
  reader: string | undefined,
) => Promise<Answer> | Answer;

function streamEndpoint(feed: PageFeed): PageEndpoint {
  const watchers: (string | undefined)[] = [];
  async function* frames(reader: string | undefined, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    watchers.push(reader);
    try {
      for await (const update of feed.updates(AbortSignal.any([signal, AbortSignal.timeout(STREAM_LIFETIME)]))) {
        yield frameOf(update);
      }
    } finally {
      watchers.splice(watchers.indexOf(reader), 1);
    }
  }
  return (_request, _signal, reader) => {
    const own = watchers.filter((watcher) => watcher === reader).length;
    if (reader !== undefined && own >= MAX_WATCHERS_OF_READER) {
      return tooMany(`you have ${MAX_WATCHERS_OF_READER} pages open already`);
    }
    return watchers.length >= MAX_WATCHERS
      ? tooMany(`${MAX_WATCHERS} pages are open already`)
      : { code: 200, type: 'text/event-stream; charset=utf-8', body: (signal) => frames(reader, signal) };
  };
}

function tooMany(body: string): Answer {
  return { code: 503, body: `${body}\n`, headers: { 'retry-after': '10' } };
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

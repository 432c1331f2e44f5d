import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { POPULATIONS, type Population } from './full-size-objects.ts';

/** Serves lists and watches of full-size objects, and sends its URL to the process that has forked it. */

/** Kubelets report their status every five minutes: so many a second in a quiet cluster. */
const NODE_UPDATES_PER_SECOND = 17;
const EMPTY: Population = { count: 0, make: () => ({}) };

let revision = 10_000_000;

function list(response: ServerResponse, { count, make }: Population, query: URLSearchParams): void {
  const from = Number(query.get('continue') ?? 0);
  const to = Math.min(count, from + Number(query.get('limit') ?? count));
  const more = to < count ? { continue: String(to), remainingItemCount: count - to } : {};
  response.write(
    `{"kind":"List","apiVersion":"v1","metadata":${JSON.stringify({ resourceVersion: String(revision), ...more })},"items":[`,
  );
  for (let index = from; index < to; index += 1) {
    response.write(`${index === from ? '' : ','}${JSON.stringify(make(index))}`);
  }
  response.end(']}\n');
}

function watch(response: ServerResponse, path: string, { count, make }: Population): void {
  response.flushHeaders();
  const say = (type: string, object: object): void => void response.write(`${JSON.stringify({ type, object })}\n`);
  const bookmarks = setInterval(() => say('BOOKMARK', { metadata: { resourceVersion: String(revision) } }), 60_000);
  const updates = setInterval(() => {
    if (path === '/api/v1/nodes') {
      revision += 1;
      const object = make(revision % count);
      say('MODIFIED', {
        ...object,
        metadata: { ...(object['metadata'] as object), resourceVersion: String(revision) },
      });
    }
  }, 1000 / NODE_UPDATES_PER_SECOND);
  response.on('close', () => {
    clearInterval(bookmarks);
    clearInterval(updates);
  });
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const population = POPULATIONS.get(pathname) ?? EMPTY;
  response.writeHead(200, { 'content-type': 'application/json' });
  if (searchParams.has('watch')) {
    watch(response, pathname, population);
  } else {
    list(response, population, searchParams);
  }
});
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
process.on('disconnect', () => process.exit());

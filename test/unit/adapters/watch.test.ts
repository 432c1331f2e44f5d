import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../../src/adapters/kubernetes/client.ts';
import { type WatchEvent, watchOnce } from '../../../src/adapters/kubernetes/watch.ts';
import { fakeWatchServer } from '../../support/fake-watch-server.ts';
import { testClock } from '../../support/test-clock.ts';

const THINGS = { group: '', version: 'v1', resource: 'things' };

/** A watch from version 1 of a server with one object, and what becomes of it. */
async function watching(random = 0.5, accept?: string) {
  const clock = testClock();
  const server = fakeWatchServer(clock, () => random);
  const requests: ApiRequest[] = [];
  const events: WatchEvent[] = [];
  let opened = 0;
  let outcome: unknown = 'open';
  const client: typeof server.client = {
    ...server.client,
    open: (request, signal, consume) => {
      requests.push(request);
      return server.client.open(request, signal, consume);
    },
  };
  const listener = {
    opened: () => {
      opened += 1;
    },
    event: (event: WatchEvent) => void events.push(event),
  };
  const stop = new AbortController();
  const request = { target: THINGS, query: { fieldSelector: 'spec.x=1' }, accept, resourceVersion: '1' };
  const settle = (value: unknown) => {
    outcome = value;
  };
  void watchOnce(client, request, listener, stop.signal).then(() => settle('ended'), settle);
  server.put('a');
  await clock.advance(0);
  return { clock, server, requests, events, stop, opened: () => opened, outcome: () => outcome };
}

describe('a watch', () => {
  it.each([
    [0, '40', 70],
    [0.5, '60', 90],
    [0.999, '80', 110],
  ])(
    'asks for bookmarks and an end, at random %d after %s s, and waits half a minute longer',
    async (random, span, deadline) => {
      const { requests, opened } = await watching(random);
      expect(requests).toEqual([
        {
          verb: 'watch',
          target: THINGS,
          query: {
            fieldSelector: 'spec.x=1',
            watch: 'true',
            allowWatchBookmarks: 'true',
            resourceVersion: '1',
            timeoutSeconds: span,
          },
          deadline,
        },
      ]);
      expect(opened()).toBe(1);
    },
  );

  it('asks for the form of the objects that is wanted', async () => {
    const { requests } = await watching(0, 'application/json;as=PartialObjectMetadata');
    expect(requests).toMatchObject([{ accept: 'application/json;as=PartialObjectMetadata' }]);
  });

  it.each(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])('tells what is %s, at which version', async (type) => {
    const { clock, server, events, outcome } = await watching();
    events.splice(0);
    const object = { metadata: { name: 'b', resourceVersion: '9' } };
    server.say(JSON.stringify({ type, object }));
    await clock.advance(0);
    expect(events).toEqual([{ type, object, resourceVersion: '9' }]);
    expect(outcome()).toBe('open');
  });

  it.each([undefined, null, 7, {}, { metadata: null }, { metadata: {} }, { metadata: { resourceVersion: 9 } }])(
    'knows no version of %j',
    async (object) => {
      const { clock, server, events } = await watching();
      server.say(JSON.stringify({ type: 'ADDED', object }));
      await clock.advance(0);
      expect(events.at(-1)).toEqual({ type: 'ADDED', object, resourceVersion: '' });
    },
  );

  it.each<[object, object]>([
    [{}, { kind: 'ServerError', status: 500, message: 'watch things: HTTP 500 (500)' }],
    [
      { code: 410, message: 'too old' },
      { kind: 'Expired', status: 410, message: 'watch things: too old (410)' },
    ],
    [
      { code: 429, details: { retryAfterSeconds: 3 } },
      { kind: 'TooManyRequests', retryAfter: 3 },
    ],
  ])('fails with what an error event says: %j', async (fields, error) => {
    const { clock, server, events, outcome } = await watching();
    events.splice(0);
    server.say(JSON.stringify({ type: 'ERROR', object: { kind: 'Status', status: 'Failure', ...fields } }));
    await clock.advance(0);
    expect(outcome()).toMatchObject(error);
    expect(events).toEqual([]);
  });

  it.each(['hello', '7', 'null', '[]', '{}', '{"type":"CHANGED","object":{}}', '{"type":7}'])(
    'fails with what is no event: %s',
    async (line) => {
      const { clock, server, outcome } = await watching();
      server.say(line);
      await clock.advance(0);
      expect(outcome()).toMatchObject({
        kind: 'BadAnswer',
        message: "the API server's watch of things sent something that is no event",
      });
    },
  );

  it('ends when the server ends it, and with the reason of its signal', async () => {
    const ended = await watching();
    ended.server.end();
    await ended.clock.advance(0);
    expect(ended.outcome()).toBe('ended');
    const stopped = await watching();
    const reason = new Error('no longer');
    stopped.stop.abort(reason);
    await stopped.clock.advance(0);
    expect(stopped.outcome()).toBe(reason);
  });
});

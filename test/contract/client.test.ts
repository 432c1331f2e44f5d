import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiError, type ApiErrorKind } from '../../src/adapters/kubernetes/api-error.ts';
import { ApiClient, type ApiRequest } from '../../src/adapters/kubernetes/client.ts';
import { RESOURCES } from '../../src/adapters/kubernetes/resource.ts';
import { epochSeconds } from '../../src/model/units.ts';
import {
  clientOf,
  type FakeApiServer,
  fastClock,
  type Handler,
  json,
  NEVER,
  plainConnection,
  reset,
  SOON,
  silence,
  startFakeApiServer,
  status,
  truncated,
} from './fake-api-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

async function start(...handlers: readonly Handler[]): Promise<FakeApiServer> {
  const server = await startFakeApiServer(...handlers);
  cleanups.push(() => server.stop());
  return server;
}

function client(server: FakeApiServer, options: Parameters<typeof clientOf>[1] = {}): ApiClient {
  const made = clientOf(server.url, options);
  cleanups.push(() => made.close());
  return made;
}

const getPod: ApiRequest = { verb: 'get', target: { ...RESOURCES.Pod, namespace: 'shop', name: 'web-1' } };
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1' } };

async function errorOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) {
    throw new Error(`no ApiError but ${String(error)}`, { cause: error });
  }
  return error;
}

describe('a request', () => {
  it('asks for the right path as the right agent and gives the body with the time of the server', async () => {
    const server = await start(json(pod, 200, { date: 'Thu, 01 Jan 2026 10:00:00 GMT' }));
    const answer = await client(server).read({ ...getPod, query: { a: 'b c' } }, NEVER);
    expect(answer).toEqual({ body: pod, serverTime: Date.parse('2026-01-01T10:00:00Z') / 1000 });
    expect(server.seen[0]).toMatchObject({ method: 'GET', path: '/api/v1/namespaces/shop/pods/web-1' });
    expect(server.seen[0]?.query.get('a')).toBe('b c');
    expect(server.seen[0]?.headers['user-agent']).toBe('evenkeel/test');
  });

  it('says what it sends and what it wants: JSON, unless it is said otherwise', async () => {
    const server = await start(json(pod));
    const sent = client(server);
    await sent.read(getPod, NEVER);
    await sent.send({ ...getPod, verb: 'create', body: {} }, NEVER);
    await sent.send(
      { ...getPod, verb: 'patch', body: {}, contentType: 'application/merge-patch+json', accept: 'application/yaml' },
      NEVER,
    );
    expect(server.seen.map(({ headers }) => [headers['content-type'], headers.accept])).toEqual([
      [undefined, 'application/json'],
      ['application/json', 'application/json'],
      ['application/merge-patch+json', 'application/yaml'],
    ]);
    expect(server.seen.map(({ body }) => body)).toEqual([undefined, {}, {}]);
  });

  it.each<[string, Record<string, string> | undefined, readonly number[]]>([
    ['of the server', { date: 'Thu, 01 Jan 2026 10:00:00 GMT' }, [Date.parse('2026-01-01T10:00:00Z') / 1000]],
    ['of this side where the server does not say it', undefined, []],
    ['of this side where the server says nonsense', { date: 'noon' }, []],
  ])('has the time %s', async (_, headers, expected) => {
    const clock = { ...fastClock(), now: () => epochSeconds(7) };
    const heard: number[] = [];
    const server = await start((_seen, response) => {
      response.sendDate = false;
      response.writeHead(200, headers).end('{}');
    });
    const made = client(server, { clock, onServerTime: (time) => void heard.push(time) });
    expect((await made.read(getPod, NEVER)).serverTime).toBe(expected[0] ?? 7);
    expect(heard).toEqual(expected);
    // Nobody needs to hear it.
    expect((await client(server, { clock }).read(getPod, NEVER)).serverTime).toBe(expected[0] ?? 7);
  });

  it('has ten seconds, unless it is said otherwise', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const url = 'http://127.0.0.1:1';
      const credentials = () => new Promise<never>(() => undefined);
      const stuck = new ApiClient({ ...plainConnection(url), credentials }, clientOf(url).options);
      const failed = vi.fn<(error: unknown) => void>();
      const request = stuck.send(getPod, NEVER).catch(failed);
      await vi.advanceTimersByTimeAsync(9999);
      expect(failed).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      await request;
      expect(failed).toHaveBeenCalledWith(
        expect.objectContaining({
          kind: 'Timeout',
          message: expect.stringContaining('not answered within 10 s: get pods'),
        }),
      );
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps the path prefix of the server, and names inside of their place in the path', async () => {
    const server = await start(json(pod));
    const behindProxy = new ApiClient(plainConnection(`${server.url}/k8s/clusters/c-1`), clientOf(server.url).options);
    cleanups.push(() => behindProxy.close());
    await behindProxy.read({ verb: 'get', target: { ...RESOURCES.Node, name: 'a/../b' } }, NEVER);
    expect(server.seen[0]?.path).toBe('/k8s/clusters/c-1/api/v1/nodes/a%2F..%2Fb');
    await expect(behindProxy.read({ verb: 'get', target: { ...RESOURCES.Node, name: '..' } }, NEVER)).rejects.toThrow(
      RangeError,
    );
  });

  it('shares at most four connections among three hundred, two when they follow each other', async () => {
    const server = await start(json(pod));
    const shared = client(server);
    await Promise.all(Array.from({ length: 300 }, () => shared.read(getPod, NEVER)));
    expect(server.sockets()).toBeLessThanOrEqual(4);
    const calm = await start(json(pod));
    const single = client(calm);
    for (let index = 0; index < 300; index += 1) {
      await single.read(getPod, NEVER);
    }
    expect(calm.sockets()).toBeLessThanOrEqual(2);
  });

  it('fails after its deadline when the server is silent', async () => {
    const server = await start(silence());
    const error = await errorOf(client(server).send({ ...getPod, deadline: SOON }, NEVER));
    expect(error.kind).toBe('Timeout');
    expect(error.message).toContain(`${server.url} has not answered within 0.15 s`);
  });

  it('covers a body that stalls with its deadline', async () => {
    const server = await start((_, response) => response.write('{"kind":'));
    expect((await errorOf(client(server).send({ ...getPod, deadline: SOON }, NEVER))).kind).toBe('Timeout');
  });

  it('covers credentials that never come with its deadline', async () => {
    const connection = {
      ...plainConnection('http://127.0.0.1:1'),
      credentials: () => new Promise<never>(() => undefined),
    };
    const stuck = new ApiClient(connection, clientOf('http://127.0.0.1:1').options);
    expect((await errorOf(stuck.send({ ...getPod, deadline: SOON }, NEVER))).kind).toBe('Timeout');
  });

  it('rejects with the reason of its signal, also between two tries', async () => {
    const server = await start(silence());
    const controller = new AbortController();
    const request = client(server).read(getPod, controller.signal);
    setTimeout(() => controller.abort(new Error('enough')), 30);
    await expect(request).rejects.toThrow('enough');
    await expect(client(server).read(getPod, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect(server.seen).toHaveLength(1);
  });

  it('rejects with the reason of its signal also where it fails at the same moment', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const torn = async (): Promise<never> => {
      // The failure is on its way when the signal ends.
      void Promise.resolve()
        .then(() => undefined)
        .then(() => stop.abort(reason));
      throw new Error('torn');
    };
    await expect(client(await start(json(pod))).open(getPod, stop.signal, torn)).rejects.toBe(reason);
  });

  it('that is broken off is counted as that, or by the answer that had begun', async () => {
    const counted: string[] = [];
    const options = { attempts: 1, onRequest: (verb: string, code: string) => void counted.push(`${verb} ${code}`) };
    for (const isEarly of [true, false]) {
      const stop = new AbortController();
      const breakOff = () => stop.abort(new Error('enough'));
      const server = await start(isEarly ? breakOff : json(pod));
      const request = client(server, options).open(getPod, stop.signal, async () => breakOff());
      await expect(request).rejects.toThrow('enough');
    }
    expect(counted).toEqual(['get aborted', 'get 200']);
  });

  it.each([
    [200, true],
    [299, true],
    [300, false],
    [304, false],
  ])('has succeeded with %i: %s', async (code, isSuccess) => {
    const made = client(await start(json(pod, code)), { attempts: 1 });
    const succeeded = made.open(getPod, NEVER, async () => 'an answer');
    await (isSuccess
      ? expect(succeeded).resolves.toBe('an answer')
      : expect(succeeded).rejects.toMatchObject({ kind: 'Invalid', status: code }));
  });

  it.each([
    ['0', 0],
    ['7', 7],
    ['999999', 999_999],
    ['1000000', undefined],
    ['1.5', undefined],
    ['-1', undefined],
    ['Thu, 01 Jan 2026 10:00:00 GMT', undefined],
  ])('that is answered with Retry-After %s may be repeated after %s seconds', async (text, expected) => {
    const server = await start(status(429, {}, 429, { 'retry-after': text }));
    expect((await errorOf(client(server).send(getPod, NEVER))).retryAfter).toBe(expected);
  });

  it('is counted with its verb and what became of it', async () => {
    const counted: string[] = [];
    const server = await start(json(pod), status(404), silence(), reset());
    const counting = client(server, { attempts: 1, onRequest: (verb, code) => counted.push(`${verb} ${code}`) });
    await counting.read(getPod, NEVER);
    await errorOf(counting.read(getPod, NEVER));
    await errorOf(counting.read({ ...getPod, deadline: SOON }, NEVER));
    await errorOf(counting.send({ ...getPod, verb: 'create', body: {} }, NEVER));
    expect(counted).toEqual(['get 200', 'get 404', 'get timeout', 'create error']);
  });
});

describe('a fence', () => {
  const closed = { assertOpen: () => expect.fail('closed') };
  const changes: readonly ApiRequest['verb'][] = ['create', 'update', 'patch', 'delete'];

  it.each(changes)('stops a %s before it is sent, dry run or not, with what the fence throws', async (verb) => {
    const server = await start(json(pod));
    const fenced = client(server, { fence: closed });
    for (const query of [{}, { dryRun: 'All' }]) {
      await expect(fenced.send({ ...getPod, verb, query, body: {} }, NEVER)).rejects.toThrow('closed');
    }
    expect(server.seen).toEqual([]);
  });

  it('lets reads pass, and changes while it is open, also after one that it stopped', async () => {
    const server = await start(json(pod));
    let open = false;
    const assertOpen = () => (open ? undefined : expect.fail('closed'));
    const fenced = client(server, { fence: { assertOpen } });
    await fenced.read(getPod, NEVER);
    await expect(fenced.send({ ...getPod, verb: 'delete' }, NEVER)).rejects.toThrow('closed');
    open = true;
    await fenced.send({ ...getPod, verb: 'delete' }, NEVER);
    expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'DELETE']);
  });

  it('is asked when a request that waited for a connection gets one, not when it began to wait', async () => {
    const held: (() => void)[] = [];
    const server = await start((seen, response, socket) => held.push(() => json(pod)(seen, response, socket)));
    let open = true;
    const assertOpen = () => (open ? undefined : expect.fail('closed'));
    const fenced = client(server, { fence: { assertOpen } });
    const reads = Array.from({ length: 4 }, () => fenced.send(getPod, NEVER));
    await expect.poll(() => held.length).toBe(4);
    const eviction = fenced.send({ ...getPod, verb: 'create', body: {} }, NEVER);
    open = false;
    for (const answer of held) {
      answer();
    }
    await Promise.all(reads);
    await expect(eviction).rejects.toThrow('closed');
    expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'GET']);
  });
});

describe('an error', () => {
  it.each<[string, Handler, ApiErrorKind, string]>([
    ['401', status(401), 'Unauthorized', 'does not accept the credentials (401)'],
    [
      '403',
      status(403, { message: 'pods "web-1" is forbidden' }),
      'Forbidden',
      'may not get pods "web-1" in namespace "shop": pods "web-1" is forbidden: grant the verb get on pods in API group ""',
    ],
    [
      '403 for a quota',
      status(403, { message: 'placementhints.evenkeel.dev "a" is forbidden: exceeded quota: hints, requested: 1' }),
      'Forbidden',
      'exceeded quota: hints, requested: 1: raise that ResourceQuota, or leave the namespace out of spec.scope',
    ],
    [
      '403 for a quota that is new',
      status(403, { message: 'placementhints.evenkeel.dev "a" is forbidden: status unknown for quota: hints' }),
      'Forbidden',
      'status unknown for quota: hints: raise that ResourceQuota, or leave the namespace out of spec.scope',
    ],
    [
      '403 by an admission webhook',
      status(403, { message: 'admission webhook "keep.example" denied the request: not now' }),
      'Forbidden',
      'get pods "web-1" in namespace "shop": admission webhook "keep.example" denied the request: not now (403)',
    ],
    [
      '403 by a ValidatingAdmissionPolicy',
      status(403, {
        message: 'pods "a" is forbidden: ValidatingAdmissionPolicy "p" with binding "b" denied request: no',
      }),
      'Forbidden',
      'binding "b" denied request: no (403)',
    ],
    ['404 for an object', status(404), 'NotFound', 'get pods "web-1" in namespace "shop": code 404 (404)'],
    [
      '404 for the API',
      (_, response) => response.writeHead(404).end('404 page not found'),
      'NotServed',
      'does not serve pods',
    ],
    [
      '404 for a resource of a version that is served',
      status(404, { message: 'the server could not find the requested resource' }),
      'NotServed',
      'does not serve pods',
    ],
    ['409', status(409, { reason: 'Conflict' }), 'Conflict', '(409)'],
    ['409 for what exists', status(409, { reason: 'AlreadyExists' }), 'AlreadyExists', '(409)'],
    ['410', status(410), 'Expired', '(410)'],
    ['422', status(422), 'Invalid', '(422)'],
    ['429', status(429), 'TooManyRequests', 'asks to try later (429)'],
    ['500', status(500), 'ServerError', '(500)'],
    ['503 without a Status', (_, response) => response.writeHead(503).end('oops'), 'ServerError', 'HTTP 503 (503)'],
    ['a Status in a 200', status(500, {}, 200), 'ServerError', 'code 500 (500)'],
    ['a Status in a 201', status(403, {}, 201), 'Forbidden', 'code 403'],
    [
      'HTML in a 200',
      (_, response) => response.writeHead(200).end('<html>'),
      'BadAnswer',
      'something that is not JSON',
    ],
    ['nothing in a 200', (_, response) => response.writeHead(200).end(), 'BadAnswer', 'with nothing'],
    ['half an object', truncated('{"kind": "Po'), 'Unreachable', 'broke'],
    ['a reset', reset(), 'Unreachable', 'broke'],
  ])('tells %s from the others', async (_, handler, kind, message) => {
    const error = await errorOf(client(await start(handler)).send(getPod, NEVER));
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(message);
    expect(error.unsent).toBe(false);
  });

  it('names a server that is not there, and knows that nothing was sent', async () => {
    const server = await startFakeApiServer(json(pod));
    await server.stop();
    const error = await errorOf(client(server, { attempts: 1 }).read(getPod, NEVER));
    expect(error).toMatchObject({ kind: 'Unreachable', unsent: true });
    expect(error.message).toBe(
      `cannot connect to the API server ${server.url} (ECONNREFUSED): is it running, and is this the right context?`,
    );
  });
});

describe('repetition', () => {
  it('is for reads that may succeed later, with full jitter', async () => {
    const clock = fastClock();
    const server = await start(status(503), reset(), json(pod));
    expect((await client(server, { clock }).read(getPod, NEVER)).body).toEqual(pod);
    expect(clock.slept).toEqual([0.25, 0.5]);
  });

  it('ends after the last attempt with the last error', async () => {
    const clock = fastClock();
    const server = await start(status(500));
    expect((await errorOf(client(server, { clock }).read(getPod, NEVER))).kind).toBe('ServerError');
    expect(server.seen).toHaveLength(3);
    expect(clock.slept).toHaveLength(2);
  });

  it.each([
    ['the header', status(429, {}, 429, { 'retry-after': '7' })],
    ['the Status', status(429, { details: { retryAfterSeconds: 7 } })],
  ])('waits as long as %s asks', async (_, handler) => {
    const clock = fastClock();
    await client(await start(handler, json(pod)), { clock }).read(getPod, NEVER);
    expect(clock.slept).toEqual([7]);
  });

  it('waits for a 429 without Retry-After too, and gives up when asked for minutes', async () => {
    const clock = fastClock();
    await client(await start(status(429), json(pod)), { clock }).read(getPod, NEVER);
    expect(clock.slept).toEqual([0.25]);
    const patient = await start(status(429, {}, 429, { 'retry-after': '300' }));
    expect((await errorOf(client(patient).read(getPod, NEVER))).retryAfter).toBe(300);
    expect(patient.seen).toHaveLength(1);
  });

  it.each([400, 403, 404, 409, 410, 422])('is not for %d', async (code) => {
    const server = await start(status(code));
    await errorOf(client(server).read(getPod, NEVER));
    expect(server.seen).toHaveLength(1);
  });

  const change: ApiRequest = { verb: 'create', target: RESOURCES.Pod, body: {} };

  it('is not for what changes something', async () => {
    const server = await start(status(503));
    await errorOf(client(server).send(change, NEVER));
    expect(server.seen).toHaveLength(1);
  });

  it('is for changes that may arrive twice, when it takes moments', async () => {
    const server = await start(status(503), reset(), json(pod));
    expect((await client(server).sendIdempotent(change, NEVER)).body).toEqual(pod);
  });

  it.each([
    ['a silence', silence()],
    ['a wish for a long wait', status(429, {}, 429, { 'retry-after': '3' })],
    ['a conflict', status(409)],
  ])('is not for such a change after %s', async (_, handler) => {
    const server = await start(handler);
    await errorOf(client(server).sendIdempotent({ ...change, deadline: SOON }, NEVER));
    expect(server.seen).toHaveLength(1);
  });

  it('follows a 401 once, with fresh credentials', async () => {
    let refreshed = 0;
    const server = await start(status(401), json(pod), status(401));
    const connection = {
      ...plainConnection(server.url),
      refresh: () => {
        refreshed += 1;
      },
      credentials: async () => ({
        ...(await plainConnection('').credentials()),
        headers: { authorization: `Bearer ${refreshed}` },
      }),
    };
    const login = new ApiClient(connection, clientOf(server.url).options);
    cleanups.push(() => login.close());
    await login.send({ verb: 'create', target: RESOURCES.Pod, body: {} }, NEVER);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer 0', 'Bearer 1']);
    expect((await errorOf(login.read(getPod, NEVER))).kind).toBe('Unauthorized');
    expect(server.seen).toHaveLength(4);
  });
});

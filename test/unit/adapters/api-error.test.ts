import { describe, expect, it } from 'vitest';
import {
  ApiError,
  type ApiErrorKind,
  errorFromAnswer,
  ifThere,
  isApiError,
  isFailure,
  isUnsent,
  orConflict,
  unreachable,
} from '../../../src/adapters/kubernetes/api-error.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { ConflictError } from '../../../src/ports.ts';

function broken(code: string, syscall?: string) {
  return Object.assign(new Error(`${syscall} ${code}`), { code, ...(syscall === undefined ? {} : { syscall }) });
}

describe('isUnsent', () => {
  it.each([
    broken('ECONNREFUSED', 'connect'),
    broken('EHOSTUNREACH', 'connect'),
    broken('UND_ERR_CONNECT_TIMEOUT'),
    broken('ENOTFOUND', 'getaddrinfo'),
    broken('EAI_AGAIN', 'getaddrinfo'),
    broken('CERT_HAS_EXPIRED'),
    broken('ENETUNREACH', 'connect'),
    Object.assign(new AggregateError([broken('ECONNREFUSED', 'connect'), broken('ENETUNREACH', 'connect')]), {
      code: 'ECONNREFUSED',
    }),
  ])('knows that nothing was sent over a connection that was never made: $message $code', (error) => {
    expect(isUnsent(error)).toBe(true);
  });

  it.each([
    broken('EHOSTUNREACH', 'read'),
    broken('ENETUNREACH', 'write'),
    broken('ECONNRESET', 'read'),
    broken('UND_ERR_SOCKET'),
    broken('ECONNRESET', 'connect'),
    broken('ECONNREFUSED'),
    Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
    Object.assign(new AggregateError([null]), { code: 'ECONNREFUSED' }),
    Object.assign(new AggregateError([broken('EHOSTUNREACH', 'connect'), broken('EHOSTUNREACH', 'read')]), {
      code: 'EHOSTUNREACH',
    }),
  ])('takes no broken connection for one: $message $code', (error) => {
    expect(isUnsent(error)).toBe(false);
  });
});

describe('the error for an answer', () => {
  const asked = (group: string, subresource?: string) => ({
    verb: 'get',
    target: {
      group,
      version: 'v1',
      resource: 'things',
      name: 'a',
      ...(subresource === undefined ? {} : { subresource }),
    },
  });
  const failed = (fields: object) => ({ kind: 'Status', status: 'Failure', message: 'no', ...fields });

  it.each([
    ['metrics.k8s.io', 'install metrics-server'],
    [
      'evenkeel.dev',
      'install Evenkeel without the right to evict (kubectl apply --server-side -k deploy/overlays/dry-run)',
    ],
    ['policy', 'this Kubernetes is too old'],
    ['', 'this Kubernetes is too old'],
  ])('says what to install where the API group %j is not served', (group, hint) => {
    const { kind, message } = errorFromAnswer(asked(group), 404, undefined);
    expect([kind, message]).toEqual(['NotServed', `the API server does not serve things of ${group}/v1: ${hint}`]);
  });

  it.each([
    [undefined, 'things'],
    ['eviction', 'things/eviction'],
  ])('says which right is missing, also that of the subresource %s', (subresource, resource) => {
    expect(errorFromAnswer(asked('policy', subresource), 403, failed({})).message).toContain(
      `: no: grant the verb get on ${resource} in API group "policy"`,
    );
  });

  it.each<[number, ApiErrorKind]>([
    [400, 'Invalid'],
    [499, 'Invalid'],
    [500, 'ServerError'],
    [501, 'ServerError'],
    [504, 'ServerError'],
  ])('of %i is of the kind %s', (code, kind) => {
    const error = errorFromAnswer(asked(''), code, failed({ code }));
    expect(error).toMatchObject({ kind, status: code, message: `get things "a": no (${code})` });
  });

  it('goes by the code of the Status, and by that of HTTP only without one', () => {
    expect(errorFromAnswer(asked(''), 500, failed({ code: 410 }))).toMatchObject({ kind: 'Expired', status: 410 });
    expect(errorFromAnswer(asked(''), 410, failed({}))).toMatchObject({ kind: 'Expired', status: 410 });
    expect(errorFromAnswer(asked(''), 410, failed({ code: '500' }))).toMatchObject({ kind: 'Expired', status: 410 });
    expect(errorFromAnswer(asked(''), 500, { kind: 'Pod', code: 410, message: 'no' })).toMatchObject({
      kind: 'ServerError',
      message: 'get things "a": HTTP 500 (500)',
    });
  });

  it('has what the Status says of its causes, and of when to come back unless the head says that', () => {
    const details = {
      kind: 'pods',
      causes: [{ reason: 'DisruptionBudget', message: 'none left' }, 7, { reason: '' }],
      retryAfterSeconds: 10,
    };
    const body = failed({ code: 429, reason: 'TooManyRequests', details });
    expect(errorFromAnswer(asked(''), 429, body)).toMatchObject({
      reason: 'TooManyRequests',
      about: 'pods',
      causes: [
        { reason: 'DisruptionBudget', message: 'none left' },
        { reason: '', message: '' },
      ],
      retryAfter: 10,
      serverTime: undefined,
    });
    const head = { retryAfter: seconds(3), serverTime: epochSeconds(5) };
    expect(errorFromAnswer(asked(''), 429, body, head)).toMatchObject(head);
    expect(
      errorFromAnswer(asked(''), 429, failed({ details: { causes: 'none', retryAfterSeconds: '10' } })),
    ).toMatchObject({ causes: [], about: undefined, reason: undefined, retryAfter: undefined });
  });

  it('quotes no more than four thousand letters of it', () => {
    const { message } = errorFromAnswer(asked(''), 500, failed({ message: 'x'.repeat(5000) }));
    expect(message).toBe(`get things "a": ${'x'.repeat(4096)} (500)`);
  });
});

describe('a body', () => {
  const failure = { kind: 'Status', apiVersion: 'v1', status: 'Failure' };

  it.each<[unknown, boolean]>([
    [failure, true],
    [{ ...failure, status: undefined }, true],
    [{ ...failure, status: 'Success' }, false],
    [{ ...failure, kind: 'Pod' }, false],
    [{ ...failure, apiVersion: 'example.com/v1' }, false],
    ['Failure', false],
    [undefined, false],
  ])('%j reports a failure: %s', (body, expected) => {
    expect(isFailure(body)).toBe(expected);
  });
});

describe('an error of a request', () => {
  const failing = (kind: ApiErrorKind) => Promise.reject(new ApiError(kind, 'no'));

  it('is of one of some kinds, or of any', () => {
    const error = new ApiError('Expired', 'no');
    expect([isApiError(error), isApiError(error, 'Timeout', 'Expired'), isApiError(error, 'Timeout')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(isApiError(new Error('no'))).toBe(false);
  });

  it('for an object that is not there is no error to who asks whether it is', async () => {
    await expect(ifThere(Promise.resolve('it'))).resolves.toBe('it');
    await expect(ifThere(failing('NotFound'))).resolves.toBeUndefined();
    await expect(ifThere(failing('NotServed'))).rejects.toMatchObject({ kind: 'NotServed' });
    await expect(ifThere(Promise.reject(new Error('bug')))).rejects.toThrow('bug');
  });

  it.each<ApiErrorKind>(['Conflict', 'AlreadyExists', 'NotFound'])(
    'of the kind %s tells that another was faster',
    async (kind) => {
      const error = await orConflict(failing(kind)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ConflictError);
      expect(error).toMatchObject({ message: 'no', cause: { kind } });
    },
  );

  it.each<ApiErrorKind>(['Expired', 'Invalid', 'Forbidden', 'ServerError'])('of the kind %s does not', async (kind) => {
    await expect(orConflict(failing(kind))).rejects.toMatchObject({ name: 'ApiError', kind });
  });
});

describe('an error of the transport', () => {
  it.each([
    [
      'ECONNREFUSED',
      'cannot connect to the API server https://it (ECONNREFUSED): is it running, and is this the right context?',
    ],
    [
      'ENOTFOUND',
      'the name of the API server https://it cannot be resolved (ENOTFOUND): check the server in the kubeconfig',
    ],
    [
      'CERT_HAS_EXPIRED',
      'the certificate of the API server https://it is not trusted (connect CERT_HAS_EXPIRED): check certificate-authority in the kubeconfig',
    ],
    ['ECONNRESET', 'the connection to the API server https://it broke (ECONNRESET): connect ECONNRESET'],
  ])('names the server and what to look at: %s', (code, message) => {
    const cause = broken(code, 'connect');
    for (const unsent of [true, false]) {
      expect(unreachable('https://it', cause, unsent)).toMatchObject({ kind: 'Unreachable', message, cause, unsent });
    }
  });
});

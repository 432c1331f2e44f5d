import { describe, expect, it } from 'vitest';
import { isUnsent } from '../../../src/adapters/kubernetes/api-error.ts';

function broken(code: string, syscall?: string) {
  return Object.assign(new Error(`${syscall} ${code}`), { code, ...(syscall === undefined ? {} : { syscall }) });
}

describe('isUnsent', () => {
  it.each([
    broken('ECONNREFUSED', 'connect'),
    broken('EHOSTUNREACH', 'connect'),
    broken('UND_ERR_CONNECT_TIMEOUT'),
    broken('ENOTFOUND', 'getaddrinfo'),
    broken('CERT_HAS_EXPIRED'),
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
    Object.assign(new AggregateError([broken('EHOSTUNREACH', 'connect'), broken('EHOSTUNREACH', 'read')]), {
      code: 'EHOSTUNREACH',
    }),
  ])('takes no broken connection for one: $message $code', (error) => {
    expect(isUnsent(error)).toBe(false);
  });
});

import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Agent, EnvHttpProxyAgent, ProxyAgent, request, Socks5ProxyAgent } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSelfSigned } from '../../../src/adapters/http/certificate.ts';
import type { TlsMaterial } from '../../../src/adapters/kubernetes/connection.ts';
import { createTransport, type Transport } from '../../../src/adapters/kubernetes/transport.ts';

const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'] as const;
const PLAIN: TlsMaterial = {
  ca: undefined,
  cert: undefined,
  key: undefined,
  servername: undefined,
  rejectUnauthorized: true,
};

const transports: Transport[] = [];
beforeEach(() => {
  for (const name of VARIABLES) {
    vi.stubEnv(name, undefined);
  }
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(transports.splice(0).map((each) => each.close()));
});

function transport(proxy?: string): Transport {
  const made = createTransport(proxy);
  transports.push(made);
  return made;
}

describe('connections', () => {
  const full: TlsMaterial = { ...PLAIN, ca: 'CA', cert: 'CERT', key: Buffer.from('KEY'), servername: 'api' };

  it.each<[string, TlsMaterial, TlsMaterial]>([
    ['nothing', PLAIN, { ...PLAIN }],
    [
      'nothing but the form of certificates',
      full,
      { ...full, ca: Buffer.from('CA'), cert: Buffer.from('CERT'), key: 'KEY' },
    ],
  ])('are kept where credentials have changed in %s', (_, before, after) => {
    const { forCalls, forWatches } = transport();
    const pools = [forCalls(before), forWatches(before)];
    expect([forCalls(after), forWatches(after)]).toEqual(pools);
    expect(forCalls(after)).toBe(pools[0]);
    expect(forWatches(after)).toBe(pools[1]);
  });

  it.each<[string, TlsMaterial]>([
    ['the certificate authority', { ...full, ca: 'CA2' }],
    ['the certificate', { ...full, cert: Buffer.from('CERT2') }],
    ['the key', { ...full, key: Buffer.from('KEY2') }],
    ['a key that is there no more', { ...full, key: undefined }],
    ['the name of the server', { ...full, servername: 'api2' }],
    ['whether the server is verified', { ...full, rejectUnauthorized: false }],
  ])('are made anew where credentials have changed in %s', (_, after) => {
    const { forCalls, forWatches } = transport();
    const [calls, watches] = [forCalls(full), forWatches(full)];
    expect(forCalls(after)).not.toBe(calls);
    expect(forWatches(after)).not.toBe(watches);
    expect(forCalls(after)).toBe(forCalls(after));
    expect(forCalls(full)).not.toBe(calls);
  });

  it('are made anew where there is a certificate at last', () => {
    const { forCalls } = transport();
    expect(forCalls(PLAIN)).not.toBe(forCalls({ ...PLAIN, cert: 'CERT' }));
  });

  it('of watches are others than those of calls', () => {
    const { forCalls, forWatches } = transport();
    expect(forCalls(PLAIN)).not.toBe(forWatches(PLAIN));
  });

  it('end when they are closed, both those of calls and of watches', async () => {
    const { forCalls, forWatches, close } = transport();
    const pools = [forCalls(PLAIN), forWatches(PLAIN)] as Agent[];
    await close();
    expect(pools.map(({ destroyed }) => destroyed)).toEqual([true, true]);
    expect(forCalls(PLAIN)).not.toBe(pools[0]);
  });

  it('that are replaced take nothing more, and are not broken off', () => {
    const { forCalls } = transport();
    const before = forCalls(PLAIN) as Agent;
    forCalls(full);
    expect([before.closed, before.destroyed]).toEqual([true, false]);
  });
});

describe('the way to the server', () => {
  it('is straight where nothing names a proxy', () => {
    const pool = transport().forCalls(PLAIN);
    expect(pool).toBeInstanceOf(Agent);
  });

  it.each(VARIABLES)('is what %s says', (name) => {
    vi.stubEnv(name, 'http://proxy:3128');
    expect(transport().forCalls(PLAIN)).toBeInstanceOf(EnvHttpProxyAgent);
  });

  it('is straight where the environment names an empty proxy', () => {
    vi.stubEnv('HTTPS_PROXY', '');
    expect(transport().forCalls(PLAIN)).toBeInstanceOf(Agent);
  });

  it.each<[string, unknown]>([
    ['http://proxy:3128', ProxyAgent],
    ['https://proxy:3128', ProxyAgent],
    ['socks5://proxy:1080', Socks5ProxyAgent],
    ['socks5h://proxy:1080', Socks5ProxyAgent],
  ])('is the proxy of the kubeconfig, %s, whatever the environment says', (proxy, kind) => {
    vi.stubEnv('HTTPS_PROXY', 'http://another:3128');
    const { forCalls, forWatches } = transport(proxy);
    expect(forCalls(PLAIN)).toBeInstanceOf(kind);
    expect(forWatches(PLAIN)).toBeInstanceOf(kind);
  });
});

describe('a connection by TLS', () => {
  const own = createSelfSigned(['evenkeel', '127.0.0.1'], Date.now());
  const client = createSelfSigned(['client'], Date.now());

  /** What a server with a certificate of its own sees of a client that connects with this. */
  async function seen(tls: TlsMaterial): Promise<unknown> {
    const server = createServer({ ...own, requestCert: true, rejectUnauthorized: false }, ({ socket }, response) => {
      const peer = socket instanceof TLSSocket ? socket : expect.fail('no TLS');
      const certificate = peer.getPeerX509Certificate()?.fingerprint256 ?? 'none';
      response.end(JSON.stringify({ certificate, servername: peer.servername || 'none' }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const made = createTransport(undefined);
    try {
      const { port } = server.address() as AddressInfo;
      const { body } = await request(`https://127.0.0.1:${port}/`, { dispatcher: made.forCalls(tls) });
      return await body.json();
    } finally {
      await made.close();
      server.close();
    }
  }

  it.each<[string, Partial<TlsMaterial>, object]>([
    ['trusts whom the kubeconfig trusts', { ca: own.cert }, {}],
    ['trusts anybody where the kubeconfig says so', { rejectUnauthorized: false }, {}],
    [
      'asks for the name that the kubeconfig says',
      { ca: own.cert, servername: 'evenkeel' },
      { servername: 'evenkeel' },
    ],
    [
      'shows the certificate of the kubeconfig',
      { ca: own.cert, cert: client.cert, key: Buffer.from(client.key) },
      { certificate: new X509Certificate(client.cert).fingerprint256 },
    ],
  ])('%s', async (_, tls, expected) => {
    expect(await seen({ ...PLAIN, ...tls })).toEqual({ certificate: 'none', servername: 'none', ...expected });
  });

  it.each<[string, Partial<TlsMaterial>]>([
    ['nobody vouches for', {}],
    ['has another name', { ca: own.cert, servername: 'another' }],
  ])('is not made to a server that %s', async (_, tls) => {
    await expect(seen({ ...PLAIN, ...tls })).rejects.toMatchObject({ code: expect.any(String) });
  });
});

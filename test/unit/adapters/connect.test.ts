import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { connect } from '../../../src/adapters/kubernetes/connect.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-kubeconfig-'));
  await mkdir(join(folder, 'sub'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly more?: object;
}

async function write(name: string, { cluster = {}, user = {}, context = {}, more = {} }: Parts = {}): Promise<string> {
  const path = join(folder, name);
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443/', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', ...context } }],
    ...more,
  };
  await writeFile(path, stringify(content));
  return path;
}

const connected = (kubeconfig: string, context?: string) => connect({ kubeconfig, context, env: {} });
const headersOf = async (kubeconfig: string) => (await (await connected(kubeconfig)).credentials()).headers;

describe('connect', () => {
  it('takes the current context of the file', async () => {
    const path = await write('plain', { context: { namespace: 'shop' }, user: { token: 'secret' } });
    expect(await connected(path)).toMatchObject({
      server: 'https://127.0.0.1:6443',
      context: 'main',
      namespace: 'shop',
      proxy: undefined,
    });
    expect(await headersOf(path)).toEqual({ Authorization: 'Bearer secret' });
  });

  it('takes the context of the flag', async () => {
    const contexts = [
      { name: 'main', context: { cluster: 'c', user: 'u' } },
      { name: 'other', context: { cluster: 'd', user: 'u' } },
    ];
    const clusters = [
      { name: 'c', cluster: { server: 'https://c' } },
      { name: 'd', cluster: { server: 'https://d' } },
    ];
    const path = await write('contexts', { more: { contexts, clusters } });
    expect((await connected(path, 'other')).server).toBe('https://d');
    await expect(connected(path, 'third')).rejects.toThrow('no context "third": there is main, other');
  });

  it('merges the files of KUBECONFIG, the first to name something wins, missing ones are skipped', async () => {
    const first = await write('first', { cluster: { server: 'https://first' } });
    const second = await write('second', {
      cluster: { server: 'https://second' },
      more: {
        users: [
          { name: 'u', user: { token: 'second' } },
          { name: 'v', user: {} },
        ],
      },
    });
    const env = { KUBECONFIG: `${join(folder, 'nowhere')}:${first}:${second}` };
    expect((await connect({ env })).server).toBe('https://first');
    await expect(connect({ env: { KUBECONFIG: join(folder, 'nowhere') } })).rejects.toThrow(join(folder, 'nowhere'));
  });

  it('merges what only a later file names, and takes the first current context that there is', async () => {
    const nameless = await write('nameless', { more: { 'current-context': '', users: [], contexts: [] } });
    const later = await write('later', { cluster: { server: 'https://later' }, user: { token: 'later' } });
    const connection = await connect({ env: { KUBECONFIG: `:${nameless}:${later}:` } });
    expect([connection.context, connection.server]).toEqual(['main', 'https://127.0.0.1:6443']);
    expect((await connection.credentials()).headers).toEqual({ Authorization: 'Bearer later' });
  });

  it('takes the flag before the environment, and the environment before the home folder', async () => {
    const flag = await write('by-flag', { cluster: { server: 'https://flag' } });
    const listed = await write('by-environment', { cluster: { server: 'https://environment' } });
    const env = { KUBECONFIG: listed, HOME: folder };
    expect((await connect({ kubeconfig: flag, env })).server).toBe('https://flag');
    expect((await connect({ env })).server).toBe('https://environment');
  });

  it.each([
    ['has slashes at its end', 'https://host:6443/prefix//', 'https://host:6443/prefix'],
    ['is plain HTTP', 'http://host', 'http://host'],
  ])('takes a server that %s', async (_, server, expected) => {
    expect((await connected(await write('server', { cluster: { server } }))).server).toBe(expected);
  });

  it.each(['ftp://host', 'xhttps://host', 'localhost:6443', ''])('takes no server %j', async (server) => {
    await expect(connected(await write('no-server-url', { cluster: { server } }))).rejects.toMatchObject({
      name: 'ConnectError',
    });
  });

  it.each([
    ['none', undefined, undefined],
    ['an empty one', '', undefined],
    ['one', 'http://proxy:3128', 'http://proxy:3128'],
  ])('has the proxy of a kubeconfig that names %s', async (_, proxy, expected) => {
    const path = await write('proxy', { cluster: proxy === undefined ? {} : { 'proxy-url': proxy } });
    const { proxy: found, namespace } = await connected(path);
    expect([found, namespace]).toEqual([expected, 'default']);
  });

  it('verifies the server unless the kubeconfig says otherwise', async () => {
    const { tls } = await (await connected(await write('verified'))).credentials();
    expect(tls).toEqual({
      ca: undefined,
      cert: undefined,
      key: undefined,
      servername: undefined,
      rejectUnauthorized: true,
    });
  });

  it('has a user for the contexts that name one, beside one that names none', async () => {
    const contexts = [
      { name: 'main', context: { cluster: 'c' } },
      { name: 'other', context: { cluster: 'c', user: 'u' } },
    ];
    const path = await write('one-anonymous', { user: { token: 'secret' }, more: { contexts } });
    expect(await headersOf(path)).toEqual({});
    expect((await (await connected(path, 'other')).credentials()).headers).toEqual({ Authorization: 'Bearer secret' });
  });

  it('names all contexts that there are where it needs one', async () => {
    const contexts = ['main', 'other'].map((name) => ({ name, context: { cluster: 'c', user: 'u' } }));
    const path = await write('two', { more: { contexts, 'current-context': '' } });
    await expect(connected(path)).rejects.toThrow(
      `kubeconfig ${path}: no current-context: write --context with one of: main, other`,
    );
    const none = await write('none', { more: { contexts: [], 'current-context': '' } });
    await expect(connected(none)).rejects.toThrow(/write --context with one of: none$/);
    await expect(connected(none, 'x')).rejects.toThrow(/no context "x": there is none$/);
  });

  it('falls back to the file in the home folder', async () => {
    await mkdir(join(folder, '.kube'));
    await write('.kube/config', { cluster: { server: 'https://home' } });
    expect((await connect({ env: { HOME: folder } })).server).toBe('https://home');
    await expect(connect({ env: { HOME: join(folder, 'sub') } })).rejects.toThrow(
      'no cluster to talk to: write --kubeconfig',
    );
  });

  it('reads a token file anew, in the folder of the kubeconfig', async () => {
    await writeFile(join(folder, 'sub', 'token'), 'first\n');
    const path = await write('token-file', { user: { tokenFile: 'sub/token', token: 'ignored' } });
    const connection = await connected(path);
    expect((await connection.credentials()).headers).toEqual({ Authorization: 'Bearer first' });
    await writeFile(join(folder, 'sub', 'token'), 'second\n');
    connection.refresh();
    expect((await connection.credentials()).headers).toEqual({ Authorization: 'Bearer second' });
  });

  it.each<[string, (token: string) => object]>([
    ['in either spelling', (token) => ({ 'token-file': token, token: 'ignored' })],
    ['by its whole path', (token) => ({ tokenFile: token })],
  ])('reads a token file that is given %s', async (_, user) => {
    const token = join(folder, 'sub', 'whole');
    await writeFile(token, 'whole\n');
    expect(await headersOf(await write('token-path', { user: user(token) }))).toEqual({
      Authorization: 'Bearer whole',
    });
  });

  it.each([[{ token: 'secret', tokenFile: '' }], [{ token: 'secret', tokenFile: 7 }]])(
    'takes the token where no file is named: %j',
    async (user) => {
      expect(await headersOf(await write('no-token-file', { user }))).toEqual({ Authorization: 'Bearer secret' });
    },
  );

  it('gives a credential plugin its arguments and environment', async () => {
    const script = `#!/bin/sh
echo "{\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"$1-$OURS\\"}}"
`;
    const plugin = join(folder, 'sub', 'arguments');
    await writeFile(plugin, script, { mode: 0o755 });
    const apiVersion = 'client.authentication.k8s.io/v1';
    const exec = { apiVersion, command: plugin, args: ['first'], env: [{ name: 'OURS', value: 'second' }] };
    expect(await headersOf(await write('plugin-arguments', { user: { exec } }))).toEqual({
      Authorization: 'Bearer first-second',
    });
  });

  it('runs a credential plugin beside the kubeconfig, again after a refusal only', async () => {
    const script = `#!/bin/sh
echo run >> "${join(folder, 'runs')}"
case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) ;; *) exit 3;; esac
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"from-plugin"}}'
`;
    await writeFile(join(folder, 'sub', 'plugin'), script, { mode: 0o755 });
    const path = await write('exec', {
      user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './sub/plugin' } },
    });
    const connection = await connected(path);
    const { readFile } = await import('node:fs/promises');
    const runs = async () => (await readFile(join(folder, 'runs'), 'utf8')).split('\n').length - 1;
    await connection.credentials();
    expect((await connection.credentials()).headers).toEqual({ Authorization: 'Bearer from-plugin' });
    expect(await runs()).toBe(1);
    connection.refresh();
    await connection.credentials();
    expect(await runs()).toBe(2);
  });

  it('says what a credential plugin complained of', async () => {
    await writeFile(join(folder, 'sub', 'broken'), '#!/bin/sh\necho "please log in" >&2\nexit 1\n', { mode: 0o755 });
    const path = await write('broken', {
      user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './sub/broken' } },
    });
    await expect((await connected(path)).credentials()).rejects.toMatchObject({
      kind: 'Credentials',
      message: expect.stringMatching(/^no credentials for https:\/\/127\.0\.0\.1:6443: (?!Error).*please log in/s),
    });
    const missing = await write('missing', {
      user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-plugin-of-ours' } },
    });
    await expect((await connected(missing)).credentials()).rejects.toThrow('no-such-plugin-of-ours');
  });

  it('offers basic authentication, certificates and what the cluster says of TLS', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const path = await write('tls', {
      cluster: {
        'certificate-authority-data': base64('CA'),
        'tls-server-name': 'api',
        'insecure-skip-tls-verify': true,
      },
      user: {
        username: 'u',
        password: 'p',
        'client-certificate-data': base64('CERT'),
        'client-key-data': base64('KEY'),
      },
    });
    const { headers, tls } = await (await connected(path)).credentials();
    expect(headers).toEqual({ Authorization: `Basic ${base64('u:p')}` });
    expect(tls).toEqual({
      ca: Buffer.from('CA'),
      cert: Buffer.from('CERT'),
      key: Buffer.from('KEY'),
      servername: 'api',
      rejectUnauthorized: false,
    });
  });

  it('works with plain HTTP and without a user', async () => {
    const path = await write('http', {
      cluster: { server: 'http://127.0.0.1:8001' },
      more: { users: [], contexts: [{ name: 'main', context: { cluster: 'c' } }] },
    });
    expect(await headersOf(path)).toEqual({});
    const secure = await write('anonymous', {
      cluster: { 'certificate-authority-data': 'Q0E=' },
      more: { users: null, contexts: [{ name: 'main', context: { cluster: 'c' } }] },
    });
    expect((await (await connected(secure)).credentials()).tls.ca).toEqual(Buffer.from('CA'));
  });

  it.each<[string, object | string, string]>([
    ['is no YAML', '{a: [', 'not valid YAML'],
    ['is a list', '[]', 'is not a kubeconfig'],
    ['is empty', '', 'is not a kubeconfig'],
    ['has no current context', { 'current-context': '' }, 'no current-context: write --context with one of: main'],
    [
      'names an unknown cluster',
      { contexts: [{ name: 'main', context: { cluster: 'x', user: 'u' } }] },
      'names the unknown cluster "x"',
    ],
    [
      'names an unknown user',
      { contexts: [{ name: 'main', context: { cluster: 'c', user: 'x' } }] },
      'names the unknown user "x"',
    ],
    [
      'has a cluster without a server',
      { clusters: [{ name: 'c', cluster: {} }] },
      'clusters[0].cluster.server is missing',
    ],
    [
      'has a server that is no URL',
      { clusters: [{ name: 'c', cluster: { server: 'localhost' } }] },
      'the server "localhost" of the kubeconfig is not a URL',
    ],
  ])('says what is wrong with a file that %s', async (_, content, message) => {
    const path = typeof content === 'string' ? join(folder, 'bad') : await write('bad', { more: content });
    if (typeof content === 'string') {
      await writeFile(path, content);
    }
    await expect(connected(path)).rejects.toMatchObject({
      name: 'ConnectError',
      message: expect.stringContaining(message),
    });
  });

  it('names the file and what is wrong with it, and nothing else', async () => {
    const path = await write('no-server', { more: { clusters: [{ name: 'c', cluster: {} }] } });
    await expect(connected(path)).rejects.toThrow(`kubeconfig ${path}: clusters[0].cluster.server is missing`);
  });

  it('names a file that is not there', async () => {
    await expect(connected(join(folder, 'nowhere'))).rejects.toThrow(
      `kubeconfig ${join(folder, 'nowhere')}: there is no such file`,
    );
  });
});

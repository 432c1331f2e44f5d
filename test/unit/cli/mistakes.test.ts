import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { policyObject } from '../../support/resources.ts';
import { runCli } from '../../support/run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-mistakes-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** A file with a policy of this spec. */
function policyFile(name: string, spec: Readonly<Record<string, unknown>>): string {
  return file(name, stringify(policyObject('p', spec)));
}

const nodes = (ready: string): string =>
  [1, 2]
    .map((name) =>
      stringify({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: `node-${name}` },
        status: {
          allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
          conditions: [{ type: 'Ready', status: ready }],
        },
      }),
    )
    .join('---\n');

const deadServer = stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'dead', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'u', user: { token: 't' } }],
  contexts: [{ name: 'dead', context: { cluster: 'dead', user: 'u' } }],
  'current-context': 'dead',
});

const dead = file('dead.yaml', deadServer);

const pod = (namespace: string, name: string): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { nodeName: 'node-1', containers: [{ name: 'c' }] },
  });

/** Two nodes, web-1 in two namespaces and cart-1 in one. */
const CLUSTER = [nodes('True'), pod('shop', 'web-1'), pod('blog', 'web-1'), pod('shop', 'cart-1')].join('---\n');
const TWO_POLICIES = [CLUSTER, ...['even', 'odd'].map((name) => stringify(policyObject(name, {})))].join('---\n');

interface Mistake {
  readonly claim: string;
  readonly args: readonly string[];
  readonly input?: string;
  readonly says: readonly string[];
}

const bare = join(folder, 'bare');
mkdirSync(bare);
const fine = policyFile('fine.yaml', {});
const scenario = {
  apiVersion: 'evenkeel.dev/v1alpha1',
  kind: 'Scenario',
  metadata: { name: 's' },
  spec: {
    duration: '1m',
    nodes: [{ name: 'n', count: 1, cpu: 'lots', memory: '1Gi' }],
    workloads: [{ name: 'w', replicas: 1, cpu: '1m' }],
  },
};

const COMMANDS_AND_FLAGS: readonly Mistake[] = [
  { claim: 'no command', args: [], says: ['Usage: evenkeel', 'plan'] },
  { claim: 'a mistyped command', args: ['plam'], says: ["unknown command 'plam'", 'Did you mean plan?'] },
  { claim: 'a mistyped flag', args: ['plan', '--polcy', 'x'], says: ["unknown option '--polcy'", '--policy'] },
  { claim: 'a flag without its value', args: ['plan', '-p'], says: ['argument missing'] },
  { claim: 'a missing argument', args: ['approve'], says: ["missing required argument 'plan'"] },
  { claim: 'nothing to apply', args: ['apply'], says: ["required option '-f, --filename <file>' not specified"] },
  { claim: 'too many arguments', args: ['approve', 'a', 'b'], says: ['too many arguments', 'Expected 1'] },
  { claim: 'one policy to compare', args: ['diff', 'a.yaml'], says: ["missing required argument 'new'"] },
  {
    claim: 'a mistyped format',
    args: ['plan', '-o', 'jsn'],
    says: ['-o jsn is not a format: write one of table, wide, json', 'json?'],
  },
  { claim: 'a format of another command', args: ['diff', 'a', 'b', '-o', 'sarif'], says: ['-o sarif is not a format'] },
  {
    claim: 'a gate without a comparison',
    args: ['plan', '-f', '-', '--fail-on', 'imbalance=1'],
    says: ["such as 'imbalance>0.2'"],
  },
  {
    claim: 'a gate of a mistyped figure',
    args: ['plan', '-f', '-', '--fail-on', 'imbalence>0.2'],
    says: ['is not understood', 'imbalance?'],
  },
  { claim: 'a time that is none', args: ['plan', '-w', '--interval', 'soon'], says: ['--interval soon is not a time'] },
  {
    claim: 'watching standard input',
    args: ['plan', '-w', '-f', '-'],
    input: CLUSTER,
    says: ['standard input can be read only once'],
  },
  { claim: 'watching JSON', args: ['top', '-w', '-o', 'json'], says: ['-w shows tables: write -o table'] },
  {
    claim: 'standard input twice',
    args: ['plan', '-f', '-', '-f', '-'],
    input: CLUSTER,
    says: ['-f - is written twice'],
  },
  {
    claim: 'snapshot and policy from standard input',
    args: ['plan', '-f', '-', '-p', '-'],
    input: CLUSTER,
    says: ['cannot both be -'],
  },
  { claim: 'two policies from standard input', args: ['diff', '-', '-'], says: ['- is written twice'] },
  { claim: 'linting standard input twice', args: ['lint', '-', '-'], says: ['- is written twice'] },
  { claim: 'a shell that there is no completion for', args: ['completion', 'tcsh'], says: ['bash, zsh, fish'] },
  {
    claim: 'a column that there is not',
    args: ['top', 'nodes', '--sort-by', 'slo'],
    says: ['--sort-by slo', 'cpu, memory'],
  },
  { claim: 'a number of rows that is none', args: ['top', '--limit', '-3'], says: ['--limit'] },
  {
    claim: 'a policy for what no policy is about',
    args: ['top', 'nodes', '-p', 'x.yaml'],
    says: ['-p chooses the policy of violations'],
  },
  {
    claim: 'a column that violations do not have',
    args: ['top', 'violations', '--sort-by', 'cpu'],
    says: ['--sort-by cpu', 'name, node, rule'],
  },
  { claim: 'what top does not know', args: ['top', 'node5'], says: ['top knows no node5', 'nodes?'] },
  {
    claim: 'a seed that is too large',
    args: ['simulate', '-f', 'x', '--seed', '99999999999'],
    says: ['at most nine digits'],
  },
  {
    claim: 'a log level that there is not',
    args: ['operator', '--log-level', 'loud'],
    says: ['fatal, error, warn, info'],
  },
];

const FILES: readonly Mistake[] = [
  {
    claim: 'a snapshot that is not there',
    args: ['plan', '-f', '/no/such.yaml'],
    says: ['/no/such.yaml: '],
  },
  {
    claim: 'a policy that is not there',
    args: ['plan', '-f', fine, '-p', 'no.yaml'],
    says: ['no.yaml: '],
  },
  { claim: 'a file to lint that is not there', args: ['lint', 'no.yaml'], says: ['no.yaml: '] },
  {
    claim: 'a folder without a policy',
    args: ['plan', '-f', fine, '-p', bare],
    says: ['is a folder without .yaml, .yml or .json files (hidden files and subfolders are not read): name the files'],
  },
  {
    claim: 'a folder that holds no YAML',
    args: ['lint', bare],
    says: ['is a folder without .yaml, .yml or .json files'],
  },
  { claim: 'an empty file', args: ['plan', '-f', file('empty.yaml', '')], says: ['empty.yaml: holds no objects'] },
  {
    claim: 'an empty policy',
    args: ['plan', '-f', fine, '-p', file('none.yaml', '')],
    says: ['none.yaml:'],
  },
  { claim: 'empty standard input', args: ['plan', '-f', '-'], input: '', says: ['<stdin>: holds no objects'] },
  {
    claim: 'a binary file',
    args: ['plan', '-f', file('x.gz', Uint8Array.of(31, 139, 8, 0, 255, 254))],
    says: ['is not UTF-8 text'],
  },
  { claim: 'broken JSON', args: ['plan', '-f', '-'], input: '{"kind": ', says: ['<stdin>:1'] },
  { claim: 'a scalar', args: ['plan', '-f', '-'], input: 'hello', says: ['<stdin>:1: "hello" is not an object'] },
  { claim: 'an object without a kind', args: ['plan', '-f', '-'], input: 'a: 1', says: ['names no kind'] },
  {
    claim: 'a tab as indentation',
    args: ['plan', '-f', '-'],
    input: 'kind: Node\nmetadata:\n\tname: a\n',
    says: ['<stdin>:3'],
  },
  {
    claim: 'a key that stands twice',
    args: ['plan', '-f', '-'],
    input: 'kind: Node\nkind: Pod\n',
    says: ['<stdin>:2: not valid YAML: this key appears twice'],
  },
  {
    claim: 'YAML that does not close',
    args: ['plan', '-f', fine, '-p', file('open.yaml', 'apiVersion: v1\nspec: "open')],
    says: ['open.yaml:2:', 'is not YAML: a quote, bracket or brace is not closed: close it'],
  },
  {
    claim: 'another kind as the policy',
    args: [
      'plan',
      '-f',
      fine,
      '-p',
      file('deployment.yaml', 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n'),
    ],
    says: [
      'deployment.yaml:1:13: apiVersion: is "apps/v1": write evenkeel.dev/v1alpha1',
      'kind: is "Deployment": write',
    ],
  },
  {
    claim: 'a ServiceClass as the policy',
    args: [
      'plan',
      '-f',
      fine,
      '-p',
      file('class.yaml', stringify({ ...policyObject('gold', { slo: '0.9', importance: 1 }), kind: 'ServiceClass' })),
    ],
    says: ['class.yaml: contains no RebalancePolicy: write one'],
  },
  {
    claim: 'an unknown field',
    args: ['plan', '-f', fine, '-p', policyFile('field.yaml', { strategie: {} })],
    says: ['field.yaml:6:3: spec.strategie: unknown field: strategy?'],
  },
  {
    claim: 'a cron expression that is none',
    args: ['plan', '-f', fine, '-p', policyFile('cron.yaml', { schedule: '99 3 * * *' })],
    says: ['cron.yaml:6:13: spec.schedule: '],
  },
  {
    claim: 'a zone that there is not',
    args: ['plan', '-f', fine, '-p', policyFile('zone.yaml', { schedule: '0 3 * * *', timeZone: 'Rome' })],
    says: ['spec.timeZone: '],
  },
  {
    claim: 'a duration that is none',
    args: ['plan', '-f', fine, '-p', policyFile('span.yaml', { interval: '5 minutes' })],
    says: ['span.yaml:6:13: spec.interval: is "5 minutes": write a duration'],
  },
  {
    claim: 'an enormous number',
    args: ['plan', '-f', fine, '-p', policyFile('huge.yaml', { budgets: [{ maxMoves: 1e30 }] })],
    says: ['spec.budgets[0].maxMoves: '],
  },
  {
    claim: 'a quantity that is none',
    args: ['simulate', '-f', file('scenario.yaml', stringify(scenario))],
    says: ['scenario.yaml:', 'cpu', 'lots'],
  },
  {
    claim: 'a scenario that is a policy',
    args: ['simulate', '-f', fine],
    says: ['holds 0 Scenarios'],
  },
  {
    claim: 'applying what is not valid',
    args: ['apply', '-f', policyFile('mode.yaml', { mode: 'Auto' }), '--kubeconfig', dead],
    says: ['spec.mode: is "Auto": write'],
  },
];

const NAMES: readonly Mistake[] = [
  {
    claim: 'an unknown pod',
    args: ['explain', 'pod/web-2', '-f', '-'],
    input: CLUSTER,
    says: ['there is no pod web-2: web-1?'],
  },
  {
    claim: 'a pod of several namespaces',
    args: ['explain', 'pod/web-1', '-f', '-'],
    input: CLUSTER,
    says: ['several pods web-1 (blog/web-1, shop/web-1)', 'choose one with -n'],
  },
  {
    claim: 'an unknown node',
    args: ['explain', 'node/node-9', '-f', '-'],
    input: CLUSTER,
    says: ['there is no node node-9: node-1?'],
  },
  {
    claim: 'what cannot be explained',
    args: ['explain', 'nodde/a', '-f', '-'],
    input: CLUSTER,
    says: ['write pod/NAME, node/NAME, app/NAME or a workload such as deploy/NAME: node?'],
  },
  {
    claim: 'an unknown policy',
    args: ['plan', '-f', '-', '-p', 'web'],
    input: CLUSTER,
    says: ['there is no RebalancePolicy web; there are none'],
  },
  {
    claim: 'a mistyped policy',
    args: ['plan', '-f', '-', '-p', 'evn'],
    input: TWO_POLICIES,
    says: ['there is no RebalancePolicy evn: even?'],
  },
  {
    claim: 'several policies',
    args: ['plan', '-f', '-'],
    input: TWO_POLICIES,
    says: ['several RebalancePolicies (even, odd): choose one with -p'],
  },
  {
    claim: 'an unknown namespace',
    args: ['plan', '-f', '-', '-n', 'shp'],
    input: CLUSTER,
    says: ['there is no namespace shp: shop?'],
  },
  {
    claim: 'a namespace that top does not find',
    args: ['top', '-f', '-', '-n', 'prod'],
    input: CLUSTER,
    says: ['there is no namespace prod; there are blog, shop'],
  },
  {
    claim: 'a label selector that is none',
    args: ['plan', '-f', '-', '-l', 'a=b=c'],
    input: CLUSTER,
    says: ['write key=value'],
  },
];

const CLUSTERS: readonly Mistake[] = [
  { claim: 'no kubeconfig at all', args: ['plan'], says: ['kubeconfig'] },
  {
    claim: 'a kubeconfig that is not there',
    args: ['plan', '--kubeconfig', '/no/kubeconfig'],
    says: ['/no/kubeconfig: '],
  },
  {
    claim: 'a broken kubeconfig',
    args: ['plan', '--kubeconfig', file('broken', 'clusters: [')],
    says: ['broken: not valid YAML'],
  },
  {
    claim: 'a kubeconfig that is none',
    args: ['top', '--kubeconfig', file('list', '- 1')],
    says: ['is not a kubeconfig'],
  },
  {
    claim: 'a context that there is not',
    args: ['plan', '--kubeconfig', dead, '--context', 'prod'],
    says: ['prod', 'dead'],
  },
  { claim: 'a server that cannot be reached', args: ['plan', '--kubeconfig', dead], says: ['https://127.0.0.1:1'] },
];

const OPERATOR: readonly Mistake[] = [
  {
    claim: 'an address that is none',
    args: ['operator', '--health-address', 'here', '--kubeconfig', dead],
    says: ['write HOST:PORT'],
  },
  ...(
    [
      ['a lease duration that is none', ['--lease-duration', '15'], 'write whole seconds between 2s and 10m'],
      ['a lease that is too short', ['--lease-duration', '1s'], 'is out of range: write whole seconds between 2s'],
      ['a lease that is too long', ['--lease-duration', '1h'], '--lease-duration 1h is out of range'],
      ['a lease name that is none', ['--lease-name', 'Even Keel'], '--lease-name "Even Keel" is not a name'],
      ['a namespace that cannot be', ['--own-namespace', '../x'], '--own-namespace "../x" is not a name'],
      [
        'metrics at no address',
        ['--metrics-address', '8443'],
        '--metrics-address 8443 is not an address: write HOST:PORT',
      ],
      [
        'metrics at an address of others',
        ['--metrics-address', '192.0.2.1:0'],
        '--metrics-address 192.0.2.1:0: cannot listen',
      ],
      [
        'metrics for everybody',
        ['--metrics-insecure', '--metrics-address', '0.0.0.0:0'],
        'write --metrics-insecure=anywhere',
      ],
      ['a certificate without key', ['--tls-cert-file', 'tls.crt'], 'belong together: write both, or neither'],
      [
        'a certificate that is not there',
        ['--tls-cert-file', '/no/tls.crt', '--tls-private-key-file', '/no/tls.key'],
        '/no/tls.crt: cannot be read (ENOENT): write a certificate',
      ],
      [
        'a certificate that is none',
        ['--tls-cert-file', dead, '--tls-private-key-file', dead],
        'the certificate is not one in PEM',
      ],
    ] as const
  ).map(([claim, flags, says]) => ({
    claim,
    args: ['operator', '--health-address', '127.0.0.1:0', '--kubeconfig', dead, ...flags],
    says: [says],
  })),
];

const MISTAKES = [...COMMANDS_AND_FLAGS, ...FILES, ...NAMES, ...CLUSTERS, ...OPERATOR];

describe('the command line', () => {
  it.concurrent.each(MISTAKES)('says what is wrong with $claim, and what to write', async ({ args, input, says }) => {
    const { stdout, stderr, code } = await runCli(args, input);
    for (const part of says) {
      expect(stderr).toContain(part);
    }
    expect(stderr).not.toMatch(/\n\s+at .*\.[jt]s|has a bug/);
    expect([stdout, code]).toEqual(['', 1]);
  });

  it('has more than forty mistakes to tell apart', () => {
    expect(new Set(MISTAKES.map(({ claim }) => claim)).size).toBeGreaterThan(60);
  });

  it('plans for an empty cluster, which is no mistake', async () => {
    const { stdout, code } = await runCli(['plan', '-f', '-'], 'kind: List\napiVersion: v1\nitems: []\n');
    expect([stdout.includes('node'), code]).toEqual([true, 0]);
  });

  it('ends with 4 where there are no metrics and --exit-code asks', async () => {
    const { stdout, code } = await runCli(['plan', '-f', '-', '--exit-code'], nodes('True'));
    expect(stdout).toContain('there are no metrics: install metrics-server');
    expect(stdout).toContain('load.source: Requests');
    expect(code).toBe(4);
  });
});

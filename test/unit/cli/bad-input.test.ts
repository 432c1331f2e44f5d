import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { policyObject } from '../../support/resources.ts';
import { runCli } from '../../support/run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-bad-input-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const policy = (spec: Readonly<Record<string, unknown>>): string => stringify(policyObject('p', spec));

/** Every policy that lint must refuse: its text, and what must be said. */
const POLICIES: readonly (readonly [claim: string, text: string, says: readonly string[]])[] = [
  ['text that is not YAML', 'spec: [1, 2', [':1:', 'is not YAML']],
  ['an empty file', '', ['is empty: write a RebalancePolicy']],
  ['a document that is no object', '- 1\n- 2\n', ['is not an object: write apiVersion, kind, metadata and spec']],
  [
    'another apiVersion',
    policy({}).replace('v1alpha1', 'v2'),
    ['apiVersion: is "evenkeel.dev/v2": write evenkeel.dev/v1alpha1'],
  ],
  [
    'a mistyped kind',
    policy({}).replace('RebalancePolicy', 'RebalancePolcy'),
    ['kind: is "RebalancePolcy": write RebalancePolicy?'],
  ],
  ['no name', policy({}).replace('name: p', 'labels: {}'), ['metadata.name: is missing: write a name of lower-case']],
  ['an unknown field', policy({ strategie: {} }), [':6:', 'spec.strategie: unknown field: strategy?']],
  [
    'a deep unknown field',
    policy({ budgets: [{ maxMovs: 1 }] }),
    ['spec.budgets[0].maxMovs: unknown field: maxMoves?'],
  ],
  [
    'a mode that does not exist',
    policy({ mode: 'Auto' }),
    ['spec.mode: is "Auto": write', 'DryRun, Approve, Automatic'],
  ],
  ['a strategy that does not exist', policy({ strategy: { type: 'refine' } }), ['GreedyLB, RefineLB']],
  [
    'a wrong unit',
    policy({ interval: '5 minutes' }),
    ['spec.interval: is "5 minutes": write a duration in hours, minutes and seconds'],
  ],
  [
    'an interval that is too short',
    policy({ interval: '1s' }),
    ['spec.interval: must be a duration between 10s and 24h'],
  ],
  [
    'a number where text belongs',
    policy({ thresholds: { trigger: 0.1 } }),
    ['must be a string: write it in quotes, "0.1"'],
  ],
  ['a fraction above 1', policy({ thresholds: { trigger: '10' } }), ['write a decimal fraction between "0" and "1"']],
  [
    'an overload below 1',
    policy({ strategy: { refineLB: { overload: '0.9' } } }),
    ['must be a decimal between "1.0" and "10.0"'],
  ],
  [
    'settings of another strategy',
    policy({ strategy: { type: 'GreedyLB', refineLB: {} } }),
    ['remove refineLB, or write type: RefineLB'],
  ],
  [
    'interval beside schedule',
    policy({ interval: '5m', schedule: '0 3 * * *' }),
    ['interval and schedule exclude each other: keep one'],
  ],
  ['a zone without schedule', policy({ timeZone: 'Europe/Rome' }), ['add schedule, or remove timeZone']],
  [
    'a budget whose window has no length',
    policy({ budgets: [{ maxMoves: 0, schedule: '0 8 * * 1-5' }] }),
    ['spec.budgets[0]: schedule and duration belong together'],
  ],
  [
    'a budget whose schedule is none',
    policy({ budgets: [{ maxMoves: 0, schedule: '0 8 * *', duration: '1h' }] }),
    [':8:', 'spec.budgets[0].schedule: schedule "0 8 * *" has 4 fields: write five'],
  ],
  [
    'a budget in a zone that does not exist',
    policy({ budgets: [{ maxMoves: 0, schedule: '0 8 * * *', duration: '1h', timeZone: 'Rome' }] }),
    [':10:', 'spec.budgets[0].timeZone: timeZone "Rome" is not an IANA time zone'],
  ],
  ['a schedule with six fields', policy({ schedule: '0 0 3 * * *' }), ['has 6 fields: write five']],
  ['a schedule out of range', policy({ schedule: '99 3 * * *' }), ['is not a cron expression']],
  ['a schedule with both days', policy({ schedule: '0 3 1 * 1' }), ['restricts both day of month and day of week']],
  [
    'a zone that does not exist',
    policy({ schedule: '0 3 * * *', timeZone: 'Rome' }),
    ['timeZone "Rome" is not an IANA time zone'],
  ],
  ['a percentage above 100', policy({ budgets: [{ perOwner: '250%' }] }), ['or a percentage from "0%" to "100%"']],
  ['a negative count', policy({ budgets: [{ maxMoves: -1 }] }), ['write a whole number from 0 to 1000']],
  ['a budget without limits', policy({ budgets: [{}] }), ['a budget must limit something']],
  ['no budgets', policy({ budgets: [] }), ['write one to twenty budgets']],
  ['a resource that has no load', policy({ load: { resources: [{ name: 'gpu' }] } }), ['cpu, memory']],
  [
    'a selector without values',
    policy({ scope: { podSelector: { matchExpressions: [{ key: 'app', operator: 'In' }] } } }),
    ['In and NotIn need values'],
  ],
];

describe('lint', () => {
  it.each(POLICIES)('refuses %s', async (claim, text, says) => {
    const path = file(`${claim.replaceAll(' ', '-')}.yaml`, text);
    const { stdout, code } = await runCli(['lint', path]);
    expect(code).toBe(1);
    expect(stdout).toContain(path);
    for (const part of says) {
      expect(stdout).toContain(part);
    }
  });

  it('finds nothing wrong with a policy that sets nothing', async () => {
    expect(await runCli(['lint', '-'], policy({}))).toEqual({
      stdout: '1 resource, no problems\n',
      stderr: '',
      code: 0,
    });
  });
});

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

interface Mistake {
  readonly claim: string;
  readonly args: readonly string[];
  readonly input?: string;
  readonly code: number;
  readonly says: readonly string[];
}

const MISTAKES: readonly Mistake[] = [
  { claim: 'a snapshot that is not YAML', args: ['plan', '-f', '-'], input: '{"kind": ', code: 1, says: ['<stdin>:1'] },
  { claim: 'a snapshot that is a scalar', args: ['plan', '-f', '-'], input: 'hello', code: 1, says: ['<stdin>'] },
  {
    claim: 'a snapshot file that is not there',
    args: ['plan', '-f', '/no/such.yaml'],
    code: 1,
    says: ['/no/such.yaml: there is no such file'],
  },
  {
    claim: 'a folder as a snapshot',
    args: ['plan', '-f', tmpdir()],
    code: 1,
    says: ['is a folder: name the files in it'],
  },
  {
    claim: 'a policy file that is not there',
    args: ['plan', '-f', '-', '-p', 'no.yaml'],
    code: 1,
    says: ['no.yaml: there is no such file'],
  },
  {
    claim: 'a policy name that is not in the snapshot',
    args: ['plan', '-f', '-', '-p', 'web'],
    input: nodes('True'),
    code: 1,
    says: ['there is no RebalancePolicy web; there are none'],
  },
  {
    claim: 'an output format that does not exist',
    args: ['plan', '-f', '-', '-o', 'xml'],
    code: 1,
    says: ['-o xml is not a format: write one of table'],
  },
  {
    claim: 'a gate that is not understood',
    args: ['plan', '-f', '-', '--fail-on', 'imbalance=1'],
    code: 1,
    says: ["such as 'imbalance>0.2'"],
  },
  {
    claim: 'a label selector that is not understood',
    args: ['plan', '-f', '-', '-l', 'a=b=c'],
    input: nodes('True'),
    code: 1,
    says: ['write key=value'],
  },
  {
    claim: 'an empty cluster',
    args: ['plan', '-f', '-'],
    input: 'kind: List\napiVersion: v1\nitems: []\n',
    code: 0,
    says: ['node'],
  },
  {
    claim: 'no metrics',
    args: ['plan', '-f', '-', '--exit-code'],
    input: nodes('True'),
    code: 4,
    says: ['there are no metrics: install metrics-server', 'load.source: Requests'],
  },
  {
    claim: 'an unreachable server',
    args: ['plan', '--kubeconfig', file('dead.yaml', deadServer)],
    code: 1,
    says: ['https://127.0.0.1:1'],
  },
  {
    claim: 'a kubeconfig that is not there',
    args: ['plan', '--kubeconfig', '/no/kubeconfig'],
    code: 1,
    says: ['/no/kubeconfig'],
  },
  {
    claim: 'a context that does not exist',
    args: ['plan', '--kubeconfig', join(folder, 'dead.yaml'), '--context', 'prod'],
    code: 1,
    says: ['prod', 'dead'],
  },
  { claim: 'no kubeconfig at all', args: ['plan'], code: 1, says: ['kubeconfig'] },
  { claim: 'a command that does not exist', args: ['plam'], code: 1, says: ["unknown command 'plam'", 'plan'] },
  {
    claim: 'a flag that does not exist',
    args: ['plan', '--polcy', 'x'],
    code: 1,
    says: ["unknown option '--polcy'", '--policy'],
  },
  { claim: 'a flag without its value', args: ['plan', '-p'], code: 1, says: ['argument missing'] },
  {
    claim: 'an address that is none',
    args: ['operator', '--health-address', 'here', '--kubeconfig', join(folder, 'dead.yaml')],
    code: 1,
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
        ['--tls-cert-file', join(folder, 'dead.yaml'), '--tls-private-key-file', join(folder, 'dead.yaml')],
        'the certificate is not one in PEM',
      ],
    ] as const
  ).map(([claim, flags, says]) => ({
    claim,
    args: ['operator', '--health-address', '127.0.0.1:0', '--kubeconfig', join(folder, 'dead.yaml'), ...flags],
    code: 1,
    says: [says],
  })),
  {
    claim: 'a log level that does not exist',
    args: ['operator', '--log-level', 'loud'],
    code: 1,
    says: ['fatal, error, warn, info'],
  },
];

describe('the command line', () => {
  it.each(MISTAKES)('says what is wrong with $claim', async ({ args, input, code, says }) => {
    const result = await runCli(args, input);
    const printed = result.stdout + result.stderr;
    for (const part of says) {
      expect(printed).toContain(part);
    }
    expect(printed).not.toMatch(/\n\s+at .*\.[jt]s/);
    expect(result.code).toBe(code);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DIFF_OUTPUTS,
  IMPORT_OUTPUTS,
  LINT_OUTPUTS,
  PLAN_OUTPUTS,
  SIMULATION_OUTPUTS,
  VIEW_OUTPUTS,
} from '../../../src/cli/output-formats.ts';
import { HIDDEN } from '../../support/hostile-text.ts';
import { policyObject } from '../../support/resources.ts';
import { type CliResult, runCli } from '../../support/run-cli.ts';

const NOON = '2026-01-01T12:00:00Z';
const EARLIER = '2026-01-01T00:00:00Z';

/** OSC 52, CSI, C1, line ends with a heading and a row, bidirectional overrides, mentions, a link, HTML, and a formula of a spreadsheet. */
const EVIL =
  'x\u001b]52;c;cm0gLXJm\u0007\u001b[2J\u009b2J\r\n## All is well\n| a | b |\u2028\u202egnp\u2066\u200b @everyone #1 ' +
  '[click](mailto:evil@evil.example) <img src=x onerror="alert(1)"> =HYPERLINK("www.evil.example")';
/** A line that only the text of EVIL can begin. */
const OWN_LINE = /^(## All is well|\| a \| b \|)/m;

/** A cluster whose every text that others write is EVIL: names, labels, annotations, messages and reasons. */
function cluster(): string {
  const words = { [EVIL]: EVIL, app: EVIL };
  const node = (name: string, used: string): readonly object[] => [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { ...words, 'topology.kubernetes.io/zone': EVIL }, annotations: words },
      spec: {},
      status: {
        allocatable: { cpu: '4', memory: '16Gi', pods: '110', [EVIL]: '6' },
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: EARLIER, reason: EVIL, message: EVIL }],
      },
    },
    {
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'NodeMetrics',
      metadata: { name },
      timestamp: NOON,
      window: '20s',
      usage: { cpu: used, memory: '1Gi' },
    },
  ];
  const pod = (name: string, cpu: string): readonly object[] => [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: EVIL,
        uid: name,
        creationTimestamp: EARLIER,
        labels: words,
        annotations: name.endsWith('held') ? { ...words, 'evenkeel.dev/do-not-evict': EVIL } : words,
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: EVIL, uid: 'rs', controller: true }],
      },
      spec: {
        nodeName: `${EVIL}-1`,
        priorityClassName: EVIL,
        containers: [{ name: EVIL, image: EVIL, resources: { requests: { cpu: '100m', [EVIL]: 1 } } }],
      },
      status: {
        phase: 'Running',
        message: EVIL,
        reason: EVIL,
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: EARLIER, message: EVIL }],
      },
    },
    {
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'PodMetrics',
      metadata: { name, namespace: EVIL },
      timestamp: NOON,
      window: '20s',
      containers: [{ name: EVIL, usage: { cpu, memory: '100Mi' } }],
    },
  ];
  const objects = [
    ...node(`${EVIL}-1`, '3100m'),
    ...node(`${EVIL}-2`, '100m'),
    ...node(`${EVIL}-3`, '200m'),
    ...pod(`${EVIL}-a`, '800m'),
    ...pod(`${EVIL}-b`, '900m'),
    ...pod(`${EVIL}-held`, '900m'),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: EVIL, labels: words } },
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: EVIL, namespace: EVIL, uid: 'rs', creationTimestamp: EARLIER },
      spec: { replicas: 3 },
      status: { replicas: 3, readyReplicas: 3, availableReplicas: 3 },
    },
  ];
  return objects.map((object) => JSON.stringify(object)).join('\n---\n');
}

let folder: string;

function file(name: string, ...objects: readonly object[]): string {
  const path = join(folder, name);
  writeFileSync(path, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  return path;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-hostile-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function expectHarmless({ stdout, stderr }: CliResult): void {
  for (const text of [stdout, stderr]) {
    expect(text).not.toMatch(HIDDEN);
    expect(text).not.toMatch(OWN_LINE);
  }
}

const POLICY = policyObject('old', { budgets: [{ perOwner: '100%', perNode: 2, perNamespace: 2 }] });

describe('a cluster of which every text is hostile', () => {
  it.each(PLAN_OUTPUTS)('is planned for with -o %s', async (output) => {
    const policy = file('policy.yaml', POLICY);
    const result = await runCli(['plan', '-f', '-', '-p', policy, '-o', output, '--exit-code'], cluster());
    expectHarmless(result);
    expect([result.stdout.length > 20, result.code]).toEqual([true, 2]);
    if (output !== 'name') {
      expect(result.stdout).toContain(output === 'junit' ? 'moves' : 'well');
    }
  });

  it.each(DIFF_OUTPUTS)('is compared with -o %s', async (output) => {
    const policies = [file('old.yaml', POLICY), file('new.yaml', { ...POLICY, spec: { mode: 'DryRun' } })];
    expectHarmless(await runCli(['diff', '-f', '-', ...policies, '-o', output], cluster()));
  });

  it.each(
    VIEW_OUTPUTS.flatMap((output) =>
      [`node/${EVIL}-1`, `pod/${EVIL}/${EVIL}-held`, `replicaset/${EVIL}/${EVIL}`].map(
        (what) => [output, what] as const,
      ),
    ),
  )('is explained with -o %s', async (output, what) => {
    const result = await runCli(['explain', what, '-f', '-', '-o', output], cluster());
    expectHarmless(result);
    expect(result.stdout).toContain('well');
  });

  it.each(
    VIEW_OUTPUTS.flatMap((output) => ['nodes', 'workloads', 'violations'].map((what) => [output, what] as const)),
  )('is shown by top -o %s %s', async (output, what) => {
    expectHarmless(await runCli(['top', what, '-f', '-', '-o', output], cluster()));
  });

  it('is written as a snapshot', async () => {
    const result = await runCli(['snapshot', '-f', '-'], cluster());
    expectHarmless(result);
  });
});

describe('files of which every text is hostile', () => {
  const wrong = { ...policyObject(EVIL, { [EVIL]: EVIL, mode: EVIL, interval: EVIL }), [EVIL]: EVIL };

  it.each(LINT_OUTPUTS)('are checked with -o %s', async (output) => {
    const result = await runCli(['lint', file('wrong.yaml', wrong), '-o', output]);
    expectHarmless(result);
    expect([result.stdout.includes('well'), result.code]).toEqual([true, 1]);
  });

  it.each(IMPORT_OUTPUTS)('are imported with -o %s', async (output) => {
    const policy = {
      apiVersion: 'descheduler/v1alpha2',
      kind: 'DeschedulerPolicy',
      [EVIL]: EVIL,
      profiles: [
        {
          name: EVIL,
          pluginConfig: [{ name: EVIL, args: { [EVIL]: EVIL } }],
          plugins: { balance: { enabled: [EVIL] } },
        },
      ],
    };
    const result = await runCli(['import', 'descheduler-policy', file('theirs.yaml', policy), '-o', output]);
    expectHarmless(result);
    expect(result.stderr).toContain('well');
  });

  it.each(SIMULATION_OUTPUTS)('are refused or simulated with -o %s', async (output) => {
    const scenario = file('scenario.yaml', { name: EVIL, [EVIL]: EVIL, nodes: [{ name: EVIL, count: 1 }] });
    const result = await runCli(['simulate', '-f', scenario, '-o', output]);
    expectHarmless(result);
    expect(`${result.stdout}${result.stderr}`).toContain('well');
  });
});

it.each([
  ['a command', [EVIL]],
  ['a flag', ['plan', `--${EVIL}`]],
  ['a format', ['plan', '-o', EVIL]],
  ['a file', ['plan', '-f', EVIL]],
  ['a target', ['explain', EVIL]],
  ['a gate', ['plan', '--fail-on', EVIL]],
] as const)('%s that is hostile is refused in harmless words', async (_, args) => {
  const { stderr, code } = await runCli(args);
  expect(stderr).not.toMatch(HIDDEN);
  expect([code, stderr.includes('well')]).toEqual([1, true]);
});

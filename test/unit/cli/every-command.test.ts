import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { CommandResult } from '../../../src/cli/command.ts';
import { buildProgram } from '../../../src/cli/commands/index.ts';
import { failureOf } from '../../../src/cli.ts';
import { PLAIN } from '../../../src/report/table.ts';
import { BUNDLE } from '../../support/operator-process.ts';
import { policyObject } from '../../support/resources.ts';
import { CONDITIONS, type Condition, type ServedCluster, serveCluster } from '../../support/served-cluster.ts';

const TESTS = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'evenkeel-every-command-'));
const FILES: Readonly<Record<string, string>> = {
  POLICY: join(folder, 'policy.yaml'),
  DESCHEDULER: join(TESTS, 'unit', 'import', 'descheduler', 'restarts.yaml'),
  APPGROUP: join(TESTS, '..', 'examples', 'applications', 'scheduler-plugins.yaml'),
  SLO: join(folder, 'slo.yaml'),
  SCENARIO: join(folder, 'scenario.yaml'),
};

/** What a command exits with, and part of what it says. */
type Outcome = `${number} ${string}`;
/** A command, and its outcomes in the order of CONDITIONS. */
type Row = readonly [
  command: string,
  well: Outcome,
  noMetrics: Outcome,
  noNodes: Outcome,
  stale: Outcome,
  empty: Outcome,
  unreachable: Outcome,
  forbidden: Outcome,
];

const DOWN = '1 error: cannot connect to the API server http://127.0.0.1:1 (ECONNREFUSED): is it running';
const GRANT = 'kubectl create clusterrolebinding evenkeel-cluster-reader-jane --clusterrole=evenkeel-cluster-reader';
/** Refused; the message names the first missing right and ends with the command that grants it. */
const LACKS = (right: string): Outcome => `1 error: may not ${right}… ${GRANT} --user=jane`;
const NO_POLICY = '1 error: there is no RebalancePolicy default; there are none';
const NO_PLAN = '1 error: there is no RebalancePlan default-1; waiting for approval: none';

const METRICS = 'install metrics-server';
const NODES = 'no node is Ready';
const STALE = '0 of 3 Ready nodes have a valid sample';
const LED = 'policy default is led by evenkeel-7d9f-abcde';
const UNCHANGED = '0 rebalancepolicy.evenkeel.dev/default unchanged';

// biome-ignore format: a table is read by its columns
const ON_A_CLUSTER: readonly Row[] = [
  // command                            well                     no metrics           no nodes                      stale               empty              unreachable forbidden
  ['plan',                              '0 2 moves',             `0 ${METRICS}`,      '0 no node takes part',       `0 ${STALE}`,       '0 no node takes part', DOWN, LACKS('list pods')],
  ['plan --exit-code',                  '2 2 moves',             `4 ${METRICS}`,      '4 no node takes part',       `4 ${STALE}`,       '4 no node takes part', DOWN, LACKS('list pods')],
  ['plan --fail-on imbalance>0',        '3 imbalance is 70.25 %', `4 is unknown: there are no metrics`, `4 is unknown: ${NODES}`, `4 is unknown: ${STALE}`, `4 is unknown: ${NODES}`, DOWN, LACKS('list pods')],
  ['plan --fail-on imbalance>80%',      '0 2 moves',             `4 is unknown: there are no metrics`, `4 is unknown: ${NODES}`, `4 is unknown: ${STALE}`, `4 is unknown: ${NODES}`, DOWN, LACKS('list pods')],
  ['plan -o junit',                     '0 failures="1"',        '4 failures="2"',    '4 failures="2"',             '4 failures="2"',   '4 failures="2"',  DOWN, LACKS('list pods')],
  ['plan -o sarif',                     '0 "version": "2.1.0"',     '4 "level": "error"', '4 "level": "error"',        '4 "level": "error"', '4 "level": "error"', DOWN, LACKS('list pods')],
  ['diff default POLICY',               '0 The plans are the same', '0 compares nothing', `0 compares nothing: ${NODES}`, `0 compares nothing: ${STALE}`, NO_POLICY, DOWN, LACKS('list pods')],
  ['diff default POLICY --exit-code',   '0 The plans are the same', '4 compares nothing', `4 compares nothing: ${NODES}`, `4 compares nothing: ${STALE}`, NO_POLICY, DOWN, LACKS('list pods')],
  ['explain node/node-1',               '0 Node node-1 is at',   `0 ${METRICS}`,      '1 error: there is no node node-1; there are none', '0 its sample is', '1 error: there is no node node-1; there are none', DOWN, LACKS('list pods')],
  ['explain deploy/shop/cart',          '0 3 pods of 3 replicas', `0 ${METRICS}`,     '0 3 pods of 3 replicas',     '0 NodeNotParticipating', '1 error: there is no Deployment cart', DOWN, LACKS('list pods')],
  ['top',                               '0 shop/cart',           `0 ${METRICS}`,      '0 no nodes',                 '0 shop/cart',      '0 no workloads',  DOWN, LACKS('list pods')],
  ['top violations',                    '0 Duplicates',          '0 Duplicates',      '0 there are no nodes, so no violation can be found', '0 Duplicates', '0 there are no nodes, so no violation can be found', DOWN, LACKS('list pods')],
  ['snapshot',                          '0 kind: List',          '0 so the snapshot has no load…kind: List',      '0 kind: List',               '0 kind: List',     '0 kind: List',    DOWN, LACKS('list pods')],
  ['apply -f POLICY',                   UNCHANGED,               UNCHANGED,           UNCHANGED,                    UNCHANGED,          '0 default created', DOWN, LACKS('get rebalancepolicies')],
  ['apply -f POLICY --dry-run=server',  `${UNCHANGED} (server dry run)`, `${UNCHANGED} (server dry run)`, `${UNCHANGED} (server dry run)`, `${UNCHANGED} (server dry run)`, '0 created (server dry run)', DOWN, LACKS('get rebalancepolicies')],
  ['approve default-1',                 '1 error: nobody can be asked, since this is no terminal: add --yes', '1 add --yes', '1 add --yes', '1 add --yes', NO_PLAN, DOWN, LACKS('get movejournals')],
  ['approve default-1 --yes',           '0 default-1 approved',  '0 approved',        '0 approved',                 '0 approved',       NO_PLAN,           DOWN, LACKS('get movejournals')],
  // No operator is there to carry anything out.
  ['approve default-1 --yes --wait --timeout 1s', '1 plan default-1 has not ended within 1 s', '1 has not ended', '1 has not ended', '1 has not ended', NO_PLAN, DOWN, LACKS('get movejournals')],
  ['run default',                       '0 run requested',       '0 run requested',   '0 run requested',            '0 run requested',  NO_POLICY,         DOWN, LACKS('list rebalancepolicies')],
  ['run default --wait --timeout 1s',   '1 policy default has not run within 1 s: the operator has not answered yet', '1 has not run', '1 has not run', '1 has not run', NO_POLICY, DOWN, LACKS('list rebalancepolicies')],
  ['stop default',                      '0 default suspended',   '0 suspended',       '0 suspended',                '0 suspended',      NO_POLICY,         DOWN, LACKS('list rebalancepolicies')],
  ['history',                           '0 default-1',           '0 default-1',       '0 default-1',                '0 default-1',      '0 no plans',      DOWN, LACKS('list movejournals')],
  ['history default',                   `0 ${LED}…default-1`,    `0 ${LED}…default-1`, `0 ${LED}…default-1`,       `0 ${LED}…default-1`, NO_POLICY,       DOWN, LACKS('list movejournals')],
  ['history default -o name',           '0 rebalanceplan.evenkeel.dev/default-1', '0 default-1', '0 default-1',    '0 default-1',      NO_POLICY,         DOWN, LACKS('list movejournals')],
  ['dashboard --port 0',                '0 http://127.0.0.1:',   '0 http://127.0.0.1:', '0 http://127.0.0.1:',      '0 http://127.0.0.1:', '0 http://127.0.0.1:', DOWN, LACKS('list ')],
];

/** A controller does not give up: it says what is wrong and tries again until it is stopped. */
const OPERATOR: Row = [
  'operator',
  '0 started',
  '0 started',
  '0 started',
  '0 started',
  '0 started',
  '0 cannot connect',
  '0 may not',
];

/** They read no cluster, so that none of the conditions matters. */
const OFFLINE: readonly (readonly [command: string, outcome: Outcome])[] = [
  ['lint POLICY', '0 no problems'],
  ['simulate -f SCENARIO', '0 web'],
  ['import descheduler-policy DESCHEDULER', '0 kind: RebalancePolicy'],
  ['import openslo SLO', '0 kind: ServiceClass'],
  ['import appgroup APPGROUP', '0 kind: AppGraph'],
  ['completion bash', '0 complete -F _evenkeel'],
  ['__complete pla', '0 plan'],
  ['version', '0 evenkeel'],
];

/** Rows whose exit code says whether all is well. */
const IS_GATE = /--exit-code|--fail-on|-o junit|-o sarif|--wait/;

/** Without a maintenance window: outcomes would depend on the time of day. */
const BUDGET = { maxMoves: 5, perNode: 2, perOwner: '50%' };

const clusters = new Map<Condition, ServedCluster>();

beforeAll(async () => {
  writeFileSync(FILES['POLICY'] ?? '', stringify(policyObject('default', { budgets: [BUDGET] })));
  writeFileSync(FILES['SLO'] ?? '', stringify(SLO));
  writeFileSync(FILES['SCENARIO'] ?? '', stringify(SCENARIO));
  for (const condition of CONDITIONS) {
    clusters.set(condition, await serveCluster(condition, [LED_POLICY, WAITING_PLAN], folder));
  }
});

afterAll(async () => {
  await Promise.all([...clusters.values()].map((cluster) => cluster.stop()));
  rmSync(folder, { recursive: true });
});

const LED_POLICY = { ...policyObject('default', {}), status: { leader: 'evenkeel-7d9f-abcde' } };

const WAITING_PLAN = {
  apiVersion: 'evenkeel.dev/v1alpha1',
  kind: 'RebalancePlan',
  metadata: { name: 'default-1', uid: 'plan-1' },
  spec: {
    policy: { name: 'default', uid: 'p', generation: 1 },
    strategy: 'RefineLB',
    takenAt: '2026-01-10T20:00:00Z',
    hash: 'h',
    moves: [],
    message: 'no moves',
    approved: false,
    rejectionCounts: {},
    rejections: [],
  },
  status: { phase: 'AwaitingApproval' },
};

const SLO = {
  apiVersion: 'openslo/v1',
  kind: 'SLO',
  metadata: { name: 'web' },
  spec: {
    service: 'web',
    indicator: { metadata: { name: 'i' }, spec: { ratioMetric: { counter: true, good: {}, total: {} } } },
    timeWindow: [{ duration: '1h', isRolling: true }],
    budgetingMethod: 'Timeslices',
    objectives: [{ target: 0.99, timeSliceTarget: 0.99, timeSliceWindow: '1m' }],
  },
};

const SCENARIO = {
  apiVersion: 'evenkeel.dev/v1alpha1',
  kind: 'Scenario',
  metadata: { name: 'web' },
  spec: {
    duration: '1m',
    nodes: [{ name: 'n', count: 2, cpu: '4', memory: '4Gi' }],
    workloads: [{ name: 'web', replicas: 1, cpu: '100m', memory: '64Mi' }],
  },
};

function words(command: string): readonly string[] {
  return command.split(' ').map((word) => FILES[word] ?? word);
}

function flagsOf(condition: Condition): readonly string[] {
  return ['--kubeconfig', clusters.get(condition)?.kubeconfig ?? ''];
}

/** Runs a command in this process as `main` does; one that serves is stopped as soon as it says where. */
async function run(args: readonly string[]): Promise<CommandResult> {
  const stop = new AbortController();
  const [out, errors]: [string[], string[]] = [[], []];
  const into = (kept: string[]) => async (text: string) => {
    kept.push(text);
    if (text.startsWith('http://')) {
      stop.abort();
    }
  };
  let result: CommandResult = { stdout: '', exitCode: 0 };
  const screen = { isTerminal: false, look: PLAIN, showsProgress: false, write: into(out), writeError: into(errors) };
  const print = (printed: CommandResult): void => {
    result = printed;
  };
  try {
    await buildProgram({ signal: stop.signal, screen, print }).parseAsync([...args], { from: 'user' });
  } catch (error) {
    result = failureOf(error);
  }
  const { stdout, stderr = '', exitCode } = result;
  return { stdout: [...out, stdout].join(''), stderr: [...errors, stderr].join(''), exitCode };
}

/** The operator writes to a file descriptor: it is run as a process, and stopped as soon as it has logged `part`. */
async function runOperator(args: readonly string[], part: string): Promise<CommandResult> {
  const addresses = ['--health-address', '127.0.0.1:0', '--metrics-address', '127.0.0.1:0'];
  const child = spawn(process.execPath, [BUNDLE, ...args, ...addresses], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let log = '';
  let isStopped = false; // a second signal would not let it end by itself
  const heard = (chunk: Buffer): void => {
    log += String(chunk);
    if (!isStopped && log.includes(part)) {
      isStopped = child.kill('SIGTERM');
    }
  };
  child.stdout.on('data', heard);
  child.stderr.on('data', heard);
  const [code] = await exited;
  return { stdout: log, exitCode: code as number };
}

function expectOutcome({ stdout, stderr = '', exitCode }: CommandResult, outcome: Outcome): void {
  const [code = '', ...said] = outcome.split(' ');
  const text = `${stderr}${stdout}`;
  expect([exitCode, text]).toEqual([Number(code), text]);
  for (const part of said.join(' ').split('…')) {
    expect(text).toContain(part);
  }
  expect(text).not.toContain('has a bug');
  expect(stderr.split('\n').filter((line) => line.startsWith('error:')).length).toBeLessThanOrEqual(1);
}

/** Names of the commands that can be run, such as `import openslo`. */
function leaves({ commands }: Command, before = ''): readonly string[] {
  return commands.flatMap((each) =>
    each.commands.length > 0 ? leaves(each, `${before}${each.name()} `) : [`${before}${each.name()}`],
  );
}

describe.each(ON_A_CLUSTER)('evenkeel %s', (command, ...outcomes) => {
  it.each(CONDITIONS.map((condition, place) => [condition, outcomes[place] as Outcome] as const))(
    '%s: %s',
    async (condition, outcome) => {
      expectOutcome(await run([...words(command), ...flagsOf(condition)]), outcome);
    },
  );
});

describe.each(OFFLINE)('evenkeel %s', (command, outcome) => {
  it(`on any cluster: ${outcome}`, async () => expectOutcome(await run(words(command)), outcome));
});

describe('evenkeel operator', () => {
  const [command, ...outcomes] = OPERATOR;
  it.each(CONDITIONS.map((condition, place) => [condition, outcomes[place] as Outcome] as const))(
    '%s: %s',
    async (condition, outcome) => {
      const part = outcome.slice(outcome.indexOf(' ') + 1);
      expectOutcome(await runOperator([command, ...flagsOf(condition)], part), outcome);
    },
  );
});

describe('the table', () => {
  const rows = [...ON_A_CLUSTER, OPERATOR];

  it('has a row for every command', () => {
    const context = { signal: new AbortController().signal, screen: undefined as never, print: () => undefined };
    const known = [...rows, ...OFFLINE].map(([command]) => command);
    const isKnown = (name: string): boolean => known.some((each) => each === name || each.startsWith(`${name} `));
    expect(leaves(buildProgram(context)).filter((name) => !isKnown(name))).toEqual([]);
  });

  it('lets no gate pass that cannot see', () => {
    const gates = rows.filter(([command]) => IS_GATE.test(command));
    expect(gates.length).toBeGreaterThan(5);
    const passing = gates.flatMap(([command, , ...blind]) =>
      blind.filter((outcome) => String(outcome).startsWith('0 ')).map((outcome) => `${command}: ${outcome}`),
    );
    expect(passing).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PLAN_OUTPUTS } from '../../../src/cli/output-formats.ts';
import { runCli } from '../../support/run-cli.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'examples');
const SNAPSHOT = join(EXAMPLES, 'snapshot', 'cluster.yaml');
const POLICY = join(EXAMPLES, 'policies', 'default.yaml');
const GATES = ['--fail-on', 'imbalance>0.5', '--fail-on', 'slo-missed>0', '--fail-on', 'cost>100'];

function plan(...args: readonly string[]) {
  return runCli(['plan', '-f', SNAPSHOT, '-p', POLICY, ...args]);
}

/** The same objects in the reverse order, and the fields of each in another. */
function shuffled(): string {
  const lines = readFileSync(SNAPSHOT, 'utf8').trimEnd().split('\n');
  const first = lines.indexOf('items:') + 1;
  const items = lines
    .slice(first)
    .reverse()
    .map((line) => `- ${JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line.slice(2))).reverse()))}`);
  return [...lines.slice(1, first), ...items, ''].join('\n');
}

describe('evenkeel plan in CI', () => {
  it.each(PLAN_OUTPUTS)(
    'writes the same bytes as %s for the same input, in whatever order it stands',
    async (output) => {
      const flags = ['-o', output, '--exit-code', ...GATES];
      const [first, second] = await Promise.all([plan(...flags), plan(...flags)]);
      const other = await runCli(['plan', '-f', '-', '-p', POLICY, ...flags], shuffled());
      expect(first.stdout.length).toBeGreaterThan(20);
      expect([second, other]).toEqual([first, first]);
    },
  );

  it('says in a pull request what is planned, then the gates, then each figure before and planned', async () => {
    const { stdout, code } = await plan('-o', 'markdown', ...GATES);
    expect(stdout).toMatch(
      /^## Rebalancing plan of default\n\n\*\*2 moves\*\* on the snapshot of 2026-01-10T20:00:00Z; \*\*1 of 3 checks did not pass\*\*\.\n/,
    );
    expect(stdout).toContain(
      "| not imbalance&gt;0.5 | ❌ failed | --fail-on 'imbalance&gt;0.5': imbalance is 70.25 % |",
    );
    expect(stdout).toContain('| not slo-missed&gt;0 | ✅ passed |');
    expect(stdout).toMatch(/\| cpu \| Spread \| 70\.25 % \| 21\.25 % \| −49\.00 % \|/);
    expect(stdout).toMatch(/<details>\n<summary>\d+ pods of those considered, by reason<\/summary>\n\n\| STAYS/);
    expect(code).toBe(3);
  });

  it('writes one JUnit case for each check, and fails those that --exit-code and the gates do', async () => {
    const { stdout, code } = await plan('-o', 'junit', '--exit-code', ...GATES);
    expect(stdout).toContain('tests="6" failures="2"');
    expect(stdout).toContain('name="metrics are complete and fresh" time="0"/>');
    expect(stdout).toContain('<failure message="the plan has 2 moves" type="failure">');
    expect(code).toBe(3);
  });

  it('writes SARIF that points at the policy file', async () => {
    const { stdout } = await plan('-o', 'sarif', '--exit-code', ...GATES);
    const { runs } = JSON.parse(stdout) as {
      readonly runs: readonly { readonly results: readonly { readonly ruleId: string; readonly level: string }[] }[];
    };
    expect(runs[0]?.results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
      ['moves', 'warning'],
      ['gate', 'error'],
    ]);
    expect(stdout).toContain('examples/policies/default.yaml"');
    expect(stdout).toContain('"startLine": 1');
  });

  it('has colours where FORCE_COLOR asks for them, and none in a file otherwise', async () => {
    const forced = await runCli(['plan', '-f', SNAPSHOT, '-p', POLICY], '', { FORCE_COLOR: '1', NO_COLOR: '' });
    expect(forced.stdout).toContain('\u001b[1m');
    const unasked = await runCli(['plan', '-f', SNAPSHOT, '-p', POLICY], '', { NO_COLOR: '' });
    expect(unasked.stdout).not.toContain('\u001b');
  });

  it('runs where nothing can be kept between runs', async () => {
    const { stderr, code } = await runCli(['version'], '', { XDG_CACHE_HOME: '/dev/null/none' });
    expect([stderr, code]).toEqual(['', 0]);
  });
});

describe('evenkeel diff', () => {
  const greedy = readFileSync(POLICY, 'utf8')
    .replace('type: RefineLB', 'type: GreedyLB')
    .replace('perNode: 2', 'perNode: 1')
    .replace('name: default', 'name: greedy');
  const diff = (...args: readonly string[]) => runCli(['diff', POLICY, '-', '-f', SNAPSHOT, ...args], greedy);

  it('says which moves appear, vanish and go elsewhere, and how balanced both are', async () => {
    const { stdout, code } = await diff('--exit-code');
    expect(stdout).toMatch(/^\d+ moves? differs?: \d+ new, \d+ gone, \d+ to another node; \d+ the same\.\n/);
    expect(stdout).toMatch(/^Old: default, RefineLB: 2 moves narrow/m);
    expect(stdout).toMatch(/^New: greedy, GreedyLB: /m);
    expect(stdout).toMatch(/^spread, planned +21\.25 % +\d+\.\d\d %$/m);
    expect(stdout).toMatch(/^vanishes +shop\/\S+ +node-1 +node-\d +stays$/m);
    expect(code).toBe(2);
  });

  it('agrees with itself in every format', async () => {
    const json = JSON.parse((await diff('-o', 'json')).stdout) as {
      readonly same: number;
      readonly old: { readonly moves: number };
      readonly new: { readonly moves: number };
      readonly moves: readonly { readonly change: string; readonly pod: string }[];
    };
    const of = (change: string): number => json.moves.filter((move) => move.change === change).length;
    expect(json.old.moves).toBe(json.same + of('vanishes') + of('goes elsewhere'));
    expect(json.new.moves).toBe(json.same + of('appears') + of('goes elsewhere'));
    const markdown = (await diff('-o', 'markdown')).stdout;
    for (const { change, pod } of json.moves) {
      expect(markdown).toContain(`| ${change} | ${pod} |`);
    }
  });

  it('finds nothing between a policy and itself', async () => {
    const { stdout, code } = await runCli(['diff', POLICY, POLICY, '-f', SNAPSHOT, '--exit-code']);
    expect(stdout).toMatch(/^The plans are the same: 2 moves\.\n/);
    expect(code).toBe(0);
  });
});

describe('evenkeel top', () => {
  const top = (...args: readonly string[]) => runCli(['top', '-f', SNAPSHOT, ...args]);

  it('shows nodes and workloads, the fullest node first when asked', async () => {
    const { stdout } = await top('--sort-by', 'cpu');
    expect(stdout).toMatch(/^NODE +STATUS +PODS +CPU +CPU % +CPU REQ %/);
    expect(stdout).toMatch(/\nnode-1 +Ready +6 +3120m +78 %/);
    expect(stdout).toMatch(/\nshop\/api \(Deployment\) +3\/3 +1790m +900Mi/);
    expect(stdout.indexOf('node-1')).toBeLessThan(stdout.indexOf('node-3'));
  });

  it('shows what was asked for alone, in numbers for programs', async () => {
    const { stdout } = await top('workloads', '-n', 'shop', '--limit', '1', '--sort-by', 'pods', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      workloads: [{ kind: 'Deployment', namespace: 'shop', pods: 3, ready: 3, serviceClass: null, slo: null }],
    });
    expect(stdout).not.toContain('nodes');
  });

  it('says which files are missing where nothing was measured', async () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, status: { allocatable: { cpu: '4' } } };
    const { stdout, stderr } = await runCli(['top', 'nodes', '-f', '-'], JSON.stringify(node));
    expect(stdout).toMatch(/\na +Ready +0 +- +- +0 % +- +- +-\n$/);
    expect(stderr).toContain('warning: the files hold no metrics: add what kubectl get nodes.metrics.k8s.io');
  });
});

describe('evenkeel top violations', () => {
  const meta = (name: string, more: object = {}) => ({ name, namespace: 'shop', uid: name, ...more });
  const node = (name: string, spec: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name },
    spec,
    status: {
      allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  });
  const pod = (name: string, status: object = { phase: 'Running' }) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: meta(name, {
      creationTimestamp: '2026-01-01T00:00:00Z',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web', controller: true }],
    }),
    spec: { nodeName: 'a', containers: [{ name: 'c' }] },
    status,
  });
  const policy = (name: string, spec: object) => ({
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'RebalancePolicy',
    metadata: { name },
    spec: { strategy: { type: 'None' }, ...spec },
  });
  const restarting = { phase: 'Running', containerStatuses: [{ name: 'c', restartCount: 20 }] };
  const cluster = [
    node('a', { taints: [{ key: 'old', effect: 'NoSchedule' }] }),
    node('b'),
    node('c'),
    pod('web-1'),
    pod('web-2', { phase: 'Failed', reason: 'Evicted' }),
    pod('web-3', restarting),
  ];
  const top = (objects: readonly object[], ...args: readonly string[]) =>
    runCli(
      ['top', 'violations', '-f', '-', ...args],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
    );

  it('shows what is violated now, whether or not a policy repairs it', async () => {
    const policies = [
      policy('tidy', { repair: { failed: {}, restarts: { atLeast: 10 } } }),
      policy('off', { suspend: true, repair: { failed: {} } }),
    ];
    const { stdout, stderr, code } = await top([...cluster, ...policies]);
    expect(stdout).toMatch(/^POD +NODE +VIOLATES +REPAIRED BY +DETAIL\n/);
    expect(stdout).toMatch(/\nshop\/web-1 +a +Duplicates +- +a has 2 pods of its controller, 1 for each node are even/);
    expect(stdout).toMatch(/\nshop\/web-1 +a +Taints +- +a has the taint old:NoSchedule/);
    expect(stdout).toMatch(/\nshop\/web-2 +a +Failed +tidy +its phase is Failed \(Evicted\)/);
    expect(stdout).toMatch(/\nshop\/web-3 +a +Restarts +tidy +20 restarts, repair.restarts.atLeast is 10/);
    expect([stderr, code]).toEqual(['', 0]);
  });

  it('shows them for programs, of one namespace, by column, and no more than asked for', async () => {
    const { stdout } = await top(cluster, '-n', 'shop', '--sort-by', 'rule', '--limit', '3', '-o', 'json');
    const { violations } = JSON.parse(stdout);
    expect(violations.map(({ rule, pod: name }: { rule: string; pod: string }) => [rule, name])).toEqual([
      ['Duplicates', 'web-1'],
      ['Duplicates', 'web-3'],
      ['Failed', 'web-2'],
    ]);
    expect(violations[2]).toEqual({
      namespace: 'shop',
      pod: 'web-2',
      node: 'a',
      owner: { kind: 'ReplicaSet', name: 'web' },
      rule: 'Failed',
      detail: 'its phase is Failed (Evicted)',
      policies: [],
    });
    expect((await top(cluster, '-o', 'yaml')).stdout).toContain('rule: Taints');
  });

  it('keeps to the scope of the policy that is named', async () => {
    const named = policy('ours', { scope: { podSelector: { matchLabels: { team: 'ours' } } }, repair: { failed: {} } });
    expect((await top([...cluster, named], '-p', 'ours')).stdout).toBe('no violations\n');
    expect((await top([...cluster, named], '-p', 'theirs')).stderr).toContain('there is no RebalancePolicy theirs');
  });

  it('says that there are none', async () => {
    expect(await top([node('a'), node('b'), pod('web-1')])).toMatchObject({ stdout: 'no violations\n', code: 0 });
    expect(JSON.parse((await top([node('a')], '-o', 'json')).stdout)).toEqual({ violations: [] });
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type SimulateFlags, simulateCommand } from '../../../src/cli/simulate.ts';
import type { SimulationResult } from '../../../src/report/simulation-result.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-simulate-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

const head = { apiVersion: 'evenkeel.dev/v1alpha1', metadata: { name: 'shop' } };
const spec = {
  duration: '5m',
  nodes: [{ name: 'node', count: 2, cpu: '2', memory: '2Gi' }],
  workloads: [{ name: 'web', replicas: 2, cpu: '100m', serviceClass: 'gold', requests: { rate: { constant: 5 } } }],
};
const gold = { ...head, kind: 'ServiceClass', metadata: { name: 'gold' }, spec: { slo: '0.9', importance: 1 } };
const policy = { ...head, kind: 'RebalancePolicy', metadata: { name: 'refine' }, spec: { interval: '1m' } };

async function written(scenario: object, ...others: readonly object[]): Promise<string> {
  const file = join(folder, 'scenario.yaml');
  const documents = [{ ...head, kind: 'Scenario', spec: scenario }, ...others];
  await writeFile(file, documents.map((each) => stringify(each)).join('---\n'));
  return file;
}

async function play(file: string, flags: Partial<SimulateFlags> = {}) {
  const console = { isTerminal: false, now: () => 0, write: () => undefined };
  return simulateCommand({ file, policies: [], output: 'table', seed: undefined, ...flags }, console);
}

async function problemsOf(scenario: object, ...others: readonly object[]): Promise<string> {
  const file = await written(scenario, ...others);
  const error: unknown = await play(file).catch((caught: unknown) => caught);
  return error instanceof Error ? error.message.replaceAll(`${folder}/`, '') : 'no error';
}

describe('evenkeel simulate', () => {
  it('compares the scheduler alone with each policy of the file', async () => {
    const { stdout, exitCode } = await play(await written(spec, gold, policy), { output: 'json' });
    const result = JSON.parse(stdout) as SimulationResult;
    expect(exitCode).toBe(0);
    expect(result.variants.map(({ name }) => name)).toEqual(['scheduler alone', 'refine']);
    expect(result.variants.map(({ classes }) => classes.map(({ name }) => name))).toEqual([['gold'], ['gold']]);
  });

  it('taints a node, and says how many pods violate what a policy repairs', async () => {
    const incidents = [{ at: '1m', type: 'Taint', node: 'node-1', taint: { key: 'old' } }];
    const repair = { interval: '1m', strategy: { type: 'None' }, repair: { taints: {} } };
    const file = await written({ ...spec, incidents }, gold, { ...policy, spec: repair });
    const { variants } = JSON.parse((await play(file, { output: 'json' })).stdout) as SimulationResult;
    expect(variants.map(({ violations }) => violations)).toEqual([
      [{ rule: 'Taints', pods: 1 }],
      [{ rule: 'Taints', pods: 1 }], // protections.stabilization holds the workload for ten minutes
    ]);
  });

  it.each([
    [{ type: 'Taint', node: 'node-1' }, 'Taint and Untaint need taint'],
    [{ type: 'Cordon', node: 'node-1', taint: { key: 'a' } }, 'Taint and Untaint need taint'],
    [{ type: 'Taint', node: 'node-1', taint: { key: 'a', effect: 'NoExecute' } }, 'write one of NoSchedule'],
  ])('refuses an incident such as %j', async (incident, problem) => {
    expect(await problemsOf({ ...spec, incidents: [{ at: '1m', ...incident }] }, gold)).toContain(problem);
  });

  it('writes the same bytes for the same seed, in every format', async () => {
    const file = await written({ ...spec, startup: { hot: { mean: '2', p95: '5' } } }, gold, policy);
    for (const output of ['table', 'json', 'markdown', 'html'] as const) {
      const [first, second, other] = [
        await play(file, { output }),
        await play(file, { output }),
        await play(file, { output, seed: 2 }),
      ];
      expect(second.stdout).toBe(first.stdout);
      expect(other.stdout).not.toBe(first.stdout);
    }
  });

  it('writes an HTML file that asks nobody for anything and shows names as text', async () => {
    const scenario = {
      ...head,
      kind: 'Scenario',
      spec: { ...spec, variants: [{ name: '<script>alert(1)</script>' }] },
    };
    const file = join(folder, 'hostile.yaml');
    await writeFile(file, [scenario, gold].map((each) => stringify(each)).join('---\n'));
    const { stdout } = await play(file, { output: 'html' });
    expect(stdout).toContain('<svg');
    expect(stdout).toContain('prefers-color-scheme:dark');
    expect(stdout).toContain('&lt;script&gt;');
    expect(stdout).not.toMatch(/<script|https?:|url\(|@import|src=|href=/);
  });

  it('tells how far it is once a run takes long', async () => {
    let now = 0;
    const shown: string[] = [];
    const console = {
      isTerminal: false,
      now: () => {
        now += 1000;
        return now;
      },
      write: (text: string) => void shown.push(text),
    };
    await simulateCommand({ file: await written(spec, gold), policies: [], output: 'table', seed: 1 }, console);
    expect(shown[0]).toMatch(/^scheduler alone: \d+ % of 300 s, \d+ events\n$/);
  });

  it('plays a snapshot as it stands', async () => {
    const node = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { allocatable: { cpu: '2', memory: '4Gi', pods: '10' } },
    });
    const pod = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'shop' },
      spec: { nodeName: 'a', containers: [{ name: 'c', resources: { requests: { cpu: '500m' } } }] },
    });
    await writeFile(
      join(folder, 'cluster.json'),
      JSON.stringify({ kind: 'List', items: [node('a'), node('b'), pod('x'), pod('y')] }),
    );
    const { stdout } = await play(await written({ duration: '5m', snapshot: 'cluster.json' }), { output: 'json' });
    const [alone] = (JSON.parse(stdout) as SimulationResult).variants;
    expect(alone?.balance.cpu.max).toBeCloseTo(0.5);
    expect(alone?.balance.cpu.mean).toBeCloseTo(0.25);
  });

  it('reads traces and request logs from the files beside it', async () => {
    await writeFile(join(folder, 'rate.csv'), '0,0\n300,10\n');
    await writeFile(join(folder, 'log.csv'), '3,79,79,any,0,11,7200,-1,0.375,0.375,prod,1\n');
    const scenario = {
      ...spec,
      requestLog: 'log.csv',
      workloads: [{ name: 'web', cpu: '100m', requests: { rate: { file: 'rate.csv' } } }],
    };
    const { stdout } = await play(await written(scenario), { output: 'json' });
    const [alone] = (JSON.parse(stdout) as SimulationResult).variants;
    expect(alone?.requests.total).toBeCloseTo(1500);
    expect(alone?.classes.map(({ name, workloads }) => [name, workloads])).toEqual([['prod', 1]]);
  });
});

describe('a bad scenario', () => {
  it('is told field by field, with the line and what to write instead', async () => {
    const [node] = spec.nodes;
    expect(await problemsOf({ ...spec, durations: '5m' }, gold)).toMatch(
      /^scenario\.yaml:\d+:\d+: spec\.durations: unknown field: duration\?/,
    );
    expect(await problemsOf({ ...spec, nodes: [{ ...node, cpu: '2x' }] }, gold)).toMatch(
      /^scenario\.yaml:\d+:\d+: spec\.nodes\[0\]\.cpu: is "2x": write a Kubernetes quantity/,
    );
    expect(await problemsOf({ duration: '5m' })).toContain('spec.nodes: there is no node: write nodes, or snapshot');
    expect(await problemsOf({ ...spec, nodes: [node, node] }, gold)).toContain(
      'spec.nodes[1].name: is "node" for the second time',
    );
    expect(await problemsOf({ ...spec, workloads: [{ name: 'w', kind: 'Job' }] })).toContain('a Job needs runTime');
    const template = { spec: { containers: 'none' } };
    expect(await problemsOf({ ...spec, workloads: [{ name: 'w', template }] })).toMatch(
      /spec\.workloads\[0\]\.template: spec\.containers/,
    );
  });

  it('is told which names nothing has', async () => {
    expect(await problemsOf(spec)).toContain(
      'spec.workloads[0].serviceClass: there is no ServiceClass "gold": write one to the file first',
    );
    expect(await problemsOf({ ...spec, incidents: [{ at: '1m', type: 'NodeFails', node: 'node-9' }] }, gold)).toContain(
      'spec.incidents[0].node: there is no node "node-9": write node-1, node-2',
    );
    expect(await problemsOf({ ...spec, variants: [{ name: 'x', policies: ['other'] }] }, gold, policy)).toContain(
      'spec.variants[0].policies[0]: there is no RebalancePolicy "other": write refine',
    );
  });

  it('is told which incidents lack what they are about', async () => {
    expect(await problemsOf({ ...spec, incidents: [{ at: '1m', type: 'Scale', node: 'node-1' }] }, gold)).toContain(
      'Scale takes workload and replicas, everything else takes node',
    );
  });

  it('is told when a file holds none', async () => {
    const file = join(folder, 'none.yaml');
    await writeFile(file, stringify(gold));
    await expect(play(file)).rejects.toThrow('holds 0 Scenarios: write exactly one');
  });
});

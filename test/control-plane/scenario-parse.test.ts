import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { logNormalOf } from './log-normal.ts';
import { loadScenario } from './scenario.ts';
import { parseScenario, type Scenario } from './scenario-parse.ts';

const folder = join(import.meta.dirname, '..', 'scenarios');
const node = '{name: a, cpu: 4, memory: 16Gi}';

describe('the scenarios of the project', () => {
  it.each(
    readdirSync(folder).filter(
      (name) => name.endsWith('.yaml') && !name.includes('.input.') && !name.includes('.plan.'),
    ),
  )('%s can be read', (name) => {
    expect(loadScenario(join(folder, name)).nodes.length).toBeGreaterThan(0);
  });

  it.each(['demo', 'demo-no-system-pods'])('%s uses half of its CPU with no pod above 15 %% of a node', (name) => {
    const { nodes, workloads } = loadScenario(join(folder, `${name}.yaml`));
    const deployments = workloads.filter((workload) => workload.kind === 'Deployment');
    const cpu = deployments.map((workload) => Number.parseInt(workload.usage.cpu, 10));
    const total = deployments.reduce((sum, { replicas }, index) => sum + replicas * (cpu[index] ?? 0), 0);
    expect(deployments).toHaveLength(30);
    expect(deployments.reduce((sum, { replicas }) => sum + replicas, 0)).toBeGreaterThan(100);
    expect(total / (nodes.length * 4_000)).toBeGreaterThan(0.5);
    expect(total / (nodes.length * 4_000)).toBeLessThan(0.6);
    expect(Math.max(...cpu)).toBeLessThanOrEqual(600);
  });
});

describe('a scenario file', () => {
  it('numbers nodes and deals out zones', () => {
    const { nodes } = parse('nodes: [{prefix: n-, count: 10, cpu: 4, memory: 16Gi, zones: [x, y]}]');
    expect(nodes.map((each) => each.name).slice(0, 2)).toEqual(['n-01', 'n-02']);
    expect(nodes[2]?.labels).toEqual({ 'topology.kubernetes.io/zone': 'x' });
  });

  it('draws usage by seed and name, so that another workload changes nothing', () => {
    const workload = (name: string) =>
      `{name: ${name}, replicas: {min: 3, max: 5}, usage: {cpu: {logNormal: {mu: 5, sigma: 1}}}}`;
    const alone = parse(`nodes: [${node}]\nworkloads: [${workload('b')}]`);
    const both = parse(`nodes: [${node}]\nworkloads: [${workload('a')}, ${workload('b')}]`);
    const reseeded = parse(`seed: 2\nnodes: [${node}]\nworkloads: [${workload('b')}]`);
    expect(both.workloads[1]).toEqual(alone.workloads[0]);
    expect(both.workloads[0]?.usage.cpu).not.toBe(alone.workloads[0]?.usage.cpu);
    expect(reseeded.workloads[0]?.usage.cpu).not.toBe(alone.workloads[0]?.usage.cpu);
  });

  it('creates the namespaces that workloads name', () => {
    const { namespaces } = parse(`namespaces: [a]\nnodes: [${node}]\nworkloads: [{name: w, namespace: b}, {name: v}]`);
    expect(namespaces.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it.each([
    ['nodes: []', 'nodes must NOT have fewer than 1 items'],
    [`nodes: [${node}]\nnode: 1`, 'the file has the unknown field "node"'],
    ['nodes: [{name: a, memory: 1Gi}]', 'nodes.0 lacks the field "cpu"'],
    ['nodes: [{cpu: 4, memory: 1Gi}]', 'nodes.0 must have either a name, or a prefix and a count'],
    [`nodes: [${node}, ${node}]`, 'two nodes are called a'],
    [
      `nodes: [${node}]\nworkloads: [{name: w, replicas: many}]`,
      'workloads.0.replicas must be of type integer or object',
    ],
    [`nodes: [${node}]\nworkloads: [{name: w, kind: Job}]`, 'workloads.0.kind must be one of Deployment, StatefulSet'],
    [`nodes: [${node}]\nworkloads: [{name: w, startup: soon}]`, 'workloads.0.startup must match pattern'],
    [`nodes: [${node}]\nworkloads: [{name: w, startOn: [b]}]`, 'Deployment w starts on b, which is not a node'],
    [`nodes: [${node}]\nworkloads: [{name: w, kind: DaemonSet, startOn: [a]}]`, 'DaemonSet w runs on every node'],
    [`nodes: [${node}]\nworkloads: [{name: w}, {name: w}]`, 'Deployment default/w is there twice'],
  ])('%j is refused', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });
});

it('a log-normal amount has the median exp(mu) and stays below its cap', () => {
  const draws = Array.from({ length: 2_001 }, (_, index) =>
    logNormalOf(`key ${index}`, { mu: 5, sigma: 0.8, max: 400 }),
  );
  const median = draws.sort((a, b) => a - b)[1_000] ?? 0;
  expect(median).toBeGreaterThan(140);
  expect(median).toBeLessThan(157);
  expect(Math.max(...draws)).toBe(400);
});

function parse(text: string): Scenario {
  return parseScenario(text, 'test');
}

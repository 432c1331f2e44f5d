import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseTarget } from '../../../src/cli/explain.ts';
import type { PodExplanation } from '../../../src/plan/explain/pod.ts';
import { aBareNode, aBarePod } from '../../support/builders/raw.ts';
import { policyObject } from '../../support/resources.ts';
import { runCli } from '../../support/run-cli.ts';

/** Two pods on node a, and node b, which is cordoned; web-1 is in two namespaces. */
const CLUSTER = {
  apiVersion: 'v1',
  kind: 'List',
  metadata: { annotations: { 'evenkeel.dev/taken-at': '2027-01-11T12:00:00Z' } },
  items: [
    aBareNode('a'),
    aBareNode('b', { spec: { unschedulable: true } }),
    aBareNode('c'),
    ...['web-1', 'web-2', 'web-3'].map((name) => aBarePod(name, 'shop')),
    aBarePod('web-1', 'blog'),
    policyObject('even', { load: { source: 'Requests' } }),
  ],
};
const INPUT = JSON.stringify(CLUSTER);

function explain(...args: readonly string[]) {
  return runCli(['explain', ...args, '-f', '-'], INPUT);
}

describe('evenkeel explain deploy', () => {
  const replicaSet = (name: string, owner: string) => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: 'shop',
      uid: `rs-${name}`,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: owner, uid: owner, controller: true }],
    },
    spec: { replicas: 1 },
  });
  const podOf = (name: string, owner: string) => {
    const pod = aBarePod(name, 'shop') as { readonly metadata: object };
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: `rs-${owner}`, controller: true },
    ];
    return { ...pod, metadata: { ...pod.metadata, ownerReferences } };
  };
  /** Deployment api with two ReplicaSets, amid a rollout. */
  const input = JSON.stringify({
    ...CLUSTER,
    items: [
      ...CLUSTER.items,
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'api', namespace: 'shop', uid: 'api' },
        spec: { replicas: 2 },
      },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'idle', namespace: 'shop', uid: 'idle' },
        spec: { replicas: 0 },
      },
      replicaSet('api-1', 'api'),
      replicaSet('api-2', 'api'),
      podOf('api-1-x', 'api-1'),
      podOf('api-2-x', 'api-2'),
    ],
  });
  const explainIn = (...args: readonly string[]) => runCli(['explain', ...args, '-f', '-'], input);

  it('summarises the pods of all its ReplicaSets by verdict, and lists each', async () => {
    const { stdout, stderr, code } = await explainIn('deploy/api', '-n', 'shop');
    expect([stderr, code]).toEqual(['', 0]);
    expect(stdout).toMatch(/^Deployment shop\/api: 2 pods of 2 replicas\.$/m);
    const [, counts = '', pods = ''] = stdout.split('\n\n');
    const sum = counts
      .split('\n')
      .slice(1)
      .reduce((total, line) => total + Number(/\d+$/.exec(line)?.[0]), 0);
    expect(sum).toBe(2);
    expect(
      pods
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => line.split(' ')[0]),
    ).toEqual(['api-1-x', 'api-2-x']);
  });

  it('prints each pod as explain pod does with -o json', async () => {
    const { workload, replicas, pods } = JSON.parse((await explainIn('deployment/shop/api', '-o', 'json')).stdout);
    expect([workload, replicas]).toEqual([{ kind: 'Deployment', namespace: 'shop', name: 'api' }, 2]);
    const { nodes: _, ...alone } = JSON.parse((await explainIn('pod/shop/api-1-x', '-o', 'json')).stdout);
    expect(pods[0]).toEqual(alone);
  });

  it('knows a workload without pods, and one that only pods name', async () => {
    expect((await explainIn('deploy/idle')).stdout).toBe('Deployment shop/idle: 0 pods of 0 replicas.\n');
    expect((await explainIn('rs/shop/web')).stdout).toContain('ReplicaSet shop/web: 3 pods.');
  });

  it.each([
    [['deploy/apo'], 'there is no Deployment apo: api?'],
    [['sts/api'], 'there is no StatefulSet api; there are none'],
    [['rs/web'], 'there are several ReplicaSets web (blog/web, shop/web): choose one with -n NAMESPACE'],
    [['deploy/a/b/c'], 'write deploy/NAME or deploy/NAMESPACE/NAME'],
    [
      ['deploy/shop/api', '-n', 'blog'],
      'deployment/shop/api is not in namespace blog: drop -n, or write deployment/api',
    ],
  ])('refuses %j', async (args, message) => {
    const { stderr, code } = await explainIn(...args);
    expect(stderr).toContain(message);
    expect(code).toBe(1);
  });
});

describe('evenkeel explain node by the name that tables show', () => {
  const input = JSON.stringify({
    ...CLUSTER,
    items: [aBareNode('n-1.a.internal'), aBareNode('n-2.a.internal'), aBareNode('n-2.b.internal')],
  });

  it('finds the only node that begins with it', async () => {
    const { stdout, code } = await runCli(['explain', 'node/n-1', '-f', '-'], input);
    expect(stdout).toContain('Node n-1.a.internal ');
    expect(code).toBe(0);
  });

  it('asks for the full name where several nodes begin with it', async () => {
    const { stderr, code } = await runCli(['explain', 'node/n-2', '-f', '-'], input);
    expect(stderr).toBe('error: there are several nodes n-2 (n-2.a.internal, n-2.b.internal): write the full name\n');
    expect(code).toBe(1);
  });
});

describe('evenkeel explain pod', () => {
  it('prints how every node looks to the pod, and what the plan does with it', async () => {
    const { stdout, code } = await explain('pod/web-2');
    expect(stdout).toContain('Pod shop/web-2, of ReplicaSet web, runs on a and adds 10.00 % to its load.');
    expect(stdout).toMatch(/^In a plan made now it (moves to c|stays, \w+): /m);
    expect(stdout).toContain('Nothing protects it: it may be moved.');
    expect(stdout).toMatch(/^NODE +LOAD +FITS +SCORE +GAIN +REMARKS$/m);
    expect(stdout).toMatch(/^c +0\.00 % +yes +\d+ +10\.00 %$/m);
    expect(stdout).toMatch(/^a +40\.00 % +yes +\d+ +- +runs here$/m);
    expect(stdout).toMatch(/^b +- +no +- +- +NodeUnschedulable: is cordoned; takes no part: it is cordoned$/m);
    expect(code).toBe(0);
  });

  it('adds what a score is made of with -o wide', async () => {
    expect((await explain('pod/web-2', '-o', 'wide')).stdout).toMatch(/TaintToleration 300, NodeAffinity 0, NodeRes/);
  });

  it('prints the documented fields with -o json, null for what is not known', async () => {
    const { stdout } = await explain('pod/web-2', '-o', 'json');
    const { pod, movable, protections, nodes } = JSON.parse(stdout) as PodExplanation;
    expect(pod).toEqual({ namespace: 'shop', name: 'web-2', uid: 'shop/web-2' });
    expect([movable, protections]).toEqual([true, []]);
    expect(nodes.map(({ node }) => node)).toEqual(['c', 'a', 'b']);
    expect(nodes[0]).toMatchObject({ fits: true, rejections: [], gain: 0.1, score: expect.any(Number) });
    const cordoned = { filter: 'NodeUnschedulable', message: 'is cordoned', numbers: {} };
    expect(nodes[2]).toMatchObject({ fits: false, rejections: [cordoned], score: null, gain: null });
  });

  it('prints the same as YAML', async () => {
    const [json, yaml] = await Promise.all([explain('pod/web-2', '-o', 'json'), explain('pod/web-2', '-o', 'yaml')]);
    expect(parse(yaml.stdout)).toEqual(JSON.parse(json.stdout));
  });

  it.each([[['po/web-2']], [['pods', 'web-2']], [['pod/shop/web-2']], [['pod/web-2', '-n', 'shop']]])(
    'understands %j',
    async (args) => {
      expect((await explain(...args)).stdout).toContain('Pod shop/web-2,');
    },
  );
});

describe('evenkeel explain node', () => {
  it('prints what runs there and what could come', async () => {
    const { stdout } = await explain('node/c');
    expect(stdout).toContain('Node c is at 0.00 %; the mean of the nodes that take part is 20.00 %.');
    expect(stdout).toContain('No pod runs there.');
    expect(stdout).toMatch(/^shop\/web-2 +a +yes +10\.00 % /m);
  });

  it('says why a node takes no part', async () => {
    expect((await explain('no/b')).stdout).toContain('Node b takes no part: it is cordoned.');
  });

  it('prints the same facts with -o json', async () => {
    const data = JSON.parse((await explain('node/a', '-o', 'json')).stdout) as Record<string, unknown>;
    expect(data).toMatchObject({ node: 'a', absent: null, load: 0.4, mean: 0.2, candidates: [] });
    expect(data['pods']).toHaveLength(4);
  });
});

describe('evenkeel explain, given what it cannot explain,', () => {
  it.each([
    [['pod/web-1'], 'there are several pods web-1 (blog/web-1, shop/web-1): choose one with -n NAMESPACE'],
    [['pod/web-11'], 'there is no pod web-11: web-1?'],
    [['pod/web-2', '-n', 'blog'], 'there is no pod web-2 in namespace blog: web-1?'],
    [['pod/shop/web-2', '-n', 'blog'], 'pod/shop/web-2 is not in namespace blog: drop -n, or write pod/web-2'],
    [['node/z'], 'there is no node z'],
    [
      ['nodde/a'],
      'cannot explain "nodde/a": write pod/NAME, node/NAME, app/NAME or a workload such as deploy/NAME: node?',
    ],
    [
      ['secret/web'],
      'cannot explain "secret/web": write pod/NAME, node/NAME, app/NAME or a workload such as deploy/NAME',
    ],
    [['pod'], 'cannot explain "pod": write pod/NAME or pod/NAMESPACE/NAME'],
    [['pod/'], 'cannot explain "pod/": write pod/NAME or pod/NAMESPACE/NAME'],
    [['node/x/a'], 'cannot explain "node/x/a": write node/NAME'],
    [['pod/web-2', '-o', 'markdown'], '-o markdown is not a format: write one of table, wide, json, yaml'],
    [['pod/web-2', '-p', 'odd'], 'there is no RebalancePolicy odd; there are even'],
    [[], "missing required argument 'target'"],
  ])('says of %j what to write', async (args, says) => {
    const { stdout, stderr, code } = await explain(...args);
    expect(stderr).toContain(says);
    expect([stdout, code]).toEqual(['', 1]);
  });
});

describe('evenkeel explain app', () => {
  const FILES = ['-f', 'examples/applications/cluster.yaml', '-p', 'examples/applications/policy.yaml'];

  it('prints members, edges, pods, and what is against moving those that stay', async () => {
    const { stdout, code } = await runCli(['explain', 'app/shop/checkout', ...FILES]);
    expect(stdout).toContain('AppGraph shop/checkout: 3 members, 7 pods.\nIn a plan made now, 3 moves cut traffic');
    expect(stdout).toContain('to 20 Mb/s, and the cost from 0.34 to 0.08 an hour.');
    expect(stdout).toMatch(/^web +3 +zone-a 1, zone-b 1, zone-c 1 +zone-a 2, zone-c 1$/m);
    expect(stdout).toMatch(/^web -> cart +60 Mb\/s +40 Mb\/s +20 Mb\/s +0\.17 +0\.08$/m);
    expect(stdout).toMatch(/^web-7f-1 +node-2 +zone-b +moves to node-4: brings shop\/checkout closer together/m);
    expect(stdout).toMatch(/^web-7f-2 +zone-a +20 Mb\/s, 0\.08\/h +NodeLoad on 2 of 2 nodes: /m);
    expect(code).toBe(0);
  });

  it('prints the same facts with -o json and -o yaml', async () => {
    const [json, yaml] = await Promise.all(
      ['json', 'yaml'].map((output) => runCli(['explain', 'app', 'checkout', '-n', 'shop', ...FILES, '-o', output])),
    );
    const data = JSON.parse(json?.stdout ?? '') as Record<string, unknown>;
    expect(data).toMatchObject({ namespace: 'shop', name: 'checkout', moves: 3, stays: null, claimed: [] });
    expect(data).toMatchObject({ before: { bandwidth: 80e6 }, planned: { bandwidth: 20e6 } });
    expect(parse(yaml?.stdout ?? '')).toEqual(data);
  });

  it.each([
    [['app/chekout', ...FILES], 'there is no AppGraph chekout: checkout?'],
    [['app/blog/checkout', ...FILES], 'there is no AppGraph checkout in namespace blog; there are none'],
    [['app/a/b/c', ...FILES], 'write app/NAME or app/NAMESPACE/NAME'],
    [
      ['app/checkout', '-f', 'examples/applications/cluster.yaml', '-p', 'examples/policies/default.yaml'],
      'is of type RefineLB, which does not look at AppGraphs: choose a policy of type TrafficAware with -p',
    ],
  ])('refuses %j', async (args, message) => {
    const { stdout, stderr, code } = await runCli(['explain', ...args]);
    expect(stderr).toContain(message);
    expect([stdout, code]).toEqual(['', 1]);
  });
});

describe('parseTarget', () => {
  it('takes names with dots, as nodes have them', () => {
    expect(parseTarget(['node/ip-10-0-0-1.ec2.internal'])).toEqual({
      kind: 'node',
      namespace: undefined,
      name: 'ip-10-0-0-1.ec2.internal',
    });
  });
});

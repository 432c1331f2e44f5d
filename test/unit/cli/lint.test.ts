import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { policyObject } from '../../support/resources.ts';
import { runCli } from '../../support/run-cli.ts';

const documents = (...all: readonly object[]): string => all.map((each) => stringify(each)).join('---\n');
const suspended = policyObject('idle', { suspend: true });
const shop = { namespaceSelector: { matchLabels: { team: 'shop' } } };

async function lint(text: string, ...flags: readonly string[]) {
  return runCli(['lint', '-', ...flags], text);
}

interface Sarif {
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
    readonly results: readonly {
      readonly ruleId: string;
      readonly ruleIndex: number;
      readonly level: string;
      readonly message: { readonly text: string };
      readonly locations: readonly {
        readonly physicalLocation: {
          readonly artifactLocation: { readonly uri: string };
          readonly region: { readonly startLine: number; readonly startColumn: number };
        };
      }[];
    }[];
  }[];
}

describe('evenkeel lint', () => {
  it.each([
    [{ repair: {} }, 'spec.repair: repairs nothing'],
    [{ repair: { duplicates: false } }, 'spec.repair: repairs nothing'],
    [{ repair: { maxLifetime: { age: '4m' } } }, 'spec.repair.maxLifetime.age: protections.minPodAge 5m holds pods'],
    [{ repair: { maxLifetime: { age: '24h' } } }, undefined],
    [{ repair: { maxLifetime: { age: '4m', states: ['Evicted'] } } }, undefined],
    [{ repair: { failed: {} } }, undefined],
  ])('warns of repairs that can move nothing: %j', async (spec, warning) => {
    const { stdout, code } = await lint(documents(policyObject('a', spec)));
    expect(code).toBe(0);
    expect(stdout).toContain(warning === undefined ? 'no problems' : `warning: ${warning}`);
  });

  it.each([
    [{}, 'spec.budgets[0].perNode: a node with more than 2 pods is never emptied'],
    [{ budgets: [{ maxMoves: 1 }] }, 'spec.budgets[0].maxMoves: a node with more than 1 pod is never emptied'],
    [{ budgets: [{ maxMoves: 100, maxConcurrent: 4 }] }, undefined],
  ])('warns of budgets within which Pack empties no node: %j', async (spec, warning) => {
    const { stdout, code } = await lint(documents(policyObject('a', { strategy: { type: 'Pack' }, ...spec })));
    expect(code).toBe(0);
    expect(stdout).toContain(warning === undefined ? 'no problems' : `warning: ${warning}`);
  });

  it('reads the files of a folder', async () => {
    const { stdout, code } = await runCli([
      'lint',
      join(import.meta.dirname, '..', '..', '..', 'examples', 'policies'),
    ]);
    expect({ stdout, code }).toEqual({ stdout: '1 resource, no problems\n', code: 0 });
  });

  it('finds a name that is given twice, with both places', async () => {
    const { stdout, code } = await lint(
      documents(policyObject('a', {}), suspended, policyObject('a', { scope: shop })),
    );
    expect(stdout).toBe(
      '<stdin>:17:9: metadata.name: there is another RebalancePolicy a at <stdin>:4: rename one of them\n',
    );
    expect(code).toBe(1);
  });

  it('warns of policies that select the same pods, however that is written, and passes', async () => {
    const twice = [policyObject('a', {}), policyObject('b', { scope: { podSelector: {} } })];
    const { stdout, code } = await lint(documents(...twice, policyObject('c', { scope: shop }), suspended));
    expect(stdout).toBe(
      '<stdin>:10:9: warning: spec.scope: selects the same pods as RebalancePolicy a at <stdin>:4, and the older of the two owns them all: select others, or suspend one\n',
    );
    expect(code).toBe(0);
  });

  it('warns of AppGraphs with a workload in common', async () => {
    const graph = (name: string, namespace: string, ...members: readonly object[]) => ({
      apiVersion: 'evenkeel.dev/v1alpha1',
      kind: 'AppGraph',
      metadata: { name, namespace },
      spec: { members, edges: [] },
    });
    const web = { name: 'web', workload: { name: 'web' } };
    const front = { name: 'front', workload: { kind: 'Deployment', name: 'web' } };
    const { stdout, code } = await lint(
      documents(
        graph('checkout', 'shop', web, { name: 'db', workload: { name: 'db' } }),
        graph('payment', 'shop', front),
        graph('checkout', 'bank', web),
      ),
    );
    expect(stdout).toMatch(
      /^<stdin>:\d+:\d+: warning: spec\.members: front is a member of AppGraph checkout at <stdin>:4, too, and plans leave one of them alone: put all that it talks to into one AppGraph\n$/,
    );
    expect(code).toBe(0);
  });

  it('points at the key of an unknown field, and at a value that is wrong', async () => {
    const { stdout } = await lint(documents(policyObject('a', { mode: 'Auto', strategie: 1 })));
    expect(stdout).toContain('<stdin>:6:9: spec.mode: is "Auto": write');
    expect(stdout).toContain('<stdin>:7:3: spec.strategie: unknown field: strategy?');
  });

  it('warns of a policy of QoSDriven whose budgets never let anybody be evicted', async () => {
    const rule = async (budgets: readonly object[], type = 'QoSDriven') => {
      const { stdout, code } = await lint(documents(policyObject('a', { strategy: { type }, budgets })));
      return [code, /warning: (\S+: nobody is ever evicted)/.exec(stdout)?.[1]];
    };
    expect(await rule([{ maxMoves: 9 }, { perNode: 0 }])).toEqual([
      0,
      'spec.budgets[1].perNode: nobody is ever evicted',
    ]);
    expect(await rule([{ perOwner: '0%' }])).toEqual([0, 'spec.budgets[0].perOwner: nobody is ever evicted']);
    const none = [0, undefined];
    expect(await rule([{ maxOverhead: '0s', window: '1h' }])).not.toEqual(none);
    expect(await rule([{ maxOverhead: '0h5m', window: '1h' }])).toEqual(none);
    expect(await rule([{ maxMoves: 0, schedule: '0 8 * * *', duration: '1h' }])).toEqual(none);
    expect(await rule([{ maxMoves: 0 }], 'RefineLB')).toEqual(none);
  });

  it('knows scenarios, which are never on a cluster', async () => {
    const spec = { duration: '1m', nodes: [{ name: 'n', count: 1, cpu: '1', memory: '1Gi' }], workloads: [] };
    const { stdout } = await lint(documents({ ...policyObject('s', spec), kind: 'Scenario' }));
    expect(stdout).not.toContain('kind: is "Scenario"');
  });

  it('writes SARIF whose results name a rule that is listed, a level and a place', async () => {
    const { stdout, code } = await lint(documents(policyObject('a', { mode: 'Auto' })), '-o', 'sarif');
    const [run] = (JSON.parse(stdout) as Sarif).runs;
    const [result] = run?.results ?? [];
    expect(run?.tool.driver.rules[result?.ruleIndex ?? -1]?.id).toBe('schema');
    expect(result).toMatchObject({
      ruleId: 'schema',
      level: 'error',
      locations: [
        {
          physicalLocation: { artifactLocation: { uri: '%3Cstdin%3E' }, region: { startLine: 6, startColumn: 9 } },
        },
      ],
    });
    expect(code).toBe(1);
  });

  it('writes JUnit with a case for each file, and JSON with every problem', async () => {
    const text = documents(policyObject('a', { mode: 'Auto' }));
    const junit = await lint(text, '-o', 'junit');
    expect(junit.stdout).toContain('<testsuite name="evenkeel lint" tests="1" failures="1"');
    expect(junit.stdout).toContain('<testcase classname="evenkeel.lint" name="&lt;stdin&gt;" time="0">');
    expect(junit.stdout).toContain('<failure message="6:9: spec.mode: is &quot;Auto&quot;: write');
    const json = JSON.parse((await lint(text, '-o', 'json')).stdout) as { readonly problems: readonly object[] };
    expect(json).toMatchObject({
      resources: 1,
      problems: [{ file: '<stdin>', line: 6, column: 9, rule: 'schema', severity: 'error' }],
    });
  });
});

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { waitUntil } from '../control-plane/wait-until.ts';
import { consoleCommands, IN_CONSOLE, ROOT } from '../docs/pages.ts';
import { environmentIn, type Foreground, type Shell, shellIn, startInForeground } from '../docs/shell.ts';
import { policyObject } from '../support/resources.ts';

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-console-'));
const [keepCluster = '', install = '', runOperator = ''] = consoleCommands(IN_CONSOLE.cluster);

let cluster: Foreground;
let env: NodeJS.ProcessEnv;
let shell: Shell;

/** What `pattern` finds in the output of a command, as soon as it does. */
async function printed({ output, isOver }: Foreground, pattern: RegExp): Promise<string> {
  const missing = async (): Promise<string | undefined> => {
    const found = pattern.test(output());
    if (!found && isOver()) {
      throw new Error(`it ended before it printed ${pattern}: ${output()}`);
    }
    return found ? undefined : `so far: ${output().slice(-500)}`;
  };
  await waitUntil(`${pattern} is printed`, missing, { timeoutMilliseconds: 240_000 });
  return pattern.exec(output())?.[1] ?? '';
}

async function succeed(script: string): Promise<string> {
  const { stdout, stderr, code } = await shell(script);
  expect(code, `${script}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

/** Runs an operator, on ports that no other test has, until it has logged what matches; then until it has stopped. */
async function playOperator(command: string, logged: RegExp): Promise<void> {
  const operator = startInForeground(`${command} --health-address 127.0.0.1:0 --metrics-address 127.0.0.1:0`, env);
  try {
    await printed(operator, logged);
  } finally {
    await operator.interrupt();
  }
  expect(operator.output()).toMatch(/"msg":"operator stopped"/);
}

beforeAll(async () => {
  cluster = startInForeground(keepCluster, process.env);
  const kubeconfig = await printed(cluster, /^export KUBECONFIG=(.*)$/m);
  const kubectl = await printed(cluster, /export PATH=(.*):\$PATH/);
  const variables = { KUBECONFIG: kubeconfig };
  env = environmentIn(folder, [kubectl], variables);
  shell = shellIn(folder, [kubectl], variables);
  await printed(cluster, /^standard deviation of the load: (.*)$/m);
});

afterAll(async () => {
  await cluster?.interrupt();
  rmSync(folder, { recursive: true, force: true });
});

describe('docs/quick-start.md, on a cluster that `npm run cluster` keeps', () => {
  it('installs, and runs the operator until Ctrl-C', async () => {
    expect(await succeed(install)).toContain('deployment.apps/evenkeel serverside-applied');
    await playOperator(runOperator, /"msg":"leading"/);
  });
});

describe('docs/ci.md, of the same cluster', () => {
  const [objects = '', metrics = '', plan = '', explain = ''] = consoleCommands(IN_CONSOLE.printed);
  const here = (command: string): Promise<unknown> => shell(`cd /tmp/\n${command}`);

  it('plans from what kubectl prints, and ends with 3 for the gate', async () => {
    writeFileSync(
      join(folder, 'policy.yaml'),
      stringify(policyObject('default', { protections: { minPodAge: '0s', stabilization: '0s' } })),
    );
    expect(await here(`${objects}\n${metrics}\n${plan}`)).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^RefineLB: \d moves? narrows? the spread .*\n(- .*\n)*\nLOAD OF +WHEN +MEAN/),
      stderr: expect.stringMatching(/^--fail-on 'imbalance>0.2': imbalance is \d+\.\d\d %$/m),
    });
  });

  it('explains a pod of it', async () => {
    const pods = (await succeed('kubectl get pods -n shop -l app=web -o name')).trim().split('\n');
    const own = explain.replace(/pod\/\S+/, pods[0] ?? '');
    expect(own).not.toBe(explain);
    expect(await here(own)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^Pod shop\/web-\S+, of ReplicaSet web-\S+, runs on node-1 .*\n(.*\n)+NODE +LOAD +FITS/,
      ),
    });
  });
});

describe('docs/monitoring.md', () => {
  const [applyRules = ''] = consoleCommands(IN_CONSOLE.rules);
  const [askPrometheus = ''] = consoleCommands(IN_CONSOLE.prometheus);

  it('applies the rules where their kind is known', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'prometheusrules.monitoring.coreos.com' },
      spec: {
        group: 'monitoring.coreos.com',
        scope: 'Namespaced',
        names: { kind: 'PrometheusRule', plural: 'prometheusrules' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    };
    writeFileSync(join(folder, 'kind.yaml'), stringify(definition));
    await succeed('kubectl apply -f /tmp/kind.yaml && kubectl wait --for=condition=Established -f /tmp/kind.yaml');
    await succeed(applyRules);
    const stored = JSON.parse(await succeed('kubectl get prometheusrules -n monitoring -o json')) as Stored;
    const file = parse(readFileSync(join(ROOT, 'deploy', 'monitoring', 'prometheus-rule.yaml'), 'utf8')) as Rule;
    expect(stored.items.map(({ spec }) => spec)).toEqual([file.spec]);
  });

  it('starts an operator that knows a Prometheus server', async () => {
    await playOperator(askPrometheus, /"msg":"operator started"/);
  });
});

interface Rule {
  readonly spec: object;
}
interface Stored {
  readonly items: readonly Rule[];
}

describe('docs/page.md', () => {
  it('serves the page until Ctrl-C', async () => {
    const [dashboard = ''] = consoleCommands(IN_CONSOLE.page);
    const serving = startInForeground(`${dashboard} --port 0`, env);
    const url = await printed(serving, /(http:\/\/\S+)/);
    expect(await (await fetch(url)).text()).toContain('<title>');
    await serving.interrupt();
  });
});

describe('Ctrl-C', () => {
  it('ends the cluster, and leaves nothing behind', async () => {
    const { KUBECONFIG: kubeconfig = '' } = env;
    expect(existsSync(kubeconfig)).toBe(true);
    await cluster.interrupt();
    expect(cluster.output()).toMatch(/^the cluster has ended$/m);
    expect(existsSync(dirname(kubeconfig))).toBe(false);
  });
});

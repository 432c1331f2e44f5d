import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const repository = mkdtempSync(join(tmpdir(), 'evenkeel-example-'));
const summary = join(repository, 'summary.md');

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
}
interface Workflow {
  readonly jobs: { readonly plan: { readonly steps: readonly Step[] } };
}
interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}
interface GitLab {
  readonly [job: string]: {
    readonly variables: Readonly<Record<string, string>>;
    readonly script: readonly string[];
    readonly before_script?: readonly string[];
  };
}

function yamlOf(...path: readonly string[]): unknown {
  return parse(readFileSync(join(ROOT, ...path), 'utf8'));
}

const workflow = yamlOf('examples', '.github', 'workflows', 'rebalancing.yml') as Workflow;
const action = yamlOf('deploy', 'ci', 'action.yml') as Action;
const template = (yamlOf('deploy', 'ci', 'gitlab.yml') as GitLab)['.evenkeel'];
const pipeline = (yamlOf('examples', '.gitlab-ci.yml') as GitLab)['rebalancing'];

async function shell(script: string, variables: Readonly<Record<string, string>> = {}) {
  const env = {
    ...process.env,
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: repository,
    KUBECONFIG: '',
    GITHUB_STEP_SUMMARY: summary,
    ...variables,
  };
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await exited;
  return { stdout, stderr, code: child.exitCode };
}

/** The variables of the action's step, with the inputs that the workflow gives it or their defaults. */
function actionVariables(step: Step, inputs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const inputValue = (name: string): string => inputs[name] ?? action.inputs[name]?.default ?? '';
  return Object.fromEntries(
    Object.entries(step.env ?? {}).map(([name, value]) => [
      name,
      value.replace(/\$\{\{ inputs\.([\w-]+) \}\}/, (_whole, input: string) => inputValue(input)),
    ]),
  );
}

async function runAction(inputs: Readonly<Record<string, string>>) {
  const [step] = action.runs.steps;
  const variables = {
    ...actionVariables(step ?? {}, inputs),
    GITHUB_ACTION_PATH: join(repository, '.evenkeel', 'deploy', 'ci'),
  };
  return shell(step?.run ?? 'exit 99', variables);
}

beforeAll(async () => {
  cpSync(join(ROOT, 'examples'), repository, { recursive: true });
  symlinkSync(ROOT, join(repository, '.evenkeel'));
  const git = 'git -c user.name=example -c user.email=example@example.com -c commit.gpgsign=false';
  const { code, stderr } = await shell(
    `git init -q && ${git} add policies snapshot && ${git} commit -q -m 'Add a policy' && git update-ref refs/remotes/origin/main HEAD`,
  );
  expect([stderr, code]).toEqual(['', 0]);
});

afterAll(() => rmSync(repository, { recursive: true }));

describe('the workflow of the example repository', () => {
  it('passes with the inputs that it gives the action, and writes every report, with the moves as a finding', async () => {
    const step = workflow.jobs.plan.steps.find(({ uses }) => uses === './.evenkeel/deploy/ci');
    const { stdout, stderr, code } = await runAction(step?.with ?? {});
    expect([stderr, code]).toEqual(['', 0]);
    expect(stdout).toContain('1 resource, no problems');
    expect(readFileSync(summary, 'utf8')).toContain('## Rebalancing plan of default');
    expect(readFileSync(join(repository, 'reports', 'plan-default.xml'), 'utf8')).toContain('failures="1"');
    const sarif = JSON.parse(readFileSync(join(repository, 'reports', 'plan-default.sarif'), 'utf8')) as {
      readonly runs: readonly { readonly results: readonly { readonly ruleId: string }[] }[];
    };
    expect(sarif.runs.map(({ results }) => results.map(({ ruleId }) => ruleId))).toEqual([['moves']]);
  });

  it('fails when a gate does, and says which', async () => {
    const { stderr, code } = await runAction({ 'fail-on': 'imbalance>0.1\nmoves>100' });
    expect(code).toBe(3);
    expect(stderr).toContain("--fail-on 'imbalance>0.1': imbalance is ");
    const junit = readFileSync(join(repository, 'reports', 'plan-default.xml'), 'utf8');
    expect(junit).toContain('tests="5" failures="2"');
  });

  it('says what a change of the policy does', async () => {
    const own = workflow.jobs.plan.steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    for (const run of own) {
      const { stderr, code } = await shell(run, { GITHUB_BASE_REF: 'main' });
      expect([stderr, code]).toEqual(['', 0]);
    }
    expect(own).toHaveLength(1);
    expect(readFileSync(summary, 'utf8')).toContain('## Rebalancing plans of default and default');
  });
});

describe('the pipeline of the example repository', () => {
  it('runs the script of the template with its variables', async () => {
    const script = [...(pipeline?.before_script ?? []), ...(template?.script ?? [])].join('\n');
    const { stdout, stderr, code } = await shell(script, { ...template?.variables, ...pipeline?.variables });
    expect([stderr, code]).toEqual(['', 0]);
    expect(stdout).toContain('## Rebalancing plan of default');
  });
});

describe('the README of the example repository', () => {
  it('has only commands that work', async () => {
    const [, commands = ''] =
      /```sh\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'examples', 'README.md'), 'utf8')) ?? [];
    const lines = commands.trim().split('\n');
    const results = await Promise.all(lines.map((line) => shell(line)));
    expect(results.map(({ stderr, code }) => [stderr, code])).toEqual(lines.map(() => ['', 0]));
  });
});

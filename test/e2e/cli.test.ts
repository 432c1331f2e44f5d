import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { BUNDLE, install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject } from '../support/resources.ts';
import { type CliResult, runCli } from '../support/run-cli.ts';

interface ManagedFields {
  readonly manager: string;
  readonly fieldsV1: { readonly 'f:spec'?: object };
}

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-cli-'));
const log = (line: string): void => void process.stderr.write(`${line}\n`);

let cp: ControlPlane;
let operator: OperatorProcess;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'tilted.yaml')), { log });
  operator = await startOperator(cp);
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
  rmSync(folder, { recursive: true });
});

function evenkeel(...args: readonly string[]): Promise<CliResult> {
  return runCli([...args, '--kubeconfig', cp.kubeconfig]);
}

async function offered(...words: readonly string[]): Promise<string> {
  return (await runCli(['__complete', ...words], '', { KUBECONFIG: cp.kubeconfig })).stdout;
}

async function waitingPlans(): Promise<readonly string[]> {
  const waiting = (await getPlans(cp)).filter(({ status }) => status?.phase === 'AwaitingApproval');
  return waiting.map(({ metadata }) => metadata.name);
}

/** Name of the plan that waits for approval, as soon as there is one. */
async function waitingPlan(): Promise<string> {
  await waitUntil(
    'a plan waits for approval',
    async () => ((await waitingPlans()).length === 0 ? `no plan: ${operator.log().slice(-1000)}` : undefined),
    { timeoutMilliseconds: 60_000 },
  );
  return (await waitingPlans())[0] ?? '';
}

describe('the command line on a cluster', () => {
  it('shows nodes and workloads, with a warning where there are no metrics', async () => {
    const { stdout, stderr, code } = await evenkeel('top');
    const nodes = (await cp.kubectl(['get', 'nodes', '-o', 'name'])).trim().split('\n');
    expect(stdout.split('\n\n')[0]?.split('\n')).toHaveLength(nodes.length + 1);
    expect(stdout).toMatch(/^\S+\/\S+ \(Deployment\)/m);
    expect(stderr).toMatch(/^warning: the Metrics API cannot be read: .*: install metrics-server$/m);
    expect(code).toBe(0);
  });

  it('completes names, corrects mistyped ones, and lets a plan be approved', async () => {
    const spec = {
      mode: 'Approve',
      load: { source: 'Requests' },
      interval: '10s',
      thresholds: { trigger: '0.05', consecutive: 1 },
      protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
    };
    await cp.apply([policyObject('careful', spec)]);
    const name = await waitingPlan();
    expect(await offered('approve', '')).toBe(`${name}\n:4\n`);
    expect(await offered('plan', '-p', 'c')).toBe('careful\n:0\n');
    expect(await offered('top', '-n', 'sh')).toBe('shop\n:4\n');
    expect(await offered('explain', 'node/node-1')).toMatch(/^node\/node-1\n/);
    const pods = (await cp.kubectl(['get', 'pods', '-n', 'shop', '-o', 'name'])).trim().split('\n').sort();
    expect(await offered('explain', '-n', 'shop', 'pod/')).toBe(`${pods.join('\n')}\n:4\n`);
    expect(await offered('explain', pods[0]?.replace('pod/', 'pod/shop/') ?? '')).toMatch(/^pod\/shop\/[^/]+\n:4\n$/);
    expect(await offered('explain', '-f', 'cluster.yaml', 'pod/')).toBe(':4\n');
    expect((await evenkeel('approve', `${name}x`)).stderr).toContain(`there is no RebalancePlan ${name}x: ${name}?`);
    expect((await evenkeel('stop', 'carefull')).stderr).toContain('there is no RebalancePolicy carefull: careful?');
    expect((await evenkeel('history', 'carful')).stderr).toContain('there is no RebalancePolicy carful: careful?');
    expect((await evenkeel('approve', name)).stderr).toContain(
      'nobody can be asked, since this is no terminal: add --yes',
    );
    expect(await waitingPlans()).toContain(name);
    const { stdout, stderr, code } = await evenkeel('approve', name, '--yes', '--wait', '--timeout', '4m');
    const plan = (await getPlans(cp)).find(({ metadata }) => metadata.name === name);
    expect(plan?.spec.moves.filter(({ pod }) => !stderr.includes(pod.name))).toEqual([]);
    expect([plan?.status?.phase, code]).toEqual(['Completed', 0]);
    expect(stdout).toMatch(
      new RegExp(
        `^rebalanceplan.evenkeel.dev/${name} approved\nrebalanceplan.evenkeel.dev/${name} Completed: \\d+ Landed`,
      ),
    );
    expect((await evenkeel('history', 'careful')).stdout).toContain(name);
  });

  it('runs a policy now, and says what came of it', async () => {
    await cp.apply([policyObject('asked', { load: { source: 'Requests' }, interval: '24h' })]);
    const status = async () => (await getPolicy(cp, 'asked')).status;
    await waitUntil('a first run', async () => ((await status())?.lastRun === undefined ? 'none' : undefined), {
      timeoutMilliseconds: 60_000,
    });
    const first = (await status())?.lastRun ?? '';
    const { stdout, stderr, code } = await evenkeel('run', 'asked', '--wait', '--timeout', '1m');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(
      /^rebalancepolicy.evenkeel.dev\/asked run requested\nrebalancepolicy.evenkeel.dev\/asked ran: /,
    );
    const after = await status();
    expect(Date.parse(after?.lastRun ?? '')).toBeGreaterThan(Date.parse(first));
    expect(after?.lastRunRequest).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    await cp.kubectl(['annotate', 'rbp', 'asked', 'evenkeel.dev/run-requested-at=now', '--overwrite']);
    await waitUntil(
      'a run for the annotation',
      async () => ((await status())?.lastRunRequest === 'now' ? undefined : 'not answered'),
      { timeoutMilliseconds: 60_000 },
    );
  });

  it('refuses to run a policy that is suspended, with the command that resumes it', async () => {
    await cp.apply([policyObject('resting', { suspend: true })]);
    const { stderr, code } = await evenkeel('run', 'resting', '--wait');
    expect(stderr).toBe(
      `error: policy resting is suspended, so it does not run: resume it with kubectl patch rbp resting --type=merge -p '{"spec":{"suspend":false}}'\n`,
    );
    expect(code).toBe(1);
    expect((await getPolicy(cp, 'resting')).metadata.annotations ?? {}).not.toHaveProperty([
      'evenkeel.dev/run-requested-at',
    ]);
  });

  it('applies beside kubectl: says whose the fields are, takes them over when asked, and tries without storing', async () => {
    const file = join(folder, 'beside.yaml');
    const write = (spec: Readonly<Record<string, unknown>>): void =>
      writeFileSync(file, JSON.stringify(policyObject('beside', spec)));
    write({ interval: '10m' });
    await cp.kubectl(['apply', '-f', file]);
    write({ interval: '20m' });
    const refused = await evenkeel('apply', '-f', file);
    expect(refused.stderr).toMatch(/conflict with "kubectl-client-side-apply".*\.spec\.interval/s);
    expect(refused.stderr).toContain('add --force-conflicts');
    expect([refused.stdout, refused.code]).toEqual(['', 1]);
    const trial = await evenkeel('apply', '-f', file, '--force-conflicts', '--dry-run=server');
    expect(trial.stdout).toBe('rebalancepolicy.evenkeel.dev/beside configured (server dry run)\n');
    expect((await getPolicy(cp, 'beside')).spec.interval).toBe('10m');
    const forced = await evenkeel('apply', '-f', file, '--force-conflicts', '--field-manager=ci');
    expect(forced.stdout).toBe('rebalancepolicy.evenkeel.dev/beside configured\n');
    const fields = await cp.kubectl(['get', 'rbp', 'beside', '-o', 'json', '--show-managed-fields']);
    const { managedFields } = (JSON.parse(fields) as { metadata: { managedFields: ManagedFields[] } }).metadata;
    const own = managedFields.find(({ manager }) => manager === 'ci');
    expect(Object.keys(own?.fieldsV1['f:spec'] ?? {})).toEqual(['f:interval']); // and none of the defaults
    write({ interval: 'soon' });
    expect((await evenkeel('apply', '-f', file, '--dry-run=client')).stderr).toMatch(
      /spec\.interval: is "soon": write/,
    );
    expect((await evenkeel('apply', '-f', file, '--field-manager=')).stderr).toContain(
      '--field-manager "" is not a name',
    );
  });

  it('compares a policy of the cluster with a file', async () => {
    const { stdout, code } = await evenkeel('diff', 'careful', 'careful', '--exit-code');
    expect(stdout).toMatch(/^The plans are the same: \d+ moves?\./);
    expect(code).toBe(0);
  });

  it('watches until it is interrupted, and ends well', async () => {
    const child = spawn(process.execPath, [
      BUNDLE,
      'history',
      '-w',
      '--interval',
      '0.2',
      '--kubeconfig',
      cp.kubeconfig,
    ]);
    const exited = once(child, 'exit');
    let seen = '';
    child.stdout.on('data', (chunk) => {
      seen += String(chunk);
    });
    const deadline = performance.now() + 30_000;
    while (seen.split('--- ').length < 4 && performance.now() < deadline) {
      await sleep(50);
    }
    child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
    expect(seen).toMatch(/^--- \d{4}-\d\d-\d\dT\S+Z\nPLAN +TAKEN/);
  });

  it('stops a policy', async () => {
    expect((await evenkeel('stop', 'careful')).stdout).toBe('rebalancepolicy.evenkeel.dev/careful suspended\n');
    expect(await cp.kubectl(['get', 'rbp', 'careful', '-o', 'jsonpath={.spec.suspend}'])).toBe('true');
  });
});

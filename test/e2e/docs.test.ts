import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyScenario, loadScenario, waitForMetrics } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { ON_CLUSTER, shellBlocks } from '../docs/pages.ts';
import { type Shell, shellIn } from '../docs/shell.ts';
import { type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject } from '../support/resources.ts';
import { buildInstallTools } from '../tools/build.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 60_000 };
const folder = mkdtempSync(join(tmpdir(), 'evenkeel-docs-'));

let cp: ControlPlane;
let shell: Shell;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ log });
  const tools = await buildInstallTools(log);
  const programs = join(folder, 'bin');
  mkdirSync(programs);
  chmodSync(programs, 0o755);
  symlinkSync(tools.bin('helm'), join(programs, 'helm'));
  shell = shellIn(folder, [programs, dirname(cp.bin('kubectl'))], { KUBECONFIG: cp.kubeconfig });
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'small.yaml')), { log });
});

afterAll(async () => {
  await operator?.end('SIGTERM');
  await cp?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs one block of a section, from 0, and fails with what it wrote when it fails. */
async function run(section: string, place: number): Promise<string> {
  const block = shellBlocks(section)[place] ?? 'exit 99';
  const { stdout, stderr, code } = await shell(block);
  expect(code, `${block}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

async function runAll(section: string): Promise<void> {
  for (const place of shellBlocks(section).keys()) {
    await run(section, place);
  }
}

describe('docs/install.md', () => {
  const [helm, firstSteps, uninstall] = ON_CLUSTER.installed;
  const [kustomize, gates] = ON_CLUSTER.kustomized;

  it('installs, upgrades and rolls back with Helm, and uninstalls', async () => {
    await runAll(helm);
    expect(await run(firstSteps, 0)).toContain('default');
    await run(uninstall, 0);
    await run(uninstall, 1);
    expect(await cp.kubectl(['get', 'crd', '-o', 'name'])).not.toContain('evenkeel.dev');
  });

  it('installs with kustomize, takes rights away, opens gates, and uninstalls', async () => {
    await runAll(kustomize);
    await runAll(gates);
    await run(uninstall, 2);
    expect(await cp.kubectl(['get', 'ns', '-o', 'name'])).not.toContain('evenkeel-system');
    expect(shellBlocks(uninstall)).toHaveLength(3);
  });
});

describe('docs/quick-start.md and those that look at a cluster', () => {
  it('plan, and show what was found', async () => {
    const [quickStart, runbook] = ON_CLUSTER.dryRun;
    await run(quickStart, 0);
    await waitForMetrics(cp, { log });
    operator = await startOperator(cp);
    await waitUntil(
      'the policy has run',
      async () => ((await getPolicy(cp, 'default'))?.status?.lastRun === undefined ? 'no run yet' : undefined),
      patience,
    );
    expect(await run(quickStart, 1)).toMatch(/PlanReady/);
    expect(await run(quickStart, 2)).toMatch(/FIGURE +OLD +NEW/);
    expect(shellBlocks(quickStart)).toHaveLength(3);
    await runAll(runbook);
  });

  it.each(ON_CLUSTER.looked)('%s', runAll);
});

describe('docs/roll-out.md', () => {
  const [dryRun, approve, automatic, now, stop] = ON_CLUSTER.rolledOut;

  it('leads from DryRun to a plan that was approved and carried out, to Automatic, and stops', async () => {
    // As the policy of the quick start, but faster.
    await cp.apply([
      policyObject('default', {
        interval: '10s',
        load: { source: 'Requests' },
        thresholds: { trigger: '0.02', consecutive: 1, minImprovement: '0.01' },
        protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
      }),
    ]);
    await runAll(dryRun);
    await runAll(approve);
    await waitUntil(
      'the approved plan has ended',
      async () => {
        const ended = (await getPlans(cp)).some(({ status }) => status?.phase === 'Completed');
        return ended ? undefined : 'no plan has';
      },
      patience,
    );
    await runAll(automatic);
    await runAll(now);
    expect((await getPolicy(cp, 'default'))?.metadata.annotations).toHaveProperty(['evenkeel.dev/run-requested-at']);
    await run(stop, 0);
    expect((await getPolicy(cp, 'default'))?.spec.suspend).toBe(true);
    await run(stop, 1);
    await run(stop, 2);
    expect(await cp.kubectl(['get', 'clusterroles', '-o', 'name'])).not.toContain('evenkeel-evict');
    expect(shellBlocks(stop)).toHaveLength(3);
  });
});

describe('README.md', () => {
  it('installs each overlay', async () => {
    const [overlays] = ON_CLUSTER.overlays;
    await runAll(overlays);
    expect(await cp.kubectl(['get', 'clusterroles', '-o', 'name'])).toContain('evenkeel-gate');
  });
});

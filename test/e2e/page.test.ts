import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageState } from '../../src/report/page/state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { launchBrowser } from '../support/browser.ts';
import { BUNDLE, install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { policyObject } from '../support/resources.ts';
import { scrape } from '../support/scrape.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

let cp: ControlPlane;
let operator: OperatorProcess;
let browser: Browser;
let port = 0;

beforeAll(async () => {
  [cp, browser] = await Promise.all([startControlPlane({ metricsServer: false, log }), launchBrowser()]);
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'small.yaml')), { log });
  operator = await startOperator(cp);
  port = Number((await operator.logged('operator started'))['metricsPort']);
  const account = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: 'default' },
  });
  await cp.apply([
    account('captain'),
    account('stranger'),
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'captain-reads-the-page' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'evenkeel-page-reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'captain', namespace: 'default' }],
    },
  ]);
});

afterAll(async () => {
  await browser?.close();
  await operator?.end('SIGKILL');
  await cp?.stop();
});

async function tokenOf(account: string): Promise<string> {
  return (await cp.kubectl(['create', 'token', account, '--namespace=default', '--duration=10m'])).trim();
}

/** The page of the operator, whose certificate is self-signed. */
async function openPage(): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(`https://127.0.0.1:${port}/`);
  return page;
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Show the cluster' }).click();
}

describe('what the page asks for', () => {
  it.each(['/page/state', '/page/stream', '/page/explain?stays'])(
    'of %s nobody gets without the right',
    async (path) => {
      const stranger = { authorization: `Bearer ${await tokenOf('stranger')}` };
      expect((await scrape(port, path)).code).toBe(401);
      const { code, body } = await scrape(port, path, stranger);
      expect([code, body]).toEqual([403, expect.stringContaining('bind the ClusterRole evenkeel-page-reader')]);
    },
  );

  it('is no reason to read the metrics', async () => {
    const captain = { authorization: `Bearer ${await tokenOf('captain')}` };
    expect((await scrape(port, '/metrics', captain)).code).toBe(403);
    expect((await scrape(port, '/page/state', captain)).code).toBe(200);
  });
});

describe('evenkeel dashboard', () => {
  it('serves by the rights of a kubeconfig what the cluster is, without a policy the plan of every default', async () => {
    const flags = ['dashboard', '--kubeconfig', cp.kubeconfig, '--port', '0'];
    const child = spawn(process.execPath, [BUNDLE, ...flags]);
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const state = (await (await fetch(`${line.toString().trim()}page/state`)).json()) as PageState;
    expect([state.title, state.role, Object.keys(state.nodes).length]).toEqual([cp.url, 'Planner', 3]);
    expect(Object.keys(state.policies)).toEqual(['default']);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});

describe('the page of the operator', () => {
  it('says why it shows nothing to who may not read it', async () => {
    const page = await openPage();
    await signIn(page, await tokenOf('stranger'));
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('evenkeel-page-reader');
    expect(await page.locator('.tile').count()).toBe(0);
  });

  it('shows to who may how a plan is carried out, live', { timeout: 120_000 }, async () => {
    const page = await openPage();
    await signIn(page, await tokenOf('captain'));
    await page.locator('.tile').nth(2).waitFor();
    expect(await page.getByText('There is no RebalancePolicy').count()).toBe(1);
    const quick = { minPodAge: '0s', stabilization: '0s', cooldown: '0s' };
    const thresholds = { trigger: '0.05', consecutive: 1 };
    const load = { source: 'Requests' };
    await cp.apply([
      policyObject('live', { mode: 'Automatic', load, thresholds, protections: quick, budgets: [{ maxMoves: 4 }] }),
    ]);
    await page.getByText(/executing/).waitFor({ timeout: 60_000 });
    const landed = page.locator('tbody tr[data-pod]').filter({ hasText: 'replaced by' });
    await landed.first().waitFor({ timeout: 60_000 });
    await page.getByText(/completed/).waitFor({ timeout: 60_000 });
    expect(await landed.count()).toBeGreaterThan(0);
    expect(await page.getByRole('status').textContent()).toMatch(/^Live/);
  });

  it('explains a pod with the words of the planner', async () => {
    const page = await openPage();
    await signIn(page, await tokenOf('captain'));
    await page.locator('.cell').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/pods? here/).waitFor();
    await dialog.locator('th .link').first().click();
    await dialog.getByText(/Fits on \d+ of 3 nodes/).waitFor();
  });
});

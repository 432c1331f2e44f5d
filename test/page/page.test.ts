import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { advance, type Harbour, harbour } from './harbour.ts';
import { DESK, type Opened, type Opening, PHONE, usePages, violations } from './pages.ts';
import type { Stage } from './stage.ts';

const SMALL = harbour({ nodes: 20, podsPerNode: 10, runs: 2, landed: 2 });
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
/** Ends a test that hangs. */
const PATIENCE = { timeout: 55_000 };

const pages = usePages();
let stage: Stage;

async function open(shown: Harbour = SMALL, opening: Opening = {}): Promise<Opened> {
  stage = await pages.serve(shown);
  return pages.show(stage.url, opening);
}

function cell(page: Page, node: string, resource: string) {
  return page.locator(`.tile .cell[aria-label^="${node} · ${resource}"]`);
}

describe('the heat map', () => {
  it('shows every node with its figure for each resource', async () => {
    const { page } = await open();
    expect(await page.locator('.tile').count()).toBe(20);
    expect(await page.locator('.tile .cell').count()).toBe(60);
    expect(await page.locator('.tile .cell').allTextContents()).toSatisfy((texts: string[]) =>
      texts.every((text) => /^\d+$/.test(text)),
    );
  });

  it('shows what a node carried before the plan, would carry, and carries', async () => {
    const { page } = await open();
    const move = SMALL.plan.spec.moves.at(-1);
    const target = cell(page, move?.to ?? '', 'CPU');
    const label = (await target.getAttribute('aria-label')) ?? '';
    const [now = 0, before = 0, planned = 0] = (label.match(/[\d.]+(?= %)/g) ?? []).map(Number);
    expect(planned).toBeGreaterThan(before);
    for (const [phase, figure] of [
      ['Before', before],
      ['Planned', planned],
      ['Now', now],
    ] as const) {
      await page.getByRole('radio', { name: phase }).check({ force: true });
      expect(Math.abs(Number(await target.textContent()) - figure)).toBeLessThan(0.51);
    }
  });

  it('is walked by arrow keys, opens a node by Enter, and takes the focus back after Escape', async () => {
    const { page } = await open();
    const first = cell(page, 'node-00000', 'CPU');
    await first.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    const second = cell(page, 'node-00001', 'Memory');
    await expect.poll(() => second.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await page.locator('.grid [tabindex="0"]').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page
      .getByRole('dialog')
      .getByText(/pods? here/)
      .waitFor();
    expect(await page.getByRole('dialog').getByRole('heading').first().textContent()).toBe('Node node-00001');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await second.evaluate((element) => element.matches(':focus'))).toBe(true);
  });

  it('goes from a row to the next one and to both ends', async () => {
    const { page } = await open(SMALL, { viewport: PHONE });
    await cell(page, 'node-00000', 'Pods').focus();
    await page.keyboard.press('ArrowDown');
    const focused = () => page.locator('.cell:focus').getAttribute('aria-label');
    expect(await focused()).toMatch(/^node-0000[3-6] · CPU/);
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toMatch(/^node-00000 · Pods/);
    await page.keyboard.press('End');
    expect(await focused()).toMatch(/^node-00019 · Pods/);
    await page.keyboard.press('Home');
    expect(await focused()).toMatch(/^node-00000 · CPU/);
  });

  it('is there as a table, too', async () => {
    const { page } = await open();
    await page.getByRole('radio', { name: 'Table' }).check({ force: true });
    expect(
      await page
        .getByRole('rowheader')
        .filter({ hasText: /^node-/ })
        .count(),
    ).toBe(20);
  });
});

describe('details', () => {
  it('say why each pod of a node stays, and what each node says to a pod', async () => {
    const { page } = await open();
    await cell(page, 'node-00003', 'CPU').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/pods? here/).waitFor();
    expect(await dialog.locator('.reason .phase').first().textContent()).not.toBe('');
    await dialog.locator('th .link').first().click();
    await dialog.getByText(/Fits on \d+ of 20 nodes/).waitFor();
    expect(await dialog.locator('.remarks li').count()).toBeGreaterThan(0);
  });

  it('say why pods stay, by reason, with their names', async () => {
    const { page } = await open();
    await page.getByRole('button', { name: 'Ask the planner now' }).click();
    const reasons = page.locator('.counts details');
    await reasons.first().waitFor();
    await reasons.first().locator('summary').click();
    expect(await reasons.first().locator('.examples .link').first().textContent()).toMatch(/^[a-z-]+\d*\/.+/);
  });
});

describe('a move', () => {
  it('is seen to go on while the page is open', async () => {
    const { page } = await open();
    const state = page.locator('tbody tr[data-pod] .phase').nth(2);
    expect(await state.textContent()).toBe('awaiting replacement');
    stage.become(advance(SMALL, 3));
    await expect.poll(() => state.textContent(), PATIENCE).toBe('landed');
    expect(await page.locator('tbody tr[data-pod]').nth(2).textContent()).toContain('replaced by');
    expect(await page.getByRole('img', { name: /^Progress: 3 done/ }).count()).toBe(1);
  });

  it('is found among the open ones until it has ended', async () => {
    const { page } = await open();
    await page.getByRole('radio', { name: 'Ended' }).check({ force: true });
    expect(await page.locator('tbody tr[data-pod]').count()).toBe(2);
    await page.getByRole('radio', { name: 'Open' }).check({ force: true });
    expect(await page.locator('tbody tr[data-pod]').count()).toBe(SMALL.plan.spec.moves.length - 2);
  });
});

describe('a move that repairs', () => {
  it('names what it repairs, and no gain where it has none', async () => {
    const { spec } = SMALL.plan;
    const moves = spec.moves.map(({ to, ...move }, place) => {
      if (place === 2) {
        return { ...move, gain: '0', repairs: ['Failed' as const], removal: true };
      }
      const repairs = place === 3 ? { gain: '0', repairs: ['Taints' as const, 'TopologySpread' as const] } : {};
      return { ...move, ...(to === undefined ? {} : { to }), ...repairs };
    });
    const { page } = await open({ ...SMALL, plan: { ...SMALL.plan, spec: { ...spec, moves } } });
    const row = (place: number) => page.locator('tbody tr[data-pod]').nth(place);
    expect(await row(2).locator('.route').textContent()).toContain('removed');
    expect(await row(2).locator('.tag').allTextContents()).toEqual(['repair: failed']);
    expect(await row(3).locator('.tag').allTextContents()).toEqual(['repair: taints', 'repair: topology spread']);
    expect(await row(3).locator('[data-label="gain"]').textContent()).toBe('–');
    expect(await row(4).locator('.tag').count()).toBe(0);
    expect(await row(4).locator('[data-label="gain"]').textContent()).toMatch(/ pp$/);
  });
});

describe('a policy without a plan', () => {
  it('says what the last run found', async () => {
    const message = 'all 11 pods are protected by minPodAge; the earliest until 14:18';
    const blocked = {
      type: 'Converged',
      status: 'False',
      reason: 'Blocked',
      message,
      lastTransitionTime: '2026-01-20T14:00:00Z',
      observedGeneration: 1,
    } as const;
    const policy = { ...SMALL.policy, status: { ...SMALL.policy.status, conditions: [blocked] } };
    const spec = { ...SMALL.plan.spec, policy: { ...SMALL.plan.spec.policy, uid: 'another' } };
    const { page } = await open({ ...SMALL, policy, plan: { ...SMALL.plan, spec } });
    expect(await page.locator('.overview .message').textContent()).toBe(message);
    expect(await page.getByText('There is no plan: the last run found no move').count()).toBe(1);
  });
});

describe('a move that landed elsewhere', () => {
  it('names the node where its replacement runs', async () => {
    const { plan } = SMALL;
    const moves = (plan.status?.moves ?? []).map((run, place) =>
      place === 0 && run.replacement !== undefined
        ? { ...run, phase: 'Missed' as const, replacement: { ...run.replacement, node: 'node-00011' } }
        : run,
    );
    const { page } = await open({ ...SMALL, plan: { ...plan, status: { ...plan.status, moves } } });
    expect(await page.locator('tbody tr[data-pod] .route .warn').allTextContents()).toEqual(['landed on node-00011']);
  });
});

describe('the stream', () => {
  it('is opened again when it broke, and the page says that it is not live meanwhile', async () => {
    const { page } = await open();
    const { port } = stage.server;
    const live = page.getByRole('status');
    await expect.poll(() => live.textContent(), PATIENCE).toMatch(/^Live/);
    await stage.close();
    await expect.poll(() => live.textContent(), PATIENCE).toMatch(/^Reconnecting · stale since /);
    stage = await pages.serve(advance(SMALL, 4), port);
    await expect.poll(() => live.textContent(), PATIENCE).toMatch(/^Live/);
    expect(await page.getByRole('img', { name: /^Progress: 4 done/ }).count()).toBe(1);
  });

  it('says since when the cluster is not known', async () => {
    const { page } = await open();
    stage.fail('the cluster is not known well enough: pods cut off for 70 s');
    await expect.poll(() => page.getByRole('status').textContent(), PATIENCE).toMatch(/^Stale since /);
    expect(await page.locator('.notice-bad').textContent()).toContain('pods cut off for 70 s');
    expect(await page.locator('.tile').count()).toBe(20);
  });
});

describe('service levels', () => {
  it('are told by class, the most important first, then by workload, the worst first', async () => {
    const { page } = await open();
    const classes = page.getByRole('region', { name: 'Service levels by class' }).locator('tbody tr');
    const names = await classes.locator('th').allTextContents();
    expect(names).toEqual(['goldimportance 1', 'silverimportance 2', 'batchimportance 3']);
    const silver = await classes.nth(1).locator('td').allTextContents();
    expect(silver.slice(0, 4)).toEqual(['99 %', '4', '1', '98.14 %']);
    const worst = page.getByRole('region', { name: 'Service levels by workload' }).locator('tbody tr').first();
    expect(await worst.textContent()).toContain('missed');
  });
});

describe('the theme', () => {
  const ground = (page: Page) => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');

  it('is that of the system until another is chosen, which is remembered', async () => {
    const { page } = await open(SMALL, { colorScheme: 'dark' });
    const dark = await ground(page);
    await page.getByRole('button', { name: 'Switch to the light theme' }).click();
    const light = await ground(page);
    expect(light).not.toBe(dark);
    await page.reload();
    await page.locator('.cell').first().waitFor();
    expect(await ground(page)).toBe(light);
  });
});

describe('names and messages that are HTML', () => {
  it('are shown as they are written, and run nothing', async () => {
    const [first, ...moves] = SMALL.plan.spec.moves;
    const plan = {
      ...SMALL.plan,
      spec: {
        ...SMALL.plan.spec,
        moves:
          first === undefined ? [] : [{ ...first, reason: HOSTILE, pod: { ...first.pod, name: HOSTILE } }, ...moves],
        rejectionCounts: { [HOSTILE]: 3 },
      },
      status: { ...SMALL.plan.status, message: HOSTILE },
    };
    const policy = { ...SMALL.policy, metadata: { ...SMALL.policy.metadata, name: HOSTILE } };
    const { page, complaints } = await open({ ...SMALL, plan, policy });
    expect(await page.locator('h2').first().textContent()).toBe(HOSTILE);
    expect(await page.locator('.message').first().textContent()).toBe(HOSTILE);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main img').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describe('the page', () => {
  it('asks nobody but its own server, and breaks no rule of its content security policy', async () => {
    const { page, strangers, complaints } = await open();
    await cell(page, 'node-00000', 'CPU').click();
    await page
      .getByRole('dialog')
      .getByText(/pods? here/)
      .waitFor();
    expect(strangers).toEqual([]);
    expect(complaints).toEqual([]);
    const { headers } = await fetch(stage.url);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
  });

  it('would be told of a script that does not belong to it', async () => {
    const { page, complaints } = await open();
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.hacked = 1' }))`,
    );
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(complaints.join()).toContain('Content Security Policy');
  });

  it.each([
    ['a desk', DESK],
    ['a phone', PHONE],
  ])('is no wider than %s', async (_, viewport) => {
    const { page } = await open(SMALL, { viewport });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    await cell(page, 'node-00000', 'CPU').click();
    await page
      .getByRole('dialog')
      .getByText(/pods? here/)
      .waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
  });

  it('shows 1,000 nodes with a figure on each', async () => {
    const { page } = await open(harbour({ nodes: 1000, podsPerNode: 3, runs: 0, landed: 1 }));
    await page.getByRole('radio', { name: 'All nodes' }).check({ force: true });
    expect(await page.locator('.tile').count()).toBe(1000);
    expect(await page.locator('.tile .cell').count()).toBe(1000);
    await cell(page, 'node-00999', 'CPU').focus();
    await page.keyboard.press('ArrowLeft');
    expect(await page.locator('.cell:focus').getAttribute('aria-label')).toMatch(/^node-00998 · CPU/);
  });
});

describe.each(['light', 'dark'] as const)('accessibility in the %s theme', (colorScheme) => {
  it.each([
    ['a desk', DESK],
    ['a phone', PHONE],
  ])('is found without fault by axe-core at the width of %s', async (_, viewport) => {
    const { page } = await open(SMALL, { viewport, colorScheme, bypassCSP: true });
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Ask the planner now' }).click();
    await page.locator('.counts summary').first().click();
    await page.getByRole('radio', { name: 'Table' }).check({ force: true });
    expect(await violations(page)).toEqual([]);
    await page.locator('tbody tr[data-pod] .link').first().click();
    await page
      .getByRole('dialog')
      .getByText(/Fits on/)
      .waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

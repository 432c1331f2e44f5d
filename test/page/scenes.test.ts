import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { trafficHarbour } from './harbour.ts';
import { type Opened, usePages, violations } from './pages.ts';
import { SCENES } from './scenes.ts';

const pages = usePages();

async function meet(name: string): Promise<Opened> {
  const scene = SCENES.find((each) => each.name === name);
  if (scene === undefined) {
    throw new RangeError(`there is no scene ${name}`);
  }
  const { harbour, age, colorScheme, width, height } = scene;
  const shown = harbour();
  const { url } = await pages.serve(shown);
  const now = shown.snapshot.takenAt + age;
  return pages.show(url, { viewport: { width, height }, colorScheme, bypassCSP: true, now });
}

describe.each(SCENES)('the page: $name', ({ name, width }) => {
  it('is found without fault by axe-core, is no wider than the screen, and cuts no name of a node', async () => {
    const { page, complaints } = await meet(name);
    expect(await violations(page)).toEqual([]);
    for (const group of await page.locator('.group-name').all()) {
      await group.click();
    }
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    const cut = await page.evaluate(
      `[...document.querySelectorAll('.tile-name')].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.title)`,
    );
    expect(cut).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

describe('a policy that an operator works on', () => {
  it.each(['eight-nodes', 'phone'])('names the replica that leads it: %s', async (name) => {
    const { page } = await meet(name);
    const tag = page.locator('.overview .tag', { hasText: 'led by evenkeel-7c9d8f6b5-x2k4p' });
    expect(await tag.count()).toBe(1);
    expect(await tag.evaluate((each) => each.scrollWidth <= each.clientWidth)).toBe(true);
  });
});

describe('a snapshot file', () => {
  it('is never live: the page says how old it is', async () => {
    const { page } = await meet('old-file');
    expect(await page.getByRole('status').textContent()).toBe('Snapshot, 10 months old');
    expect(await page.locator('header').textContent()).toContain('nothing is moved');
    expect(await page.getByRole('heading', { name: 'History' }).count()).toBe(0);
  });
});

describe('a plan that brings applications together', () => {
  it('comes with a picture of who talks across zones before and after, and its figures', async () => {
    const { page } = await meet('traffic');
    const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Traffic between zones' }) });
    for (const title of ['Before', 'Planned']) {
      expect(await panel.getByRole('img', { name: new RegExp(`^${title}: [\\d.]+ [MGk]?b/s$`) }).count()).toBe(1);
    }
    const [before, planned] = await panel.locator('svg').all();
    expect(await before?.locator('line').count()).toBe(3);
    const widthsOf = async (picture: typeof before): Promise<number> => {
      const widths = await picture
        ?.locator('line')
        .evaluateAll((lines) => lines.map((line) => line.getAttribute('stroke-width')));
      return (widths ?? []).reduce((sum, width) => sum + Number(width), 0);
    };
    const { before: from, planned: to } = trafficHarbour(24).plan.spec.traffic ?? {};
    const share = Number(to?.bandwidth) / Number(from?.bandwidth);
    expect(share).toBeLessThan(0.8);
    expect((await widthsOf(planned)) / (await widthsOf(before))).toBeCloseTo(share, 2);
    expect(await panel.getByRole('rowheader').count()).toBe(3);
  });
});

describe('a plan that awaits approval', () => {
  const command = /^evenkeel approve default-[0-9a-f]{10}$/;

  it('comes with the command that approves it, which a button copies', async () => {
    const { page } = await meet('awaiting-approval');
    const text = (await page.locator('.command code').textContent()) ?? '';
    expect(text).toMatch(command);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
  });

  it('has its command selected where the browser denies the clipboard', async () => {
    const { page } = await meet('awaiting-approval');
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("denied"))');
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Selected: press Ctrl+C' }).waitFor();
    expect(await page.evaluate('getSelection().toString()')).toMatch(command);
  });

  it('shows no progress', async () => {
    const { page } = await meet('awaiting-approval');
    expect(await page.getByText('No pod moves until you approve the plan').count()).toBe(1);
    expect(await page.getByRole('img', { name: /^Progress/ }).count()).toBe(0);
  });
});

describe('names of nodes', () => {
  const SUFFIX = '.eu-central-1.compute.internal';

  it('are short, and whole as tooltips and for assistive technology', async () => {
    const { page } = await meet('eight-nodes');
    expect(await page.locator('main').textContent()).not.toContain(SUFFIX);
    const name = page.locator('.tile-name').first();
    expect(await name.textContent()).toBe('ip-10-0-0-5');
    expect(await name.getAttribute('title')).toBe(`ip-10-0-0-5${SUFFIX}`);
    expect(await page.locator('.cell').first().getAttribute('aria-label')).toContain(`ip-10-0-0-5${SUFFIX} · CPU`);
  });

  it('are short in what the planner says of a node and of a pod', async () => {
    const { page } = await meet('eight-nodes');
    await page.locator('.tile .cell').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/pods? here/).waitFor();
    expect(await dialog.textContent()).not.toContain(SUFFIX);
    await dialog.locator('th .link').first().click();
    await dialog.getByText(/Fits on/).waitFor();
    expect(await dialog.textContent()).not.toContain(SUFFIX);
    expect(await dialog.getByRole('button', { name: SUFFIX }).count()).toBeGreaterThan(1);
  });

  it('stand once in the row of a move', async () => {
    const { page } = await meet('three-zones');
    const rows = await page.locator('tbody tr[data-pod]').all();
    expect(rows).toHaveLength(10);
    for (const row of rows) {
      const ends = ((await row.locator('.route').textContent()) ?? '').match(/ip-[0-9-]+/g) ?? [];
      const all = ((await row.textContent()) ?? '').match(/ip-[0-9-]+/g) ?? [];
      expect([ends.length, all.length]).toEqual([2, 2]);
    }
  });
});

describe('300 nodes in three zones', () => {
  const tiles = (page: Page) => page.locator('.tile').count();
  const zone = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name} `) });

  it('are shown zone by zone: mean, spread and the highest node, without a tile', async () => {
    const { page } = await meet('three-zones');
    expect(await page.locator('.group-name').allTextContents()).toEqual(
      ['a', 'b', 'c'].map((letter) => `eu-central-1${letter}100 nodes`),
    );
    expect(await tiles(page)).toBe(0);
    const line = page.locator('.group-line').first();
    expect(await line.getByRole('img').getAttribute('aria-label')).toMatch(/^CPU from \d+ % to 9\d %, mean \d+ %$/);
    expect(await line.locator('.group-figures').textContent()).toMatch(
      /^mean \d+ % ?spread 9\d % ?highest 9\d % ip-10-0-/,
    );
  });

  it('open by keys, and are walked within their zone', async () => {
    const { page } = await meet('three-zones');
    const button = zone(page, 'eu-central-1b');
    expect(await button.getAttribute('aria-expanded')).toBe('false');
    await button.focus();
    await page.keyboard.press('Enter');
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    expect(await tiles(page)).toBe(100);
    const grid = page.getByRole('grid', { name: 'Load by node and resource in eu-central-1b, now' });
    await grid.locator('[tabindex="0"]').focus();
    await page.keyboard.press('End');
    const last = await page.locator('.cell:focus').getAttribute('aria-label');
    await page.keyboard.press('ArrowLeft');
    expect(await page.locator('.cell:focus').getAttribute('aria-label')).not.toBe(last);
    await button.press('Enter');
    expect(await tiles(page)).toBe(0);
  });

  it('open as tables, too, and are there all at once', async () => {
    const { page } = await meet('three-zones');
    await page.getByRole('radio', { name: 'Table' }).check({ force: true });
    await zone(page, 'eu-central-1a').click();
    await page.getByRole('region', { name: 'Nodes of eu-central-1a with their loads' }).waitFor();
    await page.getByRole('radio', { name: 'Map' }).check({ force: true });
    await page.getByRole('radio', { name: 'All nodes' }).check({ force: true });
    expect(await tiles(page)).toBe(300);
  });
});

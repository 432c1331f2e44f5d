import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import type { Harbour } from './harbour.ts';
import { type Stage, startStage } from './stage.ts';

/** Width and height of a window. */
export const DESK = { width: 1280, height: 900 };
/** Width and height of a small phone. */
export const PHONE = { width: 360, height: 740 };

/** What a page did beside showing things. */
export interface Opened {
  readonly page: Page;
  /** Requests to anything but the page's own server. */
  readonly strangers: readonly string[];
  /** Errors and warnings of the console: violations of the content security policy among them. */
  readonly complaints: readonly string[];
}

/** How a page is opened: a context of the browser, and the time on its clock, seconds since 1970; default that of the machine. */
export interface Opening extends BrowserContextOptions {
  readonly now?: number;
}

/** Opens pages in one browser; all that was opened is closed after each test. */
export interface Pages {
  serve(shown: Harbour, port?: number): Promise<Stage>;
  /** Opens the page of a server, and waits until it shows nodes. */
  show(url: string, opening?: Opening): Promise<Opened>;
}

/** A browser for the tests of a file. */
export function usePages(): Pages {
  let browser: Browser;
  const cleanups: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) {
      await cleanup();
    }
  });
  return {
    async serve(shown, port) {
      const stage = await startStage(shown, port);
      cleanups.push(stage.close);
      return stage;
    },
    async show(url, { now, ...context } = {}) {
      const own = await browser.newContext({ viewport: DESK, timezoneId: 'UTC', ...context });
      cleanups.push(() => own.close());
      const page = await own.newPage();
      page.setDefaultTimeout(5000);
      if (now !== undefined) {
        await page.clock.setFixedTime(now * 1000);
      }
      const opened = watched(page, url);
      await page.goto(url);
      await page.locator('.cell').first().waitFor();
      return opened;
    },
  };
}

function watched(page: Page, url: string): Opened {
  const strangers: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) {
      strangers.push(request.url());
    }
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) {
      complaints.push(message.text());
    }
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, strangers, complaints };
}

/** What axe-core finds wrong with a page that was opened with `bypassCSP`. */
export async function violations(page: Page): Promise<readonly unknown[]> {
  await page.evaluate(axe.source);
  const found = (await page.evaluate('axe.run()')) as {
    violations: readonly { id: string; help: string; nodes: readonly { html: string; failureSummary: string }[] }[];
  };
  return found.violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => `${html}: ${failureSummary}`),
  }));
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launchBrowser } from '../support/browser.ts';
import { harbour } from './harbour.ts';
import { startStage } from './stage.ts';

/** Writes the pictures of the page in docs/images. Run with `npm run screenshots`. */
const FOLDER = process.argv[2] ?? join(import.meta.dirname, '..', '..', 'docs', 'images');

const PICTURES = [
  { name: 'page-light', colorScheme: 'light', width: 1280, height: 1400 },
  { name: 'page-dark', colorScheme: 'dark', width: 1280, height: 1400 },
  { name: 'page-phone', colorScheme: 'light', width: 360, height: 1500 },
] as const;

const shown = harbour({ nodes: 48, podsPerNode: 22, runs: 6, landed: 9 });
const TAKEN_AT = shown.snapshot.takenAt;
const stage = await startStage(shown);
const browser = await launchBrowser();
try {
  mkdirSync(FOLDER, { recursive: true });
  for (const { name, colorScheme, width, height } of PICTURES) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme, timezoneId: 'UTC', locale: 'en' });
    await page.clock.setFixedTime(TAKEN_AT * 1000);
    await page.goto(stage.url);
    await page.locator('.cell').first().waitFor();
    await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: process.argv[3] === 'full' });
    await page.close();
    console.log(`${name}.png ${width} x ${height}`);
  }
} finally {
  await browser.close();
  await stage.close();
}

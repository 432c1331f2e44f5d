import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../support/browser.ts';
import { harbour } from './harbour.ts';
import { SCENES, type Scene } from './scenes.ts';
import { startStage } from './stage.ts';

/** Writes the pictures of the page in docs/images. Run with `npm run screenshots`; `-- FOLDER --scenes` writes every scene of the tests, whole. */
const { positionals, values } = parseArgs({ allowPositionals: true, options: { scenes: { type: 'boolean' } } });
const [folder = join(import.meta.dirname, '..', '..', 'docs', 'images')] = positionals;

const SHOWN = harbour({ nodes: 48, podsPerNode: 22, runs: 6, landed: 9 });
const PICTURE = { harbour: () => SHOWN, age: 0, colorScheme: 'light', width: 1280, height: 1400 } as const;
const PICTURES: readonly Scene[] = [
  { ...PICTURE, name: 'page-light' },
  { ...PICTURE, name: 'page-dark', colorScheme: 'dark' },
  { ...PICTURE, name: 'page-phone', width: 360, height: 1500 },
];

const browser = await launchBrowser();
try {
  mkdirSync(folder, { recursive: true });
  for (const scene of values.scenes === true ? SCENES : PICTURES) {
    await picture(scene, join(folder, `${scene.name}.png`));
  }
} finally {
  await browser.close();
}

async function picture({ harbour: make, age, colorScheme, width, height }: Scene, path: string): Promise<void> {
  const shown = make();
  const stage = await startStage(shown);
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, timezoneId: 'UTC', locale: 'en' });
  try {
    await page.clock.setFixedTime((shown.snapshot.takenAt + age) * 1000);
    await page.goto(stage.url);
    await page.locator('.panel').first().waitFor();
    await page.screenshot({ path, fullPage: values.scenes === true });
    console.log(`${path} ${width} x ${height}`);
  } finally {
    await page.close();
    await stage.close();
  }
}

import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sparticuz, { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/** No sandbox: tests may run as root in a container, and the pages are ours. */
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--font-render-hinting=none',
];
const DEBIAN = '/usr/bin/chromium';

/**
 * The Chromium of the npm package @sparticuz/chromium with its own fonts; where the machine lacks shared libraries, with those
 * that the package brings along, and where that does not help either, the machine's own Chromium. Throws with every reason
 * when none starts.
 */
export async function launchBrowser(): Promise<Browser> {
  const own = await sparticuz.executablePath();
  const env = { ...process.env, FONTCONFIG_PATH: join(tmpdir(), 'fonts') };
  const attempts: readonly (() => Promise<Browser>)[] = [
    () => launch(own, env),
    async () => launch(own, { ...env, LD_LIBRARY_PATH: await packagedLibraries() }),
    ...(existsSync(DEBIAN) ? [() => launch(DEBIAN, { ...process.env })] : []),
  ];
  const reasons: string[] = [];
  for (const attempt of attempts) {
    try {
      return await attempt();
    } catch (error) {
      reasons.push(String(error));
    }
  }
  const advice = `install Chromium (apt-get install chromium) or the libraries that are missing (libnss3, libnspr4)`;
  throw new Error(`no Chromium starts here: ${advice}\n${reasons.join('\n')}`);
}

function launch(executablePath: string, env: Readonly<Record<string, string | undefined>>): Promise<Browser> {
  const defined = Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
  return chromium.launch({ executablePath, args: ARGS, env: Object.fromEntries(defined) as Record<string, string> });
}

async function packagedLibraries(): Promise<string> {
  const packed = new URL('../bin/al2023.tar.br', import.meta.resolve('@sparticuz/chromium'));
  return join(await inflate(packed.pathname), 'lib');
}

import { mergePatchOf } from '../../src/report/page/merge-patch.ts';
import { pageState } from '../../src/report/page/page-state.ts';
import { drifted, type Harbour, harbour } from '../page/harbour.ts';
import { startStage } from '../page/stage.ts';
import { launchBrowser } from '../support/browser.ts';
import { printTable } from '../support/print-table.ts';
import { createRandom } from '../support/random.ts';

/**
 * How fast the page of 1,000 nodes and 30,000 pods is there, and how much its stream sends while the load of every node
 * changes with each sample and a move goes on every second. Run with `npm run bench:page`. Nothing is asserted: the table is
 * for people.
 */
const NODES = 1000;
const RUNS = 9;
/** Seconds of the stream that are measured: four samples of the Metrics API. */
const STREAM_SECONDS = 62;

interface Figures {
  readonly paint: number;
  readonly groups: number;
  readonly heat: number;
}

/**
 * Milliseconds from the navigation to the first paint of anything, and to that of the groups; and from the click that asks for
 * all nodes to the paint of their heat map.
 */
async function firstPaint(url: string): Promise<Figures> {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.addInitScript(`
      const painted = (name) => requestAnimationFrame(() => setTimeout(() => { window[name] ??= performance.now(); }));
      new MutationObserver(() => {
        if (document.querySelector('.profile') !== null) {
          painted('groupsAt');
        }
        if (document.querySelectorAll('.tile').length >= ${NODES}) {
          painted('heatAt');
        }
      }).observe(document, { childList: true, subtree: true });
      document.addEventListener('click', () => { window.clickedAt = performance.now(); }, true);
    `);
    await page.goto(url);
    await page.locator('.profile').first().waitFor();
    await page.getByRole('radio', { name: 'All nodes' }).check({ force: true });
    await page
      .locator('.tile')
      .nth(NODES - 1)
      .waitFor({ state: 'attached' });
    // A condition given to the page would be evaluated there, which its content security policy forbids.
    await page.evaluate('new Promise((painted) => requestAnimationFrame(() => setTimeout(() => setTimeout(painted))))');
    const paint = await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`);
    const groups = Number(await page.evaluate('window.groupsAt'));
    return { paint: Number(paint), groups, heat: Number(await page.evaluate('window.heatAt - window.clickedAt')) };
  } finally {
    await browser.close();
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Bytes of the first answer, and bytes per second after it. */
async function stream(first: Harbour): Promise<{ readonly state: number; readonly perSecond: number }> {
  const stage = await startStage(first);
  const random = createRandom(5);
  let shown = first;
  let tick = 0;
  const timer = setInterval(() => {
    tick += 1;
    shown = tick % 15 === 0 ? { ...shown, snapshot: drifted(shown.snapshot, random, 15, 0.1) } : shown;
    const [moving, ...rest] = shown.plan.status?.moves ?? [];
    if (moving !== undefined) {
      const phase = moving.phase === 'Evicting' ? 'AwaitingReplacement' : 'Evicting';
      const moves = [{ ...moving, phase, attempt: tick } as const, ...rest];
      shown = { ...shown, plan: { ...shown.plan, status: { ...shown.plan.status, moves } } };
    }
    stage.become(shown);
  }, 1000);
  const leaving = new AbortController();
  const reader = (await fetch(`${stage.url}page/stream`, { signal: leaving.signal })).body?.getReader();
  let text = '';
  while (!text.includes('\n\n')) {
    text += new TextDecoder().decode((await reader?.read())?.value);
  }
  let bytes = 0;
  const began = performance.now();
  while (performance.now() - began < STREAM_SECONDS * 1000) {
    bytes += (await reader?.read())?.value?.length ?? 0;
  }
  leaving.abort();
  clearInterval(timer);
  const span = (performance.now() - began) / 1000;
  await stage.close();
  return { state: text.length, perSecond: bytes / span };
}

/** Milliseconds that the operator's process spends on one state, and on the difference to the one before. */
function cost(first: Harbour): { readonly build: number; readonly differ: number } {
  const facts = ({ snapshot, policy, plan }: Harbour) =>
    ({
      title: 'bench',
      role: 'Leader',
      snapshot,
      policies: [{ policy, invalid: [] }],
      plans: [plan],
      trouble: undefined,
    }) as const;
  const other = { ...first, snapshot: drifted(first.snapshot, createRandom(6), 15, 0.1) };
  const times = Array.from({ length: 15 }, () => {
    const began = performance.now();
    const before = pageState(facts(first));
    const built = performance.now();
    const after = pageState(facts(other));
    const ready = performance.now();
    JSON.stringify(mergePatchOf(before, after));
    return { build: built - began, differ: performance.now() - ready };
  });
  return { build: median(times.map(({ build }) => build)), differ: median(times.map(({ differ }) => differ)) };
}

const shown = harbour({ nodes: NODES, podsPerNode: 30, runs: 1, landed: 5 });
const stage = await startStage(shown);
const paints: Figures[] = [];
for (let run = 0; run < RUNS; run += 1) {
  paints.push(await firstPaint(stage.url));
}
await stage.close();
const { build, differ } = cost(shown);
const { state, perSecond } = await stream(shown);
const verdict = (met: boolean): string => (met ? 'met' : 'MISSED');
const heat = median(paints.map((paint) => paint.heat));
const groups = median(paints.map((paint) => paint.groups));
console.log(`\n${NODES} nodes, ${shown.snapshot.pods.length} pods, ${shown.plan.spec.moves.length} moves:\n`);
printTable(
  ['what', 'figure', 'target', ''],
  [
    ['first contentful paint, median', `${median(paints.map(({ paint }) => paint)).toFixed(0)} ms`, '', ''],
    ['groups of all nodes painted, median', `${groups.toFixed(0)} ms`, '1000 ms', verdict(groups <= 1000)],
    ['heat map of all nodes painted after a click, median', `${heat.toFixed(0)} ms`, '1000 ms', verdict(heat <= 1000)],
    ['  of runs from', `${Math.min(...paints.map((paint) => paint.heat)).toFixed(0)} ms`, '', ''],
    ['  to', `${Math.max(...paints.map((paint) => paint.heat)).toFixed(0)} ms`, '', ''],
    ['stream', `${(perSecond / 1000).toFixed(2)} kB/s`, '50 kB/s', verdict(perSecond <= 50_000)],
    ['whole state', `${(state / 1000).toFixed(0)} kB`, '', ''],
    ['a state is built in', `${build.toFixed(1)} ms`, '', ''],
    ['a difference is found in', `${differ.toFixed(1)} ms`, '', ''],
  ],
);

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { GATE_FIGURES } from '../../../src/cli/gate-figures.ts';
import { runCli } from '../../support/run-cli.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'examples');
const POLICY = join(EXAMPLES, 'policies', 'default.yaml');
const folder = mkdtempSync(join(tmpdir(), 'evenkeel-blind-gates-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The lines of the example snapshot, an object a line after the head. */
const LINES = readFileSync(join(EXAMPLES, 'snapshot', 'cluster.yaml'), 'utf8')
  .trimEnd()
  .split('\n');

const without = (...kinds: readonly string[]): string =>
  LINES.filter((line) => !kinds.some((kind) => line.includes(`"kind":"${kind}"`))).join('\n');

/** Inputs that show nothing of the load, and what is said of each. */
const BLIND: readonly (readonly [string, string, RegExp])[] = [
  ['no metrics', without('NodeMetrics', 'PodMetrics'), /no metrics|no NodeMetrics|no sample/],
  ['no nodes', without('Node', 'NodeMetrics'), /no node is Ready/],
  [
    'metrics that are old',
    LINES.join('\n').replaceAll('"timestamp":"2026', '"timestamp":"2025'),
    /0 of 3 Ready nodes have a valid sample/,
  ],
  ['an empty list', 'apiVersion: v1\nkind: List\nitems: []\n', /no node is Ready/],
];

/** Expressions that hold for no number that is made up for a figure that is not there. */
const GATES = GATE_FIGURES.filter(({ name }) => name !== 'slo-missed' && name !== 'coverage').flatMap(({ name }) => [
  `${name}>1000000`,
  `${name}<0`,
]);

async function planOn(input: string, ...args: readonly string[]) {
  return await runCli(['plan', '-f', '-', '-p', POLICY, ...args], input);
}

describe.each(BLIND)('with %s', (_what, input, reason) => {
  it('no gate passes, and each says what is missing', async () => {
    const { stderr, code } = await planOn(input, ...GATES.flatMap((gate) => ['--fail-on', gate]));
    expect(code).toBe(4);
    const said = stderr.split('\n').filter((line) => line.startsWith('--fail-on'));
    expect(said.map((line) => line.split("'")[1])).toEqual(GATES);
    expect(said.filter((line) => !/ is unknown: /.test(line) || !reason.test(line))).toEqual([]);
  });

  it.each([['--exit-code'], ['-o', 'junit'], ['-o', 'sarif']])('plan %s %s ends with 4', async (...flags) => {
    const { stdout, code } = await planOn(input, ...flags.filter((flag) => flag !== undefined));
    expect(code).toBe(4);
    if (flags.includes('junit')) {
      expect(stdout).toContain('tests="3" failures="2"');
    }
    if (flags.includes('sarif')) {
      expect(stdout.match(/"level": "/g)).toHaveLength(2);
    }
  });

  it('diff --exit-code ends with 4, also where both plans are the same', async () => {
    const file = join(folder, 'snapshot.yaml');
    writeFileSync(file, input);
    const { stderr, code } = await runCli(['diff', POLICY, POLICY, '-f', file, '--exit-code']);
    expect(stderr).toMatch(reason);
    expect(code).toBe(4);
  });
});

it('a plan of no nodes shows no load, instead of one of 0 %', async () => {
  const { stdout } = await planOn(without('Node', 'NodeMetrics'));
  expect(stdout).toContain('no node takes part, of 0 in the cluster: a plan needs two.');
  expect(stdout).not.toContain('LOAD OF');
});

it.each([
  ['imbalance>100%', 0],
  ['imbalance>70%', 3],
  ['imbalance>0.7', 3],
  ['coverage<100%', 0],
  ['slo-missed>0', 0],
])('on the whole snapshot --fail-on %s ends with %i', async (gate, code) => {
  expect((await planOn(LINES.join('\n'), '--fail-on', gate)).code).toBe(code);
});

it('takes no percent where a figure is no share', async () => {
  const { stderr, code } = await planOn('', '--fail-on', 'moves>5%');
  expect([stderr, code]).toEqual([`error: --fail-on "moves>5%": moves is not a share: write 'moves>5'\n`, 1]);
});

describe('a gate on SLOs', () => {
  it('is unknown where pods name a class that is not there', async () => {
    const input = LINES.map((line) =>
      line.includes('"kind":"Pod",') || /"kind":"Pod"[,}]/.test(line)
        ? line.replace('"labels":{', '"labels":{"evenkeel.dev/service-class":"gold",')
        : line,
    ).join('\n');
    const { stderr, code } = await planOn(input, '--fail-on', 'slo-missed>0');
    expect(stderr).toContain(
      "--fail-on 'slo-missed>0': slo-missed is unknown: there is no ServiceClass gold, which pods name",
    );
    expect(code).toBe(4);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { policyObject } from '../../support/resources.ts';
import { runCli } from '../../support/run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-bad-input-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const policy = (spec: Readonly<Record<string, unknown>>): string => stringify(policyObject('p', spec));

/** Every policy that lint must refuse: its text, and where the mistake is. What is said of it is tested with what says it. */
const POLICIES: readonly (readonly [claim: string, text: string, where: string])[] = [
  ['text that is not YAML', 'spec: [1, 2', ':1:'],
  ['an empty file', '', ': is empty: write a RebalancePolicy'],
  ['a document that is no object', '- 1\n- 2\n', ':1:'],
  ['another apiVersion', policy({}).replace('v1alpha1', 'v2'), ' apiVersion: '],
  [
    'a mistyped kind',
    policy({}).replace('RebalancePolicy', 'RebalancePolcy'),
    ' kind: is "RebalancePolcy": write RebalancePolicy?',
  ],
  ['no name', policy({}).replace('name: p', 'labels: {}'), ' metadata.name: '],
  ['an unknown field', policy({ strategie: {} }), ':6:3: spec.strategie: '],
  ['a deep unknown field', policy({ budgets: [{ maxMovs: 1 }] }), ' spec.budgets[0].maxMovs: '],
  ['a mode that does not exist', policy({ mode: 'Auto' }), ' spec.mode: '],
  ['a strategy that does not exist', policy({ strategy: { type: 'refine' } }), ' spec.strategy.type: '],
  ['a wrong unit', policy({ interval: '5 minutes' }), ' spec.interval: '],
  ['an interval that is too short', policy({ interval: '1s' }), ' spec.interval: '],
  ['a number where text belongs', policy({ thresholds: { trigger: 0.1 } }), ' spec.thresholds.trigger: '],
  ['a fraction above 1', policy({ thresholds: { trigger: '10' } }), ' spec.thresholds.trigger: '],
  [
    'an overload below 1',
    policy({ strategy: { refineLB: { overload: '0.9' } } }),
    ' spec.strategy.refineLB.overload: ',
  ],
  ['settings of another strategy', policy({ strategy: { type: 'GreedyLB', refineLB: {} } }), ' spec.strategy: '],
  ['interval beside schedule', policy({ interval: '5m', schedule: '0 3 * * *' }), ' spec: '],
  ['a zone without schedule', policy({ timeZone: 'Europe/Rome' }), ' spec: '],
  [
    'a budget whose window has no length',
    policy({ budgets: [{ maxMoves: 0, schedule: '0 8 * * 1-5' }] }),
    ' spec.budgets[0]: ',
  ],
  [
    'a budget whose schedule is none',
    policy({ budgets: [{ maxMoves: 0, schedule: '0 8 * *', duration: '1h' }] }),
    ':8:17: spec.budgets[0].schedule: ',
  ],
  [
    'a budget in a zone that does not exist',
    policy({ budgets: [{ maxMoves: 0, schedule: '0 8 * * *', duration: '1h', timeZone: 'Rome' }] }),
    ':10:17: spec.budgets[0].timeZone: ',
  ],
  ['a schedule with six fields', policy({ schedule: '0 0 3 * * *' }), ' spec.schedule: '],
  ['a schedule out of range', policy({ schedule: '99 3 * * *' }), ' spec.schedule: '],
  ['a schedule with both days', policy({ schedule: '0 3 1 * 1' }), ' spec.schedule: '],
  ['a zone that does not exist', policy({ schedule: '0 3 * * *', timeZone: 'Rome' }), ' spec.timeZone: '],
  ['a percentage above 100', policy({ budgets: [{ perOwner: '250%' }] }), ' spec.budgets[0].perOwner: '],
  ['a negative count', policy({ budgets: [{ maxMoves: -1 }] }), ' spec.budgets[0].maxMoves: '],
  ['a budget without limits', policy({ budgets: [{}] }), ' spec.budgets[0]: '],
  ['no budgets', policy({ budgets: [] }), ' spec.budgets: '],
  ['a resource that has no load', policy({ load: { resources: [{ name: 'gpu' }] } }), ' spec.load.resources[0].name: '],
  [
    'a selector without values',
    policy({ scope: { podSelector: { matchExpressions: [{ key: 'app', operator: 'In' }] } } }),
    ' spec.scope.podSelector.matchExpressions[0]: ',
  ],
];

/** All of them in one run: each has a file of its own. */
const files = POLICIES.map(([claim, text]) => file(`${claim.replaceAll(' ', '-')}.yaml`, text));
const linted = await runCli(['lint', ...files]);

describe('lint', () => {
  it.each(POLICIES)('refuses %s', (claim, _text, where) => {
    const path = join(folder, `${claim.replaceAll(' ', '-')}.yaml`);
    const lines = linted.stdout.split('\n').filter((line) => line.startsWith(`${path}:`));
    expect(lines.join('\n')).toContain(where);
  });

  it('exits with 1 and says nothing elsewhere', () => {
    expect([linted.stderr, linted.code]).toEqual(['', 1]);
  });

  it('finds nothing wrong with a policy that sets nothing', async () => {
    expect(await runCli(['lint', '-'], policy({}))).toEqual({
      stdout: '1 resource, no problems\n',
      stderr: '',
      code: 0,
    });
  });
});

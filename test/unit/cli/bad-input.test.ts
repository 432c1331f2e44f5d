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

/** Every policy that lint must refuse: its text, and what must be said. */
const POLICIES: readonly (readonly [claim: string, text: string, says: readonly string[]])[] = [
  ['text that is not YAML', 'spec: [1, 2', [':1:', 'is not YAML']],
  ['an empty file', '', ['is empty: write a RebalancePolicy']],
  ['a document that is no object', '- 1\n- 2\n', ['is not an object: write apiVersion, kind, metadata and spec']],
  [
    'another apiVersion',
    policy({}).replace('v1alpha1', 'v2'),
    ['apiVersion: is "evenkeel.dev/v2": write evenkeel.dev/v1alpha1'],
  ],
  [
    'a mistyped kind',
    policy({}).replace('RebalancePolicy', 'RebalancePolcy'),
    ['kind: is "RebalancePolcy": write RebalancePolicy?'],
  ],
  ['no name', policy({}).replace('name: p', 'labels: {}'), ['metadata.name: is missing: write a name of lower-case']],
  ['an unknown field', policy({ strategie: {} }), [':6:', 'spec.strategie: unknown field: strategy?']],
  [
    'a deep unknown field',
    policy({ budgets: [{ maxMovs: 1 }] }),
    ['spec.budgets[0].maxMovs: unknown field: maxMoves?'],
  ],
  [
    'a mode that does not exist',
    policy({ mode: 'Auto' }),
    ['spec.mode: is "Auto": write', 'DryRun, Approve, Automatic'],
  ],
  ['a strategy that does not exist', policy({ strategy: { type: 'refine' } }), ['GreedyLB, RefineLB']],
  [
    'a wrong unit',
    policy({ interval: '5 minutes' }),
    ['spec.interval: is "5 minutes": write a duration in hours, minutes and seconds'],
  ],
  [
    'an interval that is too short',
    policy({ interval: '1s' }),
    ['spec.interval: must be a duration between 10s and 24h'],
  ],
  [
    'a number where text belongs',
    policy({ thresholds: { trigger: 0.1 } }),
    ['must be a string: write it in quotes, "0.1"'],
  ],
  ['a fraction above 1', policy({ thresholds: { trigger: '10' } }), ['write a decimal fraction between "0" and "1"']],
  [
    'an overload below 1',
    policy({ strategy: { refineLB: { overload: '0.9' } } }),
    ['must be a decimal between "1.0" and "10.0"'],
  ],
  [
    'settings of another strategy',
    policy({ strategy: { type: 'GreedyLB', refineLB: {} } }),
    ['remove refineLB, or write type: RefineLB'],
  ],
  [
    'interval beside schedule',
    policy({ interval: '5m', schedule: '0 3 * * *' }),
    ['interval and schedule exclude each other: keep one'],
  ],
  ['a zone without schedule', policy({ timeZone: 'Europe/Rome' }), ['add schedule, or remove timeZone']],
  [
    'a budget whose window has no length',
    policy({ budgets: [{ maxMoves: 0, schedule: '0 8 * * 1-5' }] }),
    ['spec.budgets[0]: schedule and duration belong together'],
  ],
  [
    'a budget whose schedule is none',
    policy({ budgets: [{ maxMoves: 0, schedule: '0 8 * *', duration: '1h' }] }),
    [':8:', 'spec.budgets[0].schedule: schedule "0 8 * *" has 4 fields: write five'],
  ],
  [
    'a budget in a zone that does not exist',
    policy({ budgets: [{ maxMoves: 0, schedule: '0 8 * * *', duration: '1h', timeZone: 'Rome' }] }),
    [':10:', 'spec.budgets[0].timeZone: timeZone "Rome" is not an IANA time zone'],
  ],
  ['a schedule with six fields', policy({ schedule: '0 0 3 * * *' }), ['has 6 fields: write five']],
  ['a schedule out of range', policy({ schedule: '99 3 * * *' }), ['is not a cron expression']],
  ['a schedule with both days', policy({ schedule: '0 3 1 * 1' }), ['restricts both day of month and day of week']],
  [
    'a zone that does not exist',
    policy({ schedule: '0 3 * * *', timeZone: 'Rome' }),
    ['timeZone "Rome" is not an IANA time zone'],
  ],
  ['a percentage above 100', policy({ budgets: [{ perOwner: '250%' }] }), ['or a percentage from "0%" to "100%"']],
  ['a negative count', policy({ budgets: [{ maxMoves: -1 }] }), ['write a whole number from 0 to 1000']],
  ['a budget without limits', policy({ budgets: [{}] }), ['a budget must limit something']],
  ['no budgets', policy({ budgets: [] }), ['write one to twenty budgets']],
  ['a resource that has no load', policy({ load: { resources: [{ name: 'gpu' }] } }), ['cpu, memory']],
  [
    'a selector without values',
    policy({ scope: { podSelector: { matchExpressions: [{ key: 'app', operator: 'In' }] } } }),
    ['In and NotIn need values'],
  ],
];

/** All of them in one run: each has a file of its own. */
const files = POLICIES.map(([claim, text]) => file(`${claim.replaceAll(' ', '-')}.yaml`, text));
const linted = await runCli(['lint', ...files]);

describe('lint', () => {
  it.each(POLICIES)('refuses %s', (claim, _text, says) => {
    const path = join(folder, `${claim.replaceAll(' ', '-')}.yaml`);
    const lines = linted.stdout.split('\n').filter((line) => line.startsWith(`${path}:`));
    for (const part of says) {
      expect(lines.join('\n')).toContain(part);
    }
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

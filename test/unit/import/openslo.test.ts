import { describe, expect, it } from 'vitest';
import { validateResource } from '../../../src/api/validate.ts';
import { convertOpenSlo } from '../../../src/import/openslo/convert.ts';

interface Fields {
  readonly name?: string;
  readonly apiVersion?: string;
  readonly annotations?: object;
  readonly spec?: object;
}

function anSlo({ name = 'checkout', apiVersion = 'openslo/v1', annotations = {}, spec = {} }: Fields = {}): object {
  return {
    apiVersion,
    kind: 'SLO',
    metadata: { name, annotations },
    spec: {
      service: 'shop',
      indicatorRef: 'ready',
      timeWindow: [{ duration: '28d', isRolling: true }],
      budgetingMethod: 'Timeslices',
      objectives: [{ target: 0.99 }],
      ...spec,
    },
  };
}

const specOf = (slo: object) => (convertOpenSlo([slo]).resources[0] as { spec: object }).spec;
const pathsOf = (slo: object) => convertOpenSlo([slo]).notes.map(({ effect, path }) => `${effect} ${path}`);

describe('an SLO of OpenSLO', () => {
  it('becomes a ServiceClass that the API server takes', () => {
    const { resources } = convertOpenSlo([anSlo()]);
    expect(resources).toEqual([
      {
        apiVersion: 'evenkeel.dev/v1alpha1',
        kind: 'ServiceClass',
        metadata: { name: 'checkout' },
        spec: { slo: '0.99', importance: 1, window: '672h' },
      },
    ]);
    expect(resources.flatMap((resource) => validateResource(resource).problems)).toEqual([]);
  });

  it('says that availability is counted otherwise', () => {
    expect(pathsOf(anSlo())).toEqual(['Changed spec.indicatorRef']);
    expect(pathsOf(anSlo({ spec: { budgetingMethod: 'Occurrences' } }))).toContain('Changed spec.budgetingMethod');
  });

  it('of version v1alpha is understood', () => {
    const spec = {
      timeWindow: undefined,
      timeWindows: [{ count: 1, unit: 'Week', isRolling: true }],
      objectives: [{ target: 0.9 }],
    };
    expect(specOf(anSlo({ apiVersion: 'openslo/v1alpha', spec }))).toEqual({
      slo: '0.9',
      importance: 1,
      window: '168h',
    });
  });

  it('may give its target in percent', () => {
    expect(specOf(anSlo({ spec: { objectives: [{ targetPercent: 99.95 }] } }))).toMatchObject({ slo: '0.9995' });
  });

  it('keeps only its first objective, and says so', () => {
    const slo = anSlo({ spec: { objectives: [{ target: 0.9 }, { target: 0.99 }] } });
    expect(specOf(slo)).toMatchObject({ slo: '0.9' });
    expect(pathsOf(slo)).toContain('Lost spec.objectives[1]');
  });

  it('gets the longest window there is for a longer one, and a sliding one for a calendar', () => {
    const slo = anSlo({
      spec: { timeWindow: [{ duration: '1Q', isRolling: false, calendar: { startTime: '2026-01-01' } }] },
    });
    expect(specOf(slo)).toMatchObject({ window: '720h' });
    expect(pathsOf(slo).filter((path) => path === 'Changed spec.timeWindow[0]')).toHaveLength(2);
  });

  it('without a window gets the default, and says so', () => {
    const slo = anSlo({ spec: { timeWindow: [] } });
    expect(specOf(slo)).not.toHaveProperty('window');
    expect(pathsOf(slo)).toContain('Changed spec.timeWindow');
  });
});

describe('importance', () => {
  const importances = (slos: readonly object[]) =>
    convertOpenSlo(slos).resources.map((resource) => (resource as { spec: { importance: number } }).spec.importance);
  const withTarget = (name: string, target: number) => anSlo({ name, spec: { objectives: [{ target }] } });

  it('follows the targets: the higher, the more important', () => {
    expect(
      importances([withTarget('a', 0.5), withTarget('b', 0.999), withTarget('c', 0.9), withTarget('d', 0.5)]),
    ).toEqual([3, 1, 2, 3]);
  });

  it('is what an annotation says', () => {
    expect(importances([anSlo({ annotations: { 'evenkeel.dev/importance': '7' } })])).toEqual([7]);
  });
});

describe('other documents', () => {
  it('of OpenSLO are left out by name', () => {
    const { resources, notes } = convertOpenSlo([{ apiVersion: 'openslo/v1', kind: 'Service' }, anSlo()]);
    expect(resources).toHaveLength(1);
    expect(notes[0]).toMatchObject({ effect: 'Lost', path: '[0].kind' });
  });

  const mistakes: readonly (readonly [string, unknown, RegExp])[] = [
    ['no object', 'text', /apiVersion: is undefined: write an SLO of OpenSLO/],
    ['another version', anSlo({ apiVersion: 'v1' }), /apiVersion: is "v1": write an SLO of OpenSLO, openslo\/v1alpha/],
    ['another kind', { apiVersion: 'openslo/v1', kind: 'SLA' }, /kind: is "SLA": write SLO or one of/],
    ['no objectives', anSlo({ spec: { objectives: [] } }), /spec\.objectives: is missing: write one objective/],
    ['a target above 1', anSlo({ spec: { objectives: [{ target: 99 }] } }), /target is 99: write target from 0 to 1/],
    ['no target', anSlo({ spec: { objectives: [{}] } }), /target is missing/],
    [
      'a strange window',
      anSlo({ spec: { timeWindow: [{ duration: 'month' }] } }),
      /"month" is no time window: write duration: 28d/,
    ],
    ['a strange importance', anSlo({ annotations: { 'evenkeel.dev/importance': 'high' } }), /"high" is no importance/],
    ['no name', anSlo({ name: '' }), /metadata\.name: is missing/],
  ];

  it.each(mistakes)('with %s are refused with what to write', (_, document, message) => {
    expect(() => convertOpenSlo([document])).toThrow(message);
  });
});

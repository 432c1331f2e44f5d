import { describe, expect, it } from 'vitest';
import type { NodeSelectorTerm } from '../../../../src/model/node.ts';
import { nodeAffinity } from '../../../../src/plan/filters/node-affinity.ts';
import { aNode, labels } from '../../../support/builders.ts';
import { aSubject } from './filters.ts';

const node = aNode('a', { labels: { zone: 'eu-1', cores: '8' } });

function fits(terms: readonly NodeSelectorTerm[]): boolean {
  return nodeAffinity(aSubject({ nodeAffinity: terms }), node) === undefined;
}

function term(...expressions: NodeSelectorTerm['expressions']): NodeSelectorTerm {
  return { expressions, fields: [] };
}

const inZone = { key: 'zone', operator: 'In', values: ['eu-1', 'eu-2'] } as const;
const elsewhere = { key: 'zone', operator: 'In', values: ['us-1'] } as const;

describe('NodeAffinity', () => {
  it('wants every label of nodeSelector', () => {
    const wants = (entries: Record<string, string>) => nodeAffinity(aSubject({ nodeSelector: labels(entries) }), node);
    expect(wants({ zone: 'eu-1', cores: '8' })).toBeUndefined();
    expect(wants({ zone: 'eu-1', cores: '4' })).toEqual({ filter: 'NodeAffinity', field: 'nodeSelector' });
    expect(wants({ constructor: 'x' })).toEqual({ filter: 'NodeAffinity', field: 'nodeSelector' });
  });

  it('wants one of the required terms', () => {
    expect(fits([term(elsewhere), term(inZone)])).toBe(true);
    expect(nodeAffinity(aSubject({ nodeAffinity: [term(elsewhere)] }), node)).toEqual({
      filter: 'NodeAffinity',
      field: 'nodeAffinity',
    });
  });

  it('wants every expression of a term', () => {
    expect(fits([term(inZone, { key: 'cores', operator: 'Gt', values: ['4'] })])).toBe(true);
    expect(fits([term(inZone, { key: 'cores', operator: 'Gt', values: ['8'] })])).toBe(false);
  });

  it('wants nodeSelector and node affinity both', () => {
    const subject = aSubject({ nodeSelector: labels({ zone: 'us-1' }), nodeAffinity: [term(inZone)] });
    expect(nodeAffinity(subject, node)).toMatchObject({ field: 'nodeSelector' });
  });

  it('matches nothing with an empty term or an empty list of terms', () => {
    expect(fits([])).toBe(false);
    expect(fits([term()])).toBe(false);
  });

  it('knows metadata.name as a field, and no other', () => {
    const field = (key: string, operator: 'In' | 'NotIn', value: string): NodeSelectorTerm => ({
      expressions: [],
      fields: [{ key, operator, values: [value] }],
    });
    expect(fits([field('metadata.name', 'In', 'a')])).toBe(true);
    expect(fits([field('metadata.name', 'In', 'b')])).toBe(false);
    expect(fits([field('metadata.name', 'NotIn', 'b')])).toBe(true);
    expect(fits([field('metadata.namespace', 'NotIn', 'b')])).toBe(false);
  });
});

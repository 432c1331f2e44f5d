import { describe, expect, it } from 'vitest';
import type { Look } from '../../../src/report/table.ts';
import { renderTable } from '../../../src/report/table.ts';

const HEADER = ['NAME', 'LOAD', 'REMARKS'];
const ROWS = [
  ['node-1', '0.5', 'takes no part: it is cordoned'],
  ['node-22', '0.25', ''],
];
const NUMBERS = new Set(['LOAD']);
const narrow = (columns: number): Look => ({ columns, paint: (_tone, text) => text });
const marked: Look = { columns: undefined, paint: (tone, text) => `<${tone}>${text}</${tone}>` };

describe('tables for a terminal', () => {
  it('wrap texts at the width that there is, and numbers never', () => {
    expect(renderTable(HEADER, ROWS, NUMBERS, narrow(30))).toBe(
      'NAME     LOAD  REMARKS\nnode-1    0.5  takes no part:\n               it is cordoned\nnode-22  0.25',
    );
  });

  it('become a list of cells where columns do not fit', () => {
    expect(renderTable(HEADER, ROWS.slice(0, 1), NUMBERS, narrow(18))).toBe(
      'NAME: node-1\nLOAD: 0.5\nREMARKS: takes no\npart: it is\ncordoned',
    );
  });

  it.each([1, 5, 9, 10, 16, 40])('are never wider than %i columns', (columns) => {
    const lines = renderTable(HEADER, ROWS, NUMBERS, narrow(columns)).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
  });

  it('are as wide as they are where nobody looks', () => {
    expect(renderTable(HEADER, ROWS, NUMBERS)).toContain('takes no part: it is cordoned');
  });

  it('paint the header and what means something, which changes no column', () => {
    const text = renderTable(HEADER, ROWS, NUMBERS, marked, (column, cell) =>
      column === 'LOAD' && Number(cell) > 0.4 ? 'bad' : undefined,
    );
    expect(text).toContain('node-1   <bad> 0.5</bad>  takes');
    expect(text.replaceAll(/<[^>]+>/g, '')).toBe(renderTable(HEADER, ROWS, NUMBERS));
  });
});

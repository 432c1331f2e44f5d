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
  it('end every line that is too long with an ellipsis, at the width that there is', () => {
    expect(renderTable(HEADER, ROWS, NUMBERS, narrow(30))).toBe(
      'NAME     LOAD  REMARKS\nnode-1    0.5  takes no part:…\nnode-22  0.25',
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

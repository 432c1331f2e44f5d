import { describe, expect, it } from 'vitest';
import { LOG_LINES, type LogLine } from '../../src/log-lines.ts';
import { pages } from './pages.ts';

const blocks = pages()
  .flatMap((page) => page.blocks)
  .filter(({ section }) => section === 'docs/monitoring.md#Log');
const textOf = (language: string) => blocks.find((block) => block.language === language)?.text ?? '';

describe('the log that docs/monitoring.md quotes', () => {
  it('has only lines that the operator logs', () => {
    const lines = textOf('').split('\n');
    expect(lines.length).toBeGreaterThan(10);
    const unknown = lines.filter((line) => {
      const [time = '', message = ''] = line.split('  ');
      return !/^\d\d:\d\d:\d\d$/.test(time) || !Object.hasOwn(LOG_LINES, message);
    });
    expect(unknown).toEqual([]);
  });

  it('has a line in full with exactly the level and the fields of the vocabulary', () => {
    const { time, level, msg, ...fields } = JSON.parse(textOf('json')) as Record<string, unknown>;
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const kind = LOG_LINES[msg as LogLine];
    expect(level).toBe(kind.level);
    expect(Object.keys(fields).toSorted()).toEqual(kind.fields.toSorted());
  });
});

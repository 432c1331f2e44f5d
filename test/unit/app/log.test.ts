import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/app/log.ts';
import type { Log } from '../../../src/ports.ts';
import { HIDDEN, PAYLOADS } from '../../support/hostile-text.ts';

/** What is written while `work` logs at this level or above. */
function written(level: string, work: (log: Log) => void): readonly Record<string, unknown>[] {
  const lines: string[] = [];
  work(createLog(level, { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('createLog', () => {
  it('writes the level as a word, the time as an ISO instant, the line as msg, and only fields that are known', () => {
    const [line] = written('info', (log) =>
      log('run finished', {
        policy: 'even',
        cause: 'Schedule',
        outcome: 'Balanced',
        moves: 0,
        plan: undefined,
        result: 'the spread is 3 %',
      }),
    );
    const { time, ...rest } = line ?? {};
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(rest).toEqual({
      level: 'info',
      policy: 'even',
      cause: 'Schedule',
      outcome: 'Balanced',
      moves: 0,
      result: 'the spread is 3 %',
      msg: 'run finished',
    });
  });

  it('writes errors with their type, stack and cause', () => {
    const cause = new RangeError('below');
    const [line] = written('info', (log) => log('pass failed', { err: new TypeError('above', { cause }) }));
    expect(line).toMatchObject({
      level: 'error',
      err: {
        type: 'TypeError',
        message: 'above',
        stack: expect.stringMatching(/^TypeError: above\n {4}at /),
        cause: { type: 'RangeError', message: 'below', stack: expect.stringMatching(/^RangeError: below\n {4}at /) },
      },
    });
  });

  it('writes nothing below its level', () => {
    const say = (log: Log) => {
      log('operator stopped', {});
      log('request failed', { problem: 'an event was lost' });
    };
    expect(written('info', say).map(({ level }) => level)).toEqual(['info', 'warn']);
    expect(written('warn', say).map(({ level }) => level)).toEqual(['warn']);
    expect(written('silent', say)).toEqual([]);
  });

  it.each(PAYLOADS)('writes no character that a terminal acts on, and no line more: %s', (_, problem) => {
    const raw: string[] = [];
    createLog('info', { write: (line) => void raw.push(line) })('request failed', { problem });
    expect(raw.join('')).not.toMatch(HIDDEN);
    expect(raw.join('').trimEnd()).not.toContain('\n');
    expect(JSON.parse(raw.join(''))).toMatchObject({ problem });
  });
});

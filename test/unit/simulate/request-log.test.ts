import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { classesIn, parseRequestLog } from '../../../src/simulate/request-log.ts';

const LINE = '3,79,79,any,0,11,7200,-1,0.375,0.375,prod,1';

describe('a request log', () => {
  it('has the published requests: 80, 80 and 96 of three classes', () => {
    const requests = parseRequestLog(readFileSync('test/bench/qos-validation1.csv', 'utf8'), 'log.csv');
    expect(requests).toHaveLength(256);
    expect(classesIn(requests, 'log.csv')).toEqual([
      { name: 'prod', slo: 1 },
      { name: 'batch', slo: 0.9 },
      { name: 'free', slo: 0.5 },
    ]);
    expect(requests.filter(({ className }) => className === 'free')).toHaveLength(96);
  });

  it('names the line, what is wrong and what to write', () => {
    const problem = (text: string) => () => parseRequestLog(text, 'log.csv');
    expect(problem(`${LINE}\n1,2,3`)).toThrow('log.csv:2: has 3 columns: write 12, namely second, id,');
    expect(problem(LINE.replace('3,', 'x,'))).toThrow('log.csv:1: second is "x": write a number that is not negative');
    expect(problem(LINE.replace(/1$/, '2'))).toThrow('SLO is "2": write a number from 0 to 1');
    expect(problem(LINE.replace('prod', 'Prod!'))).toThrow('class name is "Prod!": write a name of lower-case letters');
    expect(problem(`${LINE}\n${LINE}`)).toThrow('log.csv:2: id "79" appears twice: give each request its own');
    expect(problem('\n')).toThrow('log.csv: holds no requests');
  });

  it('refuses a class with two SLOs', () => {
    const other = LINE.replace('79', '80').replace(/1$/, '0.9');
    const requests = parseRequestLog(`${LINE}\n${other}`, 'log.csv');
    expect(() => classesIn(requests, 'log.csv')).toThrow('log.csv:2: class prod has the SLO 0.9 here and 1 before');
  });
});

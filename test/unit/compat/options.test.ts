import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../compat/options.ts';

const GROUPS = ['installs', 'parity'];

describe('the command line of compat', () => {
  it('takes all versions and checks, ten minutes and 300 verdicts by default', () => {
    expect(parseOptions([], GROUPS)).toEqual({
      versions: ['1.33', '1.34', '1.35', '1.36', '1.37'],
      groups: GROUPS,
      minutes: 10,
      verdicts: 300,
    });
  });

  it('takes what it is told', () => {
    const args = ['--kubernetes', '1.33,1.34', '--minutes', '0.5', '--verdicts', '25', '--checks', 'parity'];
    expect(parseOptions(args, GROUPS)).toEqual({
      versions: ['1.33', '1.34'],
      groups: ['parity'],
      minutes: 0.5,
      verdicts: 25,
    });
  });

  it.each([
    [['--kubernetes', '1.34,1.29'], 'there is no control plane of Kubernetes 1.29: choose one of 1.33, 1.34'],
    [['--checks', 'speed'], '--checks speed: choose from installs, parity'],
    [['--minutes', '0'], '--minutes 0: write a number above 0'],
    [['--verdicts', 'many'], '--verdicts many: write a number above 0'],
  ])('refuses %s', (args, says) => {
    expect(() => parseOptions(args, GROUPS)).toThrow(says);
  });
});

import type { LogLevel, LogLine } from '../../src/log-lines.ts';

/** A line that an operator has logged. */
export interface LoggedLine extends Readonly<Record<string, unknown>> {
  readonly time: string;
  readonly level: LogLevel;
  readonly msg: LogLine;
}

/** The whole lines of a log. Throws for one that is not JSON. */
export function readLog(text: string): readonly LoggedLine[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LoggedLine);
}

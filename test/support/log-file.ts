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

/** The first whole line with this message, whatever else is in the log; undefined when there is none yet. */
export function firstLogged(text: string, message: string): Readonly<Record<string, unknown>> | undefined {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const line = whole.split('\n').find((each) => each.includes(`"msg":"${message}"`));
  return line === undefined ? undefined : (JSON.parse(line) as Readonly<Record<string, unknown>>);
}

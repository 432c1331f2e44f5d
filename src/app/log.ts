import { type DestinationStream, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { LOG_LINES } from '../log-lines.ts';
import { escapeJson } from '../model/escape.ts';
import type { Log } from '../ports.ts';

/** Writes lines of `level` or above as JSON to `destination`, standard output unless given: ISO times, names of levels. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: stdSerializers.errWithCause },
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: escapeJson },
  };
  const logger = destination === undefined ? pino(options) : pino(options, destination);
  return (line, fields) => logger[LOG_LINES[line].level]({ msg: line, ...fields });
}

/**
 * Loaded into an operator by `node --import`: its wall clock jumps. On SIGUSR2 it goes by as many seconds beside the true time as
 * the file that EVENKEEL_TEST_CLOCK names says. The monotonic clock and timers run on, as they do when an administrator or NTP
 * sets the clock of a machine.
 */
import { readFileSync } from 'node:fs';

const file = process.env['EVENKEEL_TEST_CLOCK'] ?? '';
const TrueDate = Date;
let offset = 0;

process.on('SIGUSR2', () => {
  offset = Number(readFileSync(file, 'utf8')) * 1000;
});

const now = (): number => TrueDate.now() + offset;

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, args: readonly unknown[], caller) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, caller) as Date,
  apply: () => new TrueDate(now()).toString(),
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});

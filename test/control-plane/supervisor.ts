import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A program that the supervisor runs. */
export interface Program {
  readonly name: string;
  readonly pid: number;
  /** Resolves when it has ended, however that came about. */
  readonly ended: Promise<void>;
  /** Waits until `check` answers true; throws with the end of the program's log when it dies or takes too long. */
  ready(check: () => Promise<boolean>, timeoutMilliseconds: number): Promise<void>;
  /** Ends it at once and waits until it is gone. */
  kill(): Promise<void>;
}

/** Runs programs that belong to one folder, and outlives nothing: see `superviseIn`. */
export interface Supervisor {
  /** Starts a program; its output goes to `NAME.log` in the folder. */
  start(name: string, binary: string, args: readonly string[]): Program;
  /** Sees to it that a program which somebody else has started outlives neither this process nor `stop`. */
  adopt(child: ChildProcess): void;
  /** Ends all programs by their own ids and removes the folder. */
  stop(): Promise<void>;
}

/**
 * The watchdog: a shell that reads which programs started and ended from a pipe. The pipe closes when this process
 * ends for whatever reason, a `kill -9` included; then the watchdog kills what is left and removes the folder.
 */
const watchdogScript = `
running=' '
while read -r event pid; do
  case $event in
    started) running="$running$pid " ;;
    ended) running="\${running%% $pid *} \${running#* $pid }" ;;
    done) exit 0 ;;
  esac
done
for pid in $running; do kill -9 "$pid"; done
sleep 1
rm -rf -- "$1"
`;

/**
 * A supervisor for the programs of one folder. Children run in process groups of their own, so that a Ctrl-C at the
 * terminal reaches only this process, and never keep it alive: a script that ends, or is killed, without calling
 * `stop()` leaves the cleaning up to the watchdog.
 */
export function superviseIn(folder: string): Supervisor {
  const watchdog = spawn('/bin/sh', ['-c', watchdogScript, 'evenkeel-watchdog', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.unref();
  watchdog.stdin.on('error', () => undefined); // the watchdog was killed: nothing is left to tell it
  const programs = new Set<Program>();
  const adopted = new Set<ChildProcess>();
  const watch = (pid: number, ended: Promise<unknown>): void => {
    watchdog.stdin.write(`started ${pid}\n`);
    void ended.then(() => watchdog.stdin.write(`ended ${pid}\n`));
  };
  return {
    start(name, binary, args) {
      const program = startProgram(name, binary, args, join(folder, `${name}.log`));
      programs.add(program);
      watch(program.pid, program.ended);
      void program.ended.then(() => programs.delete(program));
      return program;
    },
    adopt(child) {
      if (child.pid !== undefined) {
        adopted.add(child);
        const ended = once(child, 'exit').then(() => adopted.delete(child));
        watch(child.pid, ended);
      }
    },
    async stop() {
      adopted.forEach((child) => void child.kill('SIGKILL'));
      await Promise.all([...programs].map((program) => program.kill()));
      await rm(folder, { recursive: true, force: true });
      if (watchdog.exitCode === null && watchdog.signalCode === null) {
        watchdog.ref();
        watchdog.stdin.end('done\n');
        await once(watchdog, 'exit');
      }
    },
  };
}

function startProgram(name: string, binary: string, args: readonly string[], logFile: string): Program {
  const log = openSync(logFile, 'a');
  const child = spawn(binary, args, { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.unref();
  const { pid } = child;
  if (pid === undefined) {
    child.once('error', () => undefined);
    throw new Error(`cannot start ${name}: ${binary} is missing or not a program for this machine`);
  }
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    name,
    pid,
    ended,
    ready: (check, timeoutMilliseconds) => waitUntilReady(name, child, logFile, check, timeoutMilliseconds),
    async kill() {
      child.ref();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function waitUntilReady(
  name: string,
  child: ChildProcess,
  logFile: string,
  check: () => Promise<boolean>,
  timeoutMilliseconds: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMilliseconds;
  while (!(await check())) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode} while starting\n${tail(logFile)}`);
    }
    if (performance.now() > deadline) {
      throw new Error(`${name} was not ready after ${timeoutMilliseconds / 1000} s\n${tail(logFile)}`);
    }
    await delay(50);
  }
}

function tail(logFile: string): string {
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
  return ['the end of its log:', ...lines.slice(-25)].join('\n');
}

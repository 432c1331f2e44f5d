import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { claimPorts } from '../control-plane/free-ports.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { monitoringProgram } from './programs.ts';

/** A running Prometheus. */
export interface PrometheusServer {
  readonly url: string;
  /** Scrapes as `config` says from now on. */
  configure(config: object): void;
  /** The series of an instant query. Rejects with what the server says of a query that it refuses. */
  query(promql: string): Promise<readonly Series[]>;
  /** Ends it and waits. A second call does nothing. */
  stop(): Promise<void>;
}

/** One series of an instant vector. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** Starts a real Prometheus on the loopback, with its data in `folder`, that scrapes nothing yet. */
export async function startPrometheus(folder: string): Promise<PrometheusServer> {
  const binary = await monitoringProgram('prometheus');
  const claim = await claimPorts(1);
  const address = `127.0.0.1:${claim.ports[0]}`;
  const logFile = join(folder, 'prometheus.log');
  const configFile = join(folder, 'prometheus.yaml');
  writeFileSync(configFile, '{}\n');
  const output = openSync(logFile, 'a');
  const child = spawn(
    binary,
    [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: ['ignore', output, output] },
  );
  closeSync(output);
  const killWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const exited = once(child, 'exit').finally(() => process.off('exit', killWithUs));
  const url = `http://${address}`;
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
    claim.release();
  };
  const ready = async (): Promise<string | undefined> => {
    if (child.exitCode !== null) {
      throw new Error(`Prometheus ended with ${child.exitCode}:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
    }
    const answer = await fetch(`${url}/-/ready`).catch(() => undefined);
    return answer?.ok ? undefined : `Prometheus is not ready: ${answer?.status ?? 'no answer'}`;
  };
  try {
    await waitUntil('Prometheus', ready, { timeoutMilliseconds: 30_000 });
  } catch (error) {
    await stop();
    throw error;
  }
  const configure = (config: object): void => {
    writeFileSync(configFile, stringify(config));
    child.kill('SIGHUP');
  };
  return { url, configure, query: (promql) => query(url, promql), stop };
}

async function query(url: string, promql: string): Promise<readonly Series[]> {
  const answer = await fetch(`${url}/api/v1/query`, { method: 'POST', body: new URLSearchParams({ query: promql }) });
  const { status, error, data } = (await answer.json()) as {
    status: string;
    error?: string;
    data?: { result: readonly Series[] };
  };
  if (status !== 'success' || data === undefined) {
    throw new Error(`${promql}: ${error}`);
  }
  return data.result;
}

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { claimPorts } from '../control-plane/free-ports.ts';
import { answersOk } from '../control-plane/probe.ts';
import { superviseIn } from '../control-plane/supervisor.ts';
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

/** Starts a real Prometheus on the loopback, with its data in a folder of its own, that scrapes nothing yet. */
export async function startPrometheus(): Promise<PrometheusServer> {
  const binary = await monitoringProgram('prometheus');
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-prometheus-'));
  const supervisor = superviseIn(folder);
  const claim = await claimPorts(1);
  const address = `127.0.0.1:${claim.ports[0]}`;
  const configFile = join(folder, 'prometheus.yaml');
  writeFileSync(configFile, '{}\n');
  const program = supervisor.start('prometheus', binary, [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ]);
  const url = `http://${address}`;
  const stop = async (): Promise<void> => {
    await supervisor.stop();
    claim.release();
  };
  try {
    await program.ready(() => answersOk(`${url}/-/ready`), 30_000);
  } catch (error) {
    await stop();
    throw error;
  }
  const configure = (config: object): void => {
    writeFileSync(configFile, stringify(config));
    process.kill(program.pid, 'SIGHUP');
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

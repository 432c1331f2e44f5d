import { type Command, Option } from 'commander';
import type { ClusterFlags } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import type { PrometheusFlags } from '../app/usage-servers.ts';
import { parseDuration } from '../model/duration.ts';
import type { InputFlags } from './input.ts';
import { parseOutput } from './output-formats.ts';

/** --kubeconfig and --context as commander parses them. */
export interface RawClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Those, --filename and --policy as commander parses them. */
export interface RawInputFlags extends RawClusterFlags, PrometheusFlags {
  readonly filename: readonly string[];
  readonly policy?: string;
}

/** The command with --kubeconfig and --context. */
export function withClusterFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig file; default KUBECONFIG, ~/.kube/config, or the pod that it runs in')
    .option('--context <name>', 'context of the kubeconfig; default its current one');
}

/** The command with -f and the cluster flags: where a snapshot comes from. */
export function withSnapshotFlags(command: Command): Command {
  const description = 'snapshot of ordinary Kubernetes objects: file, folder, or - for standard input; repeatable';
  return withClusterFlags(command).addOption(
    repeatable('-f, --filename <file>', description).default([], 'the live cluster'),
  );
}

/** The command with -f, -p and the cluster flags: what a plan is made from. */
export function withInputFlags(command: Command): Command {
  return withPrometheusFlags(
    withSnapshotFlags(command).option(
      '-p, --policy <policy>',
      'file or folder of a RebalancePolicy, or the name of one on the cluster or in the snapshot',
    ),
  );
}

/** The command with flags that name Prometheus servers, for policies with `load.source: Prometheus` and AppGraphs with `traffic`. */
export function withPrometheusFlags(command: Command): Command {
  const none = (option: Option) => option.default([], 'none');
  return command
    .addOption(
      none(
        repeatable(
          '--prometheus <name=url>',
          'Prometheus server that policies may name as load.prometheus.server, and AppGraphs as traffic.server; repeatable',
        ),
      ),
    )
    .addOption(none(repeatable('--prometheus-token-file <name=file>', 'file of the bearer token for that server')))
    .addOption(none(repeatable('--prometheus-ca-file <name=file>', 'CA bundle that verifies the server')));
}

/** -w and --interval as commander parses them. */
export interface RawWatchFlags {
  readonly watch?: boolean;
  readonly interval: number;
}

/** The command with -w: shown again and again. */
export function withWatchFlags(command: Command): Command {
  return command
    .option('-w, --watch', 'show it again and again, until interrupted')
    .addOption(
      new Option('--interval <seconds>', 'time between two looks, with -w').argParser(parseInterval).default(5),
    );
}

/** --wait and --timeout as commander parses them. */
export interface RawWaitFlags {
  readonly wait: boolean;
  readonly timeout: number;
}

/** The command with --wait, which `waits` describes, and --timeout. */
export function withWaitFlags(command: Command, waits: string): Command {
  return command
    .option('--wait', waits, false)
    .addOption(
      new Option('--timeout <duration>', 'longest time to wait, with --wait')
        .argParser(parseTimeout)
        .default(1800, '30m'),
    );
}

/** Seconds that a command waits; `undefined` without --wait. */
export function waitTimeout({ wait, timeout }: RawWaitFlags): number | undefined {
  return wait ? timeout : undefined;
}

function parseTimeout(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw error instanceof RangeError ? new Failure(`--timeout ${error.message}`) : error;
  }
}

function parseInterval(text: string): number {
  const span = /^\d{1,5}(\.\d+)?s?$/.test(text) ? Number.parseFloat(text) : 0;
  if (span <= 0) {
    throw new Failure(`--interval ${text} is not a time: write seconds, such as 5`);
  }
  return span;
}

/** Which cluster the flags name. */
export function clusterFlags({ kubeconfig, context }: RawClusterFlags): ClusterFlags {
  return { kubeconfig, context };
}

/** What the flags name as input. */
export function inputFlags(raw: RawInputFlags): InputFlags {
  return { ...clusterFlags(raw), files: raw.filename, policy: raw.policy, prometheus: prometheusFlags(raw) };
}

/** Which Prometheus servers the flags name. */
export function prometheusFlags({
  prometheus,
  prometheusTokenFile,
  prometheusCaFile,
}: PrometheusFlags): PrometheusFlags {
  return { prometheus, prometheusTokenFile, prometheusCaFile };
}

/** A flag that may be repeated: a list of its values. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, earlier: readonly string[] = []) => [
    ...earlier,
    value,
  ]);
}

/** -o with these formats, of which the first is the default. */
export function outputOption<Format extends string>(formats: readonly [Format, ...Format[]]): Option {
  return new Option('-o, --output <format>', 'how it is written')
    .choices(formats)
    .argParser((text) => parseOutput(text, formats))
    .default(formats[0]);
}

/** Help text after that of the flags: one example a line, as it is typed. */
export function examples(...lines: readonly string[]): string {
  return `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
